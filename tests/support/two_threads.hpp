// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Two real threads, and numbers for them that nobody can foresee.
#include <faultline/substrate/native.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace faultline::test {

/// Runs `body(0)` and `body(1)` at the same time, and waits for both.
template <class F>
void on_two_threads(F body) {
  std::atomic<int> ready = 0;
  const auto start = [&](int which) {
    ++ready;
    while (ready.load() != 2) native::relax();
    body(which);
  };
  const auto other = native::spawn("other", [&start] { start(1); });
  start(0);
}

/// The seed of a test: another one each time, printed; FAULTLINE_SEED repeats one. The threads' timing is not repeated by it.
inline std::uint64_t fresh_seed() {
  const char* const given = std::getenv("FAULTLINE_SEED");
  std::random_device device;
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 0) : (std::uint64_t{device()} << 32U) | device();
  std::printf("FAULTLINE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

/// One for each thread.
class dice {
 public:
  dice(std::uint64_t seed, int which) : engine_(seed + static_cast<std::uint64_t>(which)) {}
  /// From 0 to `sides` - 1.
  std::uint64_t below(std::uint64_t sides) { return engine_() % sides; }
  bool coin() { return (engine_() & 1U) != 0; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace faultline::test

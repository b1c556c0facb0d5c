// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Times things beside each other: in turns of some microseconds, in one loop of one process. So what the machine does to
/// one of them it does to the others, and their ratio holds where their times do not.
#include <chrono>
#include <cstdint>

namespace faultline::bench {

/// Seconds that `body` takes.
template <class F>
[[nodiscard]] double seconds(F&& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// base/lock_inc, the unit of the native benchmarks: one inlined read-modify-write of a line that nobody else uses.
class lock_inc {
 public:
  [[gnu::noinline]] void run(std::uint64_t n) {
    for (; n != 0; --n) {
#if defined(__x86_64__)
      asm volatile("lock incq %0" : "+m"(word_) : : "memory", "cc");
#else
      __atomic_fetch_add(&word_, 1, __ATOMIC_RELAXED);
#endif
    }
  }

 private:
  alignas(64) std::uint64_t word_ = 0;
};

}  // namespace faultline::bench

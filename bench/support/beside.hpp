// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Times things beside each other: in short turns, in one loop of one process. So what the machine does to one of them it
/// does to the others, and their ratio holds where their times do not.
#include <ctime>

#include <cstdint>

namespace faultline::bench {

/// Seconds of this thread's processor time that `body` takes; a turn should take 0.1 ms, as reading the clock is a call.
/// (Not by the wall clock: other programs would count.)
template <class F>
[[nodiscard]] double seconds(F&& body) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  body();
  return now() - start;
}

/// base/lock_inc, the unit of the native benchmarks: one inlined read-modify-write of a line that nobody else uses.
class lock_inc {
 public:
  [[gnu::noinline, gnu::aligned(64)]] void run(std::uint64_t n) {
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

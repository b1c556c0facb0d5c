// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Small mechanisms over `native`, and the same written by hand. Timed by bench/seam, counted in instructions by a test.
#include <faultline/substrate/native.hpp>
#include <faultline/sync/refcount.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

namespace faultline::seam {

/// glibc's mutex does without a locked instruction in a program that has never had a second thread.
inline void have_had_a_thread() {
  std::thread([] {}).join();
}

/// Each has pair(), which takes and gives back; run() does so n times. Aligned: the same loop, 16 bytes further on, was seen
/// to take a seventh longer.
template <class Mechanism>
struct repeated : Mechanism {
  [[gnu::noinline, gnu::aligned(64)]] void run(std::uint64_t n) {
    for (; n != 0; --n) this->pair();
  }
};

template <class S>
struct alignas(64) refcount_of {
  sync::refcount<S> count{1};
  std::uint64_t freed = 0;
  void pair() {
    count.acquire();
    if (count.release()) ++freed;
  }
};
struct alignas(64) refcount_by_hand {
  std::atomic<std::uint32_t> count{1};
  std::uint64_t freed = 0;
  void pair() {
    if ((count.fetch_add(1, std::memory_order_relaxed) & 0x8000'0000U) != 0) [[unlikely]]
      saturate();
    const std::uint32_t old = count.fetch_sub(1, std::memory_order_acq_rel);
    if ((old & 0x8000'0000U) != 0) [[unlikely]] {
      saturate();
    } else if (old == 1) {
      ++freed;
    }
  }
  void saturate() { count.store(0xc000'0000U, std::memory_order_relaxed); }
};

/// As a finder without a lock takes it.
template <class S>
struct alignas(64) found_of {
  sync::refcount<S> count{1};
  std::uint64_t freed = 0;
  void pair() {
    if (count.acquire_if_not_zero() && count.release()) ++freed;
  }
};
struct alignas(64) found_by_hand {
  std::atomic<std::uint32_t> count{1};
  std::uint64_t freed = 0;
  void pair() {
    if (acquire_if_not_zero() && release()) ++freed;
  }
  bool acquire_if_not_zero() {
    std::uint32_t old = count.load(std::memory_order_relaxed);
    for (;;) {
      if (old == 0) return false;
      if ((old & 0x8000'0000U) != 0) [[unlikely]]
        return true;
      if (count.compare_exchange_weak(old, old + 1, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
  }
  bool release() {
    const std::uint32_t old = count.fetch_sub(1, std::memory_order_acq_rel);
    if ((old & 0x8000'0000U) != 0) [[unlikely]] {
      count.store(0xc000'0000U, std::memory_order_relaxed);
      return false;
    }
    return old == 1;
  }
};

template <class S>
struct alignas(64) counter_of {
  sub::mutex<S> mutex{"counter"};
  sub::var<S, std::uint64_t> value{0};  // guarded by mutex
  void pair() {
    const typename S::frame here("increment");
    mutex.lock();
    S::set(value, S::get(value) + 1);
    mutex.unlock();
    S::progress();
  }
};
struct alignas(64) counter_by_hand {
  std::mutex mutex;
  std::uint64_t value = 0;
  void pair() {
    mutex.lock();
    ++value;
    mutex.unlock();
  }
};

}  // namespace faultline::seam

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Reference count of an object: refcount(9).
///
/// A count is taken in two ways. Who owns a reference, or holds the lock under which the object cannot lose its last one,
/// counts up (acquire). Who has found a pointer without a lock owns nothing: the object may be on its way to the allocator.
/// It counts up only from a count that is not zero (acquire_if_not_zero), and that only if the memory still is a count, as
/// in a type-stable zone or under safe memory reclamation. Zero is final: whoever took it there frees the object.
///
/// A count that runs over sticks half way up: the object leaks, and is not freed while it is used.
///
/// Never sleeps, takes no lock.
/// Source: FreeBSD sys/sys/refcount.h, refcount(9); the 2014 form of fget_unlocked.
#include <faultline/core/step.hpp>
#include <faultline/substrate/concept.hpp>

#include <cstdint>

namespace faultline::sync {

inline constexpr step increment_if_not_zero{"refcount.increment-if-not-zero", "F4",
                                            "an object that is being freed is used, and freed a second time"};

template <substrate S>
class refcount {
 public:
  /// \param references  owned by the maker of the object
  explicit refcount(std::uint32_t references) noexcept : count_(references) {}

  /// Makes one reference of the caller's two.
  /// \pre the object cannot lose its last reference meanwhile
  void acquire() {
    // Relaxed: the reference that there is orders what is read of the object.
    const std::uint32_t old = count_.fetch_add(1, std::memory_order_relaxed);
    S::check(old != 0, "refcount: acquired from zero");
    if (saturated(old)) [[unlikely]]
      saturate();
  }

  /// Takes a reference unless the last one is gone.
  /// \pre the memory is a count for as long as this takes, though perhaps of another object: the caller has to look again
  ///      where it found the pointer
  [[nodiscard]] bool acquire_if_not_zero() {
    std::uint32_t old = count_.load(std::memory_order_relaxed);
    for (;;) {
      if (old == 0 && S::keeps(increment_if_not_zero)) return false;
      if (saturated(old)) [[unlikely]]
        return true;
      // (1) acquire, pairs with whatever published the count: the second look at the slot comes after it
      if (count_.compare_exchange_weak(old, old + 1, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    }
  }

  /// Gives a reference back.
  /// \returns whether it was the last: then the caller frees the object
  [[nodiscard]] bool release() {
    // (2) release: what we did with the object comes before its end; acquire, pairs with (2) of all the others, for the
    // one who frees. (The kernel has a release fence here and an acquire fence for the last alone: on x86-64 the same.)
    const std::uint32_t old = count_.fetch_sub(1, std::memory_order_acq_rel);
    S::check(old != 0, "refcount: released below zero");
    if (saturated(old)) [[unlikely]] {
      saturate();
      return false;
    }
    return old == 1;
  }

  /// The count without an order: for checks while nobody else is there, and for reports.
  [[nodiscard]] std::uint32_t peek() const { return S::peek(count_); }

 private:
  [[nodiscard]] static constexpr bool saturated(std::uint32_t count) noexcept {
    return (count & 0x8000'0000U) != 0;
  }
  /// Back to the middle of the upper half, so that it takes 2^30 racing threads to leave it.
  void saturate() { count_.store(0xc000'0000U, std::memory_order_relaxed); }

  sub::atomic<S, std::uint32_t> count_;
};

}  // namespace faultline::sync

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Sequence count: readers of a few words write nothing, and read again if a writer was at work.
///
/// The count is odd while a writer is in. A reader takes the count before and after; if it was even and is the same, what was
/// read between belongs together. Writers exclude each other by a lock of their own.
///
/// The words themselves are read while they may be written, so they are relaxed atomics, which order nothing. All order is
/// in the count, and each half of it has its own way of failing:
///
///   writer                                      reader
///     count = odd             relaxed             before = count        acquire (SQ4)
///     fence                   release (SQ2)       words                 relaxed
///     words                   relaxed             fence                 acquire (SQ1)
///     count = even            release (SQ3)       after = count         relaxed
///
/// (1) SQ3 with SQ4: who sees the even count sees the words before it. (2) SQ2 with SQ1: who has seen one of the new words
/// sees at least the odd count. A reader's second load is no acquire: that would order what comes after it, and it is what
/// came before that must not be late. On amd64 all of it but the compiler's order is free.
///
/// A reader waits for a writer only by spinning in read_begin(); never sleeps.
/// Source: FreeBSD sys/sys/seqc.h; Linux include/linux/seqlock.h; H.-J. Boehm, Can seqlocks get along with programming
/// language memory models?, MSPC 2012.
#include <faultline/core/step.hpp>
#include <faultline/substrate/concept.hpp>

#include <atomic>
#include <cstdint>

namespace faultline::sync {

inline constexpr step seq_read_barrier{"seqcount.read-barrier", "SQ1",
                                       "the count is read again before the words: torn data"};
inline constexpr step seq_write_barrier{"seqcount.write-barrier", "SQ2",
                                        "new words are seen before the odd count: torn data"};
inline constexpr step seq_end_with_release{"seqcount.end-with-release", "SQ3",
                                           "the even count is seen before the new words: torn data"};
inline constexpr step seq_begin_with_acquire{"seqcount.begin-with-acquire", "SQ4",
                                             "the words are read before the even count: torn data"};
inline constexpr step seq_odd_while_written{"seqcount.odd-while-written", "SQ5",
                                            "a reader comes and goes while half is written: torn data"};
inline constexpr step seq_look_again{"seqcount.look-again", "SQ6",
                                     "what a writer wrote meanwhile is mixed in: torn data"};

template <substrate S>
class seqcount {
 public:
  seqcount() : count_(0) { S::name(count_, "seqcount"); }
  seqcount(const seqcount&) = delete;
  seqcount& operator=(const seqcount&) = delete;

  /// Spins while a writer is in.
  /// \returns the count, for read_retry()
  [[nodiscard]] std::uint32_t read_begin() const {
    for (;;) {
      const auto now = count_.load(order<S>(seq_begin_with_acquire, std::memory_order_acquire));  // (1)
      if ((now & 1U) == 0) return now;
      S::relax();
    }
  }

  /// \param begun  what read_begin() returned
  /// \returns whether to throw away what was read since, and begin again
  [[nodiscard]] bool read_retry(std::uint32_t begun) const {
    if (!S::keeps(seq_look_again)) return false;
    if (S::keeps(seq_read_barrier)) S::fence(std::memory_order_acquire);  // (2) pairs with the writer's fence
    return count_.load(std::memory_order_relaxed) != begun;
  }

  /// \pre no other writer is in
  void write_begin() {
    const auto now = count_.load(std::memory_order_relaxed);
    if (S::keeps(seq_odd_while_written)) count_.store(now + 1, std::memory_order_relaxed);
    if (S::keeps(seq_write_barrier)) S::fence(std::memory_order_release);  // (2)
  }
  /// To the next even number.
  void write_end() {
    const auto now = count_.load(std::memory_order_relaxed);
    count_.store((now | 1U) + 1, order<S>(seq_end_with_release, std::memory_order_release));  // (1)
  }

 private:
  sub::atomic<S, std::uint32_t>
      count_;  // odd: a writer is in. Written by one at a time: no read-modify-writes
};

}  // namespace faultline::sync

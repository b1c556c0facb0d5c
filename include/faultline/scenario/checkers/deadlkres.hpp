// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// FreeBSD's deadlkres: a thread that looks, every few seconds, for threads that have slept for too long.
///
/// Virtual time: an execution takes none. When it has ended, the clock of the checker goes on; a wait that nobody ends began at
/// second 0, and scans come at 3, 6, 9, ... The first scan that finds a thread beyond its threshold panics, about that one thread.
///  - blocked on a turnstile (mtx, rw) for more than 900 s;
///  - asleep on a sleepqueue of type sx or lockmgr for more than 1800 s, unless the wait message is blessed;
///  - any other sleep ("range", "vmpfw", "vofflock") is never looked at.
/// Source: FreeBSD sys/kern/kern_clock.c (deadlkres, deadlres_td_on_lock, deadlres_td_sleep_q).
#include <faultline/scenario/checkers/checker.hpp>
#include <faultline/scenario/checkers/lock_class.hpp>

#include <utility>

namespace faultline::scenario::checkers {

class deadlkres final : public checker {
 public:
  /// debug.deadlkres.*: seconds
  struct thresholds {
    std::uint64_t blocked = 900;
    std::uint64_t asleep = 1800;
    std::uint64_t scan = 3;
    std::uint64_t hz = 1000;
  };
  explicit deadlkres(lock_classes table = {}) : deadlkres(std::move(table), thresholds{}) {}
  deadlkres(lock_classes table, const thresholds& t) : table_(std::move(table)), thresholds_(t) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "deadlkres"; }
  [[nodiscard]] checker_result result() const override;

  void begins(std::uint64_t execution) override { execution_ = execution; }
  void ends(const sim::end_event& e) override;

 private:
  lock_classes table_;
  thresholds thresholds_;
  std::uint64_t execution_ = 0;
  checker_result found_{};
  std::string not_looked_at_;  // words of waits for ever that are no waits to it
};

}  // namespace faultline::scenario::checkers

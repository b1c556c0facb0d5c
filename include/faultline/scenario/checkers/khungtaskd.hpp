// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Linux's khungtaskd: reports tasks that were in TASK_UNINTERRUPTIBLE, and not switched to, from one look to the next.
///
/// Virtual time as in deadlkres.hpp: waits begin at second 0, looks come every 120 s. The first look only notes how often a task
/// was switched to, so a hung task is first reported by the second one, at 240 s, as "blocked for more than 120 seconds". Killable
/// waits are never reported; 10 warnings in all, then silence.
///
/// The model's locks stand for their Linux twins (lock_class.hpp): a vnode lock for i_rwsem, a busy page for a locked folio.
/// Source: Linux kernel/hung_task.c (task_is_hung, hung_task_info, debug_show_blocker).
#include <faultline/scenario/checkers/checker.hpp>
#include <faultline/scenario/checkers/lock_class.hpp>

#include <map>
#include <utility>

namespace faultline::scenario::checkers {

class khungtaskd final : public checker {
 public:
  /// kernel.hung_task_*
  struct settings {
    std::uint64_t timeout = 120;  ///< seconds, and the time between two looks; 0: it never looks
    std::uint64_t warnings = 10;
  };
  explicit khungtaskd(lock_classes table = {}) : khungtaskd(std::move(table), settings{}) {}
  khungtaskd(lock_classes table, const settings& s) : table_(std::move(table)), settings_(s) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "khungtaskd"; }
  [[nodiscard]] checker_result result() const override;
  /// Printed until it fell silent.
  [[nodiscard]] std::uint64_t warnings() const noexcept { return warned_; }

  void begins(std::uint64_t execution) override;
  void asks(const sim::lock_event& e) override;
  void tried(const sim::lock_event& e, bool got) override;
  void released(const sim::lock_event& e) override;
  void ends(const sim::end_event& e) override;

 private:
  struct held_lock {
    sim::object_id id;
    std::string line;
  };
  void hold(const sim::lock_event& e);
  [[nodiscard]] std::string all_locks() const;

  lock_classes table_;
  settings settings_;
  std::uint64_t execution_ = 0;
  std::map<sim::task_id, std::string> names_;
  std::map<sim::task_id, std::vector<held_lock>> held_;
  std::uint64_t warned_ = 0;
  checker_result found_{};
  std::string not_looked_at_;
};

}  // namespace faultline::scenario::checkers

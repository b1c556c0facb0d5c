// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Linux's lockdep: proves from what single tasks do that no two tasks can hang on each other, or says how they could.
///
///  - a lock belongs to a class; what is learnt of classes is kept, over all executions of the search;
///  - a sequence of held classes is validated once (the chain cache). A try is not validated, but is held;
///  - two of a class held at a time: "possible recursive locking", but for recursive readers;
///  - a new lock depends on the held ones up to the most recent that was not tried;
///  - a dependency is of types ER, EN, SR, SN: from an exclusive or a shared hold, to a recursive reader or not. A circle is a
///    deadlock only along a strong path, which has no -(*R)-> followed by -(S*)->;
///  - after its first report it is off;
///  - a copy to or from user memory counts as a read of mmap_lock, whether it faults or not (might_fault), unless faults are
///    disabled (here: inside vn_io_fault).
///
/// Not modelled: interrupts, so no usage but in a task with interrupts on, and no check of wait types (n/a).
/// Source: Linux kernel/locking/lockdep.c (5.10 and later), mm/memory.c (__might_fault).
#include <faultline/scenario/checkers/checker.hpp>
#include <faultline/scenario/checkers/lock_class.hpp>

#include <map>
#include <set>
#include <utility>

namespace faultline::scenario::checkers {

class lockdep final : public checker {
 public:
  explicit lockdep(lock_classes table = {}) : table_(std::move(table)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "lockdep"; }
  [[nodiscard]] checker_result result() const override;
  /// Sequences validated so far.
  [[nodiscard]] std::size_t chains() const noexcept { return chains_.size(); }

  void begins(std::uint64_t execution) override;
  void asks(const sim::lock_event& e) override;
  void tried(const sim::lock_event& e, bool got) override;
  void released(const sim::lock_event& e) override;
  void enters(sim::task_id task, const char* task_name, const sim::call_chain& chain) override;

 private:
  /// struct held_lock
  struct held_lock {
    sim::object_id id;
    std::string label;
    std::string name;   ///< of the class
    std::uint8_t read;  ///< 0: exclusive, 1: shared, 2: recursive reader
    bool tried;
    std::string place;
    std::vector<std::string> stack;
  };
  /// The types of dependency seen between two classes, and the first one's stack.
  struct dependency {
    std::uint8_t types = 0;
    std::string held_label;
    std::string label;
    std::vector<std::string> stack;
  };
  struct class_usage {
    bool written = false;
    bool read = false;
    bool spins = false;
  };
  using node = std::pair<std::string, bool>;  // a class, and whether only -(*R)-> leads to it

  [[nodiscard]] held_lock held_of(const sim::lock_event& e, const lock_class& row, bool tried) const;
  void take(sim::task_id task, const char* task_name, held_lock lock);
  [[nodiscard]] bool validate(sim::task_id task, const char* task_name, const held_lock& next);
  [[nodiscard]] std::vector<std::string> strong_path(const held_lock& next, const held_lock& prev) const;
  void recursive(sim::task_id task, const char* task_name, const held_lock& prev, const held_lock& next);
  void circular(sim::task_id task, const char* task_name, const held_lock& prev, const held_lock& next,
                const std::vector<std::string>& path);
  [[nodiscard]] std::string lock_name(const std::string& name) const;
  [[nodiscard]] std::string lock_line(const held_lock& l) const;
  [[nodiscard]] std::string held_lines(sim::task_id task, const char* task_name) const;

  lock_classes table_;
  std::map<std::string, class_usage> usage_;
  std::map<std::pair<std::string, std::string>, dependency> after_;  // (held, wanted)
  std::set<std::string> chains_;
  std::map<sim::task_id, std::vector<held_lock>> held_;
  std::uint64_t execution_ = 0;
  std::string report_;
  std::vector<std::string> objects_;
  std::uint64_t fired_in_ = 0;
  std::set<std::string> invisible_;
};

}  // namespace faultline::scenario::checkers

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// FreeBSD's WITNESS: learns the order of lock *types* and reports the reverse of what it knows.
///
///  - one witness for all locks of a type; what it learns it keeps, over all executions of the search;
///  - a blocking request is checked before it may sleep; a try is not, and teaches nothing, but then is held;
///  - two of a type: compared with the most recently acquired lock only, silent where the type is DUPOK; and nothing else is
///    checked then;
///  - a pair (last held, wanted) that was seen before is not looked at again;
///  - a reversal is checked against every held lock; it is one if the wanted type comes before the held one in what was learnt,
///    or if a sleepable lock is wanted while a non-sleepable one is held. Each pair once;
///  - otherwise one edge is learnt, from the last held lock; the rest is closure;
///  - going to sleep for something that is no lock, with a non-sleepable lock held.
///
/// Not modelled: spin locks and critical sections, Giant, the static order lists, upgrades (the model has none of them).
/// Source: FreeBSD sys/kern/subr_witness.c (witness_checkorder, witness_lock, witness_warn), as of 12.1.
#include <faultline/scenario/checkers/checker.hpp>
#include <faultline/scenario/checkers/lock_class.hpp>

#include <map>
#include <set>
#include <utility>

namespace faultline::scenario::checkers {

class witness final : public checker {
 public:
  explicit witness(lock_classes table = {}) : table_(std::move(table)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "witness"; }
  [[nodiscard]] checker_result result() const override;
  /// All reports, in order: the result shows the first.
  [[nodiscard]] const std::vector<std::string>& reports() const noexcept { return reports_; }
  /// Is `after` below `before` in what was learnt, directly or by closure?
  [[nodiscard]] bool knows(const std::string& before, const std::string& after) const;

  void begins(std::uint64_t execution) override;
  void asks(const sim::lock_event& e) override;
  void acquired(const sim::lock_event& e) override;
  void tried(const sim::lock_event& e, bool got) override;
  void released(const sim::lock_event& e) override;
  void sleeps(const sim::sleep_event& e) override;

 private:
  using pair = std::pair<std::string, std::string>;
  /// struct lock_instance
  struct instance {
    sim::object_id id;
    std::string label;
    std::string type;
    freebsd_primitive primitive;
    bool exclusive;
    std::uint32_t recursed;
    std::string place;
  };
  [[nodiscard]] instance instance_of(const sim::lock_event& e, const lock_class& row) const;
  void hold(const sim::lock_event& e);
  bool recursion(const instance& held, const instance& wanted);
  void duplicate(const instance& last, const instance& wanted, bool dup_ok);
  void reversal(const std::vector<instance>& held, std::size_t at, const instance& wanted);
  void report(std::string text, std::vector<std::string> objects);

  lock_classes table_;
  std::map<std::string, std::set<std::string>> children_;  // by type
  std::set<pair> seen_;                                    // known-order hash: (last held, wanted)
  std::set<pair> reversed_;                                // WITNESS_REVERSAL, both ways
  std::map<sim::task_id, std::vector<instance>> held_;
  std::uint64_t execution_ = 0;
  std::vector<std::string> reports_;
  std::vector<std::string> objects_;  // of the first report
  std::uint64_t first_in_ = 0;
  bool first_is_order_ = false;
  bool panicked_ = false;
  // why silent
  std::string dup_ok_;  // the first duplicate that was let pass
  std::set<std::string> invisible_;
  bool nested_ = false;
};

}  // namespace faultline::scenario::checkers

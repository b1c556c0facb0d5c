// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/sim/confirm.hpp>

#include "engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace faultline::sim {

namespace {

/// Holds back whoever has one of the locks and is about to ask for another one.
class directed final : public strategy {
 public:
  directed(const std::vector<std::string>& objects, std::uint64_t number)
      : objects_(objects), number_(number), state_(number * 0x9e3779b97f4a7c15U + 1) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "directed"; }
  void begin(std::uint64_t /*execution*/) override { let_go_ = there_ = passes_ = 0; }

  [[nodiscard]] task_id choose(const choice_point& at) override {
    task_set held_back = 0;
    task_set patient = 0;  // spins, or need not end: cannot be waited for
    for (task_set rest = at.enabled; rest != 0; rest &= rest - 1) {
      const auto t = static_cast<task_id>(std::countr_zero(rest));
      if (before_second_lock(t, at.pending[t])) {
        // The pair that hangs need not be the first one that a task comes by: most tries let some pass.
        if ((there_ & only(t)) == 0 && number_ != 0 && random(4) == 0) passes_ |= only(t);
        there_ |= only(t);
        if ((passes_ & only(t)) == 0) held_back |= only(t);
      } else {
        there_ &= ~only(t);
        passes_ &= ~only(t);
      }
      if (at.pending[t].kind == op::relax) patient |= only(t);
    }
    patient |= at.enabled & at.daemons;
    let_go_ &= held_back;
    const task_set others = at.enabled & ~(held_back & ~let_go_);
    if ((others & ~patient) != 0) return one_of(others);
    // Everybody who can act is where it is wanted. Or waits for one of those: each of them, in the end, gets its turn.
    if (held_back == 0 || (patient != 0 && random(4) != 0)) return one_of(others != 0 ? others : at.enabled);
    const auto chosen = one_of(held_back);
    let_go_ |= only(chosen);
    return chosen;
  }
  [[nodiscard]] bool end(const execution_end& /*how*/) override { return false; }

 private:
  [[nodiscard]] bool before_second_lock(task_id t, const operation& o) const {
    if (o.kind != op::lock && o.kind != op::enqueue && o.kind != op::try_lock) return false;
    auto& e = static_cast<engine&>(world::here());
    const auto wanted = e.label(o.first.object);
    if (std::find(objects_.begin(), objects_.end(), wanted) == objects_.end()) return false;
    return std::any_of(objects_.begin(), objects_.end(), [&](const auto& other) {
      return (other != wanted || objects_.size() == 1) && e.holds(t, other);
    });
  }
  [[nodiscard]] std::uint64_t random(std::uint64_t below) {
    auto z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return (((z ^ (z >> 31U)) >> 32U) * below) >> 32U;
  }
  [[nodiscard]] task_id one_of(task_set set) {
    auto skip = random(static_cast<std::uint64_t>(std::popcount(set)));
    while (skip-- != 0) set &= set - 1;
    return static_cast<task_id>(std::countr_zero(set));
  }

  std::vector<std::string> objects_;
  std::uint64_t number_;
  std::uint64_t state_;
  task_set there_ = 0;   ///< about to ask for a second one, since some choices
  task_set passes_ = 0;  ///< of those: not held back this time
  task_set let_go_ = 0;  ///< were held back, and go on into the lock
};

bool hangs_on(const report& r, const std::vector<std::string>& objects) {
  return r.verdict == verdict::deadlock && std::all_of(objects.begin(), objects.end(), [&](const auto& o) {
           return std::find(r.cycle.begin(), r.cycle.end(), o) != r.cycle.end();
         });
}

}  // namespace

confirmation confirm(const std::vector<std::string>& objects, const options& how, const program& p,
                     std::uint64_t tries) {
  confirmation c;
  if (objects.empty()) return c;
  for (; c.executions < tries && !c.confirmed; ++c.executions) {
    if (how.keep_going && !how.keep_going(c.executions)) break;
    options one = how;
    one.strategy = strategy_kind::random;
    one.preemptions.reset();
    one.iterate_bounds = false;
    one.shard = {};
    one.schedule.clear();
    one.keep_going = {};
    one.on_event = {};
    one.observers.clear();
    one.continue_after_deadlock = false;
    one.stop_at_first = true;
    one.steps_max = 0;
    one.executions_max = 1;
    const auto number = c.executions == 0 ? 0 : how.seed * 0x10001U + c.executions;
    one.custom = [&objects, number] { return std::make_unique<directed>(objects, number); };
    auto r = explore(one, p);
    if (hangs_on(r, objects)) {
      c.confirmed = true;
      c.schedule = std::move(r.schedule);
      c.cycle = std::move(r.cycle);
    }
  }
  return c;
}

std::string text_of(const confirmation& c) {
  return c.confirmed
             ? fmt::format("confirmed: schedule {}", c.schedule)
             : fmt::format("unconfirmed in {} execution{}", c.executions, c.executions == 1 ? "" : "s");
}

}  // namespace faultline::sim

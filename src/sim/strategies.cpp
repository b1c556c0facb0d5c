// SPDX-License-Identifier: BSD-2-Clause
#include "strategies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace faultline::sim {

namespace {

constexpr std::uint32_t patience =
    128;  // steps of one task in a row, where priorities would let it go on for ever

}  // namespace

task_id steady(const choice_point& at) {
  if (at.last != no_task && (at.enabled & ~at.daemons & only(at.last)) != 0) return at.last;
  const task_set others = at.enabled & ~at.daemons;
  const task_set tasks = others & ~at.agents;
  return static_cast<task_id>(std::countr_zero(tasks != 0 ? tasks : others != 0 ? others : at.enabled));
}

bool dependent(const operation& a, const operation& b) noexcept {
  const auto meet = [](const object_touch& x, const object_touch& y) {
    return x.object != no_object && x.object == y.object && relate(x, y) != relation::independent;
  };
  return meet(a.first, b.first) || meet(a.first, b.second) || meet(a.second, b.first) ||
         meet(a.second, b.second);
}

// --- pct --------------------------------------------------------------------------------------------------------------

void pct_strategy::begin(std::uint64_t execution) {
  sampling_strategy::begin(execution);
  longest_ = std::max(longest_, steps_);
  steps_ = 0;
  run_ = 0;
  priority_.fill(0);
  lowest_ = std::uint64_t{1} << 32U;
  changes_.clear();
  for (std::uint32_t i = 1; i < depth_; ++i)
    changes_.push_back(static_cast<std::uint32_t>(random_.below(longest_)));
  std::sort(changes_.begin(), changes_.end());
}

task_id pct_strategy::choose(const choice_point& at) {
  const auto to_the_end = [&](task_id t) {
    priority_[t] = --lowest_;
    run_ = 0;
  };
  // Who asks for patience may not keep others from running, nor who never ends.
  const bool patient = at.last != no_task && (at.pending[at.last].kind == op::relax || run_ >= patience);
  if (patient) to_the_end(at.last);
  task_id best = no_task;
  for (task_set rest = at.enabled; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    if (priority_[t] == 0) priority_[t] = (std::uint64_t{1} << 33U) + (random_.next() >> 1U);
    if (best == no_task || priority_[t] > priority_[best]) best = t;
  }
  run_ = best == at.last ? run_ + 1 : 0;
  ++steps_;
  // At a change point the task whose turn it is goes to the end, once this step is done.
  while (!changes_.empty() && changes_.front() < steps_) {
    changes_.erase(changes_.begin());
    to_the_end(best);
  }
  return best;
}

// --- pos --------------------------------------------------------------------------------------------------------------

void pos_strategy::begin(std::uint64_t execution) {
  sampling_strategy::begin(execution);
  priority_.fill(0);
  run_ = 0;
  last_ = no_task;
}

task_id pos_strategy::choose(const choice_point& at) {
  if (last_ != no_task && (at.pending[last_].kind == op::relax || run_ >= patience)) priority_[last_] = 1;
  task_id best = no_task;
  for (task_set rest = at.enabled; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    if (priority_[t] == 0) priority_[t] = 2 + (random_.next() >> 1U);
    if (best == no_task || priority_[t] > priority_[best]) best = t;
  }
  run_ = best == last_ ? run_ + 1 : 0;
  last_ = best;
  for (task_set rest = at.enabled & ~only(best); rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    if (dependent(at.pending[best], at.pending[t])) priority_[t] = 0;
  }
  priority_[best] = 0;
  return best;
}

// --- replay -----------------------------------------------------------------------------------------------------------

task_id replay_strategy::choose(const choice_point& at) {
  if (next_ < choices_.size()) {
    const task_id wanted = choices_[next_++].task;
    if ((at.enabled & only(wanted)) != 0) return wanted;
    if (diverged_.empty()) {
      diverged_ = fmt::format("at step {} task {} cannot run", at.step + 1, wanted);
    }
  } else if (diverged_.empty()) {
    diverged_ = fmt::format("the schedule ends at step {} and the execution goes on", at.step);
  }
  return steady(at);
}

std::uint32_t replay_strategy::pick(std::uint32_t results) {
  if (next_ == 0 || next_ > choices_.size()) return 0;
  const auto wanted = choices_[next_ - 1].pick;
  if (wanted < results) return wanted;
  if (diverged_.empty()) diverged_ = fmt::format("step {} cannot have result {}", next_, wanted);
  return 0;
}

std::string replay_strategy::diverged() const {
  if (diverged_.empty() && next_ < choices_.size()) {
    return fmt::format("the execution ends at step {} of {}", next_, choices_.size());
  }
  return diverged_;
}

}  // namespace faultline::sim

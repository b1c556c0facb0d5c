// SPDX-License-Identifier: BSD-2-Clause
#include "strategies.hpp"

#include <fmt/format.h>

#include <bit>

namespace faultline::sim {

namespace {

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// std::popcount is a call where the baseline instruction set has no such instruction.
constexpr std::uint32_t count(task_set set) {
  set -= (set >> 1U) & 0x55555555U;
  set = (set & 0x33333333U) + ((set >> 2U) & 0x33333333U);
  return (((set + (set >> 4U)) & 0x0f0f0f0fU) * 0x01010101U) >> 24U;
}

/// The task that ran last if it can, else the lowest; daemons only if nobody else can.
task_id steady(const choice_point& at) {
  if (at.last != no_task && (at.enabled & ~at.daemons & only(at.last)) != 0) return at.last;
  const task_set others = at.enabled & ~at.daemons;
  return static_cast<task_id>(std::countr_zero(others != 0 ? others : at.enabled));
}

}  // namespace

void random_strategy::begin(std::uint64_t execution) {
  state_ = mix(seed_ * 0x9e3779b97f4a7c15U + execution + 1);
}

task_id random_strategy::choose(const choice_point& at) {
  const std::uint64_t n = count(at.enabled);
  if (n == 1) return static_cast<task_id>(std::countr_zero(at.enabled));
  state_ += 0x9e3779b97f4a7c15U;
  // Multiply-shift: no distribution of a standard library, whose numbers differ between compilers.
  auto skip = ((mix(state_) >> 32U) * n) >> 32U;
  task_set rest = at.enabled;
  while (skip-- != 0) rest &= rest - 1;
  return static_cast<task_id>(std::countr_zero(rest));
}

task_id replay_strategy::choose(const choice_point& at) {
  if (next_ < choices_.size()) {
    const task_id wanted = choices_[next_++];
    if ((at.enabled & only(wanted)) != 0) return wanted;
    if (diverged_.empty()) {
      diverged_ = fmt::format("at step {} task {} cannot run", at.step + 1, wanted);
    }
  } else if (diverged_.empty()) {
    diverged_ = fmt::format("the schedule ends at step {} and the execution goes on", at.step);
  }
  return steady(at);
}

std::string replay_strategy::diverged() const {
  if (diverged_.empty() && next_ < choices_.size()) {
    return fmt::format("the execution ends at step {} of {}", next_, choices_.size());
  }
  return diverged_;
}

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Every execution of a program, one by one: no reduction, nothing clever. What the explorer is held against.
#include <faultline/sim/strategy.hpp>

#include <bit>
#include <optional>
#include <vector>

namespace faultline::test {

class enumerate final : public sim::strategy {
 public:
  explicit enumerate(std::optional<std::uint32_t> preemptions = {}) : bound_(preemptions) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "enumerate"; }
  void begin(std::uint64_t) override {}

  [[nodiscard]] sim::task_id choose(const sim::choice_point& at) override {
    if (at.step == stack_.size()) {
      level l;
      const bool free = at.last == sim::no_task || (at.enabled & sim::only(at.last)) == 0;
      const std::uint32_t spent = at.step == 0 ? 0 : stack_.back().spent_with_choice();
      for (sim::task_set rest = at.enabled; rest != 0; rest &= rest - 1) {
        const auto t = static_cast<sim::task_id>(std::countr_zero(rest));
        const std::uint32_t cost = spent + (free || t == at.last ? 0U : 1U);
        if (!bound_ || cost <= *bound_) l.options.push_back({t, cost});
      }
      stack_.push_back(l);
    }
    return stack_[at.step].options[stack_[at.step].at].task;
  }

  [[nodiscard]] bool end(const sim::execution_end&) override {
    while (!stack_.empty() && ++stack_.back().at == stack_.back().options.size()) stack_.pop_back();
    return !stack_.empty();
  }

 private:
  struct option {
    sim::task_id task;
    std::uint32_t spent;
  };
  struct level {
    std::vector<option> options;
    std::size_t at = 0;
    [[nodiscard]] std::uint32_t spent_with_choice() const { return options[at].spent; }
  };
  std::optional<std::uint32_t> bound_;
  std::vector<level> stack_;
};

}  // namespace faultline::test

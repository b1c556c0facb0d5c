// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The shipped strategies but for the exhaustive one.
#include <faultline/sim/strategy.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace faultline::sim {

/// Each enabled task with the same chance.
class random_strategy final : public strategy {
 public:
  random_strategy(std::uint64_t seed, std::uint64_t executions) : seed_(seed), left_(executions) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "random"; }
  void begin(std::uint64_t execution) override;
  [[nodiscard]] task_id choose(const choice_point& at) override;
  [[nodiscard]] bool end(const execution_end&) override { return --left_ != 0; }

 private:
  std::uint64_t seed_;
  std::uint64_t left_;
  std::uint64_t state_ = 0;
};

/// Choices as recorded. Where one cannot be made, it says so once and goes on with the task that ran last.
class replay_strategy final : public strategy {
 public:
  explicit replay_strategy(std::vector<task_id> choices) : choices_(std::move(choices)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "replay"; }
  void begin(std::uint64_t) override { next_ = 0; }
  [[nodiscard]] task_id choose(const choice_point& at) override;
  [[nodiscard]] bool end(const execution_end&) override { return false; }
  /// Empty if every choice could be made and none was missing.
  [[nodiscard]] std::string diverged() const;

 private:
  std::vector<task_id> choices_;
  std::size_t next_ = 0;
  std::string diverged_;
};

}  // namespace faultline::sim

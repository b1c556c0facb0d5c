// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The shipped strategies but for the exhaustive one.
#include <faultline/sim/strategy.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace faultline::sim {

/// Random numbers that are the same with every compiler and library.
class splitmix {
 public:
  void seed(std::uint64_t seed, std::uint64_t execution) noexcept;
  [[nodiscard]] std::uint64_t next() noexcept;
  /// Less than `n`, which is at least 1.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) noexcept;

 private:
  std::uint64_t state_ = 0;
};

/// What strategies of independent executions share: the executions' numbers, and one random result for each pick.
class sampling_strategy : public strategy {
 public:
  /// \param first, stride  executions first, first + stride, ... of the seed: a shard's
  sampling_strategy(std::uint64_t seed, std::uint64_t first, std::uint64_t stride)
      : seed_(seed), next_(first), stride_(stride) {}
  void begin(std::uint64_t) override {
    random_.seed(seed_, next_);
    next_ += stride_;
  }
  [[nodiscard]] std::uint32_t pick(std::uint32_t results) override {
    return static_cast<std::uint32_t>(random_.below(results));
  }
  [[nodiscard]] bool follows_steps() const noexcept final { return false; }
  [[nodiscard]] bool end(const execution_end&) override { return true; }

 protected:
  splitmix random_;

 private:
  std::uint64_t seed_;
  std::uint64_t next_;
  std::uint64_t stride_;
};

/// Each enabled task with the same chance. Fair: with probability 1 everybody gets a turn.
class random_strategy final : public sampling_strategy {
 public:
  using sampling_strategy::sampling_strategy;
  [[nodiscard]] std::string_view name() const noexcept override { return "random"; }
  [[nodiscard]] task_id choose(const choice_point& at) override;
};

/// A task of the highest priority runs, until one of `depth` - 1 steps drawn beforehand puts it at the end; finds a bug that
/// needs `depth` ordering constraints with a chance of 1 in n * k^(depth - 1) at least. The number k of steps is that of the
/// longest execution so far. Fair: a task that asks for patience (relax) or has run for long goes to the end as well.
class pct_strategy final : public sampling_strategy {
 public:
  pct_strategy(std::uint64_t seed, std::uint64_t first, std::uint64_t stride, std::uint32_t depth)
      : sampling_strategy(seed, first, stride), depth_(depth) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "pct"; }
  void begin(std::uint64_t execution) override;
  [[nodiscard]] task_id choose(const choice_point& at) override;

 private:
  std::uint32_t depth_;
  std::uint32_t longest_ = 8;
  std::uint32_t steps_ = 0;
  std::uint32_t run_ = 0;  ///< of the task that runs, in a row
  std::uint64_t lowest_ = 0;
  std::vector<std::uint32_t> changes_;               ///< steps, ascending
  std::array<std::uint64_t, tasks_max> priority_{};  ///< 0: not drawn yet
};

/// Partial order sampling: each announced operation has a random priority; once one is done, those that depend on it are drawn
/// anew. So each of two operations that race is as likely to be the first, however far apart they are.
class pos_strategy final : public sampling_strategy {
 public:
  using sampling_strategy::sampling_strategy;
  [[nodiscard]] std::string_view name() const noexcept override { return "pos"; }
  void begin(std::uint64_t execution) override;
  [[nodiscard]] task_id choose(const choice_point& at) override;

 private:
  std::uint32_t run_ = 0;
  task_id last_ = no_task;
  std::array<std::uint64_t, tasks_max> priority_{};  ///< 0: to be drawn
};

/// Choices as recorded. Where one cannot be made, it says so once and goes on with the task that ran last.
class replay_strategy final : public strategy {
 public:
  explicit replay_strategy(std::vector<choice> choices) : choices_(std::move(choices)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "replay"; }
  void begin(std::uint64_t) override { next_ = 0; }
  [[nodiscard]] bool follows_steps() const noexcept override { return false; }
  [[nodiscard]] task_id choose(const choice_point& at) override;
  [[nodiscard]] std::uint32_t pick(std::uint32_t results) override;
  [[nodiscard]] bool end(const execution_end&) override { return false; }
  /// Empty if every choice could be made and none was missing.
  [[nodiscard]] std::string diverged() const;

 private:
  std::vector<choice> choices_;
  std::size_t next_ = 0;
  std::string diverged_;
};

/// The task that ran last if it can, else the lowest; daemons and timers only if nobody else can.
[[nodiscard]] task_id steady(const choice_point& at);

/// Does what one of the two operations does depend on which of them comes first?
[[nodiscard]] bool dependent(const operation& a, const operation& b) noexcept;

}  // namespace faultline::sim

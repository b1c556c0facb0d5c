// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The shipped strategies but for the exhaustive one.
#include <faultline/sim/strategy.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace faultline::sim {

/// Random numbers that are the same with every compiler and library.
class splitmix {
 public:
  void seed(std::uint64_t seed, std::uint64_t execution) noexcept {
    state_ = mix(seed * golden + execution + 1);
  }
  [[nodiscard]] std::uint64_t next() noexcept { return mix(state_ += golden); }
  /// Less than `n`, which is at least 1. Multiply-shift: no distribution of a standard library, whose numbers differ between
  /// compilers.
  [[nodiscard]] std::uint64_t below(std::uint64_t n) noexcept { return ((next() >> 32U) * n) >> 32U; }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  static constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

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
  /// \pre `enabled` is not empty
  [[nodiscard]] task_id any_of(task_set enabled) noexcept {
    const task_set others = enabled & (enabled - 1);
    if (others == 0) return static_cast<task_id>(std::countr_zero(enabled));
    const std::uint32_t n = 1 + count(others);
    const auto skip = random_.below(n);
    for (std::uint32_t i = 0; i + 1 < n; ++i) {  // n can be predicted, skip cannot
      enabled &= i < skip ? enabled - 1 : enabled;
    }
    return static_cast<task_id>(std::countr_zero(enabled));
  }
  [[nodiscard]] task_id choose(const choice_point& at) override { return any_of(at.enabled); }

 private:
  /// std::popcount is a call where the baseline instruction set has no such instruction.
  static constexpr std::uint32_t count(task_set set) noexcept {
    set -= (set >> 1U) & 0x55555555U;
    set = (set & 0x33333333U) + ((set >> 2U) & 0x33333333U);
    return (((set + (set >> 4U)) & 0x0f0f0f0fU) * 0x01010101U) >> 24U;
  }
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

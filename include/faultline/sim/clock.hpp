// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Vector clocks over the tasks of one execution.
#include <faultline/sim/operation.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace faultline::sim {

/// One component a task, and one, under `weak`, that numbers the latest seq_cst fence known. The components at and past the
/// `tasks` that a function is given are 0, in all clocks of a search.
class vector_clock {
 public:
  [[nodiscard]] std::uint32_t operator[](task_id t) const noexcept { return at_[t]; }
  [[nodiscard]] std::uint32_t& operator[](task_id t) noexcept { return at_[t]; }
  [[nodiscard]] std::uint32_t fence() const noexcept { return fence_; }
  void set_fence(std::uint32_t number) noexcept { fence_ = number; }

  /// Componentwise maximum.
  void join(const vector_clock& other, std::uint32_t tasks) noexcept {
    in_fours(tasks, [&](std::uint32_t t) { at_[t] = std::max(at_[t], other.at_[t]); });
    fence_ = std::max(fence_, other.fence_);
  }
  void assign(const vector_clock& other, std::uint32_t tasks) noexcept {
    in_fours(tasks, [&](std::uint32_t t) { at_[t] = other.at_[t]; });
    fence_ = other.fence_;
  }
  void clear(std::uint32_t tasks) noexcept {
    in_fours(tasks, [&](std::uint32_t t) { at_[t] = 0; });
    fence_ = 0;
  }

 private:
  /// Most programs have at most four tasks: without a loop then, and without a call of memcpy().
  template <class F>
  static void in_fours(std::uint32_t tasks, F&& f) noexcept {
    static_assert(tasks_max % 4 == 0);
    std::uint32_t t = 0;
    do {
      f(t);
      f(t + 1);
      f(t + 2);
      f(t + 3);
      t += 4;
    } while (t < tasks);
  }

  std::array<std::uint32_t, tasks_max> at_{};
  std::uint32_t fence_ = 0;
};

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Vector clocks over the tasks of one execution.
#include <faultline/sim/operation.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace faultline::sim {

/// One component a task, and one, under `weak`, that numbers the latest seq_cst fence known. The components at and past the
/// `tasks` that a function is given are 0, in all clocks of a search.
class vector_clock {
 public:
  [[nodiscard]] std::uint32_t operator[](task_id t) const noexcept { return at_[t]; }
  [[nodiscard]] std::uint32_t& operator[](task_id t) noexcept { return at_[t]; }
  [[nodiscard]] std::uint32_t fence() const noexcept { return fence_; }
  void set_fence(std::uint32_t number) noexcept { fence_ = number; }

  /// Componentwise maximum. \pre all are less than 2^31: executions are not that long
  void join(const vector_clock& other, std::uint32_t tasks) noexcept {
    in_fours(tasks, [&](std::uint32_t t) {
      const four mine = load(t);
      const four others = other.load(t);
      store(t, mine > others ? mine : others);
    });
    fence_ = std::max(fence_, other.fence_);
  }
  void assign(const vector_clock& other, std::uint32_t tasks) noexcept {
    in_fours(tasks, [&](std::uint32_t t) { store(t, other.load(t)); });
    fence_ = other.fence_;
  }
  void clear(std::uint32_t tasks) noexcept {
    in_fours(tasks, [&](std::uint32_t t) { store(t, four{}); });
    fence_ = 0;
  }

 private:
  // Four components at a time: most programs have no more tasks, and need no loop and no call of memcpy() then.
  using four [[gnu::vector_size(16)]] = std::int32_t;
  static_assert(tasks_max % 4 == 0);

  template <class F>
  static void in_fours(std::uint32_t tasks, F&& f) noexcept {
    std::uint32_t t = 0;
    do {
      f(t);
      t += 4;
    } while (t < tasks);
  }
  [[nodiscard]] four load(std::uint32_t t) const noexcept {
    four result;
    std::memcpy(&result, at_.data() + t, sizeof result);
    return result;
  }
  void store(std::uint32_t t, four value) noexcept { std::memcpy(at_.data() + t, &value, sizeof value); }

  std::array<std::uint32_t, tasks_max> at_{};
  std::uint32_t fence_ = 0;
};

}  // namespace faultline::sim

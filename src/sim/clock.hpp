// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Vector clocks over the tasks of one execution.
#include <faultline/sim/operation.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace faultline::sim {

class vector_clock {
 public:
  [[nodiscard]] std::uint32_t operator[](task_id t) const noexcept { return at_[t]; }
  [[nodiscard]] std::uint32_t& operator[](task_id t) noexcept { return at_[t]; }
  /// Componentwise maximum over the first `tasks` components; the others are 0 in both.
  void join(const vector_clock& other, std::uint32_t tasks) noexcept {
    for (std::uint32_t t = 0; t < tasks; ++t) at_[t] = std::max(at_[t], other.at_[t]);
  }
  void assign(const vector_clock& other, std::uint32_t tasks) noexcept {
    std::copy_n(other.at_.begin(), tasks, at_.begin());
  }
  void clear(std::uint32_t tasks) noexcept { std::fill_n(at_.begin(), tasks, 0U); }

 private:
  std::array<std::uint32_t, tasks_max> at_{};
};

}  // namespace faultline::sim

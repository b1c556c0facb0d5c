// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Executions of a program under one strategy after the other, and what they came to.
#include "dpor.hpp"
#include "engine.hpp"

#include <faultline/sim/explore.hpp>

#include <array>
#include <chrono>
#include <string>

namespace faultline::sim {

class search {
 public:
  search(const options& how, const program& p);

  /// Runs executions until the strategy wants no more, or a bound or a defect ends the search.
  /// \param steps  at most about so many in this call; 0: no bound but that of the options
  void run(strategy& s, std::uint64_t steps = 0);
  /// Whether the options' bounds, a defect or the user ended it.
  [[nodiscard]] bool stopped() const noexcept { return !bound_.empty(); }
  /// Whether the latest run() ended because its own `steps` were used up.
  [[nodiscard]] bool out_of_steps() const noexcept { return out_of_steps_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return report_.steps; }
  [[nodiscard]] const report& so_far() const noexcept { return report_; }

  /// \param last  the strategy whose coverage counts
  /// \param covers  whether such a strategy can cover everything
  [[nodiscard]] report finish(const strategy& last, bool covers);

 private:
  void account(bool more);
  void check_determinism();
  [[nodiscard]] std::string why_no_proof(const strategy& last, bool covers) const;

  const options& how_;
  report report_;
  engine engine_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t executions_max_;
  std::uint64_t ran_ = 0;         ///< executions that were not pruned
  std::uint64_t check_next_ = 1;  ///< which of them is run again
  std::string bound_;             ///< why the search ended early; empty: it did not
  bool out_of_steps_ = false;
  bool described_ = false;
  bool cut_short_ = false;
  bool daemon_left_ = false;
  std::array<std::uint64_t, static_cast<std::size_t>(verdict::budget) + 1> by_verdict_{};
};

}  // namespace faultline::sim

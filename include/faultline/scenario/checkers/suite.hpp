// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// All checkers beside one search, and faultline's own detector as the one that misses nothing.
#include <faultline/scenario/checkers/deadlkres.hpp>
#include <faultline/scenario/checkers/khungtaskd.hpp>
#include <faultline/scenario/checkers/lockdep.hpp>
#include <faultline/scenario/checkers/witness.hpp>
#include <faultline/sim/confirm.hpp>
#include <faultline/sim/explore.hpp>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::scenario::checkers {

/// Names of the results, in their order.
inline constexpr std::array<std::string_view, 5> names{"witness", "lockdep", "deadlkres", "khungtaskd",
                                                       "wait-for-graph"};

class suite {
 public:
  explicit suite(const lock_classes& table = {})
      : witness_(table), lockdep_(table), deadlkres_(table), khungtaskd_(table) {}

  /// A search with the checkers of lock order listening. If a defect is found, its execution is run again and goes on until nobody
  /// can: of that one, those that measure time are told.
  /// \param how  its observers are told too
  [[nodiscard]] sim::report explore(sim::options how, const sim::program& p);
  /// What each of `names` says. \param r  the report of explore()
  [[nodiscard]] std::vector<checker_result> results(const sim::report& r) const;

 private:
  witness witness_;
  lockdep lockdep_;
  deadlkres deadlkres_;
  khungtaskd khungtaskd_;
};

/// Tries to confirm each potential deadlock (order reversals of `r`, reports about lock order in `results`) by directed executions,
/// and says in their texts what came of it. Nothing is run where the search has covered everything, nor for what is the cycle of
/// the defect itself.
/// \param shown  how a schedule is written: "confirmed: schedule " and this
void confirm_all(sim::report& r, std::vector<checker_result>& results, const sim::options& how,
                 const sim::program& p, const std::function<std::string(const std::string&)>& shown);

}  // namespace faultline::scenario::checkers

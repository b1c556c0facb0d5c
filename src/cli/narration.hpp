// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// One execution, step by step, tasks side by side.
#include <faultline/sim/explore.hpp>

#include <string>
#include <vector>

namespace faultline::cli {

/// An execution that was watched.
struct watched {
  sim::report report;
  std::vector<std::string> tasks;       ///< names, in order of creation
  std::vector<sim::trace_event> steps;  ///< numbered from 1, as in reports
};
/// \errors as sim::replay()
[[nodiscard]] watched watch(std::string_view schedule, const sim::program& p, const sim::options& how);

/// A column for each task; one line for each step where there are too many tasks for that.
[[nodiscard]] std::string narration_of(const watched& w);

}  // namespace faultline::cli

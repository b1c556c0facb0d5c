// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// An execution for a trace viewer (Perfetto, chrome://tracing).
#include <faultline/sim/report.hpp>

#include <string>
#include <vector>

namespace faultline::cli {

/// JSON in the Trace Event Format: a track for each task, an event of 1 us for each step, calls as the events around them.
[[nodiscard]] std::string chrome_trace(const std::vector<std::string>& tasks,
                                       const std::vector<sim::trace_event>& steps);

}  // namespace faultline::cli

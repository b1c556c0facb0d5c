// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Wait-for graph of a defect, or order graph of the reversals, for Graphviz.
#include <faultline/sim/report.hpp>

#include <string>
#include <string_view>

namespace faultline::cli {

/// Always a graph: one that says so where nobody waits and no order is reversed.
[[nodiscard]] std::string dot_of(const sim::report& r, std::string_view title);

}  // namespace faultline::cli

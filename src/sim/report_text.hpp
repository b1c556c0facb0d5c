// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Parts of a report as the command line prints them. Each ends with a newline, or is empty.
#include <faultline/sim/report.hpp>

#include <string>
#include <vector>

namespace faultline::sim {

/// The wait cycle, and for each task where it stands, what it holds that others want, what it waits for and who has it.
/// Empty without a defect.
[[nodiscard]] std::string defect_text(const report& r);
/// What was looked at, and whether that was everything: two lines.
[[nodiscard]] std::string coverage_text(const report& r);
/// What is worth knowing beside the verdict, explained.
[[nodiscard]] std::string findings_text(const report& r);
/// "write(f0) › uiomove › vm_fault"
[[nodiscard]] std::string chain_text(const std::vector<std::string>& chain);

}  // namespace faultline::sim

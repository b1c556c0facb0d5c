// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What explore and merge say of a search, as text. Each ends with a newline, or is empty.
#include "recording.hpp"

#include <faultline/scenario/scenario.hpp>

#include <string>

namespace faultline::cli {

[[nodiscard]] std::string verdict_line(const sim::report& r, const scenario::expectation* expected);
/// How the executions ended, where several ended badly.
[[nodiscard]] std::string ends_text(const sim::report& r);
/// Load-bearing steps that executions came by, and omissions that none came by.
[[nodiscard]] std::string steps_text(const recording& run, const sim::report& r);
/// What explore --save writes.
[[nodiscard]] std::string saved_text(const recording& run, const sim::report& r);
/// Coverage, defect, findings, observations, steps, with blank lines between.
[[nodiscard]] std::string search_text(const recording& run, const sim::report& r);

}  // namespace faultline::cli

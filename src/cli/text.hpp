// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What explore, replay, verify and demo print alike.
#include "recording.hpp"

#include <faultline/sim/report.hpp>

#include <string>
#include <string_view>

namespace faultline::cli {

/// "vn-io-fault/crossed-write: io=vnode-locked, vnode=shared; without V1 (...)"
[[nodiscard]] std::string headline(const recording& r, std::string_view remark = {});
/// "a=1, b=2" of the reported execution, or how the clean executions ended. Ends with a newline, or is empty.
[[nodiscard]] std::string observations_text(const sim::report& r);
/// The command that shows the execution again.
[[nodiscard]] std::string replay_command(const std::string& program, std::string_view source);
/// Every line of `text` moved to the right; empty lines stay empty.
[[nodiscard]] std::string indented(std::string_view text, std::size_t by);
/// As many columns as a terminal uses for UTF-8 text of single-width characters.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;

}  // namespace faultline::cli

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Schedules as text.
#include <faultline/sim/operation.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::sim {

/// Choices as text, run-length coded: "0*3.1=2.0~" is three steps of task 0, one of task 1 with its result 2 (a load that sees
/// the third newest store), one of the agent of task 0.
[[nodiscard]] std::string encode(const std::vector<choice>& choices, task_set agents);
/// \errors throws std::invalid_argument with the offending part
[[nodiscard]] std::vector<choice> decode(std::string_view text);

/// A schedule as reports print it: choices, and the hash of what happened ("0*3.1@0123456789abcdef").
struct parsed_schedule {
  std::vector<choice> choices;
  std::optional<std::uint64_t> hash;
};
/// \errors throws std::invalid_argument with the offending part
[[nodiscard]] parsed_schedule parse_schedule(std::string_view text);

}  // namespace faultline::sim

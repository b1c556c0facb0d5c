// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// From names on the command line to what they name. Each unknown name is a usage_error that lists the valid ones.
#include <faultline/scenario/scenario.hpp>

#include "scenario/suggest.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::cli {

using scenario::unknown;

[[nodiscard]] const scenario::scenario& scenario_named(std::string_view name);
/// \param items  "AXIS=P", or "P" of the scenario's own axis
/// \returns the axes named
[[nodiscard]] scenario::policies policies_named(const scenario::scenario& s,
                                                std::span<const std::string> items);
/// Each once, in the order given.
[[nodiscard]] std::vector<const step*> steps_named(std::span<const std::string> names);
[[nodiscard]] sim::granularity granularity_named(std::string_view name);
[[nodiscard]] sim::strategy_kind strategy_named(std::string_view name);
[[nodiscard]] sim::memory_model memory_named(std::string_view name);
[[nodiscard]] sim::processors processors_named(std::string_view name);
[[nodiscard]] sim::timers timers_named(std::string_view name);

/// "io=vnode-locked, vnode=shared"
[[nodiscard]] std::string text_of(const scenario::policies& chosen, std::string_view between = ", ");

}  // namespace faultline::cli

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What to say of a name that is none of the valid ones.
#include <span>
#include <string>
#include <string_view>

namespace faultline::scenario {

/// The valid name that `given` was probably meant to be; empty if none is near.
[[nodiscard]] std::string_view nearest(std::string_view given, std::span<const std::string_view> valid);
/// `unknown scenario "x"; did you mean y? There are: y, z`
[[nodiscard]] std::string unknown(std::string_view kind, std::string_view given,
                                  std::span<const std::string_view> valid);

}  // namespace faultline::scenario

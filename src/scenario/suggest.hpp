// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What to say of a name that is none of the valid ones.
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::scenario {

/// The valid name that `given` was probably meant to be; empty if none is near.
[[nodiscard]] std::string_view nearest(std::string_view given, std::span<const std::string_view> valid);
/// `unknown scenario "x"; did you mean y? There are: y, z`
[[nodiscard]] std::string unknown(std::string_view kind, std::string_view given,
                                  std::span<const std::string_view> valid);

/// The valid names, of things that have one. \param name  a member, or a function of an entry
template <class Range, class Name>
[[nodiscard]] std::vector<std::string_view> names_of(const Range& range, Name&& name) {
  std::vector<std::string_view> out;
  out.reserve(std::size(range));
  for (const auto& entry : range) out.emplace_back(std::invoke(name, entry));
  return out;
}

}  // namespace faultline::scenario

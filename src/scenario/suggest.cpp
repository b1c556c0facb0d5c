// SPDX-License-Identifier: BSD-2-Clause
#include "scenario/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace faultline::scenario {

namespace {

/// Levenshtein's: insertions, deletions and replacements that make `b` of `a`.
/// Letters count without their case.
std::size_t distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t k = 0; k < b.size(); ++k) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[k]) ? 0 : 1);
      diagonal = std::exchange(row[k + 1], std::min({row[k + 1] + 1, row[k] + 1, replaced}));
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view given, std::span<const std::string_view> valid) {
  std::string_view best;
  // Two short names are near each other without being meant for each other.
  std::size_t best_distance = given.size() < 4 ? 1 : std::max<std::size_t>(2, given.size() / 3) + 1;
  if (given.empty()) return best;
  for (const auto name : valid) {
    // The last part of a name with slashes or dots is what people remember.
    const auto cut = name.find_last_of("/.");
    const auto tail = cut == std::string_view::npos ? name : name.substr(cut + 1);
    const auto d = std::min(distance(given, name), distance(given, tail));
    if (d < best_distance) {
      best = name;
      best_distance = d;
    }
  }
  return best;
}

std::string unknown(std::string_view kind, std::string_view given, std::span<const std::string_view> valid) {
  std::string out = fmt::format("unknown {} \"{}\"", kind, given);
  if (const auto near = nearest(given, valid); !near.empty()) out += fmt::format("; did you mean {}?", near);
  return out + (out.back() == '?' ? " There are: " : "; there are: ") +
         fmt::format("{}", fmt::join(valid, ", "));
}

}  // namespace faultline::scenario

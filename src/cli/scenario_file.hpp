// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The scenario that a word of the command line means: a shipped one by its name, or one's own by its file.
#include <faultline/scenario/scenario.hpp>

#include <string>
#include <string_view>

namespace faultline::cli {

struct chosen_scenario {
  const scenario::scenario* what = nullptr;
  std::string path{};         ///< of the file; empty: a shipped scenario
  std::string fingerprint{};  ///< of the file's text
};

/// The whole text of a file. \errors usage_error: cannot be read, too long
[[nodiscard]] std::string text_of_file(const std::string& path, std::size_t bytes_max, std::string_view what);

/// A word that ends in .scn or names a file is a file's path, unless a scenario has that name.
/// \errors usage_error: no such scenario, or the file is wrong ("FILE:LINE:COLUMN: ...")
[[nodiscard]] chosen_scenario scenario_or_file(std::string_view word);
[[nodiscard]] chosen_scenario scenario_from_file(const std::string& path);

}  // namespace faultline::cli

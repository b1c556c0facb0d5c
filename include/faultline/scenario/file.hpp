// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Scenarios as text files: docs/scenario-files.md is the guide to the language.
#include <faultline/scenario/scenario.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace faultline::scenario {

/// A scenario file is wrong. what() is one line: "FILE:LINE:COLUMN: what is wrong; what would be right".
class file_error : public std::runtime_error {
 public:
  file_error(const std::string& file, std::size_t at_line, std::size_t at_column, const std::string& what)
      : std::runtime_error(file + ':' + std::to_string(at_line) + ':' + std::to_string(at_column) + ": " +
                           what),
        line(at_line),
        column(at_column) {}

  std::size_t line;    ///< from 1
  std::size_t column;  ///< from 1, in bytes
};

/// Largest file that is read, bytes.
inline constexpr std::size_t file_bytes_max = std::size_t{1} << 20U;

/// The scenario that a file's text describes. Everything in it is checked here: its program never fails for a reason that
/// the text gives, and ends: it has no loops, and at most 32 tasks of at most 1,000 calls.
/// \param origin  name of the file, for errors
/// \errors throws file_error at the first thing that is wrong
[[nodiscard]] scenario parse(std::string_view text, const std::string& origin);

}  // namespace faultline::scenario

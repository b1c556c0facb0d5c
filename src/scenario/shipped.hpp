// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The scenario files of docs/scenarios, as they were when the library was built.
#include <span>
#include <string_view>

namespace faultline::scenario {

struct shipped_file {
  std::string_view name;  ///< "crossed-write.scn"
  std::string_view text;
};

/// Sorted by name.
[[nodiscard]] std::span<const shipped_file> shipped_files();

}  // namespace faultline::scenario

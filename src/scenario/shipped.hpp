// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The files of docs/scenarios and docs/litmus, as they were when the library was built.
#include <span>
#include <string_view>

namespace faultline::scenario {

struct shipped_file {
  std::string_view name;  ///< "crossed-write.scn"
  std::string_view text;
};

/// The scenario files, sorted by name.
[[nodiscard]] std::span<const shipped_file> shipped_files();
/// expected.txt, then the litmus tests, sorted by name.
[[nodiscard]] std::span<const shipped_file> shipped_litmus_files();

}  // namespace faultline::scenario

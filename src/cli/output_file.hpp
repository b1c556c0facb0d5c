// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Files the user asked for: whole or not at all.
#include <string>
#include <string_view>

namespace faultline::cli {

/// \errors usage_error if a file could not be written there; nothing is left behind either way
void check_writable(const std::string& path);
/// Writes beside `path` and renames. Devices and pipes are written to as they are.
/// \errors usage_error; what was at `path` is then unchanged
void write_whole(const std::string& path, std::string_view text);

}  // namespace faultline::cli

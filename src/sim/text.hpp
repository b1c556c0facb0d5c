// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Call chains as text.
#include <faultline/sim/lock_state.hpp>

#include <string>
#include <vector>

namespace faultline::sim {

/// "write(f0)", "uiomove", ...: outermost first.
[[nodiscard]] inline std::vector<std::string> lines(const call_chain& chain) {
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < chain.depth && i < call_chain::depth_max; ++i) {
    std::string line = chain.frames[i].function;
    if (chain.frames[i].object[0] != '\0') line += std::string("(") + chain.frames[i].object + ")";
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace faultline::sim

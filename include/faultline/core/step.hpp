// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A load-bearing step: a part of a mechanism that exists to prevent one bug, named where it stands.
#include <string_view>

namespace faultline {

/// Identity is the address: declare each step once, as an `inline constexpr` object of its mechanism's header.
struct step {
  std::string_view name;    ///< "vn-io-fault.disable-faults"
  std::string_view id;      ///< short id used on the command line: "V1"
  std::string_view defect;  ///< what its omission brings about
};

}  // namespace faultline

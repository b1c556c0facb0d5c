// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What the kernels' checkers say, as text and as JSON.
#include <faultline/scenario/checkers/checker.hpp>

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace faultline::cli {

/// A section for each checker. Ends with a newline.
[[nodiscard]] std::string checkers_text(const std::vector<scenario::checkers::checker_result>& results);
[[nodiscard]] boost::json::array checkers_of(const std::vector<scenario::checkers::checker_result>& results);

}  // namespace faultline::cli

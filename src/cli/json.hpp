// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Reports as JSON. Keys keep their order; each command prints one object on one line.
#include "recording.hpp"

#include <faultline/sim/report.hpp>

#include <boost/json.hpp>

#include <string_view>

namespace faultline::cli {

template <class Range>
[[nodiscard]] boost::json::array array_of(const Range& range) {
  boost::json::array out;
  for (const auto& text : range) out.emplace_back(std::string_view(text));
  return out;
}
[[nodiscard]] boost::json::object object_of(const scenario::policies& chosen);
[[nodiscard]] boost::json::array ids_of(const std::vector<const step*>& steps);
[[nodiscard]] boost::json::array waits_of(const sim::report& r);
[[nodiscard]] boost::json::array findings_of(const sim::report& r);
[[nodiscard]] boost::json::object observations_of(const sim::report& r);
/// A row of the matrix, policies complete.
[[nodiscard]] boost::json::object row_of(const scenario::scenario& s, const scenario::expectation& row);
/// Everything explore says. \param run  what was run; its schedule is the report's
[[nodiscard]] boost::json::object report_of(const recording& run, const sim::report& r,
                                            const scenario::expectation* expected);
void print(const boost::json::object& object);

}  // namespace faultline::cli

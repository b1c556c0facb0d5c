// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// One search in several processes, and reports of shards as JSON.
#include <faultline/sim/explore.hpp>

#include <boost/json.hpp>

#include <cstdint>
#include <functional>

namespace faultline::cli {

/// All of a report, to be put together with those of the other shards.
[[nodiscard]] boost::json::object shard_of(const sim::report& r);
/// \errors throws std::exception with what is missing or of the wrong kind
[[nodiscard]] sim::report report_from(const boost::json::object& shard);

/// The search in `jobs` processes, a shard each; the bounds on executions and steps are divided among them. Where the first
/// defect is enough, the others are ended when one process has found one.
/// \param keep_going  asked now and then; false interrupts all
/// \errors throws std::runtime_error if a process cannot be made or does not come to its end
[[nodiscard]] sim::report explore_in_parallel(const sim::options& how, const sim::program& p,
                                              std::uint32_t jobs,
                                              const std::function<bool(std::uint64_t)>& keep_going);

}  // namespace faultline::cli

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Confirms a potential deadlock: directed executions that hold each task back just before its second lock.
///
/// A reversal says that locks are taken in both orders. Whether tasks can hang on it is shown by an execution that does: a task
/// that holds one of the locks and is about to ask for another waits until nobody else can act; then all of them go on, into each
/// other. Which of the others runs first is random, by the number of the try.
#include <faultline/sim/explore.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace faultline::sim {

struct confirmation {
  bool confirmed = false;
  std::string schedule{};            ///< of the execution that hangs on these objects
  std::vector<std::string> cycle{};  ///< of that execution
  std::uint64_t executions = 0;      ///< directed ones that were run
};

/// \param objects  as a finding names them: "vnode:f0", "vnode:f1"
/// \param how  of the search: all that says what an execution is, the seed and keep_going are taken from it
/// \param tries  executions at most
/// \errors as explore()
[[nodiscard]] confirmation confirm(const std::vector<std::string>& objects, const options& how,
                                   const program& p, std::uint64_t tries = 200);

/// "confirmed: schedule 0*9.1*5@63cb..." or "unconfirmed in 200 executions".
[[nodiscard]] std::string text_of(const confirmation& c);

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What the checkers of kernels have in common here: they listen to a search, and then say what they would have said.
#include <faultline/sim/lock_observer.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::scenario::checkers {

struct checker_result {
  std::string name{};  ///< "witness"
  bool fired = false;
  std::string text{};           ///< the report, in the kernel's layout
  std::uint64_t execution = 0;  ///< in which it fired first, from 1
  /// For those that measure time: when, from the moment the wait began.
  std::optional<std::uint64_t> virtual_seconds{};
  std::string why_silent{};
  std::vector<std::string> objects{};  ///< a potential deadlock: the locks it is about, "vnode:f0"
  /// A potential deadlock, once confirm() was asked: "confirmed: ...", "unconfirmed in ...".
  std::string confirmation{};
};

class checker : public sim::lock_observer {
 public:
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// What it has to say about all executions so far.
  [[nodiscard]] virtual checker_result result() const = 0;
};

}  // namespace faultline::scenario::checkers

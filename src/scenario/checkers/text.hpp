// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Words that the reports share. The model has no addresses and no lines of kernel source: an object is named where the kernel
/// prints its address, and the innermost call where it prints a place.
#include <faultline/sim/lock_observer.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace faultline::scenario::checkers {

/// "vnode:f0", as findings name it; "mutex#3" without a name.
[[nodiscard]] std::string label_of(const sim::lock_name& lock);
/// "vget(f1)"; of an empty chain the task's name.
[[nodiscard]] std::string place_of(const sim::call_chain* chain, std::string_view task_name);
/// Frames, innermost first; of an empty chain the task's name.
[[nodiscard]] std::vector<std::string> stack_of(const sim::call_chain* chain, std::string_view task_name);
/// Is a frame of that name in the chain?
[[nodiscard]] bool in_call(const sim::call_chain* chain, std::string_view function);
/// "T0/1": comm and pid.
[[nodiscard]] std::string task_of(std::string_view task_name, sim::task_id task, char between = '/');
/// A line for each frame, moved to the right.
[[nodiscard]] std::string stack_lines(const std::vector<std::string>& stack, std::size_t by);

/// What the kernel prints for its version.
inline constexpr std::string_view kernel_line = "faultline #1 Not tainted";

}  // namespace faultline::scenario::checkers

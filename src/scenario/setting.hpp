// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What the kernel scenarios share: a kernel with the chosen policies, and how ends are looked at.
#include <faultline/kern/simulated_kernel.hpp>
#include <faultline/scenario/scenario.hpp>

#include <string>
#include <string_view>

namespace faultline::scenario {

using kernel = kern::simulated_kernel;
using thread = kernel::thread;
using process = kernel::process;

/// Explorations use pages of few bytes: what counts is how many there are.
inline constexpr std::size_t page_bytes = 4;

/// A kernel in the execution's arena. `chosen` has a policy for "io", and perhaps for "vnode".
[[nodiscard]] kernel& make_kernel(sim::execution& e, const policies& chosen, std::size_t hold_pages = 16);

/// Observes the contents of a file under its name, and fails if anything is left held.
void observe_file(const kernel& k, std::string_view name);
/// Fails if a page, a lock or paging in progress is left behind. Only where every task has ended.
void expect_nothing_held(const kernel& k);
[[nodiscard]] bool all_finished();

/// "4", or the error's name.
template <class T>
[[nodiscard]] std::string text(const result<T>& r) {
  return r.ok() ? std::to_string(r.value()) : std::string(name_of(r.error()));
}

// The scenarios, a file each.
[[nodiscard]] scenario busy_truncate();
[[nodiscard]] scenario crossed_read();
[[nodiscard]] scenario crossed_write();
[[nodiscard]] scenario crossed_write_two_pages();
[[nodiscard]] scenario self_read();
[[nodiscard]] scenario self_write();
[[nodiscard]] scenario torn_write();

}  // namespace faultline::scenario

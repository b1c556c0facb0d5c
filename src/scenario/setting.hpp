// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What the kernel scenarios share: a kernel with the chosen policies, and how ends are looked at.
#include <faultline/kern/simulated_kernel.hpp>
#include <faultline/scenario/scenario.hpp>

namespace faultline::scenario {

using kernel = kern::simulated_kernel;
using thread = kernel::thread;
using process = kernel::process;

/// A kernel in the execution's arena, with these parameters but for the axes' choices. `chosen` has a policy for "io", and
/// perhaps for "vnode".
[[nodiscard]] kernel& make_kernel(sim::execution& e, const policies& chosen, kern::parameters parameters);

/// Fails if a page, a lock or paging in progress is left behind. Only where every task has ended.
void expect_nothing_held(const kernel& k);
[[nodiscard]] bool all_finished();

}  // namespace faultline::scenario

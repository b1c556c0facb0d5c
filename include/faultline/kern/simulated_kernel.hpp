// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The kernel under the explorer: one instantiation for all scenarios, with policies as values.
#include <faultline/kern/kernel.hpp>
#include <faultline/substrate/simulated.hpp>

namespace faultline::kern {

using simulated_vnode = vfs::vnode<simulated>;
using simulated_io = any_io<simulated, simulated_vnode>;
using simulated_kernel = kernel<simulated, values<simulated>>;

extern template class kernel<simulated, values<simulated>>;

}  // namespace faultline::kern

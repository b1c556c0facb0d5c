// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/kern/simulated_kernel.hpp>

namespace faultline::kern {

template class kernel<simulated, values<simulated>>;

}  // namespace faultline::kern

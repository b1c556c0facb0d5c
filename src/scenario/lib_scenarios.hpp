// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Scenarios that use primitives directly, so that no system call stands for them: a source each.
#include <faultline/scenario/scenario.hpp>

namespace faultline::scenario {

[[nodiscard]] scenario both_orders();
[[nodiscard]] scenario fifo_self();

}  // namespace faultline::scenario

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Scenarios that use primitives directly, so that no system call stands for them: a source each.
#include <faultline/scenario/scenario.hpp>

namespace faultline::scenario {

[[nodiscard]] scenario both_orders();
[[nodiscard]] scenario double_checked_init();
[[nodiscard]] scenario double_checked_lookup();
[[nodiscard]] scenario fifo_self();
[[nodiscard]] scenario flag_before_wait();
[[nodiscard]] scenario philosophers_bystander();
[[nodiscard]] scenario priority_inversion();
[[nodiscard]] scenario seqlock();
[[nodiscard]] scenario treiber_aba();
[[nodiscard]] scenario upgrading_readers();
[[nodiscard]] scenario writer_starvation();

}  // namespace faultline::scenario

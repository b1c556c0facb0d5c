// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Grant rules that the substrate itself needs.
#include <faultline/sim/lock_state.hpp>

namespace faultline::sim {

/// One holder, no order among waiters, no recursion. Asked for exclusively only.
class mutex_rule final : public lock_rule {
 public:
  [[nodiscard]] bool conflicts(const request& held, const request& wish) const override {
    return held.how == access::exclusive || wish.how == access::exclusive;
  }
  [[nodiscard]] bool yields(const request&, bool, const request&) const override { return false; }
  [[nodiscard]] bool announces(const request&) const override { return false; }
};
inline constexpr mutex_rule the_mutex_rule{};

/// Readers share, a writer excludes; readers are not held back by waiting writers (FreeBSD's sx(9) before it had
/// __sx_can_read).
class shared_rule final : public lock_rule {
 public:
  [[nodiscard]] bool conflicts(const request& held, const request& wish) const override {
    return held.how == access::exclusive || wish.how == access::exclusive;
  }
  [[nodiscard]] bool yields(const request&, bool, const request&) const override { return false; }
  [[nodiscard]] bool announces(const request&) const override { return false; }
};
inline constexpr shared_rule the_shared_rule{};

}  // namespace faultline::sim

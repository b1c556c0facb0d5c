// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The smallest sequential model: for tests of the linearizability check.
#include <faultline/sim/linearizable.hpp>

#include <string>
#include <utility>

namespace faultline::test {

/// A register of one number. A write gives what was there before.
struct cell {
  struct call {
    bool writes = false;
    int value = 0;
  };
  using result = int;
  int now = 0;

  result apply(const call& c) { return c.writes ? std::exchange(now, c.value) : now; }
  static std::string text(const call& c) { return c.writes ? "write " + std::to_string(c.value) : "read"; }
  static std::string text(result r) { return std::to_string(r); }
  friend bool operator==(const cell&, const cell&) = default;
};
static_assert(sim::deterministic_model<cell> && sim::sequential_model<cell>);

}  // namespace faultline::test

// SPDX-License-Identifier: BSD-2-Clause
// Circles that a user's fingerprint shows.
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gtest/gtest.h>

#include <array>

namespace faultline::test {
namespace {

using S = simulated;

/// Two polite tasks: each takes its lock and gives it back if it cannot have the other's. They never sleep.
sim::program polite(bool tells_state, bool in_order) {
  return [=](sim::execution& e) {
    struct world {
      S::mutex a{"a"}, b{"b"};
      std::array<int, 2> at{};  // where the tasks are
    };
    auto& w = e.make<world>();
    for (int t = 0; t < 2; ++t) {
      e.spawn(t == 0 ? "T0" : "T1", [&w, t, in_order] {
        auto& first = t == 0 || in_order ? w.a : w.b;
        auto& second = t == 0 || in_order ? w.b : w.a;
        auto& at = w.at[static_cast<std::size_t>(t)];
        for (;;) {
          first.lock();
          at = 1;
          if (second.try_lock()) break;
          at = 2;
          first.unlock();
          at = 0;
        }
        at = 3;
        second.unlock();
        first.unlock();
      });
    }
    if (tells_state) e.fingerprint([&w] { return static_cast<std::uint64_t>(w.at[0] * 4 + w.at[1]); });
  };
}

TEST(Lasso, ACircleOfTryLocksIsALivelock) {
  auto r = sim::explore({}, polite(true, false));
  ASSERT_EQ(r.verdict, sim::verdict::livelock) << r.message;
  EXPECT_NE(r.message.find("came back"), std::string::npos);
  EXPECT_EQ(sim::replay(r.schedule, polite(true, false)).verdict, sim::verdict::livelock);
  // Without it nothing tells the circle from work: the executions are only long.
  r = sim::explore({.executions_max = 50, .steps_per_execution = 200}, polite(false, false));
  EXPECT_EQ(r.by_verdict.count(sim::verdict::livelock), 0U);
  EXPECT_NE(r.truncated, 0U);
}

TEST(Lasso, AnUnfairCircleIsNone) {
  // In one order nobody fails for ever; T1 that only retries while T0 is kept from running is the scheduler's doing.
  const auto r =
      sim::explore({.strategy = sim::strategy_kind::random, .executions_max = 500}, polite(true, true));
  EXPECT_EQ(r.verdict, sim::verdict::clean) << r.message;
}

}  // namespace
}  // namespace faultline::test

// SPDX-License-Identifier: BSD-2-Clause
// Before any test: the explorer must find a lost update, and must replay it to the same events. A test program in which
// it does not look at anything would pass every "clean".
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gtest/gtest.h>

#include <cstdio>

namespace {

using faultline::simulated;
namespace sim = faultline::sim;

void lost_update(sim::execution& e) {
  auto& counter = e.make<simulated::atomic<int>>(0);
  for (const char* name : {"T0", "T1"}) {
    e.spawn(name, [&counter] { counter.store(counter.load() + 1); });
  }
  e.at_end([&counter] {
    if (counter.peek() != 2) sim::world::here().fail("lost update");
  });
}

bool probe() {
  const auto found = sim::explore({}, lost_update);
  if (found.verdict != sim::verdict::violation) {
    std::fputs("not instrumented: a lost update was not found\n", stderr);
    return false;
  }
  const auto again = sim::replay(found.schedule, lost_update);
  if (again.event_hash != found.event_hash || !again.diverged.empty() || again.verdict != found.verdict) {
    std::fputs("not deterministic: a schedule did not replay to the same events\n", stderr);
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!testing::GTEST_FLAG(list_tests) && !probe()) return 1;
  return RUN_ALL_TESTS();
}

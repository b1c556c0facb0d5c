// SPDX-License-Identifier: BSD-2-Clause
// A flag is tested without the lock, and then slept for.
//   waiter: flag is down              raiser: flag up, wake (nobody sleeps yet)              waiter: sleeps
// The test may stand before the lock for speed; it must be made again under the lock under which the flag is raised.
#include "scenario/lib/steps.hpp"
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>

namespace faultline::scenario {

namespace {

struct gate {
  simulated::mutex lock{"gate"};
  simulated::waitq opened{"gate"};
  simulated::atomic<std::uint32_t> open{0};  // written under the lock, read anywhere
  bool slept = false;

  void pass() {
    if (open.load(std::memory_order_acquire) != 0) return;  // (1) acquire, pairs with release (2)
    lock.lock();
    bool shut = !simulated::keeps(lib::test_under_the_lock) || open.load(std::memory_order_relaxed) == 0;
    while (shut) {
      slept = true;
      opened.wait(lock);
      shut = open.load(std::memory_order_relaxed) == 0;
    }
    lock.unlock();
  }
  void raise() {
    lock.lock();
    open.store(1, std::memory_order_release);  // (2)
    opened.wake_all();
    lock.unlock();
  }
};

}  // namespace

scenario flag_before_wait() {
  return {
      .info = {.name = "lib/flag-before-wait",
               .summary = "a flag is tested without the lock and then slept for, while it is raised"},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& g = e.make<gate>();
          simulated::name(g.open, "open");
          e.spawn("waiter", [&g] { g.pass(); });
          e.spawn("raiser", [&g] { g.raise(); });
          e.at_end([&g, &w = e.here()] { w.observe("slept", g.slept ? 1 : 0); });
        };
      },
      .expected = {{.verdict = sim::verdict::clean, .outcomes = {"slept=0", "slept=1"}},
                   {.omit = {"CV1"},
                    .verdict = sim::verdict::lost_wakeup,
                    .message = "waiter sleeps on \"gate\" and nobody is left to wake it"}},
  };
}

}  // namespace faultline::scenario

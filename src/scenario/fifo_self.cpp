// SPDX-License-Identifier: BSD-2-Clause
// A range lock that grants in arrival order, and a thread that takes a second range while it holds a first.
//   T1: W[0,10)                     T2: W[0,20), waits for T1                T1: W[100,110), waits behind T2
// The ranges of T1 do not meet, and nobody owns anything that its second one meets; yet it waits for itself.
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/rangelock/queue_rule.hpp>

namespace faultline::scenario {

scenario fifo_self() {
  return {
      .info = {.name = "rangelock/fifo-self-deadlock",
               .summary =
                   "a thread asks a queue range lock for a second range while another waits for its first",
               .thread = 1,
               .cases = {"A5"}},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& lock = e.make<sync::rangelock_spec<simulated>>("f");
          e.spawn("T1", [&lock] {
            const auto first = lock.acquire({0, 10}, access::exclusive);
            const auto second = lock.acquire({100, 110}, access::exclusive);
          });
          e.spawn("T2", [&lock] { const auto whole = lock.acquire({0, 20}, access::exclusive); });
        };
      },
      .expected = {{.verdict = sim::verdict::deadlock,
                    .message = "T1 waits for range:f; T2 waits for range:f",
                    .cycle = {"range:f"},
                    .checkers = {{.name = "witness", .text = "not seen: range"},
                                 {.name = "lockdep", .text = "not seen: range"},
                                 {.name = "deadlkres", .text = "\"range\""},
                                 {.name = "khungtaskd", .text = "\"range\""},
                                 {.name = "wait-for-graph", .fires = true, .at = 0}}}},
  };
}

}  // namespace faultline::scenario

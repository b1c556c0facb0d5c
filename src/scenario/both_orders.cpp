// SPDX-License-Identifier: BSD-2-Clause
// Two locks of different types, in both orders, by one task: nobody can hang, and yet the order is wrong.
//   T0: a -> b, and when both are given back: b -> a
// What a checker of lock order is for: it needs no second task to tell. The wait-for graph tells only what happens.
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>

namespace faultline::scenario {

scenario both_orders() {
  return {
      .info = {.name = "checkers/both-orders",
               .summary =
                   "one task takes two mutexes in both orders: no hang, but checkers of lock order tell",
               .thread = 1,
               .cases = {"A14"}},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& a = e.make<simulated::mutex>("a");
          auto& b = e.make<simulated::mutex>("b");
          e.spawn("T0", [&a, &b] {
            for (auto* first : {&a, &b}) {
              auto* second = first == &a ? &b : &a;
              first->lock();
              second->lock();
              second->unlock();
              first->unlock();
            }
          });
        };
      },
      .expected = {{.verdict = sim::verdict::clean,
                    .checkers = {{.name = "witness", .fires = true, .text = "lock order reversal:\n 1st"},
                                 {.name = "lockdep", .fires = true, .text = "possible circular locking"},
                                 {.name = "deadlkres"},
                                 {.name = "khungtaskd"},
                                 {.name = "wait-for-graph", .text = "no interleaving"}}}},
  };
}

}  // namespace faultline::scenario

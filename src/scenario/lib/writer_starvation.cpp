// SPDX-License-Identifier: BSD-2-Clause
// Readers of a lock come and go, each before the other has gone, and a writer waits.
//   R0: shared      writer: exclusive, waits for R0      R1: shared      R0: gone, comes again      R1: gone, comes again ...
// Nobody is stuck and no lock is held for long. Readers that yield to a writer who waits each finish what they are at, and
// that is all the writer sees of them: so in four marks of progress while it waits there must be one at which it may go on.
#include "scenario/lib/steps.hpp"
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/lockmgr_rule.hpp>

#include <string>

namespace faultline::scenario {

namespace {

constexpr int readers = 2;
constexpr int turns = 3;

struct table {
  simulated::spec_lock lock{sync::the_lockmgr_rule, "rw", "table"};

  void read() {
    for (int turn = 0; turn < turns; ++turn) {
      lock.acquire({.how = access::shared, .overtakes = !simulated::keeps(lib::yield_to_writers)});
      simulated::progress();
      lock.release();
    }
  }
  void write() {
    lock.acquire({.how = access::exclusive});
    lock.release();
  }
};

}  // namespace

scenario writer_starvation() {
  return {
      .info = {.name = "lib/writer-starvation",
               .summary = "readers that overlap keep a writer waiting for as long as they come",
               .starvation_after = 4},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& t = e.make<table>();
          e.spawn("writer", [&t] { t.write(); });
          for (int r = 0; r < readers; ++r) e.spawn("R" + std::to_string(r), [&t] { t.read(); });
        };
      },
      .expected = {{.verdict = sim::verdict::clean},
                   {.omit = {"RW3"},
                    .verdict = sim::verdict::starvation,
                    .message = "writer waits for rw:table while others achieve something 4 times"}},
  };
}

}  // namespace faultline::scenario

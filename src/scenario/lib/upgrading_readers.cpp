// SPDX-License-Identifier: BSD-2-Clause
// Two readers of a table find an entry missing, and each asks for the lock exclusively while it still shares it.
//   T0: shared                T1: shared                T0: exclusive, waits for T1              T1: exclusive, waits for T0
// Whoever would write gives its share back first; then the other may have written meanwhile, so it looks again.
#include "scenario/lib/steps.hpp"
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>

#include <string>

namespace faultline::scenario {

namespace {

/// Sharers share, an owner excludes all others. A sharer's own share does not keep it from being the owner.
class upgrade_rule final : public sim::lock_rule {
 public:
  [[nodiscard]] bool conflicts(const sim::request& held, const sim::request& wish) const override {
    return held.task != wish.task && (held.how == access::exclusive || wish.how == access::exclusive);
  }
  [[nodiscard]] bool yields(const sim::request&, bool, const sim::request&) const override { return false; }
  [[nodiscard]] bool announces(const sim::request&) const override { return false; }
};
constexpr upgrade_rule the_upgrade_rule{};

// The two holds of who shares and owns are told apart by a range, which the rule does not look at.
constexpr byte_range share{0, 1};
constexpr byte_range whole{0, 2};

struct table {
  simulated::spec_lock lock{the_upgrade_rule, "rw", "table"};
  simulated::var<int> entries{0};
  sim::task_id writer = sim::no_task;

  void look_up_or_insert() {
    lock.acquire({.how = access::shared, .range = share});
    const bool missing = simulated::get(entries) == 0;
    if (!missing) {
      lock.release(share);
      return;
    }
    const bool dropped = simulated::keeps(lib::drop_before_upgrade);
    if (dropped) lock.release(share);
    lock.acquire({.how = access::exclusive, .range = whole});
    if (!simulated::keeps(lib::look_again_after_retake) || simulated::get(entries) == 0) {
      simulated::set(entries, simulated::get(entries) + 1);
      writer = simulated::self();
    }
    lock.release(whole);
    if (!dropped) lock.release(share);
  }
};

}  // namespace

scenario upgrading_readers() {
  return {
      .info = {.name = "lib/upgrading-readers",
               .summary =
                   "two sharers of a lock both ask for it exclusively, to insert what they did not find"},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& t = e.make<table>();
          simulated::name(t.entries, "entries");
          e.spawn("T0", [&t] { t.look_up_or_insert(); });
          e.spawn("T1", [&t] { t.look_up_or_insert(); });
          e.at_end([&t, &w = e.here()] {
            w.observe("writer", t.writer == sim::no_task ? "none" : w.task_name(t.writer));
            w.check(t.entries.peek() <= 1, "the entry was inserted twice");
          });
        };
      },
      .expected = {{.verdict = sim::verdict::clean, .outcomes = {"writer=T0", "writer=T1"}},
                   {.omit = {"RW1"},
                    .verdict = sim::verdict::deadlock,
                    .message = "T0 waits for rw:table; T1 waits for rw:table",
                    .cycle = {"rw:table"}},
                   {.omit = {"RW2"},
                    .verdict = sim::verdict::violation,
                    .message = "the entry was inserted twice"}},
  };
}

}  // namespace faultline::scenario

// SPDX-License-Identifier: BSD-2-Clause
// Three tasks on one CPU, which always runs the most urgent of those that can run.
//   low: locks      high comes, wants the lock, sleeps      middle comes: more urgent than low, so low does not run
// High waits for low, and low for middle to have nothing more to do, which has nothing to do with high at all. A turnstile
// lends low the priority of who waits for it (propagate_priority() in kern/subr_turnstile.c), for as long as it holds the lock.
#include "scenario/lib/steps.hpp"
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>

#include <chrono>

namespace faultline::scenario {

namespace {

using namespace std::chrono_literals;

constexpr int work_of_middle = 12;

class turnstile_rule final : public sim::lock_rule {
 public:
  [[nodiscard]] bool conflicts(const sim::request& held, const sim::request& wish) const override {
    return held.how == access::exclusive || wish.how == access::exclusive;
  }
  [[nodiscard]] bool yields(const sim::request&, bool, const sim::request&) const override { return false; }
  [[nodiscard]] bool announces(const sim::request&) const override { return false; }
  [[nodiscard]] bool lends() const override { return true; }
};
constexpr turnstile_rule lending;

struct machine {
  explicit machine(const sim::lock_rule& rule) : lock(rule, "mtx", "shared") {}
  simulated::spec_lock lock;
  simulated::atomic<int> work{0};
};

}  // namespace

scenario priority_inversion() {
  return {
      .info = {.name = "lib/priority-inversion",
               .summary = "an urgent task waits for an idle one, and a third runs in its place",
               .processors = sim::processors::shared},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& w = e.here();
          auto& m = e.make<machine>(simulated::keeps(lib::lend_to_owner)
                                        ? static_cast<const sim::lock_rule&>(lending)
                                        : sim::the_mutex_rule);
          simulated::name(m.work, "work");
          const auto on_cpu_0 = [&e, &w](const char* name, int priority, auto body) {
            const auto t = e.spawn(name, body);
            w.bind(t, 0);
            w.set_priority(t, priority);
          };
          on_cpu_0("low", 1, [&m] {
            m.lock.acquire({});
            m.work.fetch_add(1);
            m.work.fetch_add(1);
            m.lock.release();
          });
          on_cpu_0("middle", 2, [&m] {
            simulated::sleep_for(10us);
            for (int i = 0; i < work_of_middle; ++i) m.work.fetch_add(1);
          });
          on_cpu_0("high", 3, [&m] {
            simulated::sleep_for(10us);
            m.lock.acquire({});
            m.lock.release();
          });
        };
      },
      .expected = {{.verdict = sim::verdict::clean},
                   {.omit = {"PI1"},
                    .verdict = sim::verdict::inversion,
                    .message = "high (priority 3) waits for mtx:shared, which low (priority 1) holds; middle "
                               "(priority 2) runs in its place on CPU 0"}},
  };
}

}  // namespace faultline::scenario

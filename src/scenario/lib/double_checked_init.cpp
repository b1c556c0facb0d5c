// SPDX-License-Identifier: BSD-2-Clause
// An object is made on first use: looked for without the lock, again under it, then made and published.
//   DC1  T0 and T1 find none; both come to the lock, one after the other: the second must look again
//   DC2  T0 publishes with a relaxed store; T1, which finds the object without the lock, may see it before its contents
#include "scenario/lib/steps.hpp"
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>

namespace faultline::scenario {

namespace {

struct object {
  simulated::var<int> contents{0};
};

struct holder {
  simulated::mutex lock{"init"};
  simulated::atomic<object*> made{nullptr};
  int times = 0;  // guarded by lock

  object& get() {
    if (auto* const o = made.load(std::memory_order_acquire))
      return *o;  // (1) acquire, pairs with release (2)
    lock.lock();
    auto* o = simulated::keeps(lib::recheck_under_lock) ? made.load(std::memory_order_relaxed) : nullptr;
    if (o == nullptr) {
      o = simulated::make<object>();
      simulated::name(o->contents, "contents");
      simulated::set(o->contents, 42);
      ++times;
      made.store(o, order<simulated>(lib::publish_with_release, std::memory_order_release));  // (2)
    }
    lock.unlock();
    return *o;
  }
};

}  // namespace

scenario double_checked_init() {
  return {
      .info = {.name = "lib/double-checked-init",
               .summary = "an object is made on first use by one of two tasks, and found without the lock"},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& h = e.make<holder>();
          simulated::name(h.made, "made");
          const auto use = [&h] {
            simulated::check(simulated::get(h.get().contents) == 42, "an object without contents is used");
          };
          e.spawn("T0", use);
          e.spawn("T1", use);
          e.at_end([&h, &w = e.here()] { w.check(h.times == 1, "the object was made twice"); });
        };
      },
      .expected = {{.verdict = sim::verdict::clean},
                   {.omit = {"DC1"},
                    .verdict = sim::verdict::violation,
                    .message = "the object was made twice"},
                   {.omit = {"DC2"}, .verdict = sim::verdict::race, .message = "contents"},
                   {.memory = sim::memory_model::weak, .verdict = sim::verdict::clean},
                   {.omit = {"DC2"},
                    .memory = sim::memory_model::weak,
                    .verdict = sim::verdict::race,
                    .message = "contents"}},
  };
}

}  // namespace faultline::scenario

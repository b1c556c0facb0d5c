// SPDX-License-Identifier: BSD-2-Clause
// An object is made on first use: looked for without the lock, again under it, then made and published.
//   DC1  T0 and T1 find none; both come to the lock, one after the other: the second must look again
//   DC2  T0 publishes with a relaxed store; T1, which finds the object without the lock, may see it before its contents
#include "scenario/lib/steps.hpp"
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>

namespace faultline::scenario {

namespace {

using S = simulated;

struct object {
  S::var<int> contents{0};
};

struct holder {
  S::mutex lock{"init"};
  S::atomic<object*> made{nullptr};
  int times = 0;  // guarded by lock

  object& get() {
    if (auto* const o = made.load(std::memory_order_acquire))
      return *o;  // (1) acquire, pairs with release (2)
    lock.lock();
    auto* o = S::keeps(lib::recheck_under_lock) ? made.load(std::memory_order_relaxed) : nullptr;
    if (o == nullptr) {
      o = S::make<object>();
      S::name(o->contents, "contents");
      S::set(o->contents, 42);
      ++times;
      made.store(o, S::keeps(lib::publish_with_release) ? std::memory_order_release  // (2)
                                                        : std::memory_order_relaxed);
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
          S::name(h.made, "made");
          const auto use = [&h] {
            S::check(S::get(h.get().contents) == 42, "an object without contents is used");
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
                   {.omit = {"DC2"}, .verdict = sim::verdict::race, .message = "contents"}},
  };
}

}  // namespace faultline::scenario

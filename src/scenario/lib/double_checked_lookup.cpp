// SPDX-License-Identifier: BSD-2-Clause
// A page is looked up without a lock, then locked; between the two it is given to another offset.
//   finder: slot 1 is p              recycler: locks p, takes it out of slot 1, p is of offset 2, unlocks              finder: locks p
// The page's memory stays a page, so the lock can be taken; whose page it is has to be asked again under it.
#include "scenario/lib/steps.hpp"
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>

#include <array>

namespace faultline::scenario {

namespace {

struct page {
  simulated::mutex busy{"p"};
  simulated::var<std::size_t> offset{1};  // guarded by busy
};

struct object {
  page p;
  std::array<simulated::atomic<page*>, 3> slots{nullptr, &p, nullptr};  // changed by who has the page busy
  bool found = false;

  void find(std::size_t offset) {
    while (page* const seen = slots.at(offset).load(std::memory_order_acquire)) {
      seen->busy.lock();
      if (simulated::keeps(lib::recheck_identity) && simulated::get(seen->offset) != offset) {
        seen->busy.unlock();
        continue;  // the slot was emptied before the page was unlocked: it is not found there again
      }
      found = true;
      simulated::check(simulated::get(seen->offset) == offset, "the page of another offset is used");
      seen->busy.unlock();
      return;
    }
  }
  void recycle(std::size_t from, std::size_t to) {
    p.busy.lock();
    slots.at(from).store(nullptr, std::memory_order_relaxed);
    simulated::set(p.offset, to);
    slots.at(to).store(&p, std::memory_order_release);
    p.busy.unlock();
  }
};

}  // namespace

scenario double_checked_lookup() {
  return {
      .info = {.name = "lib/double-checked-lookup",
               .summary =
                   "a page is looked up without a lock and then locked, while it is given to another offset"},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& o = e.make<object>();
          simulated::name(o.slots[1], "slot1");
          simulated::name(o.slots[2], "slot2");
          simulated::name(o.p.offset, "offset");
          e.spawn("finder", [&o] { o.find(1); });
          e.spawn("recycler", [&o] { o.recycle(1, 2); });
          e.at_end([&o, &w = e.here()] { w.observe("found", o.found ? 1 : 0); });
        };
      },
      .expected = {{.verdict = sim::verdict::clean, .outcomes = {"found=0", "found=1"}},
                   {.omit = {"DL1"},
                    .verdict = sim::verdict::violation,
                    .message = "the page of another offset is used"}},
  };
}

}  // namespace faultline::scenario

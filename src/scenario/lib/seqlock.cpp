// SPDX-License-Identifier: BSD-2-Clause
// Two words under a sequence count, a writer of both and a reader of both: the reader must see both old or both new.
// Without SQ5 or SQ6 it does not in any memory. Without SQ1, SQ2, SQ3 or SQ4 it does under sequential consistency, and on
// amd64; only weaker memory shows what they are for.
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/seqcount.hpp>

namespace faultline::scenario {

namespace {

struct pair {
  sync::seqcount<simulated> count;
  simulated::atomic<int> x{0};
  simulated::atomic<int> y{0};
  int seen = -1;

  void write(int value) {
    count.write_begin();
    x.store(value, std::memory_order_relaxed);
    y.store(value, std::memory_order_relaxed);
    count.write_end();
  }
  void read() {
    int a = 0;
    int b = 0;
    std::uint32_t begun = 0;
    do {
      begun = count.read_begin();
      a = x.load(std::memory_order_relaxed);
      b = y.load(std::memory_order_relaxed);
    } while (count.read_retry(begun));
    simulated::check(a == b, "the words do not belong together");
    seen = a;
  }
};

sim::program program(const policies& /*chosen*/) {
  return [](sim::execution& e) {
    auto& p = e.make<pair>();
    simulated::name(p.x, "x");
    simulated::name(p.y, "y");
    e.spawn("writer", [&p] { p.write(1); });
    e.spawn("reader", [&p] { p.read(); });
    e.at_end([&p, &w = e.here()] { w.observe("seen", p.seen); });
  };
}

expectation torn(const char* step, sim::memory_model memory) {
  return {.omit = {step},
          .memory = memory,
          .verdict = sim::verdict::violation,
          .message = "the words do not belong together"};
}

expectation right(sim::memory_model memory) {
  return {.memory = memory, .verdict = sim::verdict::clean, .outcomes = {"seen=0", "seen=1"}};
}

}  // namespace

scenario seqlock() {
  using memory = sim::memory_model;
  return {
      .info = {.name = "lib/seqlock",
               .summary = "two words are read without a lock while they are written, under a sequence count"},
      .program = program,
      .expected = {right(memory::sc), right(memory::tso), right(memory::weak), torn("SQ1", memory::weak),
                   torn("SQ2", memory::weak), torn("SQ3", memory::weak), torn("SQ4", memory::weak),
                   torn("SQ5", memory::sc), torn("SQ6", memory::sc)},
  };
}

}  // namespace faultline::scenario

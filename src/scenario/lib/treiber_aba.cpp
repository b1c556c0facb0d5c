// SPDX-License-Identifier: BSD-2-Clause
// A stack A, B; one task pops while another pops both and gives A back at once.
//   T0: head is A, behind it B        T1: pops A, pops B, pushes A        T0: head is A still: B becomes the head
// Now B is on the stack and T1 owns it.
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/treiber_stack.hpp>

#include <array>
#include <string>

namespace faultline::scenario {

namespace {

using stack = sync::treiber_stack<simulated>;

struct pool {
  static constexpr std::uint32_t nodes = 2;
  std::array<stack::link, nodes> links;
  stack free{links};
  std::array<simulated::var<int>, nodes> contents;  // of who owns the node
  std::uint32_t of_t0 = stack::none;
  std::uint32_t of_t1 = stack::none;

  pool() {
    for (auto n = nodes; n-- != 0;) free.push(n);
  }
  [[nodiscard]] std::uint32_t take(int mark) {
    const auto node = free.pop();
    if (node != stack::none) simulated::set(contents.at(node), mark);
    return node;
  }
};

std::string name_of(std::uint32_t node) {
  return node == stack::none ? "none" : std::string(1, static_cast<char>('A' + static_cast<char>(node)));
}

/// Each node is in one place.
void check(sim::world& w, const pool& p) {
  std::array<int, pool::nodes> places{};
  const auto seen = [&](std::uint32_t node) {
    if (node != stack::none) ++places.at(node);
  };
  seen(p.of_t0);
  seen(p.of_t1);
  p.free.peek(seen);
  w.observe("T0", name_of(p.of_t0));
  w.observe("T1", name_of(p.of_t1));
  for (std::uint32_t n = 0; n < pool::nodes; ++n) {
    if (places.at(n) == 0) w.fail("node " + name_of(n) + " is lost");
    if (places.at(n) > 1) w.fail("node " + name_of(n) + " is in two places");
  }
}

}  // namespace

scenario treiber_aba() {
  return {
      .info = {.name = "lib/treiber-aba",
               .summary = "a node leaves a lock-free stack and comes back while another task pops"},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& p = e.make<pool>();
          e.spawn("T0", [&p] { p.of_t0 = p.take(0); });
          e.spawn("T1", [&p] {
            const auto first = p.take(1);
            p.of_t1 = p.take(1);
            if (first != stack::none) p.free.push(first);
          });
          e.at_end([&p, &w = e.here()] { check(w, p); });
        };
      },
      .expected = {{.verdict = sim::verdict::clean,
                    .outcomes = {"T0=A T1=B", "T0=A T1=none", "T0=B T1=none", "T0=none T1=B"}},
                   {.memory = sim::memory_model::weak,
                    .verdict = sim::verdict::clean,
                    .outcomes = {"T0=A T1=B", "T0=A T1=none", "T0=B T1=none", "T0=none T1=B"}},
                   {.omit = {"TS1"},
                    .verdict = sim::verdict::violation,
                    .message = "node B is in two places"}},
  };
}

}  // namespace faultline::scenario

// SPDX-License-Identifier: BSD-2-Clause
// Three philosophers, each of whom takes the fork at its left and then the one at its right, beside a task that never ends.
// Somebody can always go on, so "nobody can" is no test for a deadlock; the cycle of those who wait is one.
// Since there is no end to what the bystander could do, random executions alone look at it.
#include "scenario/lib/steps.hpp"
#include "scenario/lib_scenarios.hpp"

#include <faultline/substrate/simulated.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace faultline::scenario {

namespace {

struct table {
  static constexpr std::size_t seats = 3;
  std::array<simulated::mutex, seats> forks{simulated::mutex{"fork0"}, simulated::mutex{"fork1"},
                                            simulated::mutex{"fork2"}};
  simulated::atomic<std::uint32_t> ticks{0};

  void eat(std::size_t seat) {
    const std::size_t left = seat;
    const std::size_t right = (seat + 1) % seats;
    const bool lower = simulated::keeps(lib::lower_fork_first);
    auto& first = forks.at(lower ? std::min(left, right) : left);
    auto& second = forks.at(lower ? std::max(left, right) : right);
    first.lock();
    second.lock();
    second.unlock();
    first.unlock();
  }
};

}  // namespace

scenario philosophers_bystander() {
  constexpr std::uint64_t steps = 300'000;
  return {
      .info = {.name = "lib/philosophers-bystander",
               .summary =
                   "three philosophers wait for each other's fork while another task goes on for ever"},
      .program = [](const policies&) -> sim::program {
        return [](sim::execution& e) {
          auto& t = e.make<table>();
          simulated::name(t.ticks, "ticks");
          for (std::size_t seat = 0; seat < table::seats; ++seat)
            e.spawn("P" + std::to_string(seat), [&t, seat] { t.eat(seat); });
          e.spawn_daemon("bystander", [&t] {
            for (;;) t.ticks.fetch_add(1U);
          });
        };
      },
      .expected = {{.random_steps = steps, .random_only = true, .verdict = sim::verdict::clean},
                   {.omit = {"PH1"},
                    .random_steps = steps,
                    .random_only = true,
                    .verdict = sim::verdict::deadlock,
                    .message = "P0 waits for mutex:fork1; P1 waits for mutex:fork2; P2 waits for mutex:fork0",
                    .cycle = {"mutex:fork0", "mutex:fork1", "mutex:fork2"}}},
  };
}

}  // namespace faultline::scenario

// SPDX-License-Identifier: BSD-2-Clause
// What does a step of the explorer cost? In multiples of one raw fiber switch, the least that a step can be: a ping-pong
// between two fibers, timed in turn with the searches.
//   random: at most 8 switches a step; exhaustive: at most 20. A search of a few executions pays for its set-up (arena,
//   guarded stacks) besides: compare us/search there. abba, inc and phil end in defects, whose reports are paid for too.
#include "explore/ping_pong.hpp"
#include "support/beside.hpp"
#include "support/programs.hpp"

#include <benchmark/benchmark.h>

namespace {

namespace programs = faultline::programs;
namespace sim = faultline::sim;
using faultline::bench::ping_pong;
using faultline::bench::seconds;

void BM_explore(benchmark::State& state, sim::strategy_kind strategy, std::uint64_t executions,
                const sim::program& program) {
  constexpr std::uint64_t rounds = 20'000;
  ping_pong raw;
  double of_raw = 0;
  double of_search = 0;
  std::uint64_t switches = 0;
  std::uint64_t steps = 0;
  std::uint64_t ended = 0;
  std::uint64_t seed = 0;
  for (auto _ : state) {
    of_raw += seconds([&] { raw.run(rounds); });
    switches += 2 * rounds;
    sim::report r;
    const double now = seconds([&] {
      r = sim::explore(
          {.strategy = strategy, .seed = ++seed, .executions_max = executions, .stop_at_first = false},
          program);
    });
    of_search += now;
    steps += r.steps;
    ended += r.executions + r.blocked;
    state.SetIterationTime(now);
  }
  const double step_ns = of_search * 1e9 / static_cast<double>(steps);
  const double switch_ns = of_raw * 1e9 / static_cast<double>(switches);
  state.counters["ns/step"] = step_ns;
  state.counters["x_switch"] = step_ns / switch_ns;
  state.counters["executions/s"] = static_cast<double>(ended) / of_search;
  state.counters["us/search"] = of_search * 1e6 / static_cast<double>(state.iterations());
  state.counters["base/switch_ns"] = switch_ns;
}

const int registered = [] {
  const struct {
    const char* name;
    sim::program program;
  } all[] = {
      {"abba", programs::abba()},
      {"abba_ok", programs::abba(true)},
      {"rc_ok", programs::refcount(true)},
      {"inc:5", programs::increments(5)},
      {"lastzero:10", programs::last_zero(10)},
      {"phil:5", programs::philosophers(5)},
  };
  for (const auto kind : {sim::strategy_kind::random, sim::strategy_kind::exhaustive}) {
    for (const auto& p : all) {
      const bool random = kind == sim::strategy_kind::random;
      benchmark::RegisterBenchmark((std::string(random ? "random/" : "exhaustive/") + p.name).c_str(),
                                   BM_explore, kind, random ? 20'000U : 0U, p.program)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->MinTime(0.2)
          ->Repetitions(9)
          ->ReportAggregatesOnly();
    }
  }
  return 0;
}();

}  // namespace

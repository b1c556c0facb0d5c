// SPDX-License-Identifier: BSD-2-Clause
// The explorer beside Relacy, on the same programs, in one process, in turns; and both beside a raw fiber switch.
//   random/    executions a second, and a step in switches
//   complete/  the whole tree: executions and time until every interleaving was covered
//   bug/       executions until the defect is found: random, over 200 searches, and in the order of the whole search
// sc: sequentially consistent; weak: with stale reads, which Relacy always models. A step is an operation on an atomic or a
// mutex.
#include "explore/ping_pong.hpp"
#include "peers/relacy_programs.hpp"
#include "support/beside.hpp"
#include "support/programs.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

namespace programs = faultline::programs;
namespace relacy = faultline::bench::relacy;
namespace sim = faultline::sim;
using faultline::bench::ping_pong;
using faultline::bench::seconds;

struct pair {
  const char* name;
  relacy::program theirs;
  sim::program ours;
};

/// What one side did in all turns so far.
struct tally {
  double taken = 0;
  std::uint64_t executions = 0;
  std::uint64_t steps = 0;

  [[nodiscard]] double rate() const { return static_cast<double>(executions) / taken; }
  [[nodiscard]] double step_ns() const { return taken * 1e9 / static_cast<double>(steps); }
};

void add(tally& t, const sim::options& how, const sim::program& p) {
  sim::report r;
  t.taken += seconds([&] { r = sim::explore(how, p); });
  t.executions += r.executions + r.blocked;
  t.steps += r.steps;
}

void add(tally& t, relacy::program p, relacy::search how, std::uint64_t from, std::uint64_t executions) {
  relacy::outcome o;
  t.taken += seconds([&] { o = relacy::run(p, how, from, executions); });
  t.executions += o.executions;
  t.steps += o.steps;
}

/// Nanoseconds of one switch, timed in the same turns.
class switches {
 public:
  void add() {
    constexpr std::uint64_t rounds = 20'000;
    taken_ += seconds([&] { raw_.run(rounds); });
    done_ += 2 * rounds;
  }
  [[nodiscard]] double ns() const { return taken_ * 1e9 / static_cast<double>(done_); }

 private:
  ping_pong raw_;
  double taken_ = 0;
  std::uint64_t done_ = 0;
};

/// The three that are compared, in turns.
struct contest {
  switches raw;
  tally sc;
  tally weak;
  tally theirs;

  void report(benchmark::State& state) const {
    state.counters["sc_x_switch"] = sc.step_ns() / raw.ns();
    state.counters["weak_x_switch"] = weak.step_ns() / raw.ns();
    state.counters["relacy_x_switch"] = theirs.step_ns() / raw.ns();
    state.counters["switch_ns"] = raw.ns();
  }
};

void BM_random(benchmark::State& state, const pair& p) {
  constexpr std::uint64_t executions = 20'000;
  contest c;
  std::uint64_t turn = 0;
  for (auto _ : state) {
    sim::options how{.strategy = sim::strategy_kind::random,
                     .seed = turn + 1,
                     .executions_max = executions,
                     .stop_at_first = false};
    c.raw.add();
    const double before = c.sc.taken;
    add(c.sc, how, p.ours);
    state.SetIterationTime(c.sc.taken - before);
    how.memory = sim::memory_model::weak;
    add(c.weak, how, p.ours);
    add(c.theirs, p.theirs, relacy::search::random, turn * executions + 1, executions);
    ++turn;
  }
  c.report(state);
  state.counters["sc/s"] = c.sc.rate();
  state.counters["weak/s"] = c.weak.rate();
  state.counters["relacy/s"] = c.theirs.rate();
  state.counters["sc_x_relacy"] = c.sc.rate() / c.theirs.rate();
  state.counters["weak_x_relacy"] = c.weak.rate() / c.theirs.rate();
}

void BM_complete(benchmark::State& state, const pair& p) {
  contest c;
  std::uint64_t turns = 0;
  for (auto _ : state) {
    sim::options how{.stop_at_first = false};
    c.raw.add();
    const double before = c.sc.taken;
    add(c.sc, how, p.ours);
    state.SetIterationTime(c.sc.taken - before);
    how.memory = sim::memory_model::weak;
    add(c.weak, how, p.ours);
    add(c.theirs, p.theirs, relacy::search::full, 1, 0);
    ++turns;
  }
  c.report(state);
  const auto show = [&](const std::string& who, const tally& t) {
    state.counters[who] = static_cast<double>(t.executions / turns);
    state.counters[who + "_us"] = t.taken * 1e6 / static_cast<double>(turns);
  };
  show("sc", c.sc);
  show("weak", c.weak);
  show("relacy", c.theirs);
}

void count(benchmark::State& state, const std::string& who, std::vector<std::uint64_t> found) {
  std::sort(found.begin(), found.end());
  const auto n = found.size();
  double sum = 0;
  for (const auto f : found) sum += static_cast<double>(f);
  state.counters[who + "_median"] = static_cast<double>(found[(n - 1) / 2]);
  state.counters[who + "_mean"] = sum / static_cast<double>(n);
  state.counters[who + "_p90"] = static_cast<double>(found[n * 9 / 10 - 1]);
}

void BM_bug(benchmark::State& state, const pair& p, sim::memory_model memory) {
  constexpr std::uint64_t searches = 200;
  constexpr std::uint64_t executions = 10'000;
  std::vector<std::uint64_t> ours;
  std::vector<std::uint64_t> theirs;
  bool all = true;
  for (auto _ : state) {
    for (std::uint64_t s = 0; s < searches; ++s) {
      const auto r = sim::explore({.strategy = sim::strategy_kind::random,
                                   .memory = memory,
                                   .seed = s + 1,
                                   .executions_max = executions},
                                  p.ours);
      const auto o = relacy::run(p.theirs, relacy::search::random, s * executions + 1, executions);
      all = all && r.defects != 0 && o.defect;
      ours.push_back(r.executions);
      theirs.push_back(o.executions);
    }
  }
  const auto r = sim::explore({.memory = memory}, p.ours);
  const auto o = relacy::run(p.theirs, relacy::search::full);
  if (!all || r.defects == 0 || !o.defect) state.SkipWithError("a search did not find the defect");
  count(state, "ours", std::move(ours));
  count(state, "relacy", std::move(theirs));
  state.counters["ours_tree"] = static_cast<double>(r.executions + r.blocked);
  state.counters["relacy_tree"] = static_cast<double>(o.executions);
}

const std::vector<pair>& correct() {
  static const std::vector<pair> all{{"abba_ok", relacy::program::abba_ok, programs::abba(true)},
                                     {"sb_ok", relacy::program::sb_ok, programs::store_buffering()},
                                     {"rc_ok", relacy::program::rc_ok, programs::refcount(true)}};
  return all;
}

const std::vector<pair>& buggy() {
  static const std::vector<pair> all{
      {"abba", relacy::program::abba, programs::abba()},
      {"sb", relacy::program::sb, programs::store_buffering(std::memory_order_relaxed)},
      {"rc", relacy::program::rc, programs::refcount(false)}};
  return all;
}

const int registered = [] {
  for (const auto& p : correct()) {
    benchmark::RegisterBenchmark((std::string("random/") + p.name).c_str(), BM_random, p)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->MinTime(0.2)
        ->Repetitions(9)
        ->ReportAggregatesOnly();
  }
  for (const auto& p : correct()) {
    // Relacy takes seconds for rc_ok.
    const bool slow = p.theirs == relacy::program::rc_ok;
    benchmark::RegisterBenchmark((std::string("complete/") + p.name).c_str(), BM_complete, p)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(slow ? 1 : 200)
        ->Repetitions(slow ? 3 : 9)
        ->ReportAggregatesOnly();
  }
  for (const auto& p : buggy()) {
    for (const auto memory : {sim::memory_model::sc, sim::memory_model::weak}) {
      // Sequentially consistent, sb is right.
      if (p.theirs == relacy::program::sb && memory == sim::memory_model::sc) continue;
      benchmark::RegisterBenchmark((std::string("bug/") + sim::name_of(memory) + "/" + p.name).c_str(),
                                   BM_bug, p, memory)
          ->Unit(benchmark::kMillisecond)
          ->Iterations(1)
          ->Repetitions(1);
    }
  }
  return 0;
}();

}  // namespace

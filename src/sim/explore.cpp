// SPDX-License-Identifier: BSD-2-Clause
#include "search.hpp"
#include "strategies.hpp"

#include <faultline/sim/explore.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace faultline::sim {

namespace {

constexpr std::uint64_t automatic_steps = 4'000'000;

void refuse_nonsense(const options& how) {
  const bool exhaustive = how.strategy == strategy_kind::exhaustive && !how.custom;
  if ((how.preemptions || how.iterate_bounds) && !exhaustive) {
    throw std::invalid_argument("a bound on preemptions needs the exhaustive strategy");
  }
  if (how.strategy != strategy_kind::replay && !how.schedule.empty()) {
    throw std::invalid_argument("a schedule needs the replay strategy");
  }
  if (how.steps_per_execution == 0 || how.livelock_rounds == 0) {
    throw std::invalid_argument("steps_per_execution and livelock_rounds must be at least 1");
  }
  if (how.history == 0) throw std::invalid_argument("a history must keep at least 1 store");
  if (how.pct_depth == 0) throw std::invalid_argument("pct_depth must be at least 1");
  if (how.shard.count == 0 || how.shard.index >= how.shard.count) {
    throw std::invalid_argument(
        fmt::format("shard {} of {}: the first is 0 and the last is one less than the number",
                    how.shard.index, how.shard.count));
  }
  if (how.shard.count > 1 && (how.custom || how.iterate_bounds || how.strategy == strategy_kind::automatic ||
                              how.strategy == strategy_kind::replay)) {
    throw std::invalid_argument("only exhaustive, random, pct and pos searches have shards");
  }
}

/// Where priorities or handlers decide who can run, operations on different objects need not commute. And whether a task can
/// run, at a moment, is no operation: one execution of a class can starve a task that another does not.
bool reduces(const options& how) {
  return how.reduce && how.processors == processors::own && how.starvation_after == 0;
}

std::unique_ptr<strategy> sampler(strategy_kind kind, const options& how, std::uint64_t first = 0) {
  first += how.shard.index;
  switch (kind) {
    case strategy_kind::pct:
      return std::make_unique<pct_strategy>(how.seed, first, how.shard.count, how.pct_depth);
    case strategy_kind::pos:
      return std::make_unique<pos_strategy>(how.seed, first, how.shard.count);
    default:
      return std::make_unique<random_strategy>(how.seed, first, how.shard.count);
  }
}

void refuse_nondeterminism(const exhaustive_strategy& s) {
  if (!s.nondeterminism().empty()) throw set_up_error(s.nondeterminism());
}

report exhaustively(const options& how, const program& p) {
  search all(how, p);
  if (!how.iterate_bounds) {
    exhaustive_strategy s({.preemptions = how.preemptions, .reduce = reduces(how), .shard = how.shard});
    all.run(s);
    refuse_nondeterminism(s);
    return all.finish(s, true);
  }
  for (std::uint32_t bound = 0;; ++bound) {
    exhaustive_strategy s({.preemptions = bound, .reduce = reduces(how), .shard = {}});
    all.run(s);
    refuse_nondeterminism(s);
    const bool last = all.stopped() || all.so_far().defects != 0 || !s.cut() || bound == how.preemptions;
    if (!last) continue;
    auto r = all.finish(s, true);
    r.preemptions = s.cut() || all.stopped() ? static_cast<std::int64_t>(bound) : -1;
    return r;
  }
}

/// A proof if half of the steps do for it; if not, samples of different kinds, since no one of them finds everything soonest.
report automatically(options how, const program& p) {
  if (how.steps_max == 0) how.steps_max = automatic_steps;
  search all(how, p);
  exhaustive_strategy proof({.preemptions = {}, .reduce = reduces(how), .shard = {}});
  all.run(proof, how.steps_max / 2);
  refuse_nondeterminism(proof);
  if (!all.out_of_steps()) {
    auto r = all.finish(proof, true);
    r.strategy = "auto: exhaustive";
    return r;
  }
  const std::uint64_t slice = std::max<std::uint64_t>(how.steps_max / 24, 1);
  std::array samplers{sampler(strategy_kind::pos, how), sampler(strategy_kind::random, how),
                      sampler(strategy_kind::pct, how)};
  for (std::size_t turn = 0; !all.stopped(); ++turn) all.run(*samplers[turn % samplers.size()], slice);
  auto r = all.finish(*samplers[0], false);
  r.strategy = "auto: exhaustive, then pos, random, pct";
  r.why_incomplete = fmt::format("no proof within {} steps", how.steps_max / 2);
  return r;
}

}  // namespace

report explore(const options& how, const program& p) {
  refuse_nonsense(how);
  if (how.custom) {
    const auto s = how.custom();
    search some(how, p);
    some.run(*s);
    return some.finish(*s, s->covered_all());
  }
  switch (how.strategy) {
    case strategy_kind::exhaustive:
      return exhaustively(how, p);
    case strategy_kind::automatic:
      return automatically(how, p);
    case strategy_kind::replay: {
      const auto given = parse_schedule(how.schedule);
      replay_strategy again(given.choices);
      search one(how, p);
      one.run(again);
      auto r = one.finish(again, false);
      r.diverged = again.diverged();
      if (r.diverged.empty() && given.hash && *given.hash != r.event_hash) {
        r.diverged = "the same tasks ran, but did other things: the program has changed since";
      }
      return r;
    }
    case strategy_kind::random:
    case strategy_kind::pct:
    case strategy_kind::pos:
      break;
  }
  const auto s = sampler(how.strategy, how);
  search some(how, p);
  some.run(*s);
  return some.finish(*s, false);
}

report replay(std::string_view schedule, const program& p, options how) {
  how.strategy = strategy_kind::replay;
  how.schedule = schedule;
  how.preemptions.reset();
  how.iterate_bounds = false;
  how.shard = {};
  how.custom = {};
  return explore(how, p);
}

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#include "dpor.hpp"
#include "engine.hpp"
#include "strategies.hpp"

#include <faultline/sim/explore.hpp>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>

namespace faultline::sim {

namespace {

struct parsed_schedule {
  std::vector<task_id> choices;
  std::optional<std::uint64_t> hash;
};

parsed_schedule parse(std::string_view text) {
  parsed_schedule p;
  const auto sign = text.find('@');
  p.choices = decode(text.substr(0, sign));
  if (sign != std::string_view::npos) {
    const std::string_view digits = text.substr(sign + 1);
    std::uint64_t hash = 0;
    const auto* const end = digits.data() + digits.size();
    const auto got = std::from_chars(digits.data(), end, hash, 16);
    if (got.ec != std::errc{} || got.ptr != end) {
      throw std::invalid_argument(fmt::format("schedule hash \"{}\" is not a hexadecimal number", digits));
    }
    p.hash = hash;
  }
  return p;
}

const char* text_of(granularity g) { return g == granularity::fine ? "fine" : "coarse"; }

/// The first execution again must be the same, or nothing the search says means anything.
void check_determinism(engine& e, const std::string& schedule, std::uint64_t hash) {
  replay_strategy again(decode(std::string_view(schedule).substr(0, schedule.find('@'))));
  e.tell_observers(false);
  (void)e.run(again);
  e.tell_observers(true);
  if (e.hash() != hash || !again.diverged().empty()) {
    throw set_up_error(fmt::format(
        "the program is not deterministic: its first execution, run again, took another course{}{}",
        again.diverged().empty() ? "" : ": ", again.diverged()));
  }
}

}  // namespace

report explore(const options& how, const program& p) {
  if (how.preemptions && (how.strategy != strategy_kind::exhaustive || how.custom)) {
    throw std::invalid_argument("a bound on preemptions needs the exhaustive strategy");
  }
  if (how.strategy != strategy_kind::replay && !how.schedule.empty()) {
    throw std::invalid_argument("a schedule needs the replay strategy");
  }
  if (how.steps_per_execution == 0 || how.livelock_rounds == 0) {
    throw std::invalid_argument("steps_per_execution and livelock_rounds must be at least 1");
  }
  const bool exhaustive = how.strategy == strategy_kind::exhaustive && !how.custom;
  const std::uint64_t executions_max =
      how.executions_max != 0 ? how.executions_max : (exhaustive ? 10'000'000U : 1'000U);

  parsed_schedule given;
  std::unique_ptr<strategy> s;
  if (how.custom) {
    s = how.custom();
  } else if (exhaustive) {
    s = std::make_unique<exhaustive_strategy>(how.preemptions);
  } else if (how.strategy == strategy_kind::random) {
    s = std::make_unique<random_strategy>(how.seed, executions_max);
  } else {
    given = parse(how.schedule);
    s = std::make_unique<replay_strategy>(given.choices);
  }

  report r;
  r.strategy = s->name();
  r.grain = text_of(how.grain);
  r.preemptions = how.preemptions ? static_cast<std::int64_t>(*how.preemptions) : -1;
  r.seed = how.seed;

  engine e(how, p);
  // The search times itself; no decision depends on it.
  const auto start = std::chrono::steady_clock::now();
  std::string bound;
  bool more = true;
  bool first = true;
  bool described = false;
  bool cut_short = false;
  bool daemon_left = false;
  std::array<std::uint64_t, static_cast<std::size_t>(verdict::budget) + 1> by_verdict{};
  while (more && bound.empty()) {
    more = e.run(*s);
    r.steps += e.steps();
    const auto& last = e.last();
    if (last.pruned) {
      ++r.blocked;
    } else {
      ++r.executions;
      if (last.truncated) ++r.truncated;
      cut_short |= last.cut_short;
      daemon_left |= last.daemon_left;
      e.add_steps(r.steps_reached, r.steps_skipped);
      ++by_verdict[static_cast<std::size_t>(last.truncated ? verdict::budget : last.verdict)];
      if (last.verdict != verdict::clean) {
        ++r.defects;
        if (r.defects == 1) {
          r.verdict = last.verdict;
          r.defect_execution = r.executions;
          e.describe(r);
          e.add_steps(r.steps_reached_by_defect, r.steps_skipped_by_defect);
          described = true;
          e.describe_defects(false);  // of the others, only how many
        }
        if (how.stop_at_first && more) {
          bound = "it stopped at the first defect";
        }
      } else if (!last.truncated) {
        if (auto seen = e.observations_line(); !seen.empty()) ++r.outcomes[std::move(seen)];
      }
      if (!described) {
        e.describe(r);
        described = true;
      }
    }
    if (first && how.strategy != strategy_kind::replay) {
      first = false;
      const auto schedule = e.schedule();
      const auto hash = e.hash();
      check_determinism(e, schedule, hash);
    }
    if (bound.empty() && more) {
      if (r.executions + r.blocked >= executions_max) {
        bound = fmt::format("stopped after {} executions", r.executions + r.blocked);
      } else if (how.steps_max != 0 && r.steps >= how.steps_max) {
        bound = fmt::format("stopped after {} steps", r.steps);
      } else if (how.keep_going && ((r.executions + r.blocked) & 0xffU) == 0 &&
                 !how.keep_going(r.executions)) {
        bound = "interrupted";
        r.interrupted = true;
      }
    }
  }
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  for (std::size_t v = 0; v < by_verdict.size(); ++v) {
    if (by_verdict[v] != 0) r.by_verdict[static_cast<verdict>(v)] = by_verdict[v];
  }
  for (auto& f : e.order().reversals()) r.findings.push_back(std::move(f));
  if (const auto* d = dynamic_cast<const exhaustive_strategy*>(s.get());
      d != nullptr && !d->nondeterminism().empty()) {
    throw set_up_error(d->nondeterminism());
  }
  if (const auto* again = dynamic_cast<const replay_strategy*>(s.get())) {
    r.diverged = again->diverged();
    if (r.diverged.empty() && given.hash && *given.hash != r.event_hash) {
      r.diverged = "the same tasks ran, but did other things: the program has changed since";
    }
  }

  // "complete" is a proof, so it is said only of what is one.
  if (!exhaustive) {
    r.why_incomplete = fmt::format("{} looks at some executions only", r.strategy);
  } else if (!bound.empty()) {
    r.why_incomplete = bound;
  } else if (r.truncated != 0) {
    r.why_incomplete =
        fmt::format("{} executions reached the bound of {} steps", r.truncated, how.steps_per_execution);
  } else if (how.grain == granularity::coarse && r.by_verdict.contains(verdict::race)) {
    r.why_incomplete = "coarse steps cover all executions only if there is no race on plain data";
  } else if (cut_short) {
    r.why_incomplete = "a defect ended an execution in which other tasks could have gone on";
  } else if (daemon_left) {
    r.why_incomplete = "a daemon could have gone on when the last task ended";
  } else if (s->covered_all()) {
    r.complete = true;
  }
  r.fair_only = e.relaxes();
  if (r.verdict == verdict::clean && r.truncated != 0 && r.truncated == r.executions)
    r.verdict = verdict::budget;
  return r;
}

report replay(std::string_view schedule, const program& p, options how) {
  how.strategy = strategy_kind::replay;
  how.schedule = schedule;
  how.preemptions.reset();
  return explore(how, p);
}

}  // namespace faultline::sim

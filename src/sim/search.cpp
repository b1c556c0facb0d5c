// SPDX-License-Identifier: BSD-2-Clause
#include "search.hpp"

#include "strategies.hpp"

#include <fmt/format.h>

namespace faultline::sim {

const char* name_of(granularity g) noexcept { return g == granularity::fine ? "fine" : "coarse"; }
const char* name_of(processors p) noexcept { return p == processors::own ? "own" : "shared"; }
const char* name_of(timers t) noexcept { return t == timers::may_fire ? "may-fire" : "maximal-progress"; }
const char* name_of(memory_model m) noexcept {
  switch (m) {
    case memory_model::sc:
      return "sc";
    case memory_model::tso:
      return "tso";
    case memory_model::weak:
      return "weak";
  }
  return "?";
}

namespace {

constexpr std::uint64_t determinism_every = 1000;  ///< one of so many executions is run twice

std::uint64_t executions_bound(const options& how) {
  if (how.executions_max != 0) return how.executions_max;
  const bool samples = how.custom || how.strategy == strategy_kind::random ||
                       how.strategy == strategy_kind::pct || how.strategy == strategy_kind::pos;
  return samples ? 1'000U : 10'000'000U;
}

}  // namespace

search::search(const options& how, const program& p)
    : how_(how), engine_(how, p), executions_max_(executions_bound(how)) {
  report_.grain = name_of(how.grain);
  report_.memory = name_of(how.memory);
  report_.processors = name_of(how.processors);
  report_.timers = name_of(how.timers);
  report_.shard = how.shard.index;
  report_.shards = how.shard.count;
  report_.preemptions = how.preemptions ? static_cast<std::int64_t>(*how.preemptions) : -1;
  report_.seed = how.seed;
}

/// An execution again must be the same, or nothing the search says means anything.
void search::check_determinism() {
  check_next_ += determinism_every;
  const auto hash = engine_.hash();
  replay_strategy again(engine_.choices());
  engine_.tell_observers(false);
  (void)engine_.run(again);
  engine_.tell_observers(true);
  if (engine_.hash() != hash || !again.diverged().empty()) {
    throw set_up_error(
        fmt::format("the program is not deterministic: its execution {}, run again, took another course{}{}",
                    ran_, again.diverged().empty() ? "" : ": ", again.diverged()));
  }
}

void search::account(bool more) {
  report& r = report_;
  const auto& last = engine_.last();
  ++r.executions;
  if (last.truncated) ++r.truncated;
  cut_short_ |= last.cut_short;
  daemon_left_ |= last.daemon_left;
  engine_.add_steps(r.steps_reached, r.steps_skipped);
  ++by_verdict_[static_cast<std::size_t>(last.truncated ? verdict::budget : last.verdict)];
  if (last.verdict != verdict::clean) {
    ++r.defects;
    if (r.defects == 1) {
      r.verdict = last.verdict;
      r.defect_execution = r.executions;
      engine_.describe(r);
      engine_.add_steps(r.steps_reached_by_defect, r.steps_skipped_by_defect);
      described_ = true;
      engine_.describe_defects(false);  // of the others, only how many
    }
    if (how_.stop_at_first && more) bound_ = "it stopped at the first defect";
  } else if (!last.truncated) {
    if (engine_.observed()) ++r.outcomes[engine_.observations_line()];
  }
  if (!described_) {
    engine_.describe(r);
    described_ = true;
  }
}

void search::run(strategy& s, std::uint64_t steps) {
  report& r = report_;
  const std::uint64_t until = steps != 0 ? r.steps + steps : 0;
  out_of_steps_ = false;
  for (bool more = true; more && bound_.empty();) {
    more = engine_.run(s);
    r.steps += engine_.steps();
    const bool counts = s.counts();
    if (engine_.last().pruned) {
      if (counts) ++r.blocked;
    } else {
      if (counts) account(more);
      if (++ran_ == check_next_ && how_.strategy != strategy_kind::replay) check_determinism();
    }
    if (!bound_.empty() || !more) break;
    const auto done = r.executions + r.blocked;
    if (done >= executions_max_) {
      bound_ = fmt::format("stopped after {} executions", done);
    } else if (how_.steps_max != 0 && r.steps >= how_.steps_max) {
      bound_ = fmt::format("stopped after {} steps", r.steps);
    } else if (how_.keep_going && (done & 0xffU) == 0 && !how_.keep_going(r.executions)) {
      bound_ = "interrupted";
      r.interrupted = true;
    } else if (until != 0 && r.steps >= until) {
      out_of_steps_ = true;
      return;
    }
  }
}

/// "complete" is a proof, so it is said only of what is one. Empty: it is.
std::string search::why_no_proof(const strategy& last, bool covers) const {
  const report& r = report_;
  if (!covers) return fmt::format("{} looks at some executions only", last.name());
  if (!bound_.empty()) return bound_;
  if (r.truncated != 0) {
    return fmt::format("{} executions reached the bound of {} steps", r.truncated, how_.steps_per_execution);
  }
  if (how_.grain == granularity::coarse && by_verdict_[static_cast<std::size_t>(verdict::race)] != 0) {
    return "coarse steps cover all executions only if there is no race on plain data";
  }
  if (cut_short_) return "a defect ended an execution in which other tasks could have gone on";
  if (daemon_left_) return "a daemon could have gone on when the last task ended";
  if (engine_.overflowed()) {
    return fmt::format("a load could have seen a store older than the {} that are kept", how_.history);
  }
  if (how_.memory != memory_model::sc && engine_.user_bytes()) {
    return fmt::format("user bytes are not part of memory {}: they are read and written at once",
                       report_.memory);
  }
  if (engine_.fires_bounded()) {
    return fmt::format("timers fired at most {} times in an execution while others could run",
                       how_.fires_max);
  }
  return last.covered_all() ? "" : "the search did not cover everything";
}

report search::finish(const strategy& last, bool covers) {
  report& r = report_;
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (r.strategy.empty()) r.strategy = last.name();
  for (std::size_t v = 0; v < by_verdict_.size(); ++v) {
    if (by_verdict_[v] != 0) r.by_verdict[static_cast<verdict>(v)] = by_verdict_[v];
  }
  for (auto& f : engine_.order().reversals()) r.findings.push_back(std::move(f));
  if (how_.shard.count > 1) r.order = engine_.order().records();
  for (const auto& [key, f] : engine_.findings()) r.findings.push_back(f);
  r.overflowed = engine_.overflowed();
  r.fair_only = engine_.relaxes();
  r.why_incomplete = why_no_proof(last, covers);
  r.covers_shard = r.why_incomplete.empty();
  if (r.covers_shard && how_.shard.count > 1) {
    r.why_incomplete = fmt::format("this is shard {} of {}", how_.shard.index, how_.shard.count);
  }
  r.complete = r.why_incomplete.empty();
  if (r.verdict == verdict::clean && r.truncated != 0 && r.truncated == r.executions)
    r.verdict = verdict::budget;
  return std::move(report_);
}

}  // namespace faultline::sim

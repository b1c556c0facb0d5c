// SPDX-License-Identifier: BSD-2-Clause
// The shards of a search put together.
#include "order_graph.hpp"

#include <faultline/sim/explore.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace faultline::sim {

namespace {

void refuse_strangers(const std::vector<report>& shards) {
  if (shards.empty()) throw std::invalid_argument("no shard is given");
  const auto& first = shards.front();
  const auto must_agree = [&](auto member, const char* what) {
    for (const auto& s : shards) {
      if (s.*member != first.*member) {
        throw std::invalid_argument(
            fmt::format("not the shards of one search: {} is \"{}\" in one and \"{}\" in another", what,
                        first.*member, s.*member));
      }
    }
  };
  must_agree(&report::strategy, "the strategy");
  must_agree(&report::grain, "the granularity");
  must_agree(&report::memory, "the memory");
  must_agree(&report::processors, "processors");
  must_agree(&report::timers, "timers");
  must_agree(&report::preemptions, "the bound on preemptions");
  must_agree(&report::seed, "the seed");
  must_agree(&report::shards, "the number of shards");
  std::vector<bool> there(first.shards, false);
  for (const auto& s : shards) {
    if (s.shard >= first.shards) {
      throw std::invalid_argument(fmt::format("shard {} of {}: there is none", s.shard, first.shards));
    }
    if (there[s.shard])
      throw std::invalid_argument(fmt::format("shard {} of {} is given twice", s.shard, s.shards));
    there[s.shard] = true;
  }
  const auto missing = std::find(there.begin(), there.end(), false);
  if (missing != there.end()) {
    throw std::invalid_argument(
        fmt::format("shard {} of {} is missing", missing - there.begin(), first.shards));
  }
}

}  // namespace

report merge(std::vector<report> shards) {
  refuse_strangers(shards);
  std::sort(shards.begin(), shards.end(), [](const auto& a, const auto& b) { return a.shard < b.shard; });
  const auto defective =
      std::find_if(shards.begin(), shards.end(), [](const auto& s) { return s.defects != 0; });
  report all = defective != shards.end() ? *defective : shards.front();
  if (defective != shards.end()) {
    // Its number among all executions, those of the shards before it first.
    for (auto s = shards.begin(); s != defective; ++s) all.defect_execution += s->executions;
  }
  all.shard = 0;
  all.shards = 1;
  all.executions = all.blocked = all.truncated = all.steps = all.defects = 0;
  all.seconds = 0;
  all.by_verdict.clear();
  all.outcomes.clear();
  all.why_incomplete.clear();
  std::vector<finding> others;
  order_graph order;
  for (auto& s : shards) {
    all.executions += s.executions;
    all.blocked += s.blocked;
    all.truncated += s.truncated;
    all.steps += s.steps;
    all.defects += s.defects;
    all.seconds = std::max(all.seconds, s.seconds);
    all.interrupted |= s.interrupted;
    all.overflowed |= s.overflowed;
    all.fair_only |= s.fair_only;
    for (const auto& [v, n] : s.by_verdict) all.by_verdict[v] += n;
    for (const auto& [text, n] : s.outcomes) all.outcomes[text] += n;
    all.steps_reached.insert(s.steps_reached.begin(), s.steps_reached.end());
    all.steps_skipped.insert(s.steps_skipped.begin(), s.steps_skipped.end());
    if (!s.covers_shard && all.why_incomplete.empty()) all.why_incomplete = s.why_incomplete;
    order.add(s.order);
    for (auto& f : s.findings) {
      const bool known =
          f.kind == "order-reversal" || std::find(others.begin(), others.end(), f) != others.end();
      if (!known) others.push_back(std::move(f));
    }
  }
  all.findings = order.reversals();
  all.findings.insert(all.findings.end(), others.begin(), others.end());
  all.order.clear();
  all.complete = all.covers_shard = all.why_incomplete.empty();
  if (all.defects == 0)
    all.verdict = all.truncated != 0 && all.truncated == all.executions ? verdict::budget : verdict::clean;
  return all;
}

}  // namespace faultline::sim

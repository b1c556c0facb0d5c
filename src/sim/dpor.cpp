// SPDX-License-Identifier: BSD-2-Clause
#include "dpor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace faultline::sim {

namespace {

constexpr std::ptrdiff_t shared_choices = 6;  // of two tasks or more: makes up to some hundred parts

/// Everything earlier on the object is ordered before such a touch, so a search for races may stop there.
constexpr bool covers(const object_touch& t) {
  const bool whole = t.range.first >= t.range.last;
  return t.how == touch::write ||
         (whole && (t.how == touch::acquire_exclusive || t.how == touch::attempt_exclusive));
}

bool dependent(const object_touch& a, const object_touch& b) {
  if (a.object == no_object || a.object != b.object) return false;
  return relate(a, b) != relation::independent || relate(b, a) != relation::independent;
}

}  // namespace

bool exhaustive_strategy::dependent(const operation& a, const operation& b) noexcept {
  return sim::dependent(a.first, b.first) || sim::dependent(a.first, b.second) ||
         sim::dependent(a.second, b.first) || sim::dependent(a.second, b.second);
}

bool exhaustive_strategy::dependent(const event& a, const operation& b) noexcept {
  return sim::dependent(a.first, b.first) || sim::dependent(a.first, b.second) ||
         sim::dependent(a.second, b.first) || sim::dependent(a.second, b.second);
}

void exhaustive_strategy::begin(std::uint64_t) {
  tasks_ = 0;
  next_sleep_ = 0;
  met_unit_ = false;
  counts_ = true;
}

void exhaustive_strategy::spawned(task_id child, task_id parent) {
  tasks_ = std::max(tasks_, child + 1);
  if (by_task_.size() < tasks_) by_task_.resize(tasks_);
  if (origin_.size() < tasks_) origin_.resize(tasks_, none);
  // In an execution's replayed part the events are those of before; in its new part the spawn is the latest event.
  origin_[child] = parent == no_task ? none : static_cast<index>(now_ - 1);
}

task_id exhaustive_strategy::preferred(task_set candidates, const choice_point& at) {
  const task_set people = candidates & ~at.daemons;
  if (at.last != no_task && (people & only(at.last)) != 0) return at.last;
  if (people != 0) return static_cast<task_id>(std::countr_zero(people));
  // Daemons take turns, so that one which never sleeps cannot keep another from waking somebody.
  const task_set after = at.last == no_task ? 0 : candidates & ~(only(at.last) | (only(at.last) - 1));
  return static_cast<task_id>(std::countr_zero(after != 0 ? after : candidates));
}

/// Preemptions up to and with this choice: a switch away from a task, not a daemon, that could have gone on.
std::uint32_t exhaustive_strategy::cost(const node& n, task_id t) const noexcept {
  const task_set could_go_on = n.enabled & ~daemons_;
  const bool preempts =
      n.last != no_task && n.last != t && (could_go_on & only(n.last)) != 0 && (agents_ & only(t)) == 0;
  return n.preemptions + (preempts ? 1U : 0U);
}

bool exhaustive_strategy::within_bound(const node& n, task_id t) const noexcept {
  return !bound_ || cost(n, t) <= *bound_;
}

/// The present execution has come to where the parts of the search begin. Is this one the shard's?
bool exhaustive_strategy::mine() {
  met_unit_ = true;
  return units_++ % shard_.count == shard_.index;
}

/// It will never be done after the latest step; done before, it makes another execution.
void exhaustive_strategy::withdrawn(task_id agent, const operation& announced) {
  if (!reduce_ || now_ <= kept_) return;
  find_races(agent, announced, before(agent), static_cast<index>(events_.size()));
}

std::uint32_t exhaustive_strategy::pick(std::uint32_t results) {
  node& n = nodes_[now_ - 1];
  if (now_ == nodes_.size() && n.results == 1) {
    n.results = results;
  } else if (n.results != results && nondeterminism_.empty()) {
    nondeterminism_ = fmt::format("not deterministic: step {} can have other results than before", now_);
  }
  return std::min(n.picked, results - 1);
}

task_id exhaustive_strategy::choose(const choice_point& at) {
  now_ = at.step;
  daemons_ = at.daemons;
  agents_ |= at.agents;
  if (at.step < nodes_.size()) {
    const node& n = nodes_[at.step];
    if (n.enabled != at.enabled && nondeterminism_.empty()) {
      nondeterminism_ = fmt::format("not deterministic: at step {} other tasks can run than before", at.step);
    }
    met_unit_ |= n.unit;
    return (at.enabled & only(n.chosen)) != 0 ? n.chosen : no_task;
  }
  node n{.enabled = at.enabled, .sleep = next_sleep_, .last = at.last};
  if (at.step > 0) n.preemptions = cost(nodes_.back(), nodes_.back().chosen);
  const task_set candidates = at.enabled & ~n.sleep;
  if (candidates == 0) return no_task;
  if (shard_.count > 1 && !met_unit_) {
    // The first steps at which there is a choice are the same in every shard; those of the executions before are known.
    if (const auto choices =
            std::count_if(nodes_.begin(), nodes_.end(), [](const node& k) { return k.shared; });
        choices < shared_choices) {
      n.shared = (candidates & (candidates - 1)) != 0;
    } else if (!mine()) {
      counts_ = false;
      return no_task;
    } else {
      n.unit = true;
    }
  }
  n.chosen = preferred(candidates, at);
  n.backtrack = n.shared || !reduce_ ? at.enabled : only(n.chosen);
  n.agent = (at.agents & only(n.chosen)) != 0;
  nodes_.push_back(n);
  return n.chosen;
}

/// What happens before the next operation of `t`, its own earlier ones included.
const vector_clock& exhaustive_strategy::before(task_id t) const {
  static constexpr vector_clock nothing{};
  if (!by_task_[t].empty()) return events_[by_task_[t].back()].clock;
  if (origin_[t] != none) return events_[origin_[t]].clock;
  return nothing;
}

void exhaustive_strategy::executed(const choice_point& at, task_id t) {
  now_ = at.step + 1;
  const operation& o = at.pending[t];
  const node& n = nodes_[at.step];

  if (!bound_ && reduce_) {
    // Asleep stays who was asleep or tried here before, unless this step matters to what it would do.
    next_sleep_ = 0;
    for (task_set rest = (n.sleep | n.done) & ~only(t); rest != 0; rest &= rest - 1) {
      const auto q = static_cast<task_id>(std::countr_zero(rest));
      if (!dependent(at.pending[q], o)) next_sleep_ |= only(q);
    }
  }
  if (at.step < kept_ || !reduce_) return;

  const vector_clock& prior = before(t);
  find_races(t, o, prior, at.step);

  event e{.task = t,
          .number = static_cast<std::uint32_t>(by_task_[t].size()) + 1,
          .first = o.first,
          .second = o.second,
          .follows = o.follows,
          .clock = prior};
  e.clock[t] = e.number;
  for (const auto& part : {o.first, o.second}) {
    if (part.object == no_object || part.how == touch::none) continue;
    if (part.object >= visits_.size())
      visits_.resize(std::max<std::size_t>(part.object + 1, visits_.size() * 2));
    auto& visits = visits_[part.object];
    for (auto v = visits.rbegin(); v != visits.rend(); ++v) {
      if (relate(v->what, part) != relation::independent) e.clock.join(events_[v->at].clock, tasks_);
      if (covers(v->what)) break;
    }
    visits.push_back({at.step, part});
  }
  if (o.follows != none) e.clock.join(events_[o.follows].clock, tasks_);
  events_.push_back(e);
  by_task_[t].push_back(at.step);
}

/// Looks for events that race with operation `o` of `t`, which comes (or would come) after events [0, end).
void exhaustive_strategy::find_races(task_id t, const operation& o, const vector_clock& prior, index end) {
  if (bound_ && o.follows != none && events_[o.follows].task != t && !happens_before(o.follows, prior)) {
    race_bounded(o.follows, t);
  }
  for (const auto& part : {o.first, o.second}) {
    if (part.object == no_object || part.object >= visits_.size()) continue;
    // An operation that has to wait may be unable to come right before the latest event that it depends on; an earlier one
    // is then the race that can be turned round. So for such an operation every one is looked at.
    const bool may_wait = o.ready != nullptr;
    direct_.clear();
    const auto& visits = visits_[part.object];
    for (auto v = visits.rbegin(); v != visits.rend(); ++v) {
      const event& e = events_[v->at];
      const relation how = relate(v->what, part);
      const bool concurrent = how != relation::independent && e.task != t && !happens_before(v->at, prior);
      if (concurrent && bound_) {
        // Before a release (or what else this can only follow) as well: a task that comes then and has to wait gives a
        // switch that costs nothing.
        race_bounded(v->at, t);
      } else if (concurrent && how == relation::racing) {
        const bool behind_another = std::any_of(direct_.begin(), direct_.end(), [&](index later) {
          return happens_before(v->at, events_[later].clock);
        });
        if (may_wait || !behind_another) direct_.push_back(v->at);
      }
      if (covers(v->what) && !bound_ && !may_wait) break;
    }
    for (const index j : direct_) race(j, t, o, prior, end);
  }
}

/// Event `j` races with operation `o` of `t`. The other order needs one of the tasks that can begin
/// "what does not depend on j, then o" to be tried before j.
void exhaustive_strategy::race(index j, task_id t, const operation& o, const vector_clock& prior, index end) {
  std::array<std::uint32_t, tasks_max> first_number{};  // by task: its first event in that sequence, or 0
  task_set seen = 0;
  task_set initials = 0;
  const auto begins = [&](task_id who, const vector_clock& clock) {
    for (task_set rest = seen & ~only(who); rest != 0; rest &= rest - 1) {
      const auto s = static_cast<task_id>(std::countr_zero(rest));
      if (clock[s] >= first_number[s]) return false;
    }
    return true;
  };
  vector_clock last = prior;  // of o, in that sequence
  for (index k = j + 1; k < end; ++k) {
    const event& e = events_[k];
    if (happens_before(j, e.clock)) continue;
    if ((seen & only(e.task)) == 0) {
      if (begins(e.task, e.clock)) initials |= only(e.task);
      seen |= only(e.task);
      first_number[e.task] = e.number;
    }
    if (dependent(e, o) || k == o.follows) last.join(e.clock, tasks_);
  }
  if ((seen & only(t)) == 0 && begins(t, last)) initials |= only(t);

  node& n = nodes_[j];
  if ((initials & n.backtrack) != 0) return;
  const task_set possible = initials & n.enabled;
  if (possible == 0) {
    // The sequence cannot begin here: something enables it that no dependence tells of (a fair turn, say).
    n.backtrack |= n.enabled;
  } else if ((possible & only(t)) != 0) {
    n.backtrack |= only(t);
  } else {
    n.backtrack |= possible & (~possible + 1);
  }
}

/// With a bound, the point before the racing event may be too expensive; the start of its block of steps by one task,
/// where a switch costs no more, is tried as well.
void exhaustive_strategy::race_bounded(index j, task_id t) {
  const auto add = [&](index at) {
    node& n = nodes_[at];
    n.backtrack |= (n.enabled & only(t)) != 0 ? only(t) : n.enabled;
  };
  add(j);
  index block = j;
  while (block > 0 && (nodes_[block - 1].chosen == nodes_[j].chosen || nodes_[block - 1].agent)) --block;
  add(block);
}

void exhaustive_strategy::forget_from(index at) {
  while (events_.size() > at) {
    const event& e = events_.back();
    for (const auto& part : {e.first, e.second}) {
      if (part.object == no_object || part.how == touch::none) continue;
      auto& visits = visits_[part.object];
      if (!visits.empty() && visits.back().at == events_.size() - 1) visits.pop_back();
    }
    by_task_[e.task].pop_back();
    events_.pop_back();
  }
}

bool exhaustive_strategy::end(const execution_end& how) {
  if (!nondeterminism_.empty()) return false;
  if (shard_.count > 1 && !met_unit_) {  // it ended before the parts begin, or was redundant
    counts_ = how.pruned ? shard_.index == 0 : mine();
  }
  // Operations announced and not done, because their task sleeps or the execution ended early: as if they were next.
  if (!how.pruned && reduce_) {
    for (task_set rest = how.unfinished; rest != 0; rest &= rest - 1) {
      const auto t = static_cast<task_id>(std::countr_zero(rest));
      find_races(t, how.pending[t], before(t), static_cast<index>(events_.size()));
    }
  }
  while (!nodes_.empty()) {
    node& n = nodes_.back();
    const auto at = static_cast<index>(nodes_.size() - 1);
    if (n.picked + 1 < n.results) {
      ++n.picked;
      forget_from(at);
      kept_ = at;
      return true;
    }
    n.picked = 0;
    n.results = 1;
    n.done |= only(n.chosen);
    task_id next = no_task;
    for (task_set rest = n.backtrack & ~n.done & ~n.sleep; rest != 0; rest &= rest - 1) {
      const auto t = static_cast<task_id>(std::countr_zero(rest));
      if (within_bound(n, t)) {
        next = t;
        break;
      }
      cut_ = true;
    }
    if (next != no_task) {
      n.chosen = next;
      n.agent = (agents_ & only(next)) != 0;
      forget_from(at);
      kept_ = at;
      return true;
    }
    nodes_.pop_back();
  }
  covered_ = true;
  return false;
}

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
// The wait-for graph, and an execution as data.
#include "engine.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace faultline::sim {

// --- wait-for graph ---------------------------------------------------------------------------------------------------

/// Tasks that `t` waits for: it needs all of them to act. Empty while it could go on, or waits anonymously.
task_set engine::blockers(task_id t) const {
  const auto& o = pending_[t];
  if (o.ready == nullptr || o.ready(o)) {
    if (how_.processors != processors::shared || tasks_[t]->finished) return 0;
    const task_id owner = owner_of_cpu(tasks_[t]->cpu);  // who waits and keeps its CPU keeps others from it
    return owner != no_task && owner != t && !ready(owner) ? only(owner) : 0;
  }
  if (o.kind == op::join) return only(o.wish.task);
  if (o.kind == op::cross_call) return only(cpus_[static_cast<const call*>(o.context)->cpu].handler);
  if (o.kind == op::interrupt) {
    const auto& cpu = cpus_[o.wish.task];
    const bool asked = !calls_[o.wish.task].empty();
    return asked && cpu.current != no_task ? only(cpu.current) : 0;
  }
  return o.lock != nullptr ? o.lock->blockers(o.wish) : 0;
}

/// "vnode:f0"; "task:T1" of a join.
std::string engine::waited_for(task_id t) const {
  const auto& o = pending_[t];
  if (o.kind == op::join) return fmt::format("task:{}", tasks_[o.wish.task]->name);
  if (o.kind == op::cross_call) return "ipi";
  if (o.lock == nullptr || ready(t)) return fmt::format("cpu:{}", tasks_[t]->cpu);
  return label(o.lock->owner_id());
}

/// A cycle is closed by the last of its tasks to wait, so one search from there is exact: everybody on the way needs
/// all it waits for. \returns whether there is one; then the outcome is a deadlock
bool engine::find_cycle(task_id start) {
  std::array<task_id, tasks_max> came{};
  task_set seen = 0;
  std::vector<task_id> open{start};
  while (!open.empty()) {
    const task_id at = open.back();
    open.pop_back();
    for (task_set rest = blockers(at); rest != 0; rest &= rest - 1) {
      const auto next = static_cast<task_id>(std::countr_zero(rest));
      if (next == start) {
        std::vector<task_id> cycle{at};
        while (cycle.back() != start) cycle.push_back(came[cycle.back()]);
        std::reverse(cycle.begin(), cycle.end());
        // The same cycle reads the same whoever closed it.
        std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
        outcome_.cycle = std::move(cycle);
        if (!tells_) {
          defect(verdict::deadlock, {});
          return true;
        }
        std::string text = outcome_.cycle.size() == 1 ? "self-deadlock: " : "cycle: ";
        for (const task_id t : outcome_.cycle) {
          text += fmt::format("{} waits for {}; ", tasks_[t]->name, waited_for(t));
        }
        text.resize(text.size() - 2);
        defect(verdict::deadlock, std::move(text));
        return true;
      }
      if ((seen & only(next)) == 0) {
        seen |= only(next);
        came[next] = at;
        open.push_back(next);
      }
    }
  }
  return false;
}

/// Nobody can go on: says which kind of wait nobody ends.
void engine::end_stuck() {
  running_ = no_task;
  task_id spinner = no_task;
  task_id sleeper = no_task;
  task_id blocked = no_task;
  for (task_set rest = unfinished_ & ~daemons_; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    const auto& o = pending_[t];
    if (ready(t)) continue;  // its CPU is taken
    if (o.kind == op::relax) {
      spinner = t;
    } else if (o.lock != nullptr) {
      blocked = t;
    } else {
      sleeper = t;
    }
  }
  if (sleeper != no_task) {
    defect(verdict::lost_wakeup, fmt::format("{} sleeps on \"{}\" and nobody is left to wake it",
                                             tasks_[sleeper]->name, pending_[sleeper].wait_name));
  } else if (spinner != no_task) {
    defect(verdict::livelock,
           fmt::format("{} spins on what nobody is left to change", tasks_[spinner]->name));
  } else {
    defect(verdict::lost_wakeup,
           fmt::format("{} waits for {}, which nobody is left to give back", tasks_[blocked]->name,
                       label(pending_[blocked].lock->owner_id())));
  }
}

// --- defects ----------------------------------------------------------------------------------------------------------

wait_record engine::describe_wait(task_id t) const {
  const auto& o = pending_[t];
  wait_record w{.task = tasks_[t]->name,
                .object = {},
                .wait_name = o.wait_name,
                .mode = {},
                .chain = lines(tasks_[t]->chain),
                .held_by = {}};
  const auto mode = [](access how) { return how == access::shared ? "shared" : "exclusive"; };
  const auto kept_by = [&](task_set tasks, const char* how) {
    w.object = waited_for(t);
    for (; tasks != 0; tasks &= tasks - 1) {
      w.held_by.push_back({.task = tasks_[static_cast<task_id>(std::countr_zero(tasks))]->name,
                           .mode = how,
                           .since_step = 0,
                           .since = {},
                           .queued = false});
    }
  };
  const bool could_go_on = ready(t);
  if (o.kind == op::join) {
    w.mode = "join";
    kept_by(only(o.wish.task), "running");
  } else if (could_go_on || o.kind == op::cross_call || o.kind == op::interrupt) {
    if (could_go_on) w.wait_name = "cpu";
    kept_by(blockers(t), could_go_on ? "taken" : "interrupts off");
  }
  if (o.lock == nullptr || could_go_on) return w;
  w.object = waited_for(t);
  w.mode = mode(o.wish.how);
  for (const auto& h : o.lock->holds()) {
    if (!o.lock->rule().conflicts(h.granted, o.wish)) continue;
    w.held_by.push_back({.task = h.granted.task == no_task ? "set-up" : tasks_[h.granted.task]->name,
                         .mode = mode(h.granted.how),
                         .since_step = h.since_step,
                         .since = lines(h.since),
                         .queued = false});
  }
  const task_set who = o.lock->blockers(o.wish);
  for (const auto& q : o.lock->queue()) {
    const bool holds = o.lock->held_by(q.task) != nullptr;
    if (q.task == t || holds || (who & only(q.task)) == 0) continue;
    w.held_by.push_back({.task = tasks_[q.task]->name,
                         .mode = mode(q.how),
                         .since_step = 0,
                         .since = lines(tasks_[q.task]->chain),
                         .queued = true});
  }
  return w;
}

/// The first defect of an execution is the one reported. What can be told about its tasks is told now.
void engine::defect(verdict v, std::string message) {
  if (outcome_.verdict != verdict::clean) return;
  outcome_.verdict = v;
  outcome_.message = std::move(message);
  if (phase_ == phase::tasks) {
    const task_set mine = running_ != no_task ? only(running_) : 0;
    for (task_set rest = unfinished_ & ~mine; rest != 0; rest &= rest - 1) {
      if (ready(static_cast<task_id>(std::countr_zero(rest)))) outcome_.cut_short = true;
    }
    if (v == verdict::deadlock && how_.continue_after_deadlock) outcome_.cut_short = false;
  }
  if (phase_ == phase::check || !tells_) return;
  task_set rest = unfinished_;
  for (const task_id t : outcome_.cycle) {
    waits_.push_back(describe_wait(t));
    cycle_objects_.push_back(waits_.back().object);
    rest &= ~only(t);
  }
  for (; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    if (t != running_ && !ready(t)) {
      waits_.push_back(describe_wait(t));
    } else {
      running_names_.emplace_back(tasks_[t]->name);
    }
  }
}

void world::fail(std::string what) {
  auto& e = self_engine();
  if (phase_ == phase::set_up) throw set_up_error(what);
  e.defect(verdict::violation, std::move(what));
  if (phase_ == phase::tasks && running_ != no_task) e.leave_task();
}

void world::fail_at(std::string_view what, const boost::source_location& at) {
  if (phase_ != phase::set_up && !self_engine().tells_) return fail({});
  std::string_view file = at.file_name();
  // A path that does not depend on where the sources lie.
  if (const auto part = file.rfind("faultline/"); part != std::string_view::npos) {
    file.remove_prefix(part);
  } else {
    file.remove_prefix(file.rfind('/') + 1);
  }
  fail(fmt::format("{} ({}:{})", what, file, at.line()));
}

// --- observations -----------------------------------------------------------------------------------------------------

void world::observe(std::string_view name, std::string_view value) {
  auto& seen = self_engine().observed_;
  const auto at = std::find_if(seen.begin(), seen.end(), [&](const auto& o) { return o.first == name; });
  if (at != seen.end()) {
    at->second = value;
  } else {
    seen.emplace_back(name, value);
  }
}

void world::observe(std::string_view name, std::int64_t value) { observe(name, std::to_string(value)); }

std::string engine::observations_line() const {
  auto sorted = observed_;
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (const auto& [name, value] : sorted)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

// --- reports ----------------------------------------------------------------------------------------------------------

std::string engine::schedule() const {
  return fmt::format("{}@{:016x}", encode(choices_, known_agents_), hash_);
}

void engine::describe(report& r) const {
  r.message = outcome_.message;
  r.cycle = cycle_objects_;
  r.waits = waits_;
  r.still_running = running_names_;
  r.schedule = schedule();
  r.event_hash = hash_;
  r.observations = {observed_.begin(), observed_.end()};
}

void engine::add_steps(std::set<std::string>& reached, std::set<std::string>& skipped) const {
  for (const auto& s : steps_seen_) {
    if (s.seen) (s.omitted ? skipped : reached).emplace(s.which->id);
  }
}

}  // namespace faultline::sim

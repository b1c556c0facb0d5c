// SPDX-License-Identifier: BSD-2-Clause
// What goes on without a task's doing: store buffers and timers. And CPUs: who may run on them, and who runs in whose place.
#include "engine.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace faultline::sim {

// --- agents -----------------------------------------------------------------------------------------------------------

/// The strategy must know an agent before it is first enabled. Its number does not depend on the schedule.
void engine::know_agent(task_id t) {
  const task_id agent = agent_of(t);
  if ((known_agents_ & only(agent)) != 0) return;
  if (agent < task_count_) {
    fail(fmt::format("more than {} tasks, some of which have a store buffer or a timer", tasks_max / 2));
  }
  known_agents_ |= only(agent);
  if ((daemons_ & only(t)) != 0) daemons_ |= only(agent);
  strategy_->spawned(agent, step_ == 0 ? no_task : t);
}

void engine::arm(task_id t, const operation& o) {
  know_agent(t);
  pending_[agent_of(t)] = o;
  armed_ |= only(agent_of(t));
}

void engine::act(task_id agent, task_set enabled) {
  const task_id t = agent_of(agent);  // its own inverse
  running_ = t;
  if (pending_[agent].kind == op::fire) {
    timer_fires(t, enabled);
  } else {
    oldest_store_leaves(t);
  }
  running_ = no_task;
}

// --- timers -----------------------------------------------------------------------------------------------------------

void engine::set_timer(task_id t, std::chrono::nanoseconds length, const operation& fire) {
  drain();
  auto& me = *tasks_[t];
  me.timer = true;
  me.time_out = false;
  me.deadline = time_ + std::max(length, std::chrono::nanoseconds{0});
  arm(t, fire);
  auto& o = pending_[agent_of(t)];
  o.follows = me.last_step;
  if (how_.timers == sim::timers::maximal_progress) {
    // Which of two fires first decides who goes on before the other does. And it has to wait for all tasks.
    o.second = {timers_object_, touch::write};
    o.ready = [](const operation&) { return true; };
  }
}

/// \param others  everybody else who can run
task_set engine::timers_that_may_fire(task_set others) const {
  task_set set = 0;
  task_set earliest = 0;
  auto first = std::chrono::nanoseconds::max();
  for (task_set rest = armed_; rest != 0; rest &= rest - 1) {
    const auto agent = static_cast<task_id>(std::countr_zero(rest));
    if (pending_[agent].kind != op::fire) continue;
    set |= only(agent);
    const auto deadline = tasks_[agent_of(agent)]->deadline;
    if (deadline < first) {
      first = deadline;
      earliest = 0;
    }
    if (deadline == first) earliest |= only(agent);
  }
  if (how_.timers == sim::timers::maximal_progress) return others == 0 ? earliest : 0;
  if (fires_ < how_.fires_max || others == 0) return set;
  fires_bounded_ |= set != 0;
  return 0;
}

void engine::timer_fires(task_id t, task_set enabled) {
  auto& me = *tasks_[t];
  me.timer = false;
  me.time_out = true;
  me.fired_at = step_ - 1;
  armed_ &= ~only(agent_of(t));
  time_ = std::max(time_, me.deadline);
  const bool alone = (enabled & ~armed_ & ~only(agent_of(t)) & ~daemons_) == 0;
  if (alone) {
    ++idle_fires_;
  } else {
    ++fires_;
  }
  if (me.waiter == nullptr) return;  // it only slept
  auto& waiters = me.sleeps_on->waiters;
  waiters.erase(std::find(waiters.begin(), waiters.end(), me.waiter));
  me.waiter->signalled = true;
  me.waiter->timed_out = true;
  me.waiter->wake_event = me.fired_at;
  if (alone && tells_) {
    auto text =
        fmt::format("nobody was left to wake {} from \"{}\": only the time-out after {} ns ended its wait",
                    me.name, me.sleeps_on->name, me.deadline.count());
    const auto chain = lines(me.chain);
    if (!chain.empty()) text += fmt::format(", in {}", chain.back());
    findings_.try_emplace(
        fmt::format("{}:{}", me.name, me.sleeps_on->name),
        finding{.kind = "time-out-only", .objects = {label(me.sleeps_on->id)}, .text = text});
  }
}

/// The wait is over before the time is: it does not fire, which it could have done instead.
void engine::timer_is_off(task_id t) {
  const task_id agent = agent_of(t);
  if ((armed_ & only(agent)) == 0) return;
  armed_ &= ~only(agent);
  tasks_[t]->timer = false;
  strategy_->withdrawn(agent, pending_[agent]);
}

void world::sleep_for(std::chrono::nanoseconds length) {
  auto& e = self_engine();
  if (phase_ != phase::tasks) return;
  auto& me = *e.tasks_[running_];
  me.waiter = nullptr;
  e.set_timer(running_, length, {.kind = op::fire, .wait_name = "sleep"});
  e.at({.kind = op::sleep,
        .ready = [](const operation& o) { return static_cast<const engine::task*>(o.context)->time_out; },
        .context = &me,
        .wait_name = "sleep"});
}

bool world::wait_for(wait_queue_state& queue, lock_state& mutex, const request& wish,
                     std::chrono::nanoseconds most) {
  auto& e = self_engine();
  wait_queue_state::waiter self{};
  e.fall_asleep(queue, mutex, self);
  auto& me = *e.tasks_[running_];
  me.sleeps_on = &queue;
  me.waiter = &self;
  e.set_timer(running_, most, {.kind = op::fire, .first = {queue.id, touch::write}, .wait_name = queue.name});
  e.wake_up(queue, self);
  acquire(mutex, wish);
  return !self.timed_out;
}

std::chrono::nanoseconds world::time() const noexcept { return self_engine().time_; }

// --- CPUs -------------------------------------------------------------------------------------------------------------

void world::set_priority(task_id task, int base) { self_engine().tasks_[task]->base = base; }
void world::lend_priority(task_id task, std::optional<int> lent) { self_engine().tasks_[task]->lent = lent; }
void world::bind(task_id task, std::uint32_t cpu) {
  check(cpu < tasks_max, "a CPU that does not exist");
  self_engine().tasks_[task]->cpu = cpu;
}
std::uint32_t world::cpu(task_id task) const noexcept { return self_engine().tasks_[task]->cpu; }
/// Where others share the CPU it is a scheduling point: until then they may come in between.
void world::preemption_off() {
  auto& e = self_engine();
  if (phase_ != phase::tasks) return;
  if (e.how_.processors == processors::shared) e.at({.kind = op::mask});
  ++e.tasks_[running_]->no_preemption;
}
void world::preemption_on() noexcept {
  if (running_ != no_task) --self_engine().tasks_[running_]->no_preemption;
}
void world::interrupts_off() {
  preemption_off();
  if (running_ != no_task) ++self_engine().tasks_[running_]->no_interrupts;
}
void world::interrupts_on() noexcept {
  preemption_on();
  if (running_ != no_task) --self_engine().tasks_[running_]->no_interrupts;
}

int world::priority(task_id task) const {
  const auto& e = self_engine();
  task_set asked = 0;
  const auto of = [&](const auto& again, task_id t) -> int {
    asked |= only(t);
    const auto& me = *e.tasks_[t];
    int most = std::max(me.base, me.lent.value_or(std::numeric_limits<int>::min()));
    for (task_set rest = e.unfinished_ & ~asked; rest != 0; rest &= rest - 1) {
      const auto h = static_cast<task_id>(std::countr_zero(rest));
      const auto& o = e.pending_[h];
      if ((asked & only(h)) != 0 || o.lock == nullptr || !o.lock->rule().lends() || e.ready(h)) continue;
      if ((o.lock->blockers(o.wish) & only(t)) != 0) most = std::max(most, again(again, h));
    }
    return most;
  };
  return of(of, task);
}

/// The task that nobody can take the CPU from now, or no_task.
task_id engine::owner_of_cpu(std::uint32_t cpu) const {
  const auto& c = cpus_[cpu];
  if (c.in_handler) return c.handler;
  if (c.current != no_task && !tasks_[c.current]->finished && tasks_[c.current]->no_preemption != 0) {
    return c.current;
  }
  return no_task;
}

/// Those of `ready` that their CPU may run.
task_set engine::scheduled(task_set ready) const {
  task_set set = 0;
  std::array<int, tasks_max> most;
  most.fill(std::numeric_limits<int>::min());
  std::array<int, tasks_max> priority{};
  const auto handles = [&](task_id t) { return cpus_[tasks_[t]->cpu].handler == t; };
  for (task_set rest = ready; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    if (handles(t)) continue;
    priority[t] = world::priority(t);
    most[tasks_[t]->cpu] = std::max(most[tasks_[t]->cpu], priority[t]);
  }
  for (task_set rest = ready; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    const auto cpu = tasks_[t]->cpu;
    const auto owner = owner_of_cpu(cpu);
    // An interrupt that was asked for comes at some time: whether now is a choice of its own.
    const bool runs = handles(t) || (owner != no_task ? owner == t : priority[t] == most[cpu]);
    if (runs) set |= only(t);
  }
  return set;
}

void world::cross_call_raw(std::uint32_t cpu, void (*run)(void*), void* body) {
  auto& e = self_engine();
  if (phase_ != phase::tasks) throw set_up_error("a cross-call outside a task");
  if (e.how_.processors != processors::shared) throw set_up_error("a cross-call needs processors::shared");
  check(cpu < tasks_max, "a cross-call to a CPU that does not exist");
  if (cpu == e.tasks_[running_]->cpu) return run(body);
  e.drain();
  if (e.cpus_[cpu].handler == no_task) {
    const task_id handler = spawn_raw(
        keep(fmt::format("interrupts of CPU {}", cpu)),
        [](void* cpu_state) {
          auto& w = here();
          auto& self = w.self_engine();
          const auto which =
              static_cast<std::uint32_t>(static_cast<engine::cpu_state*>(cpu_state) - self.cpus_.data());
          self.serve_calls(which);
        },
        &e.cpus_[cpu], true);
    e.tasks_[handler]->cpu = cpu;
    e.cpus_[cpu].handler = handler;
  }
  engine::call asked{.run = run, .body = body, .cpu = cpu, .done = false, .clock = {}};
  e.at({.kind = op::cross_call, .first = {e.task_table_, touch::write}});
  auto& me = *e.tasks_[running_];
  asked.clock = me.clock;
  ++me.clock[running_];
  e.calls_[cpu].push_back(&asked);
  e.at({.kind = op::cross_call,
        .ready = [](const operation& o) { return static_cast<const engine::call*>(o.context)->done; },
        .context = &asked,
        .wait_name = "ipi"});
  me.clock.join(asked.clock, e.width_);
}

/// The interrupts of one CPU, as long as the execution lasts.
void engine::serve_calls(std::uint32_t cpu) {
  for (;;) {
    at({.kind = op::interrupt,
        .ready =
            [](const operation& o) {
              const auto& self = *static_cast<const engine*>(o.context);
              const auto& c = self.cpus_[o.wish.task];
              const bool taken = c.current != no_task && !self.tasks_[c.current]->finished &&
                                 self.tasks_[c.current]->no_interrupts != 0;
              return !self.calls_[o.wish.task].empty() && !taken;
            },
        .context = this,
        .wish = {.task = cpu},
        .wait_name = "interrupt"});
    cpus_[cpu].in_handler = true;
    while (!calls_[cpu].empty()) {
      call& c = *calls_[cpu].front();
      calls_[cpu].erase(calls_[cpu].begin());
      auto& clock = tasks_[running_]->clock;
      clock.join(c.clock, width_);
      c.run(c.body);
      drain();
      c.clock = clock;
      ++clock[running_];
      c.done = true;
    }
    cpus_[cpu].in_handler = false;
  }
}

// --- inversion --------------------------------------------------------------------------------------------------------

/// `t` runs. Does it do so in place of a less urgent task, on its CPU, that a more urgent one waits for?
void engine::note_inversion(task_id t) {
  const int urgency = priority(t);
  for (auto& seen : inversions_) {
    if (seen.owner == t && !seen.over) {
      seen.over = true;
      seen.bounded = ready(seen.middle) && !tasks_[seen.middle]->finished;
    }
  }
  for (task_set rest = unfinished_ & ~only(t); rest != 0; rest &= rest - 1) {
    const auto waiter = static_cast<task_id>(std::countr_zero(rest));
    const auto& o = pending_[waiter];
    if (o.lock == nullptr || ready(waiter) || priority(waiter) <= urgency) continue;
    task_set waited_for = 0;
    for (task_set more = blockers(waiter); (more & ~waited_for) != 0;) {
      const auto next = static_cast<task_id>(std::countr_zero(more & ~waited_for));
      waited_for |= only(next);
      more |= blockers(next);
    }
    if ((waited_for & only(t)) != 0) continue;
    for (task_set more = waited_for & unfinished_; more != 0; more &= more - 1) {
      const auto owner = static_cast<task_id>(std::countr_zero(more));
      if (!ready(owner) || tasks_[owner]->cpu != tasks_[t]->cpu || priority(owner) >= urgency) continue;
      const auto known = std::find_if(inversions_.begin(), inversions_.end(), [&](const inverted& i) {
        return i.waiter == waiter && i.owner == owner && i.middle == t && !i.over;
      });
      if (known != inversions_.end()) {
        ++known->steps;
      } else {
        inversions_.push_back(
            {.waiter = waiter, .owner = owner, .middle = t, .lock = label(o.lock->owner_id()), .steps = 1});
      }
    }
  }
}

/// At the end of an execution, which may be that of the middle task's going on for ever.
void engine::judge_inversion() {
  if (inversions_.empty()) return;
  const bool overrides = outcome_.verdict == verdict::clean || outcome_.verdict == verdict::livelock ||
                         outcome_.verdict == verdict::starvation;
  if (!overrides || outcome_.pruned) return;
  const auto& worst = *std::max_element(inversions_.begin(), inversions_.end(),
                                        [](const auto& a, const auto& b) { return a.steps < b.steps; });
  const auto name = [&](task_id t) {
    return fmt::format("{} (priority {})", tasks_[t]->name, tasks_[t]->base);
  };
  outcome_.verdict = verdict::clean;
  outcome_.truncated = false;
  running_ = no_task;
  defect(verdict::inversion,
         fmt::format("{} waits for {}, which {} holds; {} runs in its place on CPU {} for {} step{}, {}",
                     name(worst.waiter), worst.lock, name(worst.owner), name(worst.middle),
                     tasks_[worst.middle]->cpu, worst.steps, worst.steps == 1 ? "" : "s",
                     worst.bounded ? "and then gives way: the wait is bounded"
                     : worst.over  ? "until it has no more to do: the wait grows with its work"
                                   : "and has not ended: the wait grows with its work"));
}

}  // namespace faultline::sim

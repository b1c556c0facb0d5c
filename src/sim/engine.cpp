// SPDX-License-Identifier: BSD-2-Clause
#include "engine.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <typeinfo>

namespace faultline::sim {

thread_local world* world::current_ = nullptr;

world& world::none() noexcept {
  std::fputs("faultline: simulated object outside an execution\n", stderr);
  std::abort();
}

engine::engine(const options& how, const program& p) : how_(how), program_(p) {
  objects_.resize(object_room_);
  for (const step* s : how.omit) steps_seen_.push_back({s, true, false});
  tell_observers(true);
}

engine::~engine() = default;

void engine::reset() {
  memory_.release();
  object_count_ = 1;
  task_count_ = 0;
  armed_ = known_agents_ = 0;
  history_ = how_.memory == memory_model::weak ? how_.history : 0;
  sequential_ = fires_ = idle_fires_ = 0;
  fingerprint_ = nullptr;
  states_.clear();
  fences_.clear();
  time_ = {};
  if (how_.processors == processors::shared) {
    cpus_.fill({});
    for (auto& waiting : calls_) waiting.clear();
  }
  inversions_.clear();
  daemons_ = unfinished_ = gated_ = giving_way_ = looked_ = news_ = relaxed_ = idle_ran_ = 0;
  rounds_ = idle_rounds_ = 0;
  choices_.clear();
  step_ = 0;
  hash_ = 0x9e3779b97f4a7c15U;
  random_ = 1;
  last_ = no_task;
  running_ = no_task;
  prologue_return_ = nullptr;
  ending_ = false;
  outcome_.verdict = verdict::clean;
  outcome_.truncated = outcome_.pruned = outcome_.cut_short = outcome_.daemon_left = false;
  outcome_.message.clear();
  outcome_.cycle.clear();
  outcome_.race_key.clear();
  waits_.clear();
  cycle_objects_.clear();
  running_names_.clear();
  observed_.clear();
  for (auto& s : steps_seen_) s.seen = false;
  phase_ = phase::set_up;
}

bool engine::run(strategy& s) {
  struct restore {
    world* outer;
    ~restore() { current_ = outer; }
  } const guard{current_};
  current_ = this;
  strategy_ = &s;
  random_choice_ = typeid(s) == typeid(random_strategy) ? static_cast<random_strategy*>(&s) : nullptr;
  reset();
  s.begin(execution_++);
  follows_steps_ = s.follows_steps();
  tells_steps_ =
      how_.on_event || watched_ || how_.processors == processors::shared || how_.starvation_after != 0;
  if (watched_) {
    for (auto* o : how_.observers) o->begins(told_ + 1);
  }

  execution e(*this);
  task_table_ = enroll(&task_table_, "tasks", "");
  if (how_.timers == sim::timers::maximal_progress) timers_object_ = enroll(&timers_object_, "timers", "");
  if (how_.memory == memory_model::weak) fence_object_ = enroll(&fence_object_, "fence", "");
  program_(e);
  phase_ = phase::tasks;
  started_ = 0;
  starting_ = true;
  switch_to(host_, start_next());  // returns when the execution has ended
  judge_inversion();

  if (outcome_.verdict == verdict::clean && !outcome_.pruned && !outcome_.truncated) {
    outcome_.daemon_left = (enabled() & daemons_) != 0;
  }
  if (watched_) tell_end();
  running_ = no_task;
  phase_ = phase::check;
  if (!outcome_.pruned && !outcome_.truncated) e.run_check();

  for (task_set rest = unfinished_; rest != 0; rest &= rest - 1) {  // agents know it already
    note_what_it_follows(pending_[static_cast<task_id>(std::countr_zero(rest))]);
  }
  execution_end how{.unfinished = unfinished_ | armed_,
                    .pending = pending_,
                    .defect = outcome_.verdict != verdict::clean,
                    .truncated = outcome_.truncated,
                    .pruned = outcome_.pruned};
  return s.end(how);
}

/// Runs a new task up to its first operation, which it announces.
[[gnu::always_inline]] inline void engine::prologue(task_id t, sim::fiber& from) {
  const task_id before = running_;
  auto* const outer = prologue_return_;
  prologue_return_ = &from;
  running_ = t;
  sim::fiber::transfer(from, tasks_[t]->fiber);
  running_ = before;
  prologue_return_ = outer;
}

/// The tasks that set-up made run up to their first operations, one after the other; then the first choice is made.
sim::fiber& engine::start_next() {
  if (started_ < task_count_) {
    running_ = started_++;
    return tasks_[running_]->fiber;
  }
  starting_ = false;
  running_ = no_task;
  return next_if_any();
}

sim::fiber& engine::next_if_any() { return (unfinished_ & ~daemons_) != 0 ? next() : end(); }

sim::fiber& engine::end() {
  ending_ = true;
  running_ = no_task;
  return host_;
}

task_id world::spawn_raw(const char* name, void (*run)(void*), void* body, bool daemon) {
  auto& e = self_engine();
  if (phase_ == phase::check) throw set_up_error("a task was spawned by a check");
  if (phase_ == phase::tasks) {
    e.drain();
    e.at({.kind = op::spawn, .first = {e.task_table_, touch::write}});
  }
  if (e.task_count_ == tasks_max || (e.known_agents_ & only(e.task_count_)) != 0) {
    const auto text = fmt::format("more than {} tasks", e.known_agents_ != 0 ? tasks_max / 2 : tasks_max);
    if (phase_ == phase::set_up) throw set_up_error(text);
    fail(text);
  }
  const task_id id = e.task_count_++;
  if (id == e.task_room_) {
    ++e.task_room_;
    e.tasks_.push_back(std::make_unique<engine::task>());
    e.tasks_.back()->holds.reserve(16);
  }
  auto& t = *e.tasks_[id];
  t.name = name;
  t.run = run;
  t.body = body;
  t.owner = &e;
  t.daemon = daemon;
  t.finished = false;
  t.sections = 0;
  t.last_step = ~0U;
  t.asleep = false;
  e.width_ = std::max(e.width_, e.task_count_);
  t.clock.clear(e.width_);
  t.chain.depth = 0;
  t.waits_for_turns = 0;
  t.holds.clear();
  t.acquire_fence.clear(e.width_);
  t.release_fence.clear(e.width_);
  t.reached.clear();
  t.fresh_since = t.relaxed_at = 0;
  t.buffer.clear();
  t.next_to_leave = 0;
  t.last_left = ~0U;
  t.dirty = false;
  t.timer = false;
  t.waiter = nullptr;
  t.cpu = id;
  t.base = 0;
  t.lent.reset();
  t.no_preemption = t.no_interrupts = t.kept_back = 0;
  t.kept_since = ~0U;
  if (daemon) e.daemons_ |= only(id);
  e.unfinished_ |= only(id);
  e.gated_ &= ~only(id);
  auto& first = e.pending_[id];  // what may be asked of a task that has announced nothing yet
  first.kind = op::start;
  first.first = first.second = {};
  first.ready = nullptr;
  first.lock = nullptr;
  t.fiber.start(&engine::task_main, &t,
                std::size_t{id % 16} * 13 * 64);  // goes on in its loop, if it came to its end the last time
  if (phase_ == phase::tasks) {
    auto& parent = *e.tasks_[running_];
    t.cpu = e.how_.processors == processors::shared ? parent.cpu : id;
    t.base = parent.base;
    t.clock.assign(parent.clock, e.width_);
    ++parent.clock[running_];
    t.clock[id] = 1;
    e.strategy_->spawned(id, running_);
    e.prologue(id, parent.fiber);
    if (e.ending_) e.leave_task();
  } else {
    t.clock[id] = 1;
    e.strategy_->spawned(id, no_task);
  }
  return id;
}

/// What leads from a switch to the user's code, and back from there, is inline: see at().
void engine::task_main(void* self) {
  auto& t = *static_cast<task*>(self);
  auto& e = *t.owner;
  std::exception_ptr escaped;
  for (;;) {  // a task of a later execution goes on here
    try {
      t.run(t.body);
    } catch (...) {
      escaped = std::current_exception();
    }
    e.drain();
    if (escaped) e.fail_by(std::exchange(escaped, {}), t);
    switch_to(t.fiber, e.task_done(t));
  }
}

/// An exception left the task.
void engine::fail_by(std::exception_ptr escaped, const task& t) {
  std::string text = fmt::format("exception left task {}", t.name);
  try {
    std::rethrow_exception(escaped);
  } catch (const std::exception& error) {
    text += fmt::format(": {}", error.what());
  } catch (...) {  // nothing more to say of it
  }
  escaped = {};
  fail(std::move(text));
}

/// \returns whom to go on with
sim::fiber& engine::task_done(task& t) {
  if (!t.holds.empty()) {
    fail(fmt::format("task {} ended and still holds {}", t.name, label(t.holds.back()->owner_id())));
  }
  t.finished = true;
  unfinished_ &= ~only(running_);
  gated_ &= ~only(running_);
  relaxed_ = 0;
  rounds_ = 0;
  t.fiber.set_idle();
  if (prologue_return_ != nullptr) return *prologue_return_;
  return starting_ ? start_next() : next_if_any();
}

void engine::leave_task() {
  ending_ = true;
  sim::fiber& back = prologue_return_ != nullptr ? *prologue_return_ : host_;
  sim::fiber::transfer(tasks_[running_]->fiber, back);
  std::abort();  // an ended execution is never gone on with
}

void engine::section_guard(const operation& o) {
  fail(fmt::format("{} of {} inside a section", name_of(o.kind), label(o.first.object)));
}

/// Outside tasks nothing waits for its turn.
void engine::unscheduled(const operation& o) const {
  if (o.ready == nullptr || o.ready(o)) return;
  if (phase_ == phase::check) throw set_up_error("a check would sleep");
  throw set_up_error(fmt::format("set-up would sleep for ever ({})", name_of(o.kind)));
}

/// What at() announces cannot always be done at once.
void engine::announce_wait(const operation& o) {
  gated_ |= only(running_);
  if (watched_) tell_announced(o);
  const bool of_somebody = o.lock != nullptr || o.kind == op::join || o.kind == op::cross_call;
  if (of_somebody && outcome_.verdict == verdict::clean && !o.ready(o) && find_cycle(running_) &&
      !how_.continue_after_deadlock) {
    leave_task();
  }
}

/// What at() does, once its operation is in pending_, before the running task is left. \returns whom to go on with
sim::fiber& engine::announce(task& t) {
  const operation& o = pending_[running_];
  if (t.sections != 0 && o.kind != op::var_read && o.kind != op::var_write && o.kind != op::unlock)
    section_guard(o);
  if (o.ready == nullptr) {
    gated_ &= ~only(running_);
    if (watched_) tell_announced(o);
  } else {
    announce_wait(o);
  }
  if (prologue_return_ != nullptr) return *prologue_return_;
  return starting_ ? start_next() : next();
}

bool engine::ready(task_id t) const {
  const auto& o = pending_[t];
  return o.ready == nullptr || o.ready(o);
}

task_set engine::enabled() const {
  if (((unfinished_ & gated_) | giving_way_ | armed_) == 0 && how_.processors == processors::own)
    return unfinished_;
  return enabled_of_all();
}

task_set engine::enabled_of_all() const {
  task_set set = unfinished_ & ~gated_;
  for (task_set rest = unfinished_ & gated_; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    if (pending_[t].ready(pending_[t])) set |= only(t);
  }
  // A task that gave way stays back until the others that could run have run.
  task_set held_back = 0;
  for (task_set rest = set & giving_way_; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    if ((tasks_[t]->waits_for_turns & set) != 0) held_back |= only(t);
  }
  if (held_back != set) set &= ~held_back;
  for (task_set rest = armed_; rest != 0; rest &= rest - 1) {
    const auto agent = static_cast<task_id>(std::countr_zero(rest));
    if (pending_[agent].kind == op::store) set |= only(agent);
  }
  if (how_.processors == processors::shared) set = scheduled(set & ~armed_) | (set & armed_);
  if (armed_ != 0) set |= timers_that_may_fire(set);
  return set;
}

/// What the strategy is asked, and told, about the step to come.
choice_point engine::present_choice() const {
  return {.step = step_,
          .enabled = enabled_then_,
          .daemons = daemons_,
          .agents = armed_ & enabled_then_,
          .last = last_,
          .pending = pending_};
}

void engine::record_step(task_id t) {
  auto& o = pending_[t];
  if (follows_steps_) {
    note_what_it_follows(o);
    strategy_->executed(present_choice(), t);
  }
  hash_ = (hash_ ^ ((std::uint64_t{t} << 56U) | (std::uint64_t{static_cast<std::uint8_t>(o.kind)} << 48U) |
                    (std::uint64_t{o.first.object} << 24U) | o.second.object)) *
          0xff51afd7ed558ccdU;
  hash_ ^= hash_ >> 32U;
  choices_.push_back({.task = t});
  if (tells_steps_) [[unlikely]]
    tell_step(t);
  if ((armed_ & only(t)) == 0) {
    tasks_[t]->last_step = step_;
    last_ = t;
  }
  ++step_;
  if (giving_way_ != 0 || o.kind == op::relax || (enabled_then_ & ~daemons_) == 0) [[unlikely]] {
    count_rounds(t);
  } else {
    idle_rounds_ = 0;
    idle_ran_ = 0;
  }
}

task_id engine::choose_from(task_set ready_now) {
  enabled_then_ = ready_now;
  const task_id chosen = random_choice_ != nullptr ? random_choice_->any_of(ready_now) : ask_strategy();
  if (chosen == no_task) {
    outcome_.pruned = true;
    return no_task;
  }
  record_step(chosen);
  if ((rounds_ | idle_fires_) == 0) [[likely]]
    return chosen;
  return gets_somewhere() ? chosen : no_task;
}

task_id engine::ask_strategy() { return strategy_->choose(present_choice()); }

bool engine::gets_somewhere() {
  if (rounds_ < how_.livelock_rounds && idle_fires_ <= std::uint64_t{4} * how_.livelock_rounds) return true;
  running_ = no_task;
  defect(verdict::livelock, rounds_ >= how_.livelock_rounds
                                ? fmt::format("no progress in {} rounds of all tasks", rounds_)
                                : "nothing goes on but time-outs");
  return false;
}

/// The task or agent whose operation is the next step, or no_task at the end of the execution.
task_id engine::choose() {
  const task_set ready_now = enabled();
  if (ready_now == 0 || idle_rounds_ != 0 || fingerprint_ != nullptr || step_ >= how_.steps_per_execution)
      [[unlikely]] {
    return may_go_on(ready_now) ? choose_from(enabled()) : no_task;
  }
  return choose_from(ready_now);
}

/// Lets the strategy choose. \returns the chosen task's fiber, or the host's when the execution has ended
sim::fiber& engine::next() {
  task_id chosen = choose();
  while (chosen != no_task && (only(chosen) & known_agents_) != 0 && chosen >= task_count_) {
    act(chosen, enabled_then_);
    chosen = ending_ ? no_task : choose();
  }
  if (chosen == no_task) return end();
  running_ = chosen;
  return tasks_[chosen]->fiber;
}

bool engine::may_go_on(task_set ready_now) {
  if (ready_now == 0 ||
      ((ready_now & ~daemons_) == 0 && idle_rounds_ > std::uint64_t{64} * how_.livelock_rounds)) {
    end_stuck();
    return false;
  }
  const bool circle = fingerprint_ != nullptr && state_is_back(ready_now);
  if (step_ >= how_.steps_per_execution) {
    outcome_.truncated = true;
    return false;
  }
  if (circle) {
    running_ = no_task;
    defect(verdict::livelock,
           "a state came back, and nobody achieved anything: the tasks go round in a circle");
  }
  return !circle;
}

void engine::note_what_it_follows(operation& o) const {
  if (o.kind == op::lock && o.lock->rule().announces(o.wish)) {
    o.follows = o.lock->last_grant_event_;  // the queue lets nobody past who is ahead
  } else if (o.kind == op::resume) {
    o.follows = static_cast<const wait_queue_state::waiter*>(o.context)->wake_event;
  } else if (o.kind == op::join) {
    o.follows = static_cast<const task*>(o.context)->last_step;
  } else if (o.kind == op::fence && o.ready != nullptr) {
    o.follows = static_cast<const task*>(o.context)->last_left;
  } else if (o.kind == op::sleep) {
    o.follows = static_cast<const task*>(o.context)->fired_at;
  }
}

void engine::tell_step(task_id t) {
  if (how_.on_event) narrate(t);
  const bool agent = (armed_ & only(t)) != 0;
  if (watched_ && !agent) tell_chosen(t);
  if (how_.processors == processors::shared && !agent) {
    auto& cpu = cpus_[tasks_[t]->cpu];
    if (cpu.handler != t) {
      cpu.current = t;
      note_inversion(t);
    }
  }
  if (how_.starvation_after != 0) {
    for (task_set rest = enabled_then_ & ~armed_; rest != 0; rest &= rest - 1) {
      tasks_[static_cast<task_id>(std::countr_zero(rest))]->kept_back = 0;
    }
  }
}

/// Who waits for turns has one less to wait for; rounds of tasks that ask for patience, and of daemons alone, are counted.
void engine::count_rounds(task_id t) {
  for (task_set rest = giving_way_; rest != 0; rest &= rest - 1) {
    tasks_[static_cast<task_id>(std::countr_zero(rest))]->waits_for_turns &= ~only(t);
  }
  if (pending_[t].kind == op::relax) {
    giving_way_ &= ~only(t);
    relaxed_ |= only(t);
    // A full round: each task that could have achieved something asked for patience instead.
    const task_set active = enabled_then_ & ~daemons_ & ~armed_;
    if ((active & ~relaxed_) == 0) {
      ++rounds_;
      relaxed_ = 0;
    }
  }
  // Rounds of daemons alone, while every other task sleeps: nobody is left who would wake them, unless a daemon does.
  if ((enabled_then_ & ~daemons_) != 0) {
    idle_rounds_ = 0;
    idle_ran_ = 0;
  } else {
    idle_ran_ |= only(t);
    if ((enabled_then_ & ~idle_ran_) == 0) {
      ++idle_rounds_;
      idle_ran_ = 0;
    }
  }
}

void engine::narrate(task_id t) {
  const auto& o = pending_[t];
  trace_event e{.execution = execution_,
                .step = step_,
                .task = tasks_[t < task_count_ ? t : agent_of(t)]->name,
                .what = name_of(o.kind),
                .chain = lines(tasks_[t < task_count_ ? t : agent_of(t)]->chain)};
  if (t >= task_count_ && o.kind == op::store) e.what = "store buffer: store";
  const bool own_queue =
      o.lock != nullptr || o.kind == op::try_lock || o.kind == op::unlock;  // of the same lock
  if (o.first.object != no_object && o.first.how != touch::none) e.what += " " + label(o.first.object);
  if (o.second.object != no_object && o.second.how != touch::none && !own_queue)
    e.what += " " + label(o.second.object);
  if (o.kind == op::lock || o.kind == op::try_lock || o.kind == op::enqueue) {
    e.what += o.wish.how == access::shared ? " shared" : " exclusive";
  } else if (o.wait_name[0] != '\0') {
    e.what += fmt::format(" \"{}\"", o.wait_name);
  }
  how_.on_event(e);
}

void world::join(task_id task) {
  auto& e = self_engine();
  check(task < e.task_count_, "join of a task that does not exist");
  const auto* target = e.tasks_[task].get();
  e.at({.kind = op::join,
        .ready = [](const operation& o) { return static_cast<const engine::task*>(o.context)->finished; },
        .context = target,
        .wish = {.task = task},
        .wait_name = "join"});
  if (phase_ == phase::tasks) e.tasks_[running_]->clock.join(target->clock, e.width_);
}

void world::relax() {
  auto& e = self_engine();
  if (phase_ != phase::tasks) return;
  auto& t = *e.tasks_[running_];
  e.relaxes_ = true;
  e.giving_way_ |= only(running_);
  t.waits_for_turns = e.enabled() & ~only(running_);
  e.at({.kind = op::relax,
        .ready =
            [](const operation& o) {
              const auto& self = *static_cast<const engine*>(o.context);
              const task_set me = only(o.wish.task);
              return (self.looked_ & me) == 0 || (self.news_ & me) != 0;
            },
        .context = &e,
        .wish = {.task = running_},
        .wait_name = "spin"});
  e.looked_ &= ~only(running_);
  e.news_ &= ~only(running_);
  t.fresh_since = t.relaxed_at;
  t.relaxed_at = e.step_;
}

void world::progress() noexcept {
  if (running_ == no_task) return;  // set-up and checks: nobody waits for turns
  auto& e = self_engine();
  if ((e.daemons_ & only(running_)) != 0)
    return;  // what a daemon achieves does not help those who wait for their own
  e.rounds_ = 0;
  e.relaxed_ = 0;
  e.idle_rounds_ = 0;
  e.idle_fires_ = 0;
  e.states_.clear();
  if (e.how_.starvation_after != 0) e.note_who_is_kept_back();
}

void world::set_fingerprint(std::uint64_t (*of)(void*), void* context) noexcept {
  self_engine().fingerprint_ = of;
  self_engine().fingerprint_context_ = context;
}

/// The user's state with what each task is about to do. A circle is a livelock only if it is fair: whoever can run has run.
bool engine::state_is_back(task_set enabled) {
  auto state = fingerprint_(fingerprint_context_);
  const auto mix = [&state](std::uint64_t part) {
    state = (state ^ part) * 0xff51afd7ed558ccdU;
    state ^= state >> 33U;
  };
  mix(unfinished_);
  mix(armed_);
  for (task_set rest = unfinished_; rest != 0; rest &= rest - 1) {
    const auto& o = pending_[static_cast<task_id>(std::countr_zero(rest))];
    mix((std::uint64_t{static_cast<std::uint8_t>(o.kind)} << 32U) | o.first.object);
  }
  const auto [before, fresh] = states_.try_emplace(state, step_);
  if (fresh) return false;
  task_set ran = 0;
  for (std::uint32_t s = before->second; s < step_; ++s) ran |= only(choices_[s].task);
  const task_set people = enabled & ~daemons_;
  if (people != 0 && (people & ~ran) == 0) return true;
  // Round once more shows nothing new: those who went round give way to the others.
  relaxes_ = true;
  for (task_set rest = ran & unfinished_; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    giving_way_ |= only(t);
    tasks_[t]->waits_for_turns |= enabled & ~ran;
  }
  return false;
}

/// Others achieve something. Who has been unable to run, each time, for too long? Cleared where a task could have run.
void engine::note_who_is_kept_back() {
  const task_set able = enabled();
  for (task_set rest = unfinished_ & ~daemons_ & ~able & ~only(running_); rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    auto& kept = *tasks_[t];
    if (kept.kept_since != kept.last_step) {
      kept.kept_since = kept.last_step;
      kept.kept_back = 0;
    }
    if (++kept.kept_back < how_.starvation_after) continue;
    defect(
        verdict::starvation,
        fmt::format("{} waits for {} while others achieve something {} times, and could never run", kept.name,
                    pending_[t].lock != nullptr ? label(pending_[t].lock->owner_id())
                    : ready(t)                  ? fmt::format("CPU {}", kept.cpu)
                                                : fmt::format("\"{}\"", pending_[t].wait_name),
                    kept.kept_back));
    leave_task();
  }
}

void world::io(const char* what) {
  auto& e = self_engine();
  e.at({.kind = op::io, .wait_name = what});
}

const char* world::task_name(task_id t) const noexcept { return self_engine().tasks_[t]->name; }
std::uint32_t world::task_count() const noexcept { return self_engine().task_count_; }
bool world::finished(task_id t) const noexcept { return self_engine().tasks_[t]->finished; }
std::uint32_t world::now() const noexcept { return self_engine().step_; }

std::uint64_t world::random() noexcept {
  // splitmix64: the same on every compiler
  auto z = (self_engine().random_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

void world::push_frame(const char* function, const char* object) noexcept {
  if (running_ == no_task) return;
  auto& chain = self_engine().tasks_[running_]->chain;
  if (chain.depth < call_chain::depth_max) chain.frames[chain.depth] = {function, object};
  ++chain.depth;
  if (self_engine().watched_) self_engine().tell_enters();
}

void world::pop_frame() noexcept {
  if (running_ != no_task) --self_engine().tasks_[running_]->chain.depth;
}

bool world::frame_active(std::string_view function) const noexcept {
  if (running_ == no_task) return false;
  const auto& chain = self_engine().tasks_[running_]->chain;
  for (std::uint32_t i = 0; i < chain.depth && i < call_chain::depth_max; ++i) {
    if (function == chain.frames[i].function) return true;
  }
  return false;
}

bool world::keeps(const step& s) noexcept {
  auto& seen = self_engine().steps_seen_;
  for (auto& known : seen) {
    if (known.which == &s) {
      known.seen = true;
      return !known.omitted;
    }
  }
  seen.push_back({&s, false, true});
  return true;
}

}  // namespace faultline::sim

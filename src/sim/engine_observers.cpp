// SPDX-License-Identifier: BSD-2-Clause
// What lock observers are told. Called only where there are some.
#include "engine.hpp"

#include <bit>

namespace faultline::sim {

lock_event engine::event_of(const lock_state& lock, access how) const {
  const auto& o = objects_[lock.owner_id()];
  const auto& me = *tasks_[running_];
  return {.task = running_,
          .task_name = me.name,
          .lock = {.id = lock.owner_id(), .kind = o.kind, .name = o.name},
          .how = how,
          .chain = &me.chain};
}

void engine::tell_asks(const lock_state& lock, access how) const {
  if (phase_ != phase::tasks) return;
  const auto seen = event_of(lock, how);
  for (auto* o : how_.observers) o->asks(seen);
}

void engine::tell_acquired(const lock_state& lock, access how) const {
  if (phase_ != phase::tasks) return;
  const auto seen = event_of(lock, how);
  for (auto* o : how_.observers) o->acquired(seen);
}

void engine::tell_tried(const lock_state& lock, access how, bool got) const {
  if (phase_ != phase::tasks) return;
  const auto seen = event_of(lock, how);
  for (auto* o : how_.observers) o->tried(seen, got);
}

void engine::tell_released(const lock_state& lock, access how) const {
  if (phase_ != phase::tasks) return;
  const auto seen = event_of(lock, how);
  for (auto* o : how_.observers) o->released(seen);
}

sleep_event engine::sleep_of(task_id t) const {
  const auto& o = pending_[t];
  const auto& me = *tasks_[t];
  sleep_event s{.task = t,
                .task_name = me.name,
                .wait_name = o.wait_name,
                .lock = {},
                .how = o.wish.how,
                .takes = o.kind == op::lock,
                .chain = &me.chain,
                .since_step = me.asked_step,
                .owner = no_task,
                .owner_how = access::exclusive,
                .for_ever = false};
  if (o.lock == nullptr) return s;
  const auto& lock = objects_[o.lock->owner_id()];
  s.lock = {.id = o.lock->owner_id(), .kind = lock.kind, .name = lock.name};
  for (const auto& h : o.lock->holds()) {
    if (!o.lock->rule().conflicts(h.granted, o.wish)) continue;
    s.owner = h.granted.task;
    s.owner_how = h.granted.how;
  }
  return s;
}

void engine::tell_announced(const operation& o) {
  auto& me = *tasks_[running_];
  me.asked_step = step_;
  const bool may_sleep = o.kind == op::lock || o.kind == op::wait || o.kind == op::resume ||
                         o.kind == op::sleep || o.kind == op::join;
  me.asleep = may_sleep && o.ready != nullptr && !o.ready(o);
  if (!me.asleep) return;
  const auto seen = sleep_of(running_);
  for (auto* observer : how_.observers) observer->sleeps(seen);
}

void engine::tell_chosen(task_id t) {
  if (!tasks_[t]->asleep) return;
  tasks_[t]->asleep = false;
  for (auto* o : how_.observers) o->wakes(t);
}

void engine::tell_enters() const {
  if (phase_ != phase::tasks) return;
  const auto& me = *tasks_[running_];
  for (auto* o : how_.observers) o->enters(running_, me.name, me.chain);
}

/// Tasks whose wait nobody ends, however those act that still can: whoever can act is taken to give back all that it
/// holds, and to wake all that wait without saying for whom.
task_set engine::stuck() const {
  // Who ended the execution by a violation was acting; what it announced last is done.
  const task_set ended = running_ != no_task && outcome_.verdict == verdict::violation ? only(running_) : 0;
  task_set rest = unfinished_ & ~ended;
  task_set acting = ended;
  for (bool more = true; more;) {
    more = false;
    for (task_set open = rest; open != 0; open &= open - 1) {
      const auto t = static_cast<task_id>(std::countr_zero(open));
      const auto needs = blockers(t);
      const auto* lock = pending_[t].lock;
      const bool anonymous = needs == 0 && acting != 0 && (lock == nullptr || lock->grants(pending_[t].wish));
      const bool by_itself =
          tasks_[t]->timer || pending_[t].kind == op::fence;  // an agent of its own goes on
      if (ready(t) || by_itself || anonymous || (needs != 0 && (needs & rest) == 0)) {
        rest &= ~only(t);
        acting |= only(t);
        more = true;
      }
    }
  }
  return rest;
}

void engine::tell_end() {
  if (!outcome_.pruned) ++told_;
  std::vector<sleep_event> sleepers;
  const task_set for_ever = stuck();
  for (task_set rest = unfinished_; rest != 0; rest &= rest - 1) {
    const auto t = static_cast<task_id>(std::countr_zero(rest));
    if (t == running_ && outcome_.verdict == verdict::violation) continue;  // it ended the execution itself
    const auto kind = pending_[t].kind;
    if (ready(t) || kind == op::relax || kind == op::fence || kind == op::cross_call) continue;
    sleepers.push_back(sleep_of(t));
    sleepers.back().for_ever = (for_ever & only(t)) != 0;
  }
  const end_event seen{.execution = told_,
                       .verdict = outcome_.verdict,
                       .truncated = outcome_.truncated,
                       .pruned = outcome_.pruned,
                       .sleepers = sleepers};
  for (auto* o : how_.observers) o->ends(seen);
}

bool engine::holds(task_id t, std::string_view lock_label) const {
  for (const auto* h : tasks_[t]->holds) {
    if (label(h->owner_id()) == lock_label) return true;
  }
  return false;
}

}  // namespace faultline::sim

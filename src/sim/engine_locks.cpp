// SPDX-License-Identifier: BSD-2-Clause
// What a task does at its scheduling points to locks and wait queues; and what that orders.
#include "engine.hpp"

#include <faultline/sim/grant.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace faultline::sim {

namespace {

constexpr touch acquire_touch(access how) {
  return how == access::shared ? touch::acquire_shared : touch::acquire_exclusive;
}
constexpr touch release_touch(access how) {
  return how == access::shared ? touch::release_shared : touch::release_exclusive;
}

}  // namespace

// --- locks ------------------------------------------------------------------------------------------------------------

bool engine::lock_ready(const operation& o) { return o.lock->grants(o.wish); }

/// The lock's node in the order graph. An object of one number is mostly the same lock in every execution.
order_graph::node engine::graph_node(const lock_state& l) {
  const object_id id = l.owner_id();
  const auto& o = objects_[id];
  if (id >= known_nodes_.size()) known_nodes_.resize(objects_.size());
  auto& known = known_nodes_[id];
  if (known.kind == o.kind && known.where == o.name) [[likely]]
    return known.node;
  if (known.kind != o.kind || known.name != o.name) {
    // Text in the arena can be another in the next execution, at the same place.
    known = {o.kind, memory_.owns(o.name) ? nullptr : o.name, o.name, order_.intern(label(id))};
  }
  return known.node;
}

void engine::learn_order(const lock_state& lock, bool blocking,
                         std::span<const lock_state* const> released_first) {
  if (running_ == no_task) return;
  auto& me = *tasks_[running_];
  if (me.holds.empty()) return;
  std::vector<order_graph::held>& held = order_scratch_;
  held.clear();
  for (const auto* h : me.holds) {
    if (std::find(released_first.begin(), released_first.end(), h) != released_first.end()) continue;
    const auto* mine = h->held_by(running_);
    held.push_back({graph_node(*h), mine != nullptr && mine->granted.how == access::exclusive});
  }
  const auto wanted = graph_node(lock);
  for (std::size_t i = 0; i < held.size(); ++i) {
    order_.asked(held, i, wanted, blocking, running_, me.chain, me.name);
  }
}

void engine::acquire_clock(const lock_state& lock, access how, const byte_range& range) {
  if (running_ == no_task) return;
  auto& mine = tasks_[running_]->clock;
  // Owners of ranges that do not meet are not ordered by the lock they share.
  for (const auto& back : lock.given_back_) {
    if (!back.range.overlaps(range) || (how == access::shared && back.how == access::shared)) continue;
    mine.join(back.clock, width_);
  }
  mine.join(objects_[lock.owner_id()].clock, width_);
  if (how == access::exclusive) mine.join(objects_[lock.queue_id()].clock, width_);
}

void engine::release_clock(lock_state& lock, access how, const byte_range& range) {
  if (running_ == no_task) return;
  auto& mine = tasks_[running_]->clock;
  if (range.first < range.last) {
    auto& back = lock.given_back_.emplace_back();
    back.range = range;
    back.how = how;
    back.clock = mine;
    ++mine[running_];
    return;
  }
  // Sharers order later owners, not each other: their clock is kept apart.
  auto& o = objects_[how == access::exclusive ? lock.owner_id() : lock.queue_id()];
  o.clock.join(mine, width_);
  ++mine[running_];
}

void engine::grant(lock_state& lock, const request& wish) {
  if (!lock.queue_.empty()) {
    std::erase_if(lock.queue_, [&](const request& r) { return r.task == wish.task; });
  }
  const auto mine = hold_of(lock.holds_, wish);
  if (mine != lock.holds_.end()) {
    ++mine->count;
  } else {
    hold& h = lock.holds_.emplace_back();
    h.granted = wish;
    h.since_step = step_;
    if (running_ != no_task) {
      auto& me = *tasks_[running_];
      h.since.depth = std::min(me.chain.depth, static_cast<std::uint32_t>(call_chain::depth_max));
      std::copy_n(me.chain.frames.begin(), h.since.depth, h.since.frames.begin());
      me.holds.push_back(&lock);
    }
  }
  note_write(objects_[lock.owner_id()]);
  if (phase_ == phase::tasks) note_read(objects_[lock.owner_id()]);
  acquire_clock(lock, wish.how, wish.range);
}

void world::acquire(lock_state& lock, const request& wish) {
  auto& e = self_engine();
  e.alive(lock.owner_id(), &lock, false);
  e.drain();
  if (phase_ == phase::tasks) e.learn_order(lock, true, {});
  if (e.watched_) e.tell_asks(lock, wish.how);
  const bool announced = lock.rule().announces(wish);
  if (phase_ == phase::tasks && announced) {
    e.at({.kind = op::enqueue, .first = {lock.queue_id(), touch::write}, .wish = wish});
    lock.queue_.push_back(wish);
  }
  e.at({.kind = op::lock,
        .first = {lock.owner_id(), acquire_touch(wish.how), wish.range},
        .second = {lock.queue_id(), announced ? touch::none : touch::read},
        .ready = &engine::lock_ready,
        .lock = &lock,
        .wish = wish,
        .wait_name = lock.kind()});
  e.alive(lock.owner_id(), &lock);
  e.grant(lock, wish);
  if (e.watched_) e.tell_acquired(lock, wish.how);
  if (phase_ == phase::tasks && announced) lock.last_grant_event_ = e.step_ - 1;
}

bool world::try_acquire(lock_state& lock, const request& wish) {
  auto& e = self_engine();
  e.alive(lock.owner_id(), &lock, false);
  if (phase_ == phase::tasks) {
    if (e.tasks_[running_]->sections == 0) e.drain();
    e.learn_order(lock, false, {});
    if (e.tasks_[running_]->sections == 0) {
      // Where a request of this kind queues, each grant takes one off the queue, which a try of any range can see.
      const bool queues = lock.rule().announces(wish);
      const bool commutes_with_sharers = wish.how == access::shared && !queues;
      e.at({.kind = op::try_lock,
            .first = {lock.owner_id(),
                      commutes_with_sharers ? touch::attempt_shared : touch::attempt_exclusive,
                      queues ? byte_range{} : wish.range},
            .second = {lock.queue_id(), touch::read},
            .wish = wish});
    }
  }
  e.alive(lock.owner_id(), &lock);
  const bool got = lock.grants(wish);
  if (e.watched_) e.tell_tried(lock, wish.how, got);
  if (got) {
    e.grant(lock, wish);
    return true;
  }
  if (phase_ == phase::tasks) e.note_read(e.objects_[lock.owner_id()]);
  return false;
}

void world::release(lock_state& lock, std::optional<byte_range> which) {
  auto& e = self_engine();
  e.alive(lock.owner_id(), &lock, false);
  const auto find = [&]() -> hold* {
    for (auto h = lock.holds_.data() + lock.holds_.size(); h != lock.holds_.data();) {
      --h;
      if (h->granted.task == running_ && (!which || h->granted.range == *which)) return h;
    }
    return nullptr;
  };
  auto* mine = find();
  if (mine == nullptr) {
    fail(fmt::format("{} is given back by a task that does not hold it", e.label(lock.owner_id())));
    return;
  }
  const access how = mine->granted.how;
  const byte_range range = mine->granted.range;
  if (phase_ == phase::tasks && e.tasks_[running_]->sections == 0) {
    e.drain();
    e.at({.kind = op::unlock, .first = {lock.owner_id(), release_touch(how), range}});
    mine = find();
  }
  e.alive(lock.owner_id(), &lock);
  if (e.watched_) e.tell_released(lock, how);
  if (--mine->count == 0) {
    lock.holds_.erase(lock.holds_.begin() + (mine - lock.holds_.data()));
    if (running_ != no_task) {
      auto& holds = e.tasks_[running_]->holds;
      const auto at = std::find(holds.rbegin(), holds.rend(), &lock);
      if (at != holds.rend()) holds.erase(std::next(at).base());
    }
  }
  e.note_write(e.objects_[lock.owner_id()]);
  e.release_clock(lock, how, range);
}

void world::might_acquire(const lock_state& lock, const request& /*wish*/,
                          std::span<const lock_state* const> released_first) {
  if (phase_ == phase::tasks) self_engine().learn_order(lock, true, released_first);
}

void world::wait_grantable(const lock_state& lock, const request& wish, const lock_state& guard,
                           const char* wait_name) {
  auto& e = self_engine();
  e.drain();
  if (phase_ == phase::tasks) e.learn_order(lock, true, {});
  e.at({.kind = op::wait,
        .first = {guard.queue_id(), touch::read},
        // Asked under the guard: not while somebody is in the middle of changing it.
        .ready =
            [](const operation& o) {
              const auto& interlock = *static_cast<const lock_state*>(o.context);
              return o.lock->grants(o.wish) && interlock.grants({.task = o.wish.task, .how = access::shared});
            },
        .context = &guard,
        .lock = &lock,
        .wish = wish,
        .wait_name = wait_name});
  e.acquire_clock(guard, access::shared, {});
}

void world::enter_section(lock_state& interlock, access how) {
  auto& e = self_engine();
  e.alive(interlock.owner_id(), &interlock, false);
  if (phase_ != phase::tasks) return;
  e.drain();
  const request wish{.task = running_, .how = how};
  if (e.watched_) e.tell_asks(interlock, how);
  if (e.how_.grain == granularity::fine) {
    // What an exclusive section does to the locks it guards shows, to those who wait for them, from here on.
    e.at({.kind = op::lock,
          .first = {interlock.owner_id(), acquire_touch(how)},
          .second = {interlock.queue_id(), how == access::shared ? touch::read : touch::write},
          .ready = &engine::lock_ready,
          .lock = &interlock,
          .wish = wish,
          .wait_name = interlock.kind()});
    e.grant(interlock, wish);
  } else {
    e.at({.kind = op::section,
          .first = {interlock.queue_id(), how == access::shared ? touch::read : touch::write}});
    e.acquire_clock(interlock, how, {});
    e.note_read(e.objects_[interlock.owner_id()]);
  }
  e.alive(interlock.owner_id(), &interlock);
  if (e.watched_) e.tell_acquired(interlock, how);
  ++e.tasks_[running_]->sections;
}

void world::leave_section(lock_state& interlock, access how) {
  auto& e = self_engine();
  if (phase_ != phase::tasks) return;
  --e.tasks_[running_]->sections;
  if (how == access::exclusive) e.note_write(e.objects_[interlock.owner_id()]);
  if (e.watched_) e.tell_released(interlock, how);
  if (e.how_.grain == granularity::coarse) {
    e.release_clock(interlock, how, {});
    return;
  }
  // Fine: what the section changed shows, to those who wait for it, when the interlock is given back.
  e.at({.kind = op::unlock,
        .first = {interlock.owner_id(), release_touch(how)},
        .second = {interlock.queue_id(), how == access::shared ? touch::none : touch::write}});
  const auto mine = std::find_if(interlock.holds_.begin(), interlock.holds_.end(),
                                 [&](const hold& h) { return h.granted.task == running_; });
  interlock.holds_.erase(mine);
  auto& holds = e.tasks_[running_]->holds;
  holds.erase(std::find(holds.begin(), holds.end(), &interlock));
  e.release_clock(interlock, how, {});
}

// --- wait queues ------------------------------------------------------------------------------------------------------

wait_queue_state::wait_queue_state(const char* wait_name)
    : id(world::here().enroll(this, "waitq", wait_name)), name(wait_name), waiters(&world::here().memory()) {}

wait_queue_state::~wait_queue_state() {
  if (auto* w = world::current()) w->retire(id, this);
}

void engine::fall_asleep(wait_queue_state& queue, lock_state& mutex, wait_queue_state::waiter& self) {
  alive(queue.id, &queue, false);
  if (phase_ != phase::tasks) throw set_up_error(fmt::format("wait for \"{}\" outside a task", queue.name));
  if (mutex.held_by(running_) == nullptr) fail(fmt::format("wait for \"{}\" without the mutex", queue.name));
  drain();
  at({.kind = op::wait,
      .first = {queue.id, touch::write},
      .second = {mutex.owner_id(), touch::release_exclusive},
      .wait_name = queue.name});
  alive(queue.id, &queue);
  // The release half, without a scheduling point of its own.
  if (watched_) tell_released(mutex, access::exclusive);
  auto& me = *tasks_[running_];
  mutex.holds_.erase(std::find_if(mutex.holds_.begin(), mutex.holds_.end(),
                                  [&](const hold& h) { return h.granted.task == running_; }));
  me.holds.erase(std::find(me.holds.begin(), me.holds.end(), &mutex));
  note_write(objects_[mutex.owner_id()]);
  release_clock(mutex, access::exclusive, {});
  self.task = running_;
  queue.waiters.push_back(&self);
}

void engine::wake_up(wait_queue_state& queue, const wait_queue_state::waiter& self) {
  at({.kind = op::resume,
      .first = {queue.id, touch::resume},
      .ready =
          [](const operation& o) {
            return static_cast<const wait_queue_state::waiter*>(o.context)->signalled;
          },
      .context = &self,
      .wait_name = queue.name});
  auto& mine = tasks_[running_]->clock;
  mine.join(self.wakers_clock, width_);
}

void world::wait(wait_queue_state& queue, lock_state& mutex, const request& wish) {
  auto& e = self_engine();
  wait_queue_state::waiter self{};
  e.fall_asleep(queue, mutex, self);
  e.wake_up(queue, self);
  acquire(mutex, wish);
}

void world::wake(wait_queue_state& queue, std::size_t most) {
  auto& e = self_engine();
  e.alive(queue.id, &queue, false);
  if (phase_ != phase::tasks) return;
  e.drain();
  e.at({.kind = op::wake, .first = {queue.id, touch::write}, .wait_name = queue.name});
  e.alive(queue.id, &queue);
  auto& mine = e.tasks_[running_]->clock;
  const std::size_t n = std::min(most, queue.waiters.size());
  for (std::size_t i = 0; i < n; ++i) {
    queue.waiters[i]->signalled = true;
    e.timer_is_off(queue.waiters[i]->task);
    queue.waiters[i]->wake_event = e.step_ - 1;
    queue.waiters[i]->wakers_clock = mine;
  }
  ++mine[running_];
  queue.waiters.erase(queue.waiters.begin(), queue.waiters.begin() + static_cast<std::ptrdiff_t>(n));
}

}  // namespace faultline::sim

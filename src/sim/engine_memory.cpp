// SPDX-License-Identifier: BSD-2-Clause
// Atomics and fences, and what they order, under each memory model.
#include "engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace faultline::sim {

namespace {

bool buffer_is_empty(const std::vector<buffered_store>& buffer, std::size_t next) {
  return next == buffer.size();
}

}  // namespace

// --- what a load may see ----------------------------------------------------------------------------------------------

void world::keep_history(object_id id) {
  auto& e = self_engine();
  auto& o = e.objects_[id];
  o.history.begin(history_, e.width_);
  o.has_history = true;
}

/// The touches of an atomic access. Under `weak` seq_cst loads of one atomic do not commute, and no seq_cst access commutes
/// with a seq_cst fence.
operation engine::access_of(op kind, object_id id, touch how, std::memory_order order) const {
  operation o{.kind = kind, .order = order, .first = {id, how}};
  if (how_.memory == memory_model::weak && order == std::memory_order_seq_cst) {
    o.first.how = touch::write;
    o.second = {fence_object_, touch::read};
  }
  return o;
}

const vector_clock& engine::knowledge_of_reached(const task& t, const void* where) {
  const auto at = reinterpret_cast<std::uintptr_t>(where);
  bool more = false;
  for (const auto& r : t.reached) {
    if (at < r.begin || at >= r.end) continue;
    if (!more) knowledge_ = t.clock;
    more = true;
    knowledge_.join(r.clock, width_);
  }
  return more ? knowledge_ : t.clock;
}

/// How many stores, the newest first, a load may choose from.
std::uint32_t engine::window(const object& o, const vector_clock& known, std::uint32_t fresh_since,
                             bool sequential) const {
  const store_history& h = o.history;
  const auto fence = known.fence();
  const fence_record* before = fence != 0 ? &fences_[fence - 1] : nullptr;
  for (std::uint32_t age = 0; age < h.kept(); ++age) {
    const store_record& s = h.at(age);
    const bool last =
        s.within(known, task_count_) || s.step < fresh_since ||
        // Before a seq_cst load in the order of such operations, or before a fence that is before it.
        (sequential &&
         (s.order != 0 || (!fences_.empty() && s.within(fences_.back().through, task_count_)))) ||
        // Before a seq_cst fence that happens before the load.
        (before != nullptr &&
         ((s.order != 0 && s.order < before->order) || s.within(before->through, task_count_)));
    if (last) return age + 1;
  }
  return h.kept();
}

void engine::see(store_record& s, const task& me, std::memory_order order) {
  auto& first = s.first_seen[running_];
  if (first == 0) first = me.clock[running_];
  if (order == std::memory_order_seq_cst && s.order == 0) s.order = ++sequential_;
}

void engine::remember(object& o, std::memory_order order, const vector_clock& release) {
  store_history& h = o.history;
  if (h.full() && !overflowed_) {
    for (task_set rest = unfinished_ & ~only(running_); rest != 0 && !overflowed_; rest &= rest - 1) {
      const auto& t = *tasks_[static_cast<task_id>(std::countr_zero(rest))];
      overflowed_ = window(o, t.clock, t.fresh_since, false) == h.kept();
    }
  }
  auto& s = h.add();
  s.by = running_;
  s.epoch = tasks_[running_]->clock[running_];
  s.step = step_;
  s.order = order == std::memory_order_seq_cst ? ++sequential_ : 0;
  s.release.assign(release, width_);
  s.first_seen.clear(width_);
}

std::uint32_t world::pick(std::uint32_t results) {
  auto& e = self_engine();
  if (phase_ != phase::tasks || results < 2) return 0;
  const auto which = e.strategy_->pick(results);
  if (which >= results) throw set_up_error("a strategy picked a result that the operation cannot have");
  e.choices_.back().pick = which;
  e.hash_ = (e.hash_ ^ which) * 0xff51afd7ed558ccdU;
  return which;
}

// --- loads and stores -------------------------------------------------------------------------------------------------

value_seen world::atomic_load(object_id id, const void* where, std::memory_order order) {
  auto& e = self_engine();
  e.alive(id, where, false);
  e.at(e.access_of(op::load, id, touch::read, order));
  if (phase_ != phase::tasks) return {};
  auto& o = e.alive(id, where);
  auto& me = *e.tasks_[running_];
  e.note_read(o);
  value_seen seen;
  const vector_clock* release = &o.clock;
  if (e.how_.memory == memory_model::tso) {
    for (auto b = me.buffer.rbegin(); b != me.buffer.rend() - static_cast<std::ptrdiff_t>(me.next_to_leave);
         ++b) {
      if (b->object == id) return {.age = 0, .own = b->value.data()};
    }
  } else if (o.has_history) {
    const auto stores =
        e.window(o, e.knowledge(me, where), me.fresh_since, order == std::memory_order_seq_cst);
    if (stores > 1 && (seen.age = pick(stores)) != 0) {
      e.news_ |= only(running_);  // one that spins on an old value need not wait for another store
    }
    auto& s = o.history.at(seen.age);
    e.see(s, me, order);
    release = &s.release;
  }
  e.latest_release_ = release;
  (acquires(order) ? me.clock : me.acquire_fence).join(*release, e.width_);
  return seen;
}

value_seen world::atomic_load_dependent(object_id id, const void* where) {
  self_engine().latest_release_ = nullptr;
  return atomic_load(id, where, std::memory_order_relaxed);
}

void world::reaches(const void* pointee, std::size_t bytes) {
  auto& e = self_engine();
  if (phase_ != phase::tasks || pointee == nullptr || e.latest_release_ == nullptr) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(pointee);
  auto& reached = e.tasks_[running_]->reached;
  const auto same = std::find_if(reached.begin(), reached.end(),
                                 [&](const auto& r) { return r.begin == begin && r.end == begin + bytes; });
  if (same != reached.end()) {
    same->clock.join(*e.latest_release_, e.width_);
  } else {
    reached.push_back({begin, begin + bytes, *e.latest_release_});
  }
}

bool world::atomic_store(object_id id, void* where, std::memory_order order, const value_ref& value) {
  auto& e = self_engine();
  e.alive(id, where, false);
  if (phase_ == phase::tasks && e.how_.memory == memory_model::tso) {
    if (order != std::memory_order_seq_cst) {
      e.alive(id, where);
      e.buffer(id, where, order, value);
      return false;
    }
    e.drain();  // mov and mfence, or xchg
  }
  e.at(e.access_of(op::store, id, touch::write, order));
  if (phase_ != phase::tasks) return true;
  auto& o = e.alive(id, where);
  auto& me = *e.tasks_[running_];
  e.note_write(o);
  const vector_clock& release = releases(order) ? me.clock : me.release_fence;
  o.clock.assign(release, e.width_);  // ends the release sequence
  if (o.has_history) e.remember(o, order, release);
  if (releases(order)) ++me.clock[running_];
  return true;
}

void world::atomic_rmw(object_id id, const void* where, std::memory_order order) {
  auto& e = self_engine();
  e.alive(id, where, false);
  e.drain();
  e.at(e.access_of(op::rmw, id, touch::write, order));
  e.alive(id, where);
  atomic_cas_done(id, true, order);
}

std::uint32_t world::atomic_cas(object_id id, const void* where, std::memory_order success,
                                std::memory_order failure) {
  auto& e = self_engine();
  e.alive(id, where, false);
  e.drain();
  const bool sequential = success == std::memory_order_seq_cst || failure == std::memory_order_seq_cst;
  e.at(e.access_of(op::rmw, id, touch::write, sequential ? std::memory_order_seq_cst : success));
  const auto& o = e.alive(id, where);
  if (phase_ != phase::tasks || !o.has_history) return 1;
  const auto& me = *e.tasks_[running_];
  return e.window(o, e.knowledge(me, where), me.fresh_since, failure == std::memory_order_seq_cst);
}

void world::atomic_cas_done(object_id id, bool succeeded, std::memory_order order, std::uint32_t age) {
  if (phase_ != phase::tasks) return;
  auto& e = self_engine();
  auto& o = e.objects_[id];
  auto& me = *e.tasks_[running_];
  if (succeeded) e.note_write(o);
  e.note_read(o);
  const vector_clock* release = &o.clock;
  if (o.has_history) {
    if (age != 0) e.news_ |= only(running_);
    auto& s = o.history.at(age);
    e.see(s, me, order);
    release = &s.release;
  }
  (acquires(order) ? me.clock : me.acquire_fence).join(*release, e.width_);
  if (!succeeded) return;
  // Relaxed: continues the release sequence as it is.
  o.clock.join(releases(order) ? me.clock : me.release_fence, e.width_);
  if (o.has_history) e.remember(o, order, o.clock);
  if (releases(order)) ++me.clock[running_];
}

void world::fence(std::memory_order order) {
  auto& e = self_engine();
  if (phase_ != phase::tasks) return;
  auto& me = *e.tasks_[running_];
  const bool sequential = order == std::memory_order_seq_cst;
  if (sequential) {
    if (e.how_.memory == memory_model::weak) {
      e.at({.kind = op::fence, .order = order, .first = {e.fence_object_, touch::write}});
    } else {
      e.drain();
    }
  }
  if (acquires(order)) me.clock.join(me.acquire_fence, e.width_);
  if (sequential && e.how_.memory == memory_model::weak) {
    fence_record f{.order = ++e.sequential_, .through = me.clock};
    if (!e.fences_.empty()) f.through.join(e.fences_.back().through, e.width_);
    e.fences_.push_back(f);
    me.clock.set_fence(static_cast<std::uint32_t>(e.fences_.size()));
  }
  if (releases(order)) {
    me.release_fence.assign(me.clock, e.width_);
    ++me.clock[running_];
  }
}

// --- store buffers ----------------------------------------------------------------------------------------------------

void engine::buffer(object_id id, void* where, std::memory_order order, const value_ref& value) {
  auto& me = *tasks_[running_];
  if (buffer_is_empty(me.buffer, me.next_to_leave)) {
    me.buffer.clear();
    me.next_to_leave = 0;
  }
  auto& b = me.buffer.emplace_back(buffered_store{.object = id,
                                                  .where = where,
                                                  .order = order,
                                                  .apply = value.apply,
                                                  .value = {},
                                                  .release = releases(order) ? me.clock : me.release_fence,
                                                  .follows = me.last_step});
  std::memcpy(b.value.data(), value.value, value.bytes);
  if (releases(order)) ++me.clock[running_];
  me.dirty = true;
  if (me.buffer.size() - me.next_to_leave == 1) announce_next_store(running_);
}

void engine::announce_next_store(task_id t) {
  const auto& me = *tasks_[t];
  const auto& b = me.buffer[me.next_to_leave];
  arm(t, {.kind = op::store, .order = b.order, .first = {b.object, touch::write}, .follows = b.follows});
}

void engine::oldest_store_leaves(task_id t) {
  auto& me = *tasks_[t];
  const auto& b = me.buffer[me.next_to_leave];
  auto& o = objects_[b.object];
  if (o.alive && o.where == b.where) {
    b.apply(b.where, b.value.data());
    note_write(o);
    o.clock.assign(b.release, width_);
  }
  ++me.next_to_leave;
  me.last_left = step_ - 1;
  if (buffer_is_empty(me.buffer, me.next_to_leave)) {
    armed_ &= ~only(agent_of(t));
  } else {
    announce_next_store(t);
  }
}

void engine::drain_buffer() {
  auto& me = *tasks_[running_];
  me.dirty = false;
  at({.kind = op::fence,
      .ready =
          [](const operation& o) {
            const auto& self = *static_cast<const task*>(o.context);
            return buffer_is_empty(self.buffer, self.next_to_leave);
          },
      .context = &me,
      .wait_name = "store buffer"});
}

}  // namespace faultline::sim

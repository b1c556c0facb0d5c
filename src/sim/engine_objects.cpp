// SPDX-License-Identifier: BSD-2-Clause
// What a task does at its scheduling points to objects: their life, plain data, user bytes; and what that orders.
#include "engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace faultline::sim {

// --- objects ----------------------------------------------------------------------------------------------------------

object_id world::enroll(const void* where, const char* kind, const char* name) {
  auto& e = self_engine();
  const object_id id = e.object_count_++;
  if (id == e.object_room_) e.objects_.resize(e.object_room_ *= 2);
  auto& o = e.objects_[id];
  o.where = where;
  o.kind = kind;
  o.name = name;
  o.readers = 0;
  o.line = id;
  o.writer = no_task;
  o.alive = true;
  o.has_history = false;
  o.clock.clear(e.width_);
  o.touched.clear(e.width_);
  return id;
}

/// The end of an object's life is an access that everything before must be ordered before: told by happens-before, so
/// that no particular schedule is needed to see a use after free coming.
void world::retire(object_id id, const void* where) noexcept {
  auto& e = self_engine();
  if (id >= e.object_count_ || e.objects_[id].where != where) return;
  auto& o = e.objects_[id];
  o.alive = false;
  if (phase_ != phase::tasks) return;
  const auto& mine = e.tasks_[running_]->clock;
  for (task_id t = 0; t < e.task_count_; ++t) {
    if (o.touched[t] > mine[t]) {
      fail(fmt::format("use after free of {}: {} frees it, and an access by {} is not ordered before that",
                       e.label(id), e.tasks_[running_]->name, e.tasks_[t]->name));
    }
  }
}

void world::rename(object_id id, std::string_view name) { self_engine().objects_[id].name = keep(name); }

void world::same_line(object_id id, object_id with) {
  auto& e = self_engine();
  e.objects_[id].line = e.objects_[with].line;
}

const char* world::keep(std::string_view text) {
  auto* copy = static_cast<char*>(memory().allocate(text.size() + 1, 1));
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

engine::object& engine::dead(object_id id, const void* where) {
  if (id == no_object || id >= object_count_ || objects_[id].where != where) {
    fail("access to an object that is not (or no longer) one of this execution");
    return objects_[no_object];
  }
  fail(fmt::format("use after free of {}", label(id)));
  return objects_[id];
}

/// "vnode:f0"; objects without a name of their own get a number: "atomic#3".
std::string engine::label(object_id id) const {
  const auto& o = objects_[id];
  return o.name[0] != '\0' ? fmt::format("{}:{}", o.kind, o.name) : fmt::format("{}#{}", o.kind, id);
}

// --- plain data -------------------------------------------------------------------------------------------------------

void engine::race(const object& o, const char* what, task_id other, const char* other_what,
                  std::uint32_t other_step) {
  const auto id = static_cast<object_id>(&o - objects_.data());
  auto text = fmt::format("race on {}: {} by {} is not ordered after the {} by {}", label(id), what,
                          tasks_[running_]->name, other_what, tasks_[other]->name);
  if (other_step != ~0U) text += fmt::format(" after step {}", other_step);
  defect(verdict::race, std::move(text));
  leave_task();
}

void world::plain_read(object_id id, const void* where) {
  auto& e = self_engine();
  e.alive(id, where);
  if (phase_ != phase::tasks) return;
  if (e.how_.grain == granularity::fine) {
    e.at({.kind = op::var_read, .first = {id, touch::read}});
    e.alive(id, where);
  }
  auto& o = e.objects_[id];
  const auto& mine = e.knowledge(*e.tasks_[running_], where);
  if (o.writer != no_task && o.writer_clock > mine[o.writer])
    e.race(o, "read", o.writer, "write", o.writer_step);
  o.clock[running_] = mine[running_];
}

void world::plain_write(object_id id, const void* where) {
  auto& e = self_engine();
  e.alive(id, where);
  if (phase_ != phase::tasks) return;
  if (e.how_.grain == granularity::fine) {
    e.at({.kind = op::var_write, .first = {id, touch::write}});
    e.alive(id, where);
  }
  auto& o = e.objects_[id];
  e.note_write(o);
  const auto& mine = e.knowledge(*e.tasks_[running_], where);
  if (o.writer != no_task && o.writer_clock > mine[o.writer])
    e.race(o, "write", o.writer, "write", o.writer_step);
  for (task_id t = 0; t < e.task_count_; ++t) {
    if (o.clock[t] > mine[t]) e.race(o, "write", t, "read", ~0U);
  }
  o.writer = running_;
  o.writer_clock = mine[running_];
  o.writer_step = e.step_;
}

void world::racy_read(object_id id) {
  auto& e = self_engine();
  const void* where = e.objects_[id].where;
  e.alive(id, where, false);
  e.at({.kind = op::load, .order = std::memory_order_relaxed, .first = {id, touch::read}});
  if (phase_ != phase::tasks) return;
  e.user_bytes_ = true;
  e.note_read(e.alive(id, where));
}

void world::racy_write(object_id id) {
  auto& e = self_engine();
  const void* where = e.objects_[id].where;
  e.alive(id, where, false);
  e.drain();  // these are not buffered, and must not overtake stores that are
  e.at({.kind = op::store, .order = std::memory_order_relaxed, .first = {id, touch::write}});
  if (phase_ != phase::tasks) return;
  e.user_bytes_ = true;
  e.note_write(e.alive(id, where));
}

void world::count(object_id id, const void* where) {
  auto& e = self_engine();
  e.drain();
  auto& o = e.alive(id, where);
  if (phase_ != phase::tasks) return;
  auto& mine = e.tasks_[running_]->clock;
  mine.join(o.clock, e.width_);
  o.clock.assign(mine, e.width_);
  ++mine[running_];
}

}  // namespace faultline::sim

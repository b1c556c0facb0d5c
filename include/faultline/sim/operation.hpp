// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What a task is about to do: the one record that the explorer, the race detector, the order graph
/// and the trace all read.
#include <faultline/core/units.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace faultline::sim {

/// Number of a task of one execution, in order of creation, from 0.
using task_id = std::uint32_t;
inline constexpr task_id no_task = ~task_id{0};

/// Tasks an execution may have at the same time and in all.
inline constexpr std::uint32_t tasks_max = 32;

/// A set of tasks, one bit each.
using task_set = std::uint32_t;
[[nodiscard]] constexpr task_set only(task_id t) noexcept { return task_set{1} << t; }

/// What a task sets going and goes on without, or sleeps until: the next store to leave its store buffer (memory `tso`), or
/// the timer of its sleep. The strategies choose it as they choose a task; a program that has agents has half as many tasks.
[[nodiscard]] constexpr task_id agent_of(task_id t) noexcept { return tasks_max - 1 - t; }

/// One step of a schedule: who, and which of the results that the operation could have had (0: the newest value).
struct choice {
  task_id task = no_task;
  std::uint32_t pick = 0;
  friend constexpr bool operator==(const choice&, const choice&) = default;
};

/// Number of an object of one execution, in order of creation, from 1; 0 is no object.
using object_id = std::uint32_t;
inline constexpr object_id no_object = 0;

/// What the operation is called in a trace.
enum class op : std::uint8_t {
  start,
  load,
  store,
  rmw,
  var_read,
  var_write,
  lock,
  try_lock,
  unlock,
  enqueue,
  section,
  wait,
  resume,
  wake,
  relax,
  spawn,
  join,
  io,
  fence,       ///< of memory; under `tso` it waits for the store buffer
  sleep,       ///< until a time
  fire,        ///< a timer's agent: the time has come
  cross_call,  ///< asks other CPUs to run a handler
  interrupt,   ///< a handler begins
  mask,        ///< a task is about to keep others, or interrupts, from its CPU
};
[[nodiscard]] const char* name_of(op kind) noexcept;

/// How an operation touches an object. Two operations commute unless a table says otherwise (see relate()).
enum class touch : std::uint8_t {
  none,
  read,
  write,
  acquire_shared,
  acquire_exclusive,  ///< disabled while not grantable, never a spin
  release_shared,
  release_exclusive,
  attempt_shared,
  attempt_exclusive,  ///< a try-lock: always enabled
  resume,             ///< goes on after a wake-up; ordered after the wake only
};

/// How two operations on one object, the earlier first, relate.
enum class relation : std::uint8_t {
  independent,  ///< they commute
  ordered,      ///< dependent, but never enabled together: no other order exists (unlock, then lock)
  racing,       ///< dependent; the other order is another execution
};

/// One object an operation touches.
struct object_touch {
  object_id object = no_object;
  touch how = touch::none;
  byte_range range{};  ///< range locks: touches of ranges that do not meet commute; empty: all of it
};
namespace detail {

enum class family : std::uint8_t { none, data, acquire, release, attempt, resume };

constexpr family family_of(touch t) {
  switch (t) {
    case touch::none:
      return family::none;
    case touch::read:
    case touch::write:
      return family::data;
    case touch::acquire_shared:
    case touch::acquire_exclusive:
      return family::acquire;
    case touch::release_shared:
    case touch::release_exclusive:
      return family::release;
    case touch::attempt_shared:
    case touch::attempt_exclusive:
      return family::attempt;
    case touch::resume:
      return family::resume;
  }
  return family::none;
}

constexpr bool shared(touch t) {
  return t == touch::read || t == touch::acquire_shared || t == touch::release_shared ||
         t == touch::attempt_shared;
}

constexpr relation relate(touch earlier, touch later) {
  const auto a = family_of(earlier);
  const auto b = family_of(later);
  if (a == family::none || b == family::none) return relation::independent;
  // A resume comes after the wake that ended its wait, which is told by operation::follows.
  if (a == family::resume || b == family::resume) return relation::independent;
  // Readers of any kind commute with readers: what one sees does not depend on the other.
  if (shared(earlier) && shared(later)) return relation::independent;
  if (a == family::release && b == family::release) return relation::independent;
  // A lock is never asked for and given back in the other order: the attempt waited until it could be granted.
  if (a == family::release && b == family::acquire) return relation::ordered;
  if (a == family::acquire && b == family::release) return relation::ordered;
  return relation::racing;
}

inline constexpr std::size_t touches = static_cast<std::size_t>(touch::resume) + 1;
inline constexpr auto relations = [] {
  std::array<std::array<relation, touches>, touches> table{};
  for (std::size_t a = 0; a < touches; ++a) {
    for (std::size_t b = 0; b < touches; ++b)
      table[a][b] = relate(static_cast<touch>(a), static_cast<touch>(b));
  }
  return table;
}();

}  // namespace detail

/// How two touches of one object relate. Inline, and from a table: the exhaustive search asks for every pair of steps.
[[nodiscard]] constexpr relation relate(touch earlier, touch later) noexcept {
  return detail::relations[static_cast<std::size_t>(earlier)][static_cast<std::size_t>(later)];
}
[[nodiscard]] constexpr relation relate(const object_touch& earlier, const object_touch& later) noexcept {
  const auto ranged = [](const byte_range& r) { return r.first < r.last; };
  if (ranged(earlier.range) && ranged(later.range) && !earlier.range.overlaps(later.range)) {
    return relation::independent;
  }
  return relate(earlier.how, later.how);
}

class lock_state;

/// A wish to hold a lock (specification form) or a wait for its release.
struct request {
  task_id task = no_task;
  access how = access::exclusive;
  bool may_recurse = false;  ///< LK_CANRECURSE
  bool overtakes = false;    ///< not held back by queued writers (holds shared locks, or deadlock treatment)
  byte_range range{};        ///< range locks only
};

/// One scheduling point: announced before it is done, done when the strategy chooses the task.
struct operation {
  op kind = op::start;
  std::memory_order order = std::memory_order_seq_cst;
  object_touch first{};
  object_touch second{};
  /// Whether the task may be chosen now; null: always. `context` is what it looks at.
  bool (*ready)(const operation&) = nullptr;
  const void* context = nullptr;
  /// The lock waited for while not ready, with `wish`; null: an anonymous wait (wait queue, join).
  const lock_state* lock = nullptr;
  request wish{};
  /// An event that this one can only follow (the wake of a resume), by its number; ~0u: none.
  std::uint32_t follows = ~std::uint32_t{0};
  /// The word a kernel would show for the wait ("vnode", "range", "vmpfw").
  const char* wait_name = "";
};

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Locks in specification form: one operation, disabled until the lock's rule grants it.
///
/// A real lock explored inside a whole kernel multiplies the executions by its own interleavings. So kernel
/// scenarios use this one class with a grant rule; the real lock is explored alone against the same rule.
#include <faultline/sim/clock.hpp>
#include <faultline/sim/operation.hpp>

#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

namespace faultline::sim {

/// One frame of a task's call chain in kernel terms: `write(f0)` or `vm_fault`.
struct frame_record {
  const char* function;
  const char* object;  ///< what it works on; may be empty
};

/// The innermost frames of a task, outermost first.
struct call_chain {
  static constexpr std::size_t depth_max = 12;
  std::array<frame_record, depth_max> frames;  ///< the first `depth` of them are there
  std::uint32_t depth = 0;

  call_chain() noexcept {}  // NOLINT(modernize-use-equals-default): leaves the frames as they are
};

/// One holder of a lock.
struct hold {
  request granted{};
  std::uint32_t count = 1;       ///< recursion
  std::uint32_t since_step = 0;  ///< number of the step that granted it
  call_chain since;              ///< where the holder stood then
};

/// When a request must wait. Pure: looks at its arguments only.
///
/// A request is granted when no hold conflicts with it and it yields to no queued request. Both are asked of pairs,
/// so that "who waits for whom" is exact: a waiter needs *all* it conflicts with or yields to.
class lock_rule {
 public:
  /// Must `wish` wait for this hold (its own included) to end?
  /// Two shared requests of different tasks never conflict (checked): the explorer takes them to commute.
  [[nodiscard]] virtual bool conflicts(const request& held, const request& wish) const = 0;
  /// Must `wish` wait until `queued`, which was announced (earlier than `wish` if `earlier`), was granted?
  [[nodiscard]] virtual bool yields(const request& queued, bool earlier, const request& wish) const = 0;
  /// Does the request, while it waits, change what others are granted? Then announcing it is an operation of its own.
  [[nodiscard]] virtual bool announces(const request& wish) const = 0;
  /// Do the owners run at the priority of the most urgent waiter, if theirs is lower? (A turnstile.)
  [[nodiscard]] virtual bool lends() const { return false; }

 protected:
  ~lock_rule() = default;
};

/// Holders and queue of one lock. Changed by `world` only.
class lock_state {
 public:
  /// \param kind  the class of the lock and the word shown for a wait: "vnode", "range"
  lock_state(const lock_rule& rule, const char* kind, const char* name);
  lock_state(const lock_state&) = delete;
  lock_state& operator=(const lock_state&) = delete;
  ~lock_state();

  [[nodiscard]] bool grants(const request& wish) const noexcept;
  /// Tasks that `wish` waits for: it needs all of them to act.
  [[nodiscard]] task_set blockers(const request& wish) const noexcept;
  [[nodiscard]] const hold* held_by(task_id t) const noexcept;
  [[nodiscard]] const std::pmr::vector<hold>& holds() const noexcept { return holds_; }
  [[nodiscard]] const std::pmr::vector<request>& queue() const noexcept { return queue_; }
  [[nodiscard]] const lock_rule& rule() const noexcept { return rule_; }
  [[nodiscard]] object_id owner_id() const noexcept { return owner_; }
  [[nodiscard]] object_id queue_id() const noexcept { return queue_id_; }
  [[nodiscard]] const char* kind() const noexcept { return kind_; }

 private:
  friend class world;
  friend class engine;

  const lock_rule& rule_;
  const char* kind_;
  object_id owner_;
  object_id queue_id_;
  std::pmr::vector<hold> holds_;
  /// Range locks: what each owner that left knew, so that the next of a range that meets it knows it too.
  struct given_back {
    byte_range range;
    access how;
    vector_clock clock;
  };
  std::pmr::vector<given_back> given_back_;
  std::pmr::vector<request> queue_;       ///< announced, not granted; oldest first
  std::uint32_t last_grant_event_ = ~0U;  ///< the grant that a queued request comes after
};

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Listens to what tasks do to locks, execution after execution: what a kernel's own checker would see.
///
/// An observer only looks. It is called on the search's host thread, in the order in which things happen; names and chains that it
/// is given live as long as the execution, so what it keeps it copies. Set-up and the check at the end are not observed.
#include <faultline/sim/lock_state.hpp>
#include <faultline/sim/operation.hpp>
#include <faultline/sim/report.hpp>

#include <cstdint>
#include <span>

namespace faultline::sim {

/// Which lock, and how a report names it.
struct lock_name {
  object_id id = no_object;
  const char* kind = "";  ///< "vnode"
  const char* name = "";  ///< "f0"
};

/// One thing that a task does to a lock.
struct lock_event {
  task_id task = no_task;
  const char* task_name = "";
  lock_name lock{};
  access how = access::exclusive;
  const call_chain* chain = nullptr;  ///< where the task stands
};

/// A task that goes to sleep, or one that is asleep when an execution has ended.
struct sleep_event {
  task_id task = no_task;
  const char* task_name = "";
  const char* wait_name = "";  ///< "vnode", "vmpfw"
  lock_name lock{};            ///< no_object: an anonymous wait (wait queue, join)
  access how = access::exclusive;
  bool takes = false;  ///< it wakes up with the lock; else it sleeps until others have given the lock back
  const call_chain* chain = nullptr;
  std::uint32_t since_step = 0;
  task_id owner = no_task;  ///< one that holds the lock
  access owner_how = access::exclusive;
  bool for_ever = false;  ///< at the end: nobody that can still act will ever end this wait
};

/// How an execution ended, for those who look at its sleepers.
struct end_event {
  std::uint64_t execution = 0;  ///< from 1
  sim::verdict verdict = sim::verdict::clean;
  bool truncated = false;
  bool pruned = false;  ///< given up by the strategy: whoever waits might have gone on
  std::span<const sleep_event> sleepers{};
};

class lock_observer {
 public:
  lock_observer() = default;
  lock_observer(const lock_observer&) = delete;
  lock_observer& operator=(const lock_observer&) = delete;
  virtual ~lock_observer() = default;

  /// \param execution  number, from 1; one that the strategy gives up is not counted. Nobody holds anything
  virtual void begins(std::uint64_t /*execution*/) {}
  /// A blocking request, before it may sleep.
  virtual void asks(const lock_event&) {}
  /// What was asked for is granted.
  virtual void acquired(const lock_event&) {}
  /// A try. \param got  whether it was granted
  virtual void tried(const lock_event&, bool /*got*/) {}
  /// Given back; of a recursive hold, once.
  virtual void released(const lock_event&) {}
  /// The task cannot go on now.
  virtual void sleeps(const sleep_event&) {}
  /// A task that slept goes on.
  virtual void wakes(task_id) {}
  /// A call begins: the last frame of the chain.
  virtual void enters(task_id, const char* /*task_name*/, const call_chain&) {}
  virtual void ends(const end_event&) {}
};

}  // namespace faultline::sim

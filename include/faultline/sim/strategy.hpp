// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Who runs next. Users add their own by deriving from `strategy`.
#include <faultline/sim/operation.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace faultline::sim {

/// What a strategy sees at a scheduling point.
struct choice_point {
  std::uint32_t step = 0;                ///< number of this choice, from 0
  task_set enabled = 0;                  ///< tasks that may be chosen; never empty
  task_set daemons = 0;                  ///< of all tasks
  task_set agents = 0;                   ///< of `enabled`: store buffers and timers
  task_id last = no_task;                ///< task chosen last; agents do not count
  std::span<const operation> pending{};  ///< announced operation of each task or agent, by task_id
};

/// How an execution ended.
struct execution_end {
  task_set unfinished = 0;  ///< tasks with an announced operation
  std::span<const operation> pending{};
  bool defect = false;
  bool truncated = false;  ///< by the bound on steps
  bool pruned = false;     ///< the strategy gave it up (answered no_task)
};

class strategy {
 public:
  strategy() = default;
  strategy(const strategy&) = delete;
  strategy& operator=(const strategy&) = delete;
  virtual ~strategy() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Called before each execution.
  virtual void begin(std::uint64_t execution) = 0;
  /// One of `at.enabled`, or no_task to give this execution up as redundant.
  [[nodiscard]] virtual task_id choose(const choice_point& at) = 0;
  /// Whether executed() is to be called. One that does not look at it saves the time. Asked before each execution.
  [[nodiscard]] virtual bool follows_steps() const noexcept { return true; }
  /// The chosen operation becomes step `at.step`. `pending` holds it still.
  virtual void executed(const choice_point& /*at*/, task_id /*task*/) {}
  /// The latest step took away what an agent had announced (a time-out, once the task is woken).
  virtual void withdrawn(task_id /*agent*/, const operation& /*announced*/) {}
  /// The operation of the latest step can have several results (the stores that a load may see, the newest first).
  /// Asked at most once a step, and only if there are at least two. \returns which, less than `results`
  [[nodiscard]] virtual std::uint32_t pick(std::uint32_t /*results*/) { return 0; }
  /// A task, or an agent, was made by `parent` (no_task: in set-up) during the present step.
  virtual void spawned(task_id /*task*/, task_id /*parent*/) {}
  /// Called after each execution. Whether another one is wanted.
  [[nodiscard]] virtual bool end(const execution_end& how) = 0;
  /// Did the last execution count? A shard of a search comes by executions that are another shard's.
  [[nodiscard]] virtual bool counts() const noexcept { return true; }
  /// After the last execution: was every execution of the program covered?
  [[nodiscard]] virtual bool covered_all() const noexcept { return false; }
};

}  // namespace faultline::sim

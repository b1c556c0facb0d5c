// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What an exploration found, as data. The stream operator prints it as the command line does.
#include <faultline/core/step.hpp>
#include <faultline/sim/lock_state.hpp>
#include <faultline/sim/operation.hpp>

#include <cstdint>
#include <iosfwd>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace faultline::sim {

enum class verdict : std::uint8_t {
  clean,
  deadlock,     ///< a cycle of tasks that wait for each other
  lost_wakeup,  ///< a wait that nobody can end
  livelock,     ///< fair rounds without a progress mark
  starvation,   ///< a task that is kept from running while others achieve something, again and again
  inversion,    ///< a less urgent task runs in place of one that a more urgent task waits for
  race,         ///< two accesses to plain data, not ordered by happens-before, one of them a write
  violation,    ///< assertion, torn or stale data, use after free, wrong errno, a lock or page left held
  budget,       ///< a bound was reached before anything could be said
};
/// "clean", "deadlock", "lost-wakeup", ...
[[nodiscard]] const char* name_of(verdict v) noexcept;

/// One task that waits, in a defect's report.
struct wait_record {
  std::string task;
  std::string object;              ///< "vnode:f0"; empty for an anonymous wait
  std::string wait_name;           ///< "vnode", "range", "vmpfw"
  std::string mode;                ///< "shared", "exclusive", or empty
  std::vector<std::string> chain;  ///< outermost first: "write(f0)", "uiomove", "vm_fault", "vget"
  struct holder {
    std::string task;
    std::string mode;
    std::uint32_t since_step = 0;
    std::vector<std::string> since;  ///< where the holder stood when it took the object
    bool queued = false;             ///< not a holder: a queued request ahead
  };
  std::vector<holder> held_by;
};

/// Something worth knowing beside the verdict.
struct finding {
  std::string kind;                  ///< "order-reversal"
  std::vector<std::string> objects;  ///< "vnode:f0", "vnode:f1"
  std::string text;
  friend bool operator==(const finding&, const finding&) = default;
};

/// One edge of the graph of lock orders: `wanted` was asked for while `held` was.
struct order_record {
  std::string held;
  std::string wanted;
  bool blocking = false;            ///< not only tried
  task_set tasks = 0;               ///< that asked blocking
  std::vector<std::string> guards;  ///< held exclusively at every blocking request
  std::string example;              ///< of the first blocking request
  friend bool operator==(const order_record&, const order_record&) = default;
};

/// One step of an execution, for narration.
struct trace_event {
  std::uint64_t execution = 0;
  std::uint32_t step = 0;
  std::string task;
  std::string what;  ///< "lock vnode:f0 exclusive"
  std::vector<std::string> chain;
};

struct report {
  sim::verdict verdict = sim::verdict::clean;
  std::string message{};         ///< for people; usually one line
  bool complete = false;         ///< a proof, for the stated granularity and bound
  bool fair_only = false;        ///< some execution came by a relax(): complete for fair executions only
  std::string why_incomplete{};  ///< empty if complete
  std::string strategy{};
  std::string grain{};
  std::int64_t preemptions = -1;  ///< bound, or -1
  std::uint64_t seed = 0;

  std::uint64_t executions = 0;  ///< ended by themselves: traces, under `exhaustive`
  std::uint64_t blocked = 0;     ///< given up as redundant (sleep sets); not in `executions`
  std::uint64_t truncated = 0;   ///< of `executions`: reached the bound on steps
  std::string memory{};          ///< "sc", "tso", "weak"
  std::string processors{};      ///< "own", "shared"
  std::string timers{};          ///< "may-fire", "maximal-progress"
  std::uint32_t shard = 0;       ///< of `shards` parts of the search
  std::uint32_t shards = 1;
  bool covers_shard = false;  ///< complete, as far as this shard's part goes
  bool overflowed = false;    ///< memory `weak`: a store was forgotten that a load could still have seen
  std::uint64_t steps = 0;    ///< over all executions
  std::uint64_t defects = 0;  ///< executions that ended in a defect
  std::map<sim::verdict, std::uint64_t> by_verdict{};
  double seconds = 0;
  bool interrupted = false;

  // The first defect:
  std::vector<std::string> cycle{};  ///< objects of the wait-for cycle, in order
  std::vector<wait_record> waits{};  ///< tasks of the cycle first, in order, then the other sleepers
  std::vector<std::string> still_running{};
  std::string schedule{};              ///< replays the first defect; without one, the first execution
  std::uint64_t event_hash = 0;        ///< of that execution
  std::uint64_t defect_execution = 0;  ///< its number, from 1; 0 without a defect
  std::set<std::string> steps_reached_by_defect{};
  std::set<std::string> steps_skipped_by_defect{};

  std::vector<finding> findings{};
  std::vector<order_record> order{};  ///< of a shard only: what its order reversals are found in
  std::map<std::string, std::string> observations{};  ///< of the reported execution
  std::map<std::string, std::uint64_t>
      outcomes{};                         ///< observations of each clean end, "a=1 b=2", with counts
  std::set<std::string> steps_reached{};  ///< ids, kept and reached, over all executions
  std::set<std::string> steps_skipped{};  ///< ids, left out where the execution came by
  std::string diverged{};                 ///< replay only: why it was not the same execution; empty if it was

  friend std::ostream& operator<<(std::ostream& out, const report& r);  ///< as the command line prints it
};

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The exhaustive strategy: stateless search with source-DPOR and sleep sets, or bounded in preemptions.
///
/// Source-DPOR after Abdulla, Aronis, Jonsson, Sagonas (POPL 2014): one execution for each class of executions that
/// differ only in the order of independent operations, some classes twice ("blocked" runs, cut short by sleep sets).
/// With a bound on preemptions it is BPOR (Coons, Musuvathi, McKinley, OOPSLA 2013): conservative backtracking points,
/// no sleep sets, since cutting the unbounded search at the bound would lose executions within it.
/// Store buffers and timers are chosen as tasks are, and a switch to or from one costs nothing.
///
/// Where an operation can have several results (the stores that a weak load may see), each is tried in turn; which there are
/// depends only on what the operation's dependences tell.
///
/// A shard tries, near the root, everything that sleep sets let it, in the same order as all other shards, and goes on below
/// only every so-manyth time. So no shard needs to know what another found.
#include <faultline/sim/clock.hpp>

#include <faultline/sim/explore.hpp>
#include <faultline/sim/strategy.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace faultline::sim {

class exhaustive_strategy final : public strategy {
 public:
  struct settings {
    std::optional<std::uint32_t> preemptions{};
    bool reduce = true;  ///< false: every interleaving
    sim::shard shard{};
  };
  explicit exhaustive_strategy(const settings& how)
      : bound_(how.preemptions), reduce_(how.reduce), shard_(how.shard) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "exhaustive"; }
  void begin(std::uint64_t execution) override;
  [[nodiscard]] task_id choose(const choice_point& at) override;
  void executed(const choice_point& at, task_id t) override;
  void spawned(task_id child, task_id parent) override;
  void withdrawn(task_id agent, const operation& announced) override;
  [[nodiscard]] std::uint32_t pick(std::uint32_t results) override;
  [[nodiscard]] bool end(const execution_end& how) override;
  [[nodiscard]] bool counts() const noexcept override { return counts_; }
  /// Whether the bound on preemptions kept it from anything.
  [[nodiscard]] bool cut() const noexcept { return cut_; }
  [[nodiscard]] bool covered_all() const noexcept override { return covered_; }
  /// The program behaved differently in the same schedule; empty if not.
  [[nodiscard]] const std::string& nondeterminism() const noexcept { return nondeterminism_; }

 private:
  using index = std::uint32_t;
  static constexpr index none = ~index{0};

  /// The state before a step, and what was tried there.
  struct node {
    task_set enabled = 0;
    task_set backtrack = 0;  ///< to be tried, the tried ones included
    task_set done = 0;       ///< tried before the present choice
    task_set sleep = 0;      ///< on entry: an equivalent execution was seen
    task_id chosen = no_task;
    task_id last = no_task;         ///< task, not agent, that ran last
    std::uint32_t preemptions = 0;  ///< before this step
    std::uint32_t results = 1;      ///< that the chosen operation can have
    std::uint32_t picked = 0;
    bool agent = false;   ///< the chosen one
    bool shared = false;  ///< one of the first, all of whose choices are tried, in every shard
    bool unit = false;    ///< a part of this shard begins here
  };
  struct event {
    task_id task = no_task;
    std::uint32_t number = 0;  ///< among its task's events, from 1
    object_touch first, second;
    index follows = none;
    vector_clock clock;  ///< own number included
  };
  struct visit {
    index at;
    object_touch what;
  };

  [[nodiscard]] bool happens_before(index e, const vector_clock& clock) const noexcept {
    return clock[events_[e].task] >= events_[e].number;
  }
  [[nodiscard]] const vector_clock& before(task_id t) const;
  [[nodiscard]] static bool dependent(const operation& a, const operation& b) noexcept;
  [[nodiscard]] static bool dependent(const event& a, const operation& b) noexcept;
  void find_races(task_id t, const operation& o, const vector_clock& prior, index end);
  void race(index j, task_id t, const operation& o, const vector_clock& prior, index end);
  void race_bounded(index j, task_id t);
  [[nodiscard]] bool within_bound(const node& n, task_id t) const noexcept;
  [[nodiscard]] std::uint32_t cost(const node& n, task_id t) const noexcept;
  [[nodiscard]] bool mine();
  [[nodiscard]] static task_id preferred(task_set candidates, const choice_point& at);
  void forget_from(index at);

  std::optional<std::uint32_t> bound_;
  bool reduce_;
  sim::shard shard_;
  std::uint64_t units_ = 0;  ///< parts of the search met so far, this shard's and others'
  bool met_unit_ = false;    ///< in the present execution
  bool counts_ = true;
  bool cut_ = false;
  task_set agents_ = 0;
  std::vector<node> nodes_;
  std::vector<event> events_;
  index kept_ = 0;                          ///< events below it are those of the execution before
  std::vector<std::vector<visit>> visits_;  ///< by object, oldest first
  std::vector<std::vector<index>> by_task_;
  std::vector<index> origin_;  ///< by task: the event that spawned it
  std::vector<index> direct_;  ///< scratch of find_races()
  std::uint32_t tasks_ = 0;
  task_set daemons_ = 0;
  index now_ = 0;  ///< steps of the present execution
  task_set next_sleep_ = 0;
  bool covered_ = false;
  std::string nondeterminism_;
};

}  // namespace faultline::sim

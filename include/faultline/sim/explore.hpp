// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Runs a program under every interleaving, under random ones, or under a given one.
#include <faultline/core/step.hpp>
#include <faultline/sim/lock_observer.hpp>
#include <faultline/sim/report.hpp>
#include <faultline/sim/strategy.hpp>
#include <faultline/sim/world.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace faultline::sim {

/// An execution's set-up: makes model objects, spawns tasks, says what to check.
class execution {
 public:
  explicit execution(world& w) noexcept : world_(w) {}
  [[nodiscard]] world& here() const noexcept { return world_; }

  /// Makes a model object in the execution's arena. Its destructor is not run.
  template <class T, class... Args>
  T& make(Args&&... args) const {
    return *::new (world_.memory().allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  /// \param name  shown in reports
  template <std::invocable F>
  task_id spawn(std::string_view name, F&& body) const {
    return world_.spawn(name, std::forward<F>(body), false);
  }
  /// A task that need not end: the execution ends when all others have.
  template <std::invocable F>
  task_id spawn_daemon(std::string_view name, F&& body) const {
    return world_.spawn(name, std::forward<F>(body), true);
  }
  /// Runs at quiescence, unscheduled, after a defect too. May fail() and observe(); must not sleep.
  template <std::invocable F>
  void at_end(F&& check) {
    using stored = std::decay_t<F>;
    check_ = &make<stored>(std::forward<F>(check));
    run_check_ = [](void* f) { (*static_cast<stored*>(f))(); };
  }
  /// What decides how the execution goes on, as one number: shared state, and where the tasks are as far as their next
  /// operation does not tell. Asked before each step. If it comes back, nothing was achieved in between, and everybody who could
  /// run did, that is a livelock, however the tasks spin.
  template <std::invocable F>
  void fingerprint(F&& f) {
    using stored = std::decay_t<F>;
    auto& kept = make<stored>(std::forward<F>(f));
    world_.set_fingerprint([](void* g) -> std::uint64_t { return (*static_cast<stored*>(g))(); }, &kept);
  }
  void run_check() const {
    if (check_ != nullptr) run_check_(check_);
  }

 private:
  world& world_;
  void* check_ = nullptr;
  void (*run_check_)(void*) = nullptr;
};

/// Called once for each execution, outside any task.
using program = std::function<void(execution&)>;

enum class strategy_kind : std::uint8_t {
  exhaustive,  ///< every execution, up to the order of independent operations
  random,      ///< each task that can run with the same chance
  pct,         ///< random priorities and a few changes of them (Burckhardt et al., ASPLOS 2010)
  pos,         ///< random priorities of operations (Yuan, Yang, Gu, CAV 2018)
  automatic,   ///< exhaustive while the budget of steps may do, else rounds of pos, random and pct
  replay,
};
enum class granularity : std::uint8_t {
  fine,  ///< a scheduling point before every access
  coarse,  ///< before lock, wait-queue, atomic, copy and I/O operations; plain data is race-checked, not scheduled
};

/// What a load may see, and when a store can be seen.
enum class memory_model : std::uint8_t {
  sc,    ///< the newest store, at once
  tso,   ///< amd64: a store waits in its CPU's buffer, first in, first out, while the CPU goes on
  weak,  ///< C++20: every store that coherence and happens-before allow, of those kept
};
enum class processors : std::uint8_t {
  own,     ///< each task has a CPU; any of them may be slow
  shared,  ///< on each CPU the most urgent task runs; interrupts come between its operations
};
enum class timers : std::uint8_t {
  may_fire,  ///< at any time once set: the passing of time is not modelled, only its order with all else
  maximal_progress,  ///< when nobody else can run, the earliest first: everything else takes no time
};
/// "sc", "shared", "maximal-progress", "fine", ...
[[nodiscard]] const char* name_of(memory_model m) noexcept;
[[nodiscard]] const char* name_of(processors p) noexcept;
[[nodiscard]] const char* name_of(timers t) noexcept;
[[nodiscard]] const char* name_of(granularity g) noexcept;

/// Shard `index` of `count` equal parts of the search.
struct shard {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
};

struct options {
  strategy_kind strategy = strategy_kind::exhaustive;
  granularity grain = granularity::coarse;
  memory_model memory = memory_model::sc;
  sim::processors processors = sim::processors::own;
  sim::timers timers = sim::timers::may_fire;
  std::uint64_t seed = 1;
  std::uint64_t executions_max = 0;            ///< 0: exhaustive 10,000,000; random 1,000
  std::uint64_t steps_max = 0;                 ///< over all executions; 0: no bound
  std::uint32_t steps_per_execution = 20'000;  ///< beyond it an execution is truncated
  std::optional<std::uint32_t> preemptions{};  ///< exhaustive only: at most so many in an execution
  /// Exhaustive only: bounds 0, 1, 2, ... one after the other, up to `preemptions` or until the bound cuts nothing off.
  bool iterate_bounds = false;
  sim::shard shard{};
  std::uint32_t pct_depth = 3;  ///< pct: changes of priority and one
  std::uint32_t history = 8;    ///< weak: stores of an atomic that are kept
  std::uint32_t fires_max = 4;  ///< may_fire: in an execution, while others can run
  std::uint32_t starvation_after =
      0;  ///< progress marks of others, while a task is kept from running; 0: not looked for
  /// Exhaustive: leave the reduction out. Where a reduction would not be sound (shared CPUs, starvation) it is done anyway.
  bool reduce = true;
  bool stop_at_first = true;
  std::uint32_t livelock_rounds = 16;  ///< fair rounds without a progress mark
  std::vector<const step*> omit{};
  std::string schedule{};                                      ///< replay only: choices as printed
  std::function<bool(std::uint64_t executions)> keep_going{};  ///< asked now and then; false ends the search
  std::function<void(const trace_event&)> on_event{};  ///< every step of every execution (for narration)
  /// A strategy of the user's in place of `strategy`; made once for each search.
  std::function<std::unique_ptr<sim::strategy>()> custom{};
  /// Told what tasks do to locks, in every execution. They outlive the search.
  std::vector<lock_observer*> observers{};
  /// A deadlock is recorded when its cycle closes, and the other tasks go on until nobody can. A schedule found so is replayed so.
  bool continue_after_deadlock = false;
};

/// Explores `p`. Restores the caller's world state before it returns.
/// \errors  throws std::invalid_argument for options that make no sense (a schedule that cannot be read, preemptions
///          with a random search), set_up_error if set-up sleeps for ever
[[nodiscard]] report explore(const options& how, const program& p);

/// What the shards of one search found, as the whole search: every count the sum, order reversals from all that was seen.
/// The defect is that of the first shard that found one.
/// \errors  throws std::invalid_argument unless the reports are all the shards of one search, each once
[[nodiscard]] report merge(std::vector<report> shards);

/// The same execution again. Equivalent to explore() with strategy replay.
[[nodiscard]] report replay(std::string_view schedule, const program& p, options how = {});

/// Set-up or the program as a whole is wrong: not a finding about the program's interleavings.
class set_up_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace faultline::sim

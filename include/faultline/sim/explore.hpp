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

enum class strategy_kind : std::uint8_t { exhaustive, random, replay };
enum class granularity : std::uint8_t {
  fine,  ///< a scheduling point before every access
  coarse,  ///< before lock, wait-queue, atomic, copy and I/O operations; plain data is race-checked, not scheduled
};

struct options {
  strategy_kind strategy = strategy_kind::exhaustive;
  granularity grain = granularity::coarse;
  std::uint64_t seed = 1;
  std::uint64_t executions_max = 0;            ///< 0: exhaustive 10,000,000; random 1,000
  std::uint64_t steps_max = 0;                 ///< over all executions; 0: no bound
  std::uint32_t steps_per_execution = 20'000;  ///< beyond it an execution is truncated
  std::optional<std::uint32_t> preemptions{};  ///< exhaustive only: at most so many in an execution
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

/// The same execution again. Equivalent to explore() with strategy replay.
[[nodiscard]] report replay(std::string_view schedule, const program& p, options how = {});

/// Set-up or the program as a whole is wrong: not a finding about the program's interleavings.
class set_up_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace faultline::sim

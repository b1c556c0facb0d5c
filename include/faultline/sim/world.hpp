// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// One execution of a program under test, seen from inside: what the simulated substrate calls.
///
/// Everything that makes a run non-deterministic goes through here. A world belongs to one host thread; its tasks are
/// fibers on that thread. Outside an execution there is no current world, and simulated objects cannot be made.
#include <faultline/core/step.hpp>
#include <faultline/core/units.hpp>
#include <faultline/sim/arena.hpp>
#include <faultline/sim/clock.hpp>
#include <faultline/sim/lock_state.hpp>
#include <faultline/sim/operation.hpp>

#include <boost/assert/source_location.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace faultline::sim {

/// Set-up (unscheduled) -> tasks (scheduled) -> check (unscheduled; runs after a defect too).
enum class phase : std::uint8_t { set_up, tasks, check };

/// A queue of sleeping tasks. Changed by `world` only.
struct wait_queue_state {
  struct waiter {
    task_id task = no_task;
    bool signalled = false;
    bool timed_out = false;
    std::uint32_t wake_event = ~0U;
    vector_clock wakers_clock;
  };
  object_id id = no_object;
  const char* name = "";
  std::pmr::vector<waiter*> waiters;  ///< oldest first; each lies on its task's stack

  explicit wait_queue_state(const char* wait_name);
  wait_queue_state(const wait_queue_state&) = delete;
  wait_queue_state& operator=(const wait_queue_state&) = delete;
  ~wait_queue_state();
};

/// A value on its way to memory. `apply` writes it into the atomic at `where`.
struct value_ref {
  static constexpr std::size_t bytes_max = 16;
  const void* value;
  std::size_t bytes;
  void (*apply)(void* where, const void* value);
};

/// Which value a load sees.
struct value_seen {
  std::uint32_t age = 0;      ///< 0: the newest store; n: n stores before it
  const void* own = nullptr;  ///< not null: the value lies here, in the task's own store buffer
  [[nodiscard]] bool newest() const noexcept { return age == 0 && own == nullptr; }
};

class world {
 public:
  /// The world of this host thread, or null outside an execution.
  [[nodiscard]] static world* current() noexcept { return current_; }
  /// The same; outside an execution it ends the program with a message ("simulated object outside an execution").
  [[nodiscard]] static world& here() noexcept { return current_ != nullptr ? *current_ : none(); }

  world(const world&) = delete;
  world& operator=(const world&) = delete;

  // --- memory and objects -----------------------------------------------------------------------------------------

  /// The execution's arena. Never reuses memory within an execution, so that a use after free can be told.
  [[nodiscard]] arena& memory() noexcept { return memory_; }

  /// Gives an object of the model its number. `name` must live as long as the execution (see keep()).
  object_id enroll(const void* where, const char* kind, const char* name);
  /// From now on each access to the object is a use after free.
  void retire(object_id id, const void* where) noexcept;
  void rename(object_id id, std::string_view name);
  /// The object lies in the cache line of `with` (in the native twin).
  void same_line(object_id id, object_id with);
  /// Copies text into the arena. The result ends with a null byte.
  [[nodiscard]] const char* keep(std::string_view text);

  // --- accesses ---------------------------------------------------------------------------------------------------

  /// How many stores of each atomic are kept, so that a load may see an old one; 0: the newest only.
  [[nodiscard]] std::uint32_t history() const noexcept { return history_; }
  /// The atomic keeps its stores from now on. Only where history() is not 0.
  void keep_history(object_id id);
  [[nodiscard]] value_seen atomic_load(object_id id, const void* where, std::memory_order order);
  /// \returns whether the caller is to change the value now; if not, the store buffer does it later
  [[nodiscard]] bool atomic_store(object_id id, void* where, std::memory_order order, const value_ref& value);
  void atomic_rmw(object_id id, const void* where, std::memory_order order);
  /// A compare-exchange: its turn first, then what came of it. One that failed is a load with the failure order.
  /// \returns how many stores a failure may see, the newest one first
  [[nodiscard]] std::uint32_t atomic_cas(object_id id, const void* where, std::memory_order success,
                                         std::memory_order failure);
  void atomic_cas_done(object_id id, bool succeeded, std::memory_order order, std::uint32_t age = 0);
  /// One of `results` > 1 ways the present operation can turn out, 0 being the usual one. At most once an operation.
  [[nodiscard]] std::uint32_t pick(std::uint32_t results);
  void fence(std::memory_order order);
  /// A relaxed load whose value is a pointer: what is ordered before the store that it sees is known in accesses to
  /// [pointee, pointee + bytes), by reaches(), and nowhere else.
  [[nodiscard]] value_seen atomic_load_dependent(object_id id, const void* where);
  void reaches(const void* pointee, std::size_t bytes);
  void plain_read(object_id id, const void* where);
  void plain_write(object_id id, const void* where);
  /// User bytes: may race. One operation, however many bytes.
  void racy_read(object_id id);
  void racy_write(object_id id);
  /// An update of a count that commutes with the others: orders like an acquire-release atomic, no scheduling point.
  void count(object_id id, const void* where);

  // --- locks in specification form --------------------------------------------------------------------------------

  /// May sleep. Announces the request first where the lock's rule makes queued requests visible.
  void acquire(lock_state& lock, const request& wish);
  /// Never sleeps. Inside a section it is part of the section.
  [[nodiscard]] bool try_acquire(lock_state& lock, const request& wish);
  /// The task's latest hold of it, or the one of that range.
  void release(lock_state& lock, std::optional<byte_range> which = {});
  /// A try whose failure leads to a blocking acquire after `released_first` were given back: the order graph learns the
  /// edges of that acquire even in executions in which the try succeeds.
  void might_acquire(const lock_state& lock, const request& wish,
                     std::span<const lock_state* const> released_first);
  /// Sleeps until `wish` could be granted, without taking it (vm_page_sleep_if_busy). `guard` is the interlock whose
  /// sections change the lock's state.
  void wait_grantable(const lock_state& lock, const request& wish, const lock_state& guard,
                      const char* wait_name);

  /// A short critical section under a leaf lock. Nothing in it may sleep or touch another visible object.
  /// Coarse: one operation. Fine: lock, the accesses, unlock.
  void enter_section(lock_state& interlock, access how);
  void leave_section(lock_state& interlock, access how);

  // --- wait queues ------------------------------------------------------------------------------------------------

  /// Gives `mutex` back and sleeps, in one step; takes it again after a wake-up.
  void wait(wait_queue_state& queue, lock_state& mutex, const request& wish);
  /// The same, for so long at most. \returns whether it was woken; false: the time was over
  bool wait_for(wait_queue_state& queue, lock_state& mutex, const request& wish,
                std::chrono::nanoseconds most);
  /// Wakes the oldest `most` sleepers.
  void wake(wait_queue_state& queue, std::size_t most);

  // --- tasks ------------------------------------------------------------------------------------------------------

  template <std::invocable F>
  task_id spawn(std::string_view name, F&& body, bool daemon = false) {
    using stored = std::decay_t<F>;
    void* place = memory().allocate(sizeof(stored), alignof(stored));
    auto* kept = ::new (place) stored(std::forward<F>(body));
    return spawn_raw(
        keep(name), [](void* f) { (*static_cast<stored*>(f))(); }, kept, daemon);
  }
  void join(task_id task);
  [[nodiscard]] task_id self() const noexcept { return running_; }
  [[nodiscard]] const char* task_name(task_id t) const noexcept;
  [[nodiscard]] std::uint32_t task_count() const noexcept;
  [[nodiscard]] bool finished(task_id t) const noexcept;
  /// A spin loop's hint: goes on when something that the task read since its last hint was written, and when the other
  /// tasks that could run have run.
  void relax();
  /// Something was achieved. Rounds of relax() by all tasks without this are a livelock.
  void progress() noexcept;
  void sleep_for(std::chrono::nanoseconds length);
  /// Virtual time since the start of the execution: moves when a timer fires.
  [[nodiscard]] std::chrono::nanoseconds time() const noexcept;
  /// The device finished a request: a scheduling point that nothing depends on.
  void io(const char* what);

  // --- CPUs; with options::processors `own` each task has one to itself, and priorities are of no account ----------------

  /// Higher runs first.
  void set_priority(task_id task, int base);
  /// Until it is taken back (by no value), the task runs at this priority if its own is lower.
  void lend_priority(task_id task, std::optional<int> lent);
  /// Base, or what it was lent, or what waits for a lock of its that lends.
  [[nodiscard]] int priority(task_id task) const;
  void bind(task_id task, std::uint32_t cpu);
  [[nodiscard]] std::uint32_t cpu(task_id task) const noexcept;
  /// critical_enter(9): the task stays on its CPU; interrupts come all the same. Nests.
  void preemption_off();
  void preemption_on() noexcept;
  /// spinlock_enter(): neither preemption nor interrupts. Nests.
  void interrupts_off();
  void interrupts_on() noexcept;
  /// Has `handler` run on another CPU, in an interrupt of whatever task is on it, and waits until it has.
  /// \pre options::processors is `shared`
  template <std::invocable F>
  void cross_call(std::uint32_t cpu, F&& handler) {
    using stored = std::decay_t<F>;
    auto* kept = ::new (memory().allocate(sizeof(stored), alignof(stored))) stored(std::forward<F>(handler));
    cross_call_raw(
        cpu, [](void* f) { (*static_cast<stored*>(f))(); }, kept);
  }

  /// See execution::fingerprint().
  void set_fingerprint(std::uint64_t (*of)(void*), void* context) noexcept;

  void push_frame(const char* function, const char* object) noexcept;
  void pop_frame() noexcept;
  [[nodiscard]] bool frame_active(std::string_view function) const noexcept;

  // --- steps, checks, observations --------------------------------------------------------------------------------

  /// False where `s` is left out in this run. Records that the execution came by.
  [[nodiscard]] bool keeps(const step& s) noexcept;
  /// Ends the execution with the verdict `violation`. Does not return inside a task.
  /// By value: a task that fails is abandoned where it stands, and would leak a string of its own.
  void fail(std::string what);
  void check(bool holds, std::string_view what, boost::source_location at = BOOST_CURRENT_LOCATION) {
    if (!holds) [[unlikely]]
      fail_at(what, at);
  }
  /// What the scenario saw. The same name again replaces the value.
  void observe(std::string_view name, std::string_view value);
  void observe(std::string_view name, std::int64_t value);

  /// Number of the present step: scheduling points passed by the execution.
  [[nodiscard]] std::uint32_t now() const noexcept;
  /// The next of the execution's own random numbers; the same in a replay.
  [[nodiscard]] std::uint64_t random() noexcept;

 protected:
  world() = default;
  ~world() = default;

  static thread_local world* current_;  // NOLINT(readability-identifier-naming): as the other members
  arena memory_;
  task_id running_ = no_task;
  phase phase_ = phase::set_up;
  std::uint32_t history_ = 0;

 private:
  [[noreturn]] static world& none() noexcept;
  void fail_at(std::string_view what, const boost::source_location& at);
  task_id spawn_raw(const char* name, void (*run)(void*), void* body, bool daemon);
  void cross_call_raw(std::uint32_t cpu, void (*run)(void*), void* body);
  [[nodiscard]] class engine& self_engine() noexcept;
  [[nodiscard]] const class engine& self_engine() const noexcept;
};

/// Marks a call for reports while it lives.
class frame {
 public:
  explicit frame(world& w, const char* function, const char* object = "") noexcept : world_(w) {
    world_.push_frame(function, object);
  }
  frame(const frame&) = delete;
  frame& operator=(const frame&) = delete;
  ~frame() { world_.pop_frame(); }

 private:
  world& world_;
};

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// One search: runs executions of a program, one after the other, on the calling host thread.
#include "fiber.hpp"
#include "memory.hpp"
#include "order_graph.hpp"
#include "schedule.hpp"
#include "strategies.hpp"
#include <faultline/sim/clock.hpp>

#include <faultline/sim/explore.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

namespace faultline::sim {

class engine final : public world {
 public:
  engine(const options& how, const program& p);
  ~engine();

  /// Runs one execution under `s`. \returns whether `s` wants another one
  bool run(strategy& s);

  /// Whether a defect is to be described, or only counted.
  void describe_defects(bool yes) noexcept { tells_ = yes; }

  /// Whether the observers are told of the executions to come.
  void tell_observers(bool yes) noexcept { watched_ = yes && !how_.observers.empty(); }
  /// "vnode:f0". For strategies that look for a lock.
  [[nodiscard]] std::string label(object_id id) const;
  /// Does the task hold a lock of that label?
  [[nodiscard]] bool holds(task_id t, std::string_view lock_label) const;

  /// What the last execution came to.
  struct outcome {
    sim::verdict verdict = sim::verdict::clean;
    std::string message;
    bool truncated = false;
    bool pruned = false;
    bool cut_short = false;    ///< by a defect, while others could go on
    bool daemon_left = false;  ///< one that could go on when the last task ended
    std::vector<task_id> cycle;
    std::string race_key;  ///< where the race is, without step numbers
  };
  [[nodiscard]] const outcome& last() const noexcept { return outcome_; }
  /// Whether any execution of the search came by a relax().
  [[nodiscard]] bool relaxes() const noexcept { return relaxes_; }
  /// Whether a store was forgotten, in any execution, that a load could still have seen.
  [[nodiscard]] bool overflowed() const noexcept { return overflowed_; }
  /// Whether, in any execution, a timer was kept from firing by the bound; and whether tasks accessed user bytes.
  [[nodiscard]] bool fires_bounded() const noexcept { return fires_bounded_; }
  [[nodiscard]] bool user_bytes() const noexcept { return user_bytes_; }
  /// Findings of all executions but for the order graph's.
  [[nodiscard]] const std::map<std::string, finding>& findings() const noexcept { return findings_; }
  [[nodiscard]] std::uint32_t steps() const noexcept { return step_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::string schedule() const;
  [[nodiscard]] const std::vector<choice>& choices() const noexcept { return choices_; }
  [[nodiscard]] task_set agents() const noexcept { return known_agents_; }
  /// Whether the last execution observed anything; and what, in a line.
  [[nodiscard]] bool observed() const noexcept { return !observed_.empty(); }
  [[nodiscard]] std::string observations_line() const;
  /// Fills in the parts of a report that describe the last execution.
  void describe(report& r) const;
  /// Adds the steps that the last execution reached or skipped.
  void add_steps(std::set<std::string>& reached, std::set<std::string>& skipped) const;
  [[nodiscard]] const order_graph& order() const noexcept { return order_; }

 private:
  friend class world;

  struct object {
    const void* where = nullptr;
    const char* kind = "";
    const char* name = "";
    task_set readers = 0;      ///< who looked at it since it was written, for relax()
    std::uint32_t line = 0;    ///< cache line in the native twin
    task_id writer = no_task;  ///< plain data: last write
    std::uint32_t writer_clock = 0;
    std::uint32_t writer_step = 0;
    bool alive = false;
    bool has_history = false;  ///< atomics under `weak`
    store_history history;
    vector_clock clock;    ///< atomics, locks: what acquiring it brings; plain data: reads
    vector_clock touched;  ///< by task: its clock at its last access
  };

  struct task {
    const char* name = "";
    void (*run)(void*) = nullptr;
    void* body = nullptr;
    engine* owner = nullptr;
    bool daemon = false;
    bool finished = false;
    std::uint32_t sections = 0;     ///< depth; > 0: no scheduling point
    std::uint32_t last_step = ~0U;  ///< of its latest operation
    std::uint32_t asked_step = 0;   ///< observed only: when it announced its pending operation
    bool asleep = false;            ///< observed only: announced what it could not do at once
    vector_clock clock;
    call_chain chain{};
    task_set waits_for_turns = 0;  ///< after a relax(): tasks that must run first
    std::vector<lock_state*> holds;
    sim::fiber fiber;

    // memory
    vector_clock acquire_fence;  ///< what an acquire fence would learn
    vector_clock release_fence;  ///< what a release fence told
    struct reach {
      std::uintptr_t begin, end;
      vector_clock clock;
    };
    std::vector<reach> reached;          ///< by dependent loads
    std::uint32_t fresh_since = 0;       ///< step of the relax() before the last: stores before it are seen
    std::uint32_t relaxed_at = 0;        ///< step of the last
    std::vector<buffered_store> buffer;  ///< tso: those from `next_to_leave` on
    std::size_t next_to_leave = 0;
    std::uint32_t last_left = ~0U;  ///< the step at which a store left last
    bool dirty = false;             ///< stored something since the buffer was known to be empty

    // timer
    bool timer = false;  ///< it is set
    bool time_out = false;
    std::chrono::nanoseconds deadline{};
    wait_queue_state* sleeps_on = nullptr;
    wait_queue_state::waiter* waiter = nullptr;
    std::uint32_t fired_at = ~0U;  ///< step

    // CPU
    std::uint32_t cpu = 0;
    int base = 0;
    std::optional<int> lent;
    std::uint32_t no_preemption = 0;  ///< depth
    std::uint32_t no_interrupts = 0;
    std::uint32_t kept_back = 0;     ///< progress marks of others since it ran or could have run
    std::uint32_t kept_since = ~0U;  ///< its last step then
  };

  // engine.cpp: the life of an execution
  void reset();
  [[nodiscard]] sim::fiber& start_next();
  [[nodiscard]] sim::fiber& next_if_any();
  [[nodiscard]] sim::fiber& end();
  void prologue(task_id t, sim::fiber& from);
  static void task_main(void* self);
  void fail_by(std::exception_ptr escaped, const task& t);
  [[nodiscard]] sim::fiber& task_done(task& t);
  /// The hook: announces what the running task is about to do, and returns when it is the task's turn to do it.
  /// Inline down to the switch: after a switch each return to a caller costs a misprediction.
  [[gnu::always_inline]] void at(const operation& o) {
    const bool scheduled = phase_ == phase::tasks;
    // Member by member, so that `o` is never in memory: a copy as a whole waits for the parts to arrive there.
    auto& p = scheduled ? pending_[running_] : outside_;
    p.kind = o.kind;
    p.order = o.order;
    p.first.object = o.first.object;
    p.first.how = o.first.how;
    p.first.range = o.first.range;
    p.second.object = o.second.object;
    p.second.how = o.second.how;
    p.second.range = o.second.range;
    p.ready = o.ready;
    p.context = o.context;
    p.lock = o.lock;
    p.wish.task = o.wish.task;
    p.wish.how = o.wish.how;
    p.wish.may_recurse = o.wish.may_recurse;
    p.wish.overtakes = o.wish.overtakes;
    p.wish.range = o.wish.range;
    p.follows = o.follows;
    p.wait_name = o.wait_name;
    if (!scheduled) [[unlikely]]
      return unscheduled(p);
    auto& me = *tasks_[running_];
    switch_to(me.fiber, announce(me));
  }
  [[gnu::always_inline]] static void switch_to(sim::fiber& from, sim::fiber& to) {
    if (&to != &from) sim::fiber::transfer(from, to);
  }
  void unscheduled(const operation& o) const;
  [[nodiscard]] sim::fiber& announce(task& t);
  void announce_wait(const operation& o);
  [[nodiscard]] const operation& pending(task_id t) const noexcept { return pending_[t]; }
  void section_guard(const operation& o);
  [[nodiscard]] sim::fiber& next();
  [[nodiscard, gnu::always_inline]] inline task_id choose();
  [[nodiscard, gnu::always_inline]] inline task_id choose_from(task_set ready_now);
  [[nodiscard]] bool may_go_on(task_set ready_now);
  [[nodiscard]] bool gets_somewhere();
  void note_who_is_kept_back();
  [[nodiscard]] bool state_is_back(task_set enabled);
  [[nodiscard]] task_set enabled() const;
  [[nodiscard]] task_set enabled_of_all() const;
  [[nodiscard]] bool ready(task_id t) const;
  [[noreturn]] void leave_task();
  void end_stuck();
  [[gnu::always_inline]] inline void record_step(task_id t);
  void tell_step(task_id t);
  void count_rounds(task_id t);
  [[nodiscard]] choice_point present_choice() const;
  [[nodiscard]] task_id ask_strategy();
  void note_what_it_follows(operation& o) const;
  void narrate(task_id t);

  // engine_objects.cpp: accesses; engine_locks.cpp: locks, queues
  /// The object, which must be one of this execution. \param done  the access has had its turn
  object& alive(object_id id, const void* where, bool done = true) {
    if (id >= object_count_ || objects_[id].where != where || !objects_[id].alive) [[unlikely]]
      return dead(id, where);
    auto& o = objects_[id];
    if (done && phase_ == phase::tasks) o.touched[running_] = tasks_[running_]->clock[running_];
    return o;
  }
  object& dead(object_id id, const void* where);
  [[nodiscard]] order_graph::node graph_node(const lock_state& l);
  /// For relax(): a task that spins goes on when something it looked at is written.
  void note_read(object& o) noexcept {
    o.readers |= only(running_);
    looked_ |= only(running_);
  }
  void note_write(object& o) noexcept {
    const task_set me = running_ != no_task ? only(running_) : 0;  // one's own writes are no news
    news_ |= o.readers & ~me;
    o.readers &= me;
  }
  void race(const object& o, const char* what, task_id other, const char* other_what,
            std::uint32_t other_step);
  void grant(lock_state& lock, const request& wish);
  void learn_order(const lock_state& lock, bool blocking, std::span<const lock_state* const> released_first);
  void acquire_clock(const lock_state& lock, access how, const byte_range& range);
  void release_clock(lock_state& lock, access how, const byte_range& range);
  [[nodiscard]] static bool lock_ready(const operation& o);
  void fall_asleep(wait_queue_state& queue, lock_state& mutex, wait_queue_state::waiter& self);
  void wake_up(wait_queue_state& queue, const wait_queue_state::waiter& self);

  // engine_memory.cpp
  /// What `t` knows when it accesses `where`: more than usual, if it came there by a dependent load.
  [[nodiscard]] const vector_clock& knowledge(const task& t, const void* where) {
    return t.reached.empty() ? t.clock : knowledge_of_reached(t, where);
  }
  [[nodiscard]] const vector_clock& knowledge_of_reached(const task& t, const void* where);
  [[nodiscard]] std::uint32_t window(const object& o, const vector_clock& known, std::uint32_t fresh_since,
                                     bool sequential) const;
  [[gnu::always_inline]] inline void see(store_record& s, const task& me, std::memory_order order);
  void remember(object& o, std::memory_order order, const vector_clock& release);
  [[nodiscard, gnu::always_inline]] inline operation access_of(op kind, object_id id, touch how,
                                                               std::memory_order order) const;
  void buffer(object_id id, void* where, std::memory_order order, const value_ref& value);
  void announce_next_store(task_id t);
  void oldest_store_leaves(task_id t);
  /// Before whatever amd64 does with a locked instruction: waits until the task's stores have left its buffer.
  void drain() {
    if (running_ != no_task && phase_ == phase::tasks && tasks_[running_]->dirty) drain_buffer();
  }
  void drain_buffer();

  // engine_agents.cpp: agents, timers, CPUs
  void know_agent(task_id t);
  void arm(task_id t, const operation& o);
  void act(task_id agent, task_set enabled);
  void set_timer(task_id t, std::chrono::nanoseconds length, const operation& fire);
  void timer_fires(task_id t, task_set enabled);
  void timer_is_off(task_id t);
  [[nodiscard]] task_set timers_that_may_fire(task_set others) const;
  [[nodiscard]] task_set scheduled(task_set ready) const;
  [[nodiscard]] task_id owner_of_cpu(std::uint32_t cpu) const;
  void serve_calls(std::uint32_t cpu);
  void note_inversion(task_id t);
  void judge_inversion();

  // engine_observers.cpp: what lock observers are told
  [[nodiscard]] lock_event event_of(const lock_state& lock, access how) const;
  [[nodiscard]] sleep_event sleep_of(task_id t) const;
  void tell_asks(const lock_state& lock, access how) const;
  void tell_acquired(const lock_state& lock, access how) const;
  void tell_tried(const lock_state& lock, access how, bool got) const;
  void tell_released(const lock_state& lock, access how) const;
  void tell_announced(const operation& o);
  void tell_chosen(task_id t);
  void tell_enters() const;
  void tell_end();
  [[nodiscard]] task_set stuck() const;

  // engine_report.cpp: wait-for graph and descriptions
  [[nodiscard]] task_set blockers(task_id t) const;
  [[nodiscard]] std::string waited_for(task_id t) const;
  bool find_cycle(task_id start);
  void defect(sim::verdict v, std::string message);
  [[nodiscard]] wait_record describe_wait(task_id t) const;

  const options& how_;
  const program& program_;
  order_graph order_;
  std::vector<order_graph::held> order_scratch_;
  struct known_node {
    const char* kind = nullptr;
    const char* where = nullptr;  ///< the name's place, if it outlives executions
    std::string name;
    order_graph::node node = 0;
  };
  std::vector<known_node> known_nodes_;  ///< by object

  strategy* strategy_ = nullptr;
  random_strategy* random_choice_ = nullptr;  ///< the strategy, if it is that: no virtual call for each step
  std::uint64_t execution_ = 0;
  std::vector<object> objects_;  ///< 0 is no object
  std::uint32_t object_count_ = 0;
  std::uint32_t object_room_ = 64;
  std::vector<std::unique_ptr<task>> tasks_;
  std::uint32_t task_count_ = 0;
  std::uint32_t task_room_ = 0;
  task_set daemons_ = 0;
  task_set enabled_then_ = 0;  ///< at the latest choice
  task_set unfinished_ = 0;
  task_set armed_ = 0;         ///< agents that have something to do
  task_set known_agents_ = 0;  ///< told to the strategy
  std::uint32_t width_ =
      0;  ///< components of a clock that were ever in use: the most tasks of an execution so far
  task_set gated_ = 0;       ///< announced an operation that is not always ready
  task_set giving_way_ = 0;  ///< after a relax(), until the others had their turn
  task_set looked_ = 0;      ///< at something, since their last relax()
  task_set news_ = 0;        ///< something they looked at was written since
  task_set relaxed_ = 0;     ///< since the last progress mark or full round
  std::uint32_t rounds_ = 0;
  std::uint32_t idle_rounds_ = 0;  ///< rounds of daemons alone
  task_set idle_ran_ = 0;
  std::array<operation, tasks_max> pending_;  ///< announced, by task
  operation outside_;                         ///< what set-up or a check does
  std::vector<choice> choices_;
  std::uint32_t step_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t random_ = 0;
  task_id last_ = no_task;
  object_id task_table_ = no_object;
  sim::fiber host_;
  sim::fiber* prologue_return_ = nullptr;
  bool starting_ = false;  ///< the tasks that set-up made run up to their first operations
  task_id started_ = 0;    ///< of them
  bool ending_ = false;
  bool tells_ = true;
  bool watched_ = false;
  bool follows_steps_ = false;  ///< the strategy does
  bool tells_steps_ = false;    ///< somebody but the strategy is to know of each
  std::uint64_t told_ = 0;      ///< executions that observers have seen the end of, but for those given up
  bool relaxes_ = false;
  bool overflowed_ = false;
  mutable bool fires_bounded_ = false;
  bool user_bytes_ = false;
  object_id timers_object_ = no_object;  ///< maximal progress: what all timers share
  object_id fence_object_ = no_object;   ///< weak: what seq_cst operations and fences share
  std::uint32_t sequential_ = 0;         ///< weak: seq_cst operations so far
  std::vector<fence_record> fences_;
  std::uint64_t (*fingerprint_)(void*) = nullptr;
  void* fingerprint_context_ = nullptr;
  std::map<std::uint64_t, std::uint32_t>
      states_;  ///< steps before which they were met, since the last progress mark
  vector_clock knowledge_;
  const vector_clock* latest_release_ = nullptr;
  std::chrono::nanoseconds time_{0};
  std::uint32_t fires_ = 0;       ///< of timers while others could run
  std::uint32_t idle_fires_ = 0;  ///< of timers alone, since the last progress mark
  std::map<std::string, finding> findings_;
  struct cpu_state {
    task_id current = no_task;  ///< ran there last
    task_id handler = no_task;  ///< the task that runs its handlers
    bool in_handler = false;
  };
  std::array<cpu_state, tasks_max> cpus_;
  struct call {
    void (*run)(void*);
    void* body;
    std::uint32_t cpu;
    bool done;
    vector_clock clock;  ///< the caller's, then the handler's
  };
  std::array<std::vector<call*>, tasks_max>
      calls_;  ///< not yet begun, by CPU; each lies on its caller's stack
  struct inverted {
    task_id waiter, owner, middle;
    std::string lock;
    std::uint32_t steps = 0;
    bool over = false;     ///< the owner went on
    bool bounded = false;  ///< while the other could still have run
  };
  std::vector<inverted> inversions_;
  outcome outcome_;
  std::vector<wait_record> waits_;
  std::vector<std::string> cycle_objects_;
  std::vector<std::string> running_names_;
  std::vector<std::pair<std::string, std::string>> observed_;
  struct step_seen {
    const step* which;
    bool omitted;
    bool seen;  ///< in this execution
  };
  std::vector<step_seen> steps_seen_;
};

inline engine& world::self_engine() noexcept { return static_cast<engine&>(*this); }
inline const engine& world::self_engine() const noexcept { return static_cast<const engine&>(*this); }

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#include "support/programs.hpp"

#include <faultline/conformance/matchers.hpp>
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gmock/gmock.h>

#include <stdexcept>

namespace faultline {
namespace {

using conformance::Deadlocks;
using conformance::FindsReversal;
using conformance::IsClean;
using conformance::IsCompleteAndClean;
using conformance::Livelocks;
using conformance::LosesWakeup;
using conformance::Races;
using conformance::Violates;
using sim::execution;
using sim::verdict;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using mutex = simulated::mutex;
using waitq = simulated::waitq;
using word = simulated::atomic<int>;
using var = simulated::var<int>;

sim::report all(const sim::program& p, sim::options how = {}) {
  how.stop_at_first = false;
  return sim::explore(how, p);
}

// --- verdicts ---------------------------------------------------------------------------------------------------------

TEST(Deadlock, one_task_that_locks_twice_waits_for_itself) {
  const auto r = sim::explore({}, [](execution& e) {
    auto& m = e.make<mutex>("m");
    e.spawn("T0", [&m] {
      m.lock();
      m.lock();
    });
  });
  EXPECT_THAT(r, Deadlocks("mutex:m"));
  EXPECT_THAT(r.message, HasSubstr("self-deadlock"));
}

TEST(Deadlock, a_cycle_of_three_names_its_locks_in_order) {
  const auto r = sim::explore({}, programs::philosophers(3));
  ASSERT_EQ(r.verdict, verdict::deadlock) << r;
  EXPECT_THAT(r.cycle, ElementsAre("mutex:1", "mutex:2", "mutex:0"));
}

TEST(Deadlock, readers_that_share_are_none_but_a_reversal_is_told) {
  const auto r = all([](execution& e) {
    auto& a = e.make<simulated::spec_lock>(sim::the_shared_rule, "rw", "a");
    auto& b = e.make<simulated::spec_lock>(sim::the_shared_rule, "rw", "b");
    const auto both = [](simulated::spec_lock& first, simulated::spec_lock& second) {
      first.acquire({.how = access::shared});
      second.acquire({.how = access::shared});
      second.release();
      first.release();
    };
    e.spawn("T0", [&, both] { both(a, b); });
    e.spawn("T1", [&, both] { both(b, a); });
  });
  EXPECT_THAT(r, IsCompleteAndClean());
  EXPECT_THAT(r, FindsReversal("rw:a", "rw:b"));
  EXPECT_EQ(r.findings.size(), 1U);
}

TEST(Deadlock, two_readers_that_both_upgrade_wait_for_each_other) {
  const auto r = sim::explore({}, [](execution& e) {
    auto& a = e.make<simulated::spec_lock>(sim::the_shared_rule, "rw", "a");
    for (const char* name : {"T0", "T1"}) {
      e.spawn(name, [&a] {
        a.acquire({.how = access::shared});
        a.acquire({.how = access::exclusive});  // waits for the other reader, and for itself
      });
    }
  });
  EXPECT_THAT(r, Deadlocks());
}

TEST(LostWakeup, an_unlocked_flag_test_before_a_wait_is_found) {
  const auto program = [](bool locked) {
    return [locked](execution& e) {
      struct state {
        mutex m{"m"};
        waitq q{"q"};
        word flag{0};
      };
      auto& s = e.make<state>();
      e.spawn("sleeper", [&s, locked] {
        if (locked) {
          s.m.lock();
          while (s.flag.load() == 0) s.q.wait(s.m);
          s.m.unlock();
        } else if (s.flag.load() == 0) {
          s.m.lock();
          s.q.wait(s.m);
          s.m.unlock();
        }
      });
      e.spawn("waker", [&s] {
        s.m.lock();
        s.flag.store(1);
        s.q.wake_one();
        s.m.unlock();
      });
    };
  };
  const auto bad = sim::explore({}, program(false));
  EXPECT_THAT(bad, LosesWakeup());
  EXPECT_THAT(bad.message, HasSubstr("sleeper"));
  EXPECT_THAT(sim::replay(bad.schedule, program(false)), LosesWakeup());
  EXPECT_THAT(all(program(true)), IsCompleteAndClean());
}

TEST(LostWakeup, a_daemon_that_never_wakes_anybody_does_not_hide_it) {
  const auto r = sim::explore({}, [](execution& e) {
    struct state {
      mutex m{"m"};
      waitq q{"q"};
      word x{0};
    };
    auto& s = e.make<state>();
    e.spawn("sleeper", [&s] {
      s.m.lock();
      s.q.wait(s.m);
      s.m.unlock();
    });
    e.spawn_daemon("busy", [&s] {
      for (;;) s.x.fetch_add(1);
    });
  });
  EXPECT_THAT(r, LosesWakeup());
}

TEST(Livelock, two_tasks_that_always_give_way_to_each_other) {
  const auto program = [](execution& e) {
    struct state {
      mutex a{"a"}, b{"b"};
    };
    auto& s = e.make<state>();
    const auto dance = [](mutex& first, mutex& second) {
      for (;;) {
        first.lock();
        if (second.try_lock()) {
          second.unlock();
          first.unlock();
          simulated::progress();
          return;
        }
        first.unlock();
        simulated::relax();
      }
    };
    e.spawn("T0", [&s, dance] { dance(s.a, s.b); });
    e.spawn("T1", [&s, dance] { dance(s.b, s.a); });
  };
  const auto r = sim::explore({}, program);
  EXPECT_THAT(r, Livelocks());
  EXPECT_THAT(sim::replay(r.schedule, program), Livelocks());
}

TEST(Livelock, a_spin_on_what_nobody_writes_is_one_and_a_spin_that_ends_is_none) {
  const auto program = [](bool written) {
    return [written](execution& e) {
      auto& flag = e.make<word>(0);
      e.spawn("spinner", [&flag] {
        while (flag.load() == 0) simulated::relax();
      });
      e.spawn("writer", [&flag, written] {
        if (written) flag.store(1);
      });
    };
  };
  EXPECT_THAT(sim::explore({}, program(false)), Livelocks());
  EXPECT_THAT(all(program(true)), IsCompleteAndClean());
}

TEST(Race, unordered_plain_accesses_are_found_in_any_schedule) {
  const auto program = [](bool locked) {
    return [locked](execution& e) {
      struct state {
        mutex m{"m"};
        var v{0};
      };
      auto& s = e.make<state>();
      simulated::name(s.v, "shared");
      for (const char* name : {"T0", "T1"}) {
        e.spawn(name, [&s, locked] {
          if (locked) s.m.lock();
          simulated::set(s.v, simulated::get(s.v) + 1);
          if (locked) s.m.unlock();
        });
      }
      e.at_end([&s] { sim::world::here().check(s.v.peek() == 2, "lost update"); });
    };
  };
  for (const auto grain : {sim::granularity::coarse, sim::granularity::fine}) {
    const auto bad = sim::explore({.grain = grain}, program(false));
    EXPECT_THAT(bad, Races("var:shared"));
    EXPECT_FALSE(bad.complete);
    EXPECT_THAT(all(program(true), {.grain = grain}), IsCompleteAndClean());
  }
}

TEST(Race, a_release_store_orders_and_a_relaxed_one_does_not) {
  const auto program = [](std::memory_order store, std::memory_order load) {
    return [store, load](execution& e) {
      struct state {
        var data{0};
        word ready{0};
      };
      auto& s = e.make<state>();
      e.spawn("producer", [&s, store] {
        simulated::set(s.data, 42);
        s.ready.store(1, store);
      });
      e.spawn("consumer", [&s, load] {
        if (s.ready.load(load) == 1) simulated::check(simulated::get(s.data) == 42, "old data");
      });
    };
  };
  using std::memory_order_acquire, std::memory_order_relaxed, std::memory_order_release;
  EXPECT_EQ(all(program(memory_order_release, memory_order_acquire)).verdict, verdict::clean);
  EXPECT_EQ(all(program(memory_order_relaxed, memory_order_acquire)).verdict, verdict::race);
  EXPECT_EQ(all(program(memory_order_release, memory_order_relaxed)).verdict, verdict::race);
}

TEST(Race, a_release_sequence_goes_on_through_a_relaxed_increment) {
  const auto program = [](bool store_between) {
    return [store_between](execution& e) {
      struct state {
        var data{0};
        word count{0};
      };
      auto& s = e.make<state>();
      e.spawn("producer", [&s] {
        simulated::set(s.data, 1);
        s.count.store(1, std::memory_order_release);
      });
      e.spawn("other", [&s, store_between] {
        if (store_between) {
          if (s.count.load(std::memory_order_relaxed) == 1) s.count.store(2, std::memory_order_relaxed);
        } else {
          s.count.fetch_add(1, std::memory_order_relaxed);
        }
      });
      e.spawn("consumer", [&s] {
        if (s.count.load(std::memory_order_acquire) == 2) (void)simulated::get(s.data);
      });
    };
  };
  EXPECT_EQ(all(program(false)).verdict, verdict::clean);
  EXPECT_EQ(all(program(true)).verdict, verdict::race);
}

TEST(Race, two_sharers_of_a_lock_are_not_ordered_by_it) {
  const auto r = sim::explore({}, [](execution& e) {
    struct state {
      simulated::spec_lock lock{sim::the_shared_rule, "rw", "l"};
      var v{0};
    };
    auto& s = e.make<state>();
    for (const char* name : {"T0", "T1"}) {
      e.spawn(name, [&s] {
        s.lock.acquire({.how = access::shared});
        simulated::set(s.v, 1);
        s.lock.release();
      });
    }
  });
  EXPECT_EQ(r.verdict, verdict::race) << r;
}

TEST(UseAfterFree, is_told_by_happens_before_and_not_where_a_lock_orders_it) {
  const auto program = [](bool locked) {
    return [locked](execution& e) {
      struct state {
        mutex m{"m"};
        word* object = simulated::make<word>(0);
        bool there = true;
      };
      auto& s = e.make<state>();
      simulated::name(*s.object, "object");
      e.spawn("user", [&s, locked] {
        if (locked) s.m.lock();
        if (s.there) (void)s.object->load(std::memory_order_relaxed);
        if (locked) s.m.unlock();
      });
      e.spawn("owner", [&s, locked] {
        simulated::io("work");
        if (locked) s.m.lock();
        s.there = false;
        simulated::destroy(s.object);
        if (locked) s.m.unlock();
      });
    };
  };
  for (const char* order : {"0*9.1*9", "1*9.0*9"}) {
    const auto r = sim::replay(order, program(false));
    EXPECT_THAT(r, Violates("use after free of atomic:object"));
  }
  EXPECT_THAT(all(program(false)), Violates("use after free"));
  EXPECT_THAT(all(program(true)), IsCompleteAndClean());
}

TEST(Violation, a_lock_left_held_an_exception_and_a_failed_check_are_violations) {
  const auto held = sim::explore({}, [](execution& e) {
    auto& m = e.make<mutex>("m");
    e.spawn("T0", [&m] { m.lock(); });
  });
  EXPECT_THAT(held, Violates("still holds mutex:m"));
  const auto thrown =
      sim::explore({}, [](execution& e) { e.spawn("T0", [] { throw std::runtime_error("no"); }); });
  EXPECT_THAT(thrown, Violates("exception left task T0: no"));
  const auto failed =
      sim::explore({}, [](execution& e) { e.spawn("T0", [] { simulated::check(false, "must hold"); }); });
  EXPECT_THAT(failed, Violates("engine_test.cpp"));
  const auto foreign = sim::explore({}, [](execution& e) {
    auto& m = e.make<mutex>("m");
    e.spawn("T0", [&m] { m.unlock(); });
  });
  EXPECT_THAT(foreign.message, HasSubstr("does not hold it"));
}

// --- order graph ------------------------------------------------------------------------------------------------------

sim::program reversed_under(bool guarded, bool same_task) {
  return [=](execution& e) {
    struct state {
      mutex g{"g"}, a{"a"}, b{"b"};
    };
    auto& s = e.make<state>();
    const auto both = [&s, guarded](mutex& first, mutex& second) {
      if (guarded) s.g.lock();
      first.lock();
      second.lock();
      second.unlock();
      first.unlock();
      if (guarded) s.g.unlock();
    };
    if (same_task) {
      e.spawn("T0", [&s, both] {
        both(s.a, s.b);
        both(s.b, s.a);
      });
    } else {
      e.spawn("T0", [&s, both] { both(s.a, s.b); });
      e.spawn("T1", [&s, both] { both(s.b, s.a); });
    }
  };
}

TEST(OrderGraph, one_run_is_enough_to_tell_of_a_reversal) {
  const auto r = sim::replay("0*10.1*10", reversed_under(false, false));
  EXPECT_THAT(r, IsClean());
  EXPECT_THAT(r, FindsReversal("mutex:a", "mutex:b"));
}

TEST(OrderGraph, a_common_outer_lock_or_a_single_task_makes_it_harmless) {
  EXPECT_THAT(all(reversed_under(true, false)).findings, IsEmpty());
  EXPECT_EQ(all(reversed_under(true, false)).verdict, verdict::clean);
  EXPECT_THAT(all(reversed_under(false, true)).findings, IsEmpty());
}

sim::program tries(bool declares) {
  return [declares](execution& e) {
    struct state {
      simulated::spec_lock a{sim::the_mutex_rule, "lock", "a"}, b{sim::the_mutex_rule, "lock", "b"};
    };
    auto& s = e.make<state>();
    e.spawn("T0", [&s, declares] {
      s.a.acquire({});
      if (declares) s.b.might_acquire({}, {});
      if (s.b.try_acquire({})) s.b.release();
      s.a.release();
    });
    e.spawn("T1", [&s] {
      s.b.acquire({});
      s.a.acquire({});
      s.a.release();
      s.b.release();
    });
  };
}

TEST(OrderGraph, a_try_teaches_nothing_and_might_acquire_declares_its_fallback) {
  EXPECT_THAT(all(tries(false)).findings, IsEmpty());
  EXPECT_THAT(all(tries(true)), FindsReversal("lock:a", "lock:b"));
}

// --- searches ---------------------------------------------------------------------------------------------------------

TEST(Search, a_deadlock_that_ends_an_execution_does_not_hide_the_orders_that_led_to_it) {
  // The pending acquisitions must be analysed, or only the first order of the locks is ever seen.
  const auto r = all(programs::abba());
  EXPECT_EQ(r.executions, 3U);
  EXPECT_EQ(r.by_verdict.at(verdict::deadlock), 1U);
}

TEST(Search, bounds_are_reported_and_never_complete) {
  const auto few = sim::explore({.executions_max = 2, .stop_at_first = false}, programs::increments(3));
  EXPECT_FALSE(few.complete);
  EXPECT_THAT(few.why_incomplete, HasSubstr("stopped after 2 executions"));
  const auto steps = sim::explore({.steps_max = 10, .stop_at_first = false}, programs::increments(3));
  EXPECT_FALSE(steps.complete);
  EXPECT_THAT(steps.why_incomplete, HasSubstr("steps"));
  const auto cut = sim::explore({.steps_per_execution = 3, .stop_at_first = false}, programs::increments(3));
  EXPECT_EQ(cut.verdict, verdict::budget);
  EXPECT_EQ(cut.truncated, cut.executions);
  EXPECT_FALSE(cut.complete);
  const auto random =
      sim::explore({.strategy = sim::strategy_kind::random, .executions_max = 5}, programs::abba(true));
  EXPECT_EQ(random.executions, 5U);
  EXPECT_FALSE(random.complete);
}

TEST(Search, preemption_bounds_grow_to_the_whole) {
  const auto none = all(programs::refcount(true), {.preemptions = 0});
  const auto two = all(programs::refcount(true), {.preemptions = 2});
  EXPECT_TRUE(none.complete);
  EXPECT_EQ(none.preemptions, 0);
  EXPECT_LT(none.executions, two.executions);
  EXPECT_EQ(all(programs::increments(2), {.preemptions = 0}).defects, 0U);
  EXPECT_GT(all(programs::increments(2), {.preemptions = 1}).defects, 0U);
}

TEST(Search, options_that_make_no_sense_are_refused) {
  const auto p = programs::abba();
  EXPECT_THROW((void)sim::explore({.strategy = sim::strategy_kind::random, .preemptions = 1}, p),
               std::invalid_argument);
  EXPECT_THROW((void)sim::explore({.schedule = "0"}, p), std::invalid_argument);
  EXPECT_THROW((void)sim::explore({.steps_per_execution = 0}, p), std::invalid_argument);
  for (const char* bad : {"x", "0*", "0*0", "0..1", "99", "0*3@", "0*3@xyz", "0 1", "-1", "0*99999999999"}) {
    EXPECT_THROW((void)sim::replay(bad, p), std::invalid_argument) << bad;
  }
}

TEST(Search, a_program_that_is_not_deterministic_is_refused) {
  int runs = 0;
  EXPECT_THROW((void)sim::explore({},
                                  [&runs](execution& e) {
                                    auto& x = e.make<word>(0);
                                    const int n = ++runs;
                                    e.spawn("T0", [&x, n] {
                                      for (int i = 0; i < n; ++i) x.fetch_add(1);
                                    });
                                  }),
               sim::set_up_error);
}

TEST(Search, set_up_may_not_sleep_nor_fail_silently) {
  EXPECT_THROW((void)sim::explore({},
                                  [](execution& e) {
                                    auto& m = e.make<mutex>("m");
                                    m.lock();
                                    m.lock();
                                  }),
               sim::set_up_error);
}

TEST(Search, a_program_without_tasks_is_clean_and_complete) {
  const auto r = sim::explore({}, [](execution&) {});
  EXPECT_EQ(r.verdict, verdict::clean);
  EXPECT_TRUE(r.complete);
  EXPECT_EQ(r.executions, 1U);
}

TEST(Replay, says_where_it_left_the_schedule) {
  EXPECT_THAT(sim::replay("0*2.5", programs::abba()).diverged, HasSubstr("at step 3 task 5 cannot run"));
  EXPECT_THAT(sim::replay("0*2", programs::abba()).diverged, HasSubstr("ends at step 2"));
  EXPECT_THAT(sim::replay("0*4.1*4@1", programs::abba()).diverged, HasSubstr("did other things"));
  EXPECT_EQ(sim::replay("0*4.1*4", programs::abba()).diverged, "");
}

TEST(Tasks, are_joined_and_may_be_spawned_by_tasks) {
  const auto r = all([](execution& e) {
    auto& x = e.make<word>(0);
    auto& v = e.make<var>(0);
    e.spawn("parent", [&x, &v] {
      simulated::set(v, 1);
      const auto child = simulated::spawn("child", [&x, &v] {
        x.store(1);
        simulated::set(v, simulated::get(v) + 1);
      });
      simulated::join(child);
      simulated::check(x.load() == 1 && simulated::get(v) == 2, "the child has run");
    });
    e.spawn("other", [&x] { (void)x.load(); });
  });
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete);
}

TEST(Tasks, observations_become_outcomes_with_counts) {
  const auto r = all([](execution& e) {
    auto& x = e.make<word>(0);
    auto& seen = e.make<int>(0);
    e.spawn("T0", [&x] { x.store(1); });
    e.spawn("T1", [&x, &seen] { seen = x.load(); });
    e.at_end([&seen] { sim::world::here().observe("seen", seen); });
  });
  EXPECT_EQ(r.outcomes.size(), 2U);
  EXPECT_EQ(r.outcomes.at("seen=0"), 1U);
  EXPECT_EQ(r.outcomes.at("seen=1"), 1U);
}

inline constexpr step test_step{"test.step", "X1", "nothing good"};

TEST(Steps, what_was_reached_or_skipped_is_recorded) {
  const auto program = [](execution& e) {
    e.spawn("T0", [] { simulated::check(simulated::keeps(test_step), "step left out"); });
  };
  const auto kept = sim::explore({}, program);
  EXPECT_EQ(kept.verdict, verdict::clean);
  EXPECT_THAT(kept.steps_reached, ElementsAre("X1"));
  const auto omitted = sim::explore({.omit = {&test_step}}, program);
  EXPECT_EQ(omitted.verdict, verdict::violation);
  EXPECT_THAT(omitted.steps_skipped_by_defect, ElementsAre("X1"));
  EXPECT_THAT(omitted.steps_reached, IsEmpty());
}

TEST(Section, is_one_step_coarse_and_several_fine) {
  const auto program = [](execution& e) {
    struct state {
      simulated::interlock lock{"inter", "i"};
      var v{0};
    };
    auto& s = e.make<state>();
    for (const char* name : {"T0", "T1"}) {
      e.spawn(name, [&s] {
        const section<simulated> in(s.lock);
        simulated::set(s.v, simulated::get(s.v) + 1);
      });
    }
    e.at_end([&s] { sim::world::here().check(s.v.peek() == 2, "lost update"); });
  };
  const auto coarse = all(program);
  EXPECT_EQ(coarse.verdict, verdict::clean) << coarse;
  EXPECT_TRUE(coarse.complete);
  EXPECT_EQ(coarse.executions, 2U);
  const auto fine = all(program, {.grain = sim::granularity::fine});
  EXPECT_EQ(fine.verdict, verdict::clean) << fine;
  EXPECT_TRUE(fine.complete);
  EXPECT_EQ(fine.executions, 2U);
  EXPECT_GT(fine.steps, coarse.steps);
}

TEST(Section, may_not_sleep_or_touch_what_others_see) {
  const auto r = sim::explore({}, [](execution& e) {
    auto& lock = e.make<simulated::interlock>("inter", "i");
    auto& x = e.make<word>(0);
    e.spawn("T0", [&lock, &x] {
      const section<simulated> in(lock);
      x.store(1);
    });
  });
  EXPECT_THAT(r, Violates("inside a section"));
}

TEST(Strategy, a_users_own_can_be_given) {
  class lowest final : public sim::strategy {
   public:
    [[nodiscard]] std::string_view name() const noexcept override { return "lowest"; }
    void begin(std::uint64_t) override {}
    [[nodiscard]] sim::task_id choose(const sim::choice_point& at) override {
      sim::task_id t = 0;
      while ((at.enabled & sim::only(t)) == 0) ++t;
      return t;
    }
    [[nodiscard]] bool end(const sim::execution_end&) override { return false; }
  };
  const auto r = sim::explore({.custom = [] { return std::make_unique<lowest>(); }}, programs::abba());
  EXPECT_EQ(r.strategy, "lowest");
  EXPECT_EQ(r.executions, 1U);
  EXPECT_FALSE(r.complete);
}

TEST(Random, the_same_seed_takes_the_same_course) {
  const sim::options how{.strategy = sim::strategy_kind::random, .seed = 7, .executions_max = 50};
  const auto one = sim::explore(how, programs::philosophers(5));
  const auto two = sim::explore(how, programs::philosophers(5));
  EXPECT_EQ(one.schedule, two.schedule);
  EXPECT_EQ(one.executions, two.executions);
}

TEST(Trace, tells_each_step_in_kernel_terms) {
  std::vector<std::string> told;
  (void)sim::explore(
      {.strategy = sim::strategy_kind::replay,
       .schedule = "0*4.1*4",
       .on_event = [&told](const sim::trace_event& e) { told.push_back(e.task + ": " + e.what); }},
      programs::abba(true));
  EXPECT_THAT(told, ElementsAre("T0: lock mutex:a exclusive", "T0: lock mutex:b exclusive",
                                "T0: unlock mutex:b", "T0: unlock mutex:a", "T1: lock mutex:a exclusive",
                                "T1: lock mutex:b exclusive", "T1: unlock mutex:b", "T1: unlock mutex:a"));
}

}  // namespace
}  // namespace faultline

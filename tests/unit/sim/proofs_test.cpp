// SPDX-License-Identifier: BSD-2-Clause
// "complete" must be a proof: programs in which an operation that waits, a daemon, a defect or a failed exchange could hide
// what plain enumeration finds.
#include "support/enumerate.hpp"

#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/lockmgr_rule.hpp>
#include <faultline/sync/rangelock/queue_rule.hpp>

#include <gmock/gmock.h>

#include <set>

namespace faultline {
namespace {

using sim::execution;
using sim::verdict;
using testing::HasSubstr;

using S = simulated;
using mutex = S::mutex;
using word = S::atomic<int>;
using var = S::var<int>;
using lock = S::spec_lock;

void expect(bool holds, const char* what) { sim::world::here().check(holds, what); }

struct named {
  const char* name;
  verdict found;
  sim::program program;
};

/// Takes `x` then `y`, and tries what it holds already.
auto with_own_tries(mutex& x, mutex& y) {
  return [&x, &y] {
    x.lock();
    (void)x.try_lock();
    y.lock();
    (void)y.try_lock();
    y.unlock();
    x.unlock();
  };
}

/// Writes a flag under the lock; the other task must not come first, but may.
sim::program order(void (*first)(lock&), const sim::lock_rule& rule, sim::request other) {
  return [=, &rule](execution& e) {
    struct state {
      explicit state(const sim::lock_rule& r) : l(r, "lock", "l") {}
      lock l;
      word came{0};
    };
    auto& s = e.make<state>(rule);
    e.spawn("T0", [&s, first] {
      first(s.l);
      expect(s.came.load() == 0, "T1 came first");
    });
    e.spawn("T1", [&s, other] {
      s.l.acquire(other);
      s.came.store(1);
      s.l.release();
    });
  };
}

std::vector<named> programs() {
  return {
      {"own_tries", verdict::deadlock,
       [](execution& e) {
         auto& a = e.make<mutex>("a");
         auto& b = e.make<mutex>("b");
         e.spawn("T0", with_own_tries(a, b));
         e.spawn("T1", with_own_tries(b, a));
       }},
      {"recursion", verdict::violation,
       order(
           [](lock& l) {
             l.acquire({.may_recurse = true});
             l.acquire({.may_recurse = true});
             l.release();
             l.release();
           },
           sync::the_lockmgr_rule, {})},
      {"two_sharers", verdict::violation,
       order(
           [](lock& l) {
             l.acquire({.how = access::shared});
             l.acquire({.how = access::shared});
             l.release();
             l.release();
           },
           sim::the_shared_rule, {})},
      {"busy_in_sections", verdict::deadlock,
       [](execution& e) {
         struct state {
           S::interlock object{"object", "o"};
           lock busy{sim::the_mutex_rule, "busy", "p"};
           mutex m{"m"};
         };
         auto& s = e.make<state>();
         e.spawn("T0", [&s] {
           {
             const section<S> in(s.object);
             if (!s.busy.try_acquire({})) return;
           }
           s.m.lock();
           s.m.unlock();
           const section<S> in(s.object);
           s.busy.release();
         });
         e.spawn("T1", [&s] {
           s.m.lock();
           s.object.wait_unheld(s.busy, "pgbusy");
           s.m.unlock();
         });
       }},
      {"sleeper_behind_a_section", verdict::violation,
       [](execution& e) {
         struct state {
           S::interlock object{"object", "o"};
           lock busy{sim::the_mutex_rule, "busy", "p"};
           word late{0};
         };
         auto& s = e.make<state>();
         e.spawn("T0", [&s] {
           {
             const section<S> in(s.object);
             if (!s.busy.try_acquire({})) return;
           }
           {
             const section<S> in(s.object);
             s.busy.release();
           }
           expect(s.late.load() == 0, "T1 came first");
         });
         e.spawn("T1", [&s] {
           s.object.wait_unheld(s.busy, "pgbusy");
           s.late.store(1);
         });
       }},
      {"failed_exchange_acquires_as_told", verdict::race,
       [](execution& e) {
         auto& a = e.make<word>(0);
         auto& v = e.make<var>(0);
         e.spawn("T0", [&] {
           S::set(v, 1);
           a.store(1, std::memory_order_release);
         });
         e.spawn("T1", [&] {
           int zero = 0;
           if (!a.compare_exchange_strong(zero, 5, std::memory_order_acquire, std::memory_order_relaxed)) {
             (void)S::get(v);
           }
         });
       }},
      {"failed_exchange_releases_nothing", verdict::race,
       [](execution& e) {
         auto& a = e.make<word>(0);
         auto& f = e.make<word>(0);
         auto& v = e.make<var>(0);
         e.spawn("T0", [&] {
           S::set(v, 1);
           int seven = 7;
           a.compare_exchange_strong(seven, 8);
           f.store(1, std::memory_order_relaxed);
         });
         e.spawn("T1", [&] {
           if (f.load(std::memory_order_relaxed) == 0) return;
           (void)a.load();
           (void)S::get(v);
         });
       }},
      {"disjoint_ranges_order_nothing", verdict::race,
       [](execution& e) {
         auto& l = e.make<lock>(sync::the_rangelock_queue_rule, "range", "r");
         auto& v = e.make<var>(0);
         const auto use = [&](byte_range range) {
           l.acquire({.range = range});
           S::set(v, 1);
           l.release();
         };
         e.spawn("T0", [use] { use({0, 10}); });
         e.spawn("T1", [use] { use({20, 30}); });
       }},
      {"meeting_ranges_order", verdict::clean,
       [](execution& e) {
         auto& l = e.make<lock>(sync::the_rangelock_queue_rule, "range", "r");
         auto& v = e.make<var>(0);
         const auto use = [&](byte_range range) {
           l.acquire({.range = range});
           S::set(v, 1);
           l.release();
         };
         e.spawn("T0", [use] { use({0, 10}); });
         e.spawn("T1", [use] { use({5, 15}); });
         e.spawn("T2", [use] { use({9, 30}); });
       }},
      {"join_of_who_wants_the_lock", verdict::deadlock,
       [](execution& e) {
         auto& m = e.make<mutex>("m");
         e.spawn("T0", [&m] {
           m.lock();
           const auto child = S::spawn("child", [&m] {
             m.lock();
             m.unlock();
           });
           S::join(child);
           m.unlock();
         });
       }},
      {"spin_on_what_a_mutex_guards", verdict::clean,
       [](execution& e) {
         struct state {
           word stop{0};
           mutex m{"m"};
           var done{0};
         };
         auto& s = e.make<state>();
         e.spawn("T0", [&s] {
           for (;;) {
             if (s.stop.load() != 0) return;
             s.m.lock();
             const bool done = S::get(s.done) != 0;
             s.m.unlock();
             if (done) return;
             S::relax();
           }
         });
         e.spawn("T1", [&s] {
           s.m.lock();
           S::set(s.done, 1);
           s.m.unlock();
         });
       }},
  };
}

class Proofs : public testing::TestWithParam<named> {};

TEST_P(Proofs, find_what_enumeration_finds) {
  for (const auto grain : {sim::granularity::coarse, sim::granularity::fine}) {
    for (int bound = -1; bound <= 2; ++bound) {
      std::optional<std::uint32_t> limit;
      if (bound >= 0) limit = static_cast<std::uint32_t>(bound);
      const auto plain = sim::explore({.grain = grain,
                                       .executions_max = 1'000'000,
                                       .stop_at_first = false,
                                       .custom = [&] { return std::make_unique<test::enumerate>(limit); }},
                                      GetParam().program);
      ASSERT_LT(plain.executions, 1'000'000U);
      const auto r =
          sim::explore({.grain = grain, .preemptions = limit, .stop_at_first = false}, GetParam().program);
      EXPECT_EQ(r.verdict == verdict::clean, plain.verdict == verdict::clean) << "bound " << bound << "\n"
                                                                              << r << plain;
      if (bound < 0 || bound == 2) {
        EXPECT_EQ(r.verdict, GetParam().found) << r;
      }
      if (r.verdict == verdict::clean) {
        EXPECT_TRUE(r.complete) << r;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(sim, Proofs, testing::ValuesIn(programs()),
                         [](const auto& i) { return i.param.name; });

TEST(Complete, is_not_said_of_a_search_in_which_a_daemon_could_have_gone_on) {
  const auto r = sim::explore({.stop_at_first = false}, [](execution& e) {
    auto& x = e.make<word>(0);
    auto& y = e.make<word>(0);
    e.spawn("T0", [&] { expect(x.load() == 0, "saw the daemon"); });
    e.spawn_daemon("D", [&] {
      y.store(1);
      x.store(1);
    });
  });
  EXPECT_FALSE(r.complete);
  EXPECT_THAT(r.why_incomplete, HasSubstr("daemon"));
}

TEST(Complete, is_not_said_where_a_defect_cut_others_short) {
  const auto r = sim::explore({.stop_at_first = false}, [](execution& e) {
    auto& x = e.make<word>(0);
    auto& y = e.make<word>(0);
    auto& m = e.make<mutex>("m");
    e.spawn("T0", [&] {
      expect(y.load() == 0, "hidden behind the deadlock");
      m.lock();
      m.lock();
    });
    e.spawn("T1", [&] {
      x.store(1);
      y.store(1);
    });
  });
  EXPECT_FALSE(r.complete);
  EXPECT_THAT(r.why_incomplete, HasSubstr("defect"));
}

TEST(Complete, of_a_program_that_spins_is_said_of_fair_executions) {
  const auto r = sim::explore({.stop_at_first = false}, [](execution& e) {
    auto& f = e.make<word>(0);
    e.spawn("T0", [&] {
      while (f.load() == 0) S::relax();
    });
    e.spawn("T1", [&] { f.store(1); });
  });
  EXPECT_TRUE(r.complete);
  EXPECT_TRUE(r.fair_only);
}

TEST(WakeUps, order_the_sleeper_after_the_wake_that_ended_its_wait_only) {
  const auto r = sim::explore({.stop_at_first = false}, [](execution& e) {
    struct state {
      mutex m{"m"};
      S::waitq q{"q"};
      var v{0};
      word first{0};
    };
    auto& s = e.make<state>();
    e.spawn("early", [&s] {
      S::set(s.v, 1);
      s.q.wake_one();  // before anybody sleeps: orders nothing
      s.first.store(1, std::memory_order_relaxed);
    });
    e.spawn("sleeper", [&s] {
      if (s.first.load(std::memory_order_relaxed) == 0) return;
      s.m.lock();
      s.q.wait(s.m);
      s.m.unlock();
      (void)S::get(s.v);
    });
    e.spawn("waker", [&s] {
      if (s.first.load(std::memory_order_relaxed) == 0) return;
      s.m.lock();
      s.q.wake_one();
      s.m.unlock();
    });
  });
  EXPECT_GE(r.by_verdict.count(verdict::race), 1U) << r;
}

TEST(LockRule, two_shared_requests_that_conflict_are_refused) {
  class semaphore final : public sim::lock_rule {
   public:
    [[nodiscard]] bool conflicts(const sim::request&, const sim::request&) const override { return true; }
    [[nodiscard]] bool yields(const sim::request&, bool, const sim::request&) const override { return false; }
    [[nodiscard]] bool announces(const sim::request&) const override { return false; }
  };
  static constexpr semaphore rule;
  EXPECT_THROW((void)sim::explore({}, [](execution& e) { e.make<lock>(rule, "semaphore", "s"); }),
               sim::set_up_error);
}

}  // namespace
}  // namespace faultline

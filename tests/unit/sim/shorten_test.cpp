// SPDX-License-Identifier: BSD-2-Clause
#include "support/programs.hpp"

#include <faultline/sim/shorten.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gtest/gtest.h>

#include <array>

namespace faultline::test {
namespace {

using S = simulated;

/// AB-BA after `rounds` of work that shares other locks, with `bystanders` that do nothing but that work.
sim::program busy_abba(int rounds, int bystanders) {
  return [=](sim::execution& e) {
    struct world {
      S::mutex a{"a"}, b{"b"}, other{"other"};
      S::atomic<int> n{0};
    };
    auto& w = e.make<world>();
    const auto work = [&w, rounds] {
      for (int i = 0; i < rounds; ++i) {
        w.other.lock();
        w.n.fetch_add(1);
        w.other.unlock();
      }
    };
    e.spawn("T0", [&w, work] {
      work();
      w.a.lock();
      w.b.lock();
      w.b.unlock();
      w.a.unlock();
      work();
    });
    e.spawn("T1", [&w, work] {
      work();
      w.b.lock();
      w.a.lock();
      w.a.unlock();
      w.b.unlock();
      work();
    });
    for (int i = 0; i < bystanders; ++i) e.spawn("bystander", work);
  };
}

TEST(Shorten, ADeadlockFoundAfterThousandsOfRandomStepsTakesOnePreemption) {
  const auto p = busy_abba(200, 3);
  const sim::options how{.strategy = sim::strategy_kind::random, .seed = 3, .executions_max = 100'000};
  const auto found = sim::explore(how, p);
  ASSERT_EQ(found.verdict, sim::verdict::deadlock);
  const auto s = sim::shorten(found, p, how, 2'000'000);
  EXPECT_GT(s.before.steps, 1000U);
  EXPECT_GT(s.before.preemptions, 100U);
  EXPECT_EQ(s.after.preemptions, 1U);
  EXPECT_EQ(s.after.tasks, 2U);
  EXPECT_EQ(s.report.cycle.size(), 2U);
  const auto again = sim::replay(s.report.schedule, p, how);
  EXPECT_EQ(again.verdict, sim::verdict::deadlock);
  EXPECT_EQ(again.diverged, "");
}

/// The flag is seen before, and not after: needs two switches away from T0, at the two right places.
sim::program needs_two(int rounds) {
  return [=](sim::execution& e) {
    struct world {
      S::mutex a{"a"}, b{"b"}, other{"other"};
      S::atomic<int> x{0}, y{0}, n{0};
      bool first = false;
    };
    auto& w = e.make<world>();
    e.spawn("T0", [&w, rounds] {
      for (int i = 0; i < rounds; ++i) w.n.fetch_add(1);
      const int before = w.x.load();
      const int middle = w.x.load();
      const int after = w.x.load();
      S::check(!(before == 0 && middle == 1 && after == 2), "seen all three");
    });
    e.spawn("T1", [&w, rounds] {
      for (int i = 0; i < rounds; ++i) w.n.fetch_add(1);
      w.x.store(1);
      while (w.y.load() == 0) S::relax();  // T2 goes on only when T1 let it
    });
    e.spawn("T2", [&w, rounds] {
      for (int i = 0; i < rounds; ++i) w.n.fetch_add(1);
      while (w.x.load() != 1) S::relax();
      w.x.store(2);
      w.y.store(1);
    });
  };
}

TEST(Shorten, TwoPreemptionsWhereTwoAreNeeded) {
  const auto p = needs_two(200);
  const sim::options how{.strategy = sim::strategy_kind::random, .seed = 1, .executions_max = 200'000};
  const auto found = sim::explore(how, p);
  ASSERT_EQ(found.verdict, sim::verdict::violation);
  const auto s = sim::shorten(found, p, how, 2'000'000);
  EXPECT_LE(s.after.preemptions, 2U);
  EXPECT_GT(s.before.preemptions, 50U);
  EXPECT_EQ(s.report.message, found.message);
}

TEST(Shorten, TenThousandRandomStepsBecomeTwoPreemptions) {
  const auto p = needs_two(3400);
  const sim::options how{.strategy = sim::strategy_kind::random, .seed = 5, .executions_max = 200'000};
  const auto found = sim::explore(how, p);
  ASSERT_EQ(found.verdict, sim::verdict::violation);
  const auto s = sim::shorten(found, p, how, 20'000'000);
  EXPECT_GE(s.before.steps, 10'000U);
  EXPECT_EQ(s.after.preemptions, 2U) << s.report.schedule;
}

TEST(Shorten, KeepsTheKindOfDefect) {
  // Two deadlocks: of a and b, in one preemption; of c and d, in two at least for it comes after.
  const auto p = [](sim::execution& e) {
    struct world {
      S::mutex a{"a"}, b{"b"}, c{"c"}, d{"d"};
    };
    auto& w = e.make<world>();
    const auto both = [](S::mutex& first, S::mutex& second) {
      first.lock();
      second.lock();
      second.unlock();
      first.unlock();
    };
    e.spawn("T0", [&w, both] {
      both(w.a, w.b);
      both(w.c, w.d);
    });
    e.spawn("T1", [&w, both] {
      both(w.b, w.a);
      both(w.d, w.c);
    });
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const sim::options how{.strategy = sim::strategy_kind::random, .seed = seed};
    const auto found = sim::explore(how, p);
    ASSERT_EQ(found.verdict, sim::verdict::deadlock);
    const auto s = sim::shorten(found, p, how);
    EXPECT_EQ(std::set<std::string>(s.report.cycle.begin(), s.report.cycle.end()),
              std::set<std::string>(found.cycle.begin(), found.cycle.end()));
    EXPECT_TRUE(s.fewest_preemptions);
    EXPECT_EQ(s.after.preemptions, 1U);
  }
}

TEST(Shorten, UnderEachMemoryModel) {
  const auto p = [](sim::execution& e) {
    struct world {
      S::atomic<int> x, y, n;
      int r0 = -1, r1 = -1;
    };
    auto& w = e.make<world>();
    const auto side = [&w](S::atomic<int>& mine, S::atomic<int>& other, int& r) {
      for (int i = 0; i < 20; ++i) w.n.store(i, std::memory_order_relaxed);
      mine.store(1, std::memory_order_relaxed);
      r = other.load(std::memory_order_relaxed);
    };
    e.spawn("T0", [&w, side] { side(w.x, w.y, w.r0); });
    e.spawn("T1", [&w, side] { side(w.y, w.x, w.r1); });
    e.at_end([&w, &e] { e.here().check(w.r0 + w.r1 != 0, "both read 0"); });
  };
  for (const auto m : {sim::memory_model::tso, sim::memory_model::weak}) {
    const sim::options how{.strategy = sim::strategy_kind::random, .memory = m, .executions_max = 10'000};
    const auto found = sim::explore(how, p);
    ASSERT_EQ(found.verdict, sim::verdict::violation);
    const auto s = sim::shorten(found, p, how);
    EXPECT_EQ(s.after.preemptions, 0U);  // the memory does it: no task is ever interrupted
    EXPECT_EQ(sim::replay(s.report.schedule, p, how).verdict, sim::verdict::violation);
  }
}

TEST(Shorten, AScheduleThatShowsNothingIsRefused) {
  sim::report r;
  r.schedule = "0*3";
  EXPECT_THROW((void)sim::shorten(r, busy_abba(0, 0), {}), std::invalid_argument);
}

TEST(Shorten, TheTableHasAColumnForEachTaskThatMatters) {
  const auto p = busy_abba(1, 1);
  const auto found = sim::explore({}, p);
  const auto s = sim::shorten(found, p, {});
  const auto table = sim::schedule_table(s);
  EXPECT_EQ(table,
            "step  T0                           T1\n"
            "----  ---------------------------  ---------------------------\n"
            "   1  lock mutex:other exclusive\n"
            "   2  rmw atomic#8\n"
            "   3  unlock mutex:other\n"
            "   4  lock mutex:a exclusive\n"
            "   5                               lock mutex:other exclusive\n"
            "   6                               rmw atomic#8\n"
            "   7                               unlock mutex:other\n"
            "   8                               lock mutex:b exclusive\n"
            "      waits for mutex:b exclusive\n"
            "                                   waits for mutex:a exclusive\n")
      << table;
}

}  // namespace
}  // namespace faultline::test

// SPDX-License-Identifier: BSD-2-Clause
// Timers, shared CPUs, priorities, interrupts.
#include <faultline/sim/basic_rules.hpp>
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace faultline::test {
namespace {

using S = simulated;
using namespace std::chrono_literals;

/// T0 waits for a flag for 10 us at most; T1 sets it, or does not.
sim::program timed_wait(bool set) {
  return [set](sim::execution& e) {
    struct world {
      S::mutex m{"m"};
      S::waitq q{"cond"};
      bool flag = false;
    };
    auto& w = e.make<world>();
    e.spawn("T0", [&w, &e] {
      w.m.lock();
      bool woken = true;
      while (!w.flag && woken) woken = w.q.wait_for(w.m, 10us);
      e.here().observe("woken", woken ? 1 : 0);
      e.here().observe("time", S::uptime().count());
      w.m.unlock();
    });
    if (set) {
      e.spawn("T1", [&w] {
        w.m.lock();
        w.flag = true;
        w.q.wake_one();
        w.m.unlock();
      });
    }
  };
}

TEST(Timers, MayFireAtAnyTime) {
  const auto r = sim::explore({.stop_at_first = false}, timed_wait(true));
  EXPECT_EQ(r.verdict, sim::verdict::clean);
  EXPECT_TRUE(r.complete) << r.why_incomplete;
  EXPECT_TRUE(r.outcomes.contains("time=0 woken=1"));
  EXPECT_TRUE(r.outcomes.contains("time=10000 woken=0"));
  EXPECT_TRUE(r.findings.empty());
}

TEST(Timers, DoNotFireUnderMaximalProgressWhileOthersCanRun) {
  const auto r =
      sim::explore({.timers = sim::timers::maximal_progress, .stop_at_first = false}, timed_wait(true));
  EXPECT_TRUE(r.complete) << r.why_incomplete;
  EXPECT_EQ(r.outcomes.size(), 1U);
  EXPECT_TRUE(r.outcomes.contains("time=0 woken=1"));
}

TEST(Timers, AHangThatOnlyATimeOutEndsIsAFinding) {
  for (const auto mode : {sim::timers::may_fire, sim::timers::maximal_progress}) {
    const auto r = sim::explore({.timers = mode, .stop_at_first = false}, timed_wait(false));
    EXPECT_EQ(r.verdict, sim::verdict::clean);
    ASSERT_EQ(r.findings.size(), 1U);
    EXPECT_EQ(r.findings[0].kind, "time-out-only");
    EXPECT_NE(r.findings[0].text.find("T0"), std::string::npos) << r.findings[0].text;
  }
}

TEST(Timers, TheEarliestFiresFirstUnderMaximalProgress) {
  const auto p = [](sim::execution& e) {
    auto& order = e.make<S::atomic<int>>(0);
    e.spawn("late", [&] {
      S::sleep_for(20us);
      order.store(order.load() * 10 + 2);
    });
    e.spawn("early", [&] {
      S::sleep_for(10us);
      order.store(order.load() * 10 + 1);
    });
    e.at_end([&] {
      e.here().observe("order", order.peek());
      e.here().observe("time", e.here().time().count());
    });
  };
  const auto r = sim::explore({.timers = sim::timers::maximal_progress, .stop_at_first = false}, p);
  EXPECT_TRUE(r.complete);
  EXPECT_EQ(r.outcomes.size(), 1U);
  EXPECT_TRUE(r.outcomes.contains("order=12 time=20000"));
}

TEST(Timers, NothingButTimeOutsIsALivelock) {
  const auto p = [](sim::execution& e) {
    struct world {
      S::mutex m{"m"};
      S::waitq q{"cond"};
    };
    auto& w = e.make<world>();
    e.spawn("T0", [&w] {
      w.m.lock();
      for (;;) (void)w.q.wait_for(w.m, 1us);
    });
  };
  EXPECT_EQ(sim::explore({}, p).verdict, sim::verdict::livelock);
}

// --- priorities -------------------------------------------------------------------------------------------------------

class lending_mutex_rule final : public sim::lock_rule {
 public:
  bool conflicts(const sim::request& held, const sim::request& wish) const override {
    return held.how == access::exclusive || wish.how == access::exclusive;
  }
  bool yields(const sim::request&, bool, const sim::request&) const override { return false; }
  bool announces(const sim::request&) const override { return false; }
  bool lends() const override { return true; }
};

/// One CPU: low takes the lock, high comes and wants it, middle computes.
sim::program three_tasks(bool lends, int work) {
  return [lends, work](sim::execution& e) {
    static const lending_mutex_rule lending;
    struct world {
      explicit world(const sim::lock_rule& rule) : lock(rule, "mutex", "m") {}
      S::spec_lock lock;
      S::atomic<int> computed{0};
    };
    auto& w = e.make<world>(lends ? static_cast<const sim::lock_rule&>(lending) : sim::the_mutex_rule);
    const auto spawn = [&e](const char* name, int priority, auto body) {
      const auto t = e.spawn(name, body);
      e.here().bind(t, 0);
      e.here().set_priority(t, priority);
    };
    spawn("high", 3, [&w] {
      S::sleep_for(10us);
      w.lock.acquire({});
      w.lock.release();
    });
    spawn("middle", 2, [&w, work] {
      S::sleep_for(10us);
      for (int i = 0; i < work; ++i) w.computed.fetch_add(1);
    });
    spawn("low", 1, [&w] {
      w.lock.acquire({});
      w.computed.fetch_add(1);
      w.computed.fetch_add(1);
      w.lock.release();
    });
  };
}

TEST(Priorities, AnInversionIsFoundAndToldWithWhoRunsInstead) {
  for (const int work : {3, 30}) {
    const auto r = sim::explore({.processors = sim::processors::shared}, three_tasks(false, work));
    ASSERT_EQ(r.verdict, sim::verdict::inversion) << r.message;
    EXPECT_NE(r.message.find("high (priority 3) waits for mutex:m, which low (priority 1) holds; middle "
                             "(priority 2) runs in its place on CPU 0"),
              std::string::npos)
        << r.message;
    EXPECT_NE(r.message.find("grows with its work"), std::string::npos) << r.message;
  }
}

TEST(Priorities, LendingEndsTheInversion) {
  const auto r =
      sim::explore({.processors = sim::processors::shared, .stop_at_first = false}, three_tasks(true, 3));
  EXPECT_EQ(r.verdict, sim::verdict::clean) << r.message;
  EXPECT_TRUE(r.complete) << r.why_incomplete;
}

TEST(Priorities, AreOfNoAccountWhereEachTaskHasACpu) {
  const auto r = sim::explore({.stop_at_first = false}, three_tasks(false, 1));
  EXPECT_EQ(r.verdict, sim::verdict::clean);
}

TEST(Priorities, TheMostUrgentRuns) {
  const auto p = [](sim::execution& e) {
    auto& order = e.make<S::atomic<int>>(0);
    for (const int priority : {1, 3, 2}) {
      const auto t = e.spawn("P", [&order, priority] { order.store(order.load() * 10 + priority); });
      e.here().bind(t, 0);
      e.here().set_priority(t, priority);
    }
    e.at_end([&] { e.here().observe("order", order.peek()); });
  };
  const auto r = sim::explore({.processors = sim::processors::shared, .stop_at_first = false}, p);
  EXPECT_TRUE(r.complete);
  EXPECT_EQ(r.executions, 1U);
  EXPECT_TRUE(r.outcomes.contains("order=321"));
}

// --- interrupts -------------------------------------------------------------------------------------------------------

/// T1 (CPU 1) has T0's CPU run a handler over T0's data, which T0 changes in two halves.
sim::program cross_called(bool masked) {
  return [masked](sim::execution& e) {
    struct world {
      int a = 0, b = 0;  // of CPU 0 alone
      S::atomic<int> elsewhere{0};
      bool torn = false;
    };
    auto& w = e.make<world>();
    e.spawn("T0", [&w, masked] {
      auto& here = sim::world::here();
      if (masked) here.interrupts_off();
      w.a = 1;
      w.elsewhere.fetch_add(1);  // a scheduling point: an interrupt may come
      w.b = 1;
      if (masked) here.interrupts_on();
    });
    e.spawn("T1", [&w] { sim::world::here().cross_call(0, [&w] { w.torn = w.a != w.b; }); });
    e.at_end([&w, &e] { e.here().observe("torn", w.torn ? 1 : 0); });
  };
}

TEST(Interrupts, ComeBetweenTheOperationsOfATaskThatDoesNotMaskThem) {
  sim::options how{.processors = sim::processors::shared, .stop_at_first = false};
  auto r = sim::explore(how, cross_called(false));
  EXPECT_EQ(r.verdict, sim::verdict::clean) << r.message;
  EXPECT_TRUE(r.outcomes.contains("torn=1"));
  EXPECT_TRUE(r.outcomes.contains("torn=0"));
  r = sim::explore(how, cross_called(true));
  EXPECT_EQ(r.verdict, sim::verdict::clean) << r.message;
  EXPECT_TRUE(r.complete) << r.why_incomplete;
  EXPECT_FALSE(r.outcomes.contains("torn=1"));
}

TEST(Interrupts, AHandlerThatWaitsForWhatItInterruptedIsADeadlock) {
  const auto p = [](sim::execution& e) {
    auto& m = e.make<S::mutex>("m");
    e.spawn("T0", [&m] {
      m.lock();
      m.unlock();
    });
    e.spawn("T1", [&m] {
      sim::world::here().cross_call(0, [&m] {
        m.lock();
        m.unlock();
      });
    });
  };
  const auto r = sim::explore({.processors = sim::processors::shared}, p);
  ASSERT_EQ(r.verdict, sim::verdict::deadlock) << r.message;
  EXPECT_EQ(r.cycle, (std::vector<std::string>{"cpu:0", "mutex:m"}));
}

TEST(Interrupts, ACallThatWaitsForACpuWithInterruptsOffWhichWaitsForTheCaller) {
  const auto p = [](sim::execution& e) {
    auto& m = e.make<S::mutex>("m");
    e.spawn("T0", [&m] {
      sim::world::here().interrupts_off();
      m.lock();  // spins, as a spin mutex does
      m.unlock();
      sim::world::here().interrupts_on();
    });
    e.spawn("T1", [&m] {
      m.lock();
      sim::world::here().cross_call(0, [] {});
      m.unlock();
    });
  };
  const auto r = sim::explore({.processors = sim::processors::shared}, p);
  ASSERT_EQ(r.verdict, sim::verdict::deadlock) << r.message;
}

// --- starvation -------------------------------------------------------------------------------------------------------

class reader_preference final : public sim::lock_rule {
 public:
  bool conflicts(const sim::request& held, const sim::request& wish) const override {
    return held.how == access::exclusive || wish.how == access::exclusive;
  }
  bool yields(const sim::request&, bool, const sim::request&) const override { return false; }
  bool announces(const sim::request&) const override { return false; }
};

class writer_preference final : public sim::lock_rule {
 public:
  bool conflicts(const sim::request& held, const sim::request& wish) const override {
    return held.how == access::exclusive || wish.how == access::exclusive;
  }
  bool yields(const sim::request& queued, bool, const sim::request& wish) const override {
    return wish.how == access::shared && queued.how == access::exclusive;
  }
  bool announces(const sim::request& wish) const override { return wish.how == access::exclusive; }
};

sim::program readers_and_a_writer(bool fair) {
  return [fair](sim::execution& e) {
    static const reader_preference preferring;
    static const writer_preference queueing;
    struct world {
      explicit world(const sim::lock_rule& rule) : lock(rule, "rw", "l") {}
      S::spec_lock lock;
      bool written = false;
    };
    auto& w = e.make<world>(fair ? static_cast<const sim::lock_rule&>(queueing) : preferring);
    for (const char* name : {"R0", "R1"}) {
      e.spawn(name, [&w] {
        while (!w.written) {
          w.lock.acquire({.how = access::shared});
          S::progress();
          w.lock.release();
        }
      });
    }
    e.spawn("W", [&w] {
      w.lock.acquire({.how = access::exclusive});
      w.written = true;
      w.lock.release();
    });
  };
}

TEST(Starvation, OfAWriterByOverlappingReaders) {
  sim::options how{.strategy = sim::strategy_kind::random, .executions_max = 2000, .starvation_after = 8};
  const auto r = sim::explore(how, readers_and_a_writer(false));
  ASSERT_EQ(r.verdict, sim::verdict::starvation) << r.message;
  EXPECT_NE(r.message.find("W waits for rw:l"), std::string::npos) << r.message;
  EXPECT_EQ(sim::explore(how, readers_and_a_writer(true)).verdict, sim::verdict::clean);
}

}  // namespace
}  // namespace faultline::test

// SPDX-License-Identifier: BSD-2-Clause
// What each way of recording calls can and cannot find.
#include "support/cell.hpp"
#include "support/enumerate.hpp"

#include <faultline/conformance/matchers.hpp>
#include <faultline/sim/explore.hpp>
#include <faultline/sim/recorder.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace faultline {
namespace {

using conformance::Deadlocks;
using conformance::IsCompleteAndClean;
using conformance::Violates;
using sim::verdict;
using test::cell;

constexpr cell::call read{};
constexpr cell::call write(int n) { return {.writes = true, .value = n}; }

using word = simulated::atomic<int>;
using recorder = sim::recorder<cell>;

sim::report all(const sim::program& p, sim::options how = {}) {
  how.stop_at_first = false;
  return sim::explore(how, p);
}

recorder& record(sim::execution& e, sim::task_set visible_callers) {
  auto& h = e.make<sim::history<cell>>(&e.here().memory());
  return visible_callers == 0 ? e.make<recorder>(h) : e.make<recorder>(h, visible_callers);
}

/// An exchange in two steps, or in one.
sim::program exchanges(bool atomic, sim::task_set visible_callers) {
  return [=](sim::execution& e) {
    auto& x = e.make<word>(0);
    auto& calls = record(e, visible_callers);
    for (const int n : {1, 2}) {
      e.spawn("T" + std::to_string(n), [&x, &calls, atomic, n] {
        (void)calls.call(write(n), [&x, atomic, n] {
          if (atomic) return x.exchange(n);
          const int before = x.load();
          x.store(n);
          return before;
        });
      });
    }
    e.at_end([&calls] { calls.check(cell{}); });
  };
}

TEST(Recorder, silent_adds_no_step_and_finds_what_fits_in_no_order) {
  const auto plain = all([](sim::execution& e) {
    auto& x = e.make<word>(0);
    for (const int n : {1, 2}) e.spawn("T" + std::to_string(n), [&x, n] { (void)x.exchange(n); });
  });
  const auto right = all(exchanges(true, 0));
  EXPECT_THAT(right, IsCompleteAndClean());
  EXPECT_EQ(right.executions, plain.executions);
  EXPECT_EQ(right.steps, plain.steps);

  const auto wrong = sim::explore({}, exchanges(false, 0));
  EXPECT_THAT(wrong, Violates("not linearizable: T"));
  EXPECT_EQ(sim::replay(wrong.schedule, exchanges(false, 0)).message, wrong.message);
}

TEST(Recorder, visible_finds_it_too_and_stays_a_proof_where_there_is_nothing) {
  const sim::task_set both = sim::only(0) | sim::only(1);
  EXPECT_THAT(all(exchanges(true, both)), IsCompleteAndClean());
  EXPECT_THAT(sim::explore({}, exchanges(false, both)), Violates("not linearizable"));
}

/// A write that returns before it is done: the number waits in a buffer of the task's own. A read that was made after the return
/// and sees the old number is wrong; but return and invocation touch nothing in common.
sim::program buffered(sim::task_set visible_callers) {
  return [=](sim::execution& e) {
    auto& x = e.make<word>(0);
    auto& calls = record(e, visible_callers);
    e.spawn("reader", [&] { (void)calls.call(read, [&x] { return x.load(); }); });
    e.spawn("writer", [&] {
      (void)calls.call(write(1), [] { return 0; });
      x.store(1);  // the buffer goes out
    });
    e.at_end([&calls] { calls.check(cell{}); });
  };
}

TEST(Recorder, silent_misses_an_order_of_return_and_invocation_that_visible_explores) {
  EXPECT_THAT(all(buffered(0)), IsCompleteAndClean());  // of the program's own operations
  EXPECT_THAT(sim::explore({}, buffered(sim::only(0) | sim::only(1))),
              Violates("reader: read -> 0 fits at no point"));
}

/// Which call had returned before which was made: "01" for task 0 before task 1.
std::set<std::string> order_of(const sim::history<cell>& h) {
  std::set<std::string> pairs;
  for (const auto& a : h.calls()) {
    for (const auto& b : h.calls()) {
      if (a.returned < b.invoked) pairs.insert(std::to_string(a.task) + std::to_string(b.task));
    }
  }
  return pairs;
}

sim::options one_by_one() {
  return {.executions_max = 10'000'000, .custom = [] { return std::make_unique<test::enumerate>(); }};
}

TEST(Recorder, visible_explores_for_every_order_of_calls_one_that_asks_no_less) {
  for (const std::uint32_t tasks : {2U, 3U}) {
    const auto orders = [tasks](bool visible, const sim::options& how) {
      std::set<std::set<std::string>> seen;
      const auto r = all(
          [&seen, tasks, visible](sim::execution& e) {
            auto& calls = record(e, visible ? (sim::task_set{1} << tasks) - 1 : 0);
            for (std::uint32_t t = 0; t < tasks; ++t) {
              e.spawn("T" + std::to_string(t), [&calls, visible] {
                if (!visible) simulated::io("made");
                (void)calls.call(read, [visible] {
                  if (!visible) simulated::io("returns");
                  return 0;
                });
              });
            }
            e.at_end([&seen, &calls] { seen.insert(order_of(calls.calls())); });
          },
          how);
      EXPECT_EQ(r.verdict, verdict::clean) << r;
      EXPECT_TRUE(!visible || r.complete) << r;
      return seen;
    };
    const auto possible = orders(false, one_by_one());
    const auto explored = orders(true, {});
    EXPECT_EQ(possible.size(), tasks == 2 ? 3U : 19U);  // the interval orders of so many calls
    for (const auto& order : possible) {
      EXPECT_TRUE(std::any_of(explored.begin(), explored.end(), [&order](const auto& other) {
        return std::includes(other.begin(), other.end(), order.begin(), order.end());
      })) << testing::PrintToString(order);
    }
    for (const auto& order : explored) EXPECT_TRUE(possible.contains(order));
  }
}

/// Registers that are written and read in more ways than are right.
struct random_calls {
  enum class way : std::uint8_t { load, exchange, load_then_store, store_later, load_of_another };
  struct one {
    way how = way::load;
    int value = 0;
  };
  std::vector<std::vector<one>> tasks{};

  explicit random_calls(std::uint32_t seed) {
    std::uint32_t state = seed * 2654435761U + 1;
    const auto below = [&state](std::uint32_t n) {
      state = state * 1664525U + 1013904223U;
      return (state >> 16U) % n;
    };
    constexpr std::array ways{way::load,        way::load,           way::load,
                              way::exchange,    way::exchange,       way::load_then_store,
                              way::store_later, way::load_of_another};
    tasks.resize(below(4) == 0 ? 3 : 2);
    int value = 0;
    for (auto& t : tasks) {
      t.resize(tasks.size() == 2 ? 1 + below(2) : 1);
      for (auto& c : t) c = {.how = ways.at(below(ways.size())), .value = ++value};
    }
  }

  /// \param points  invocations and returns are scheduling points that nothing depends on
  [[nodiscard]] sim::program program(sim::task_set visible_callers, bool points) const {
    return [this, visible_callers, points](sim::execution& e) {
      auto& words = e.make<std::array<word, 2>>();
      auto& calls = record(e, visible_callers);
      for (const auto& t : tasks) {
        e.spawn("T", [&words, &calls, &t, points] {
          for (const auto& c : t) {
            const bool reads = c.how == way::load || c.how == way::load_of_another;
            if (points) simulated::io("made");
            (void)calls.call({.writes = !reads, .value = c.value}, [&] {
              const int seen = perform(c, words);
              if (points) simulated::io("returns");
              return seen;
            });
            if (c.how == way::store_later) words[0].store(c.value);
          }
        });
      }
      e.at_end([&calls] { calls.check(cell{}); });
    };
  }
  static int perform(const one& c, std::array<word, 2>& words) {
    switch (c.how) {
      case way::exchange:
        return words[0].exchange(c.value);
      case way::load_then_store: {
        const int before = words[0].load();
        words[0].store(c.value);
        return before;
      }
      case way::store_later:
        return words[0].load();
      case way::load_of_another:
        return words[1].load();
      case way::load:
        break;
    }
    return words[0].load();
  }
};

TEST(Recorder, visible_finds_a_violation_where_an_enumeration_of_all_executions_does) {
  int wrong = 0;
  int silent_misses = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    const random_calls random(seed);
    const auto everybody = (sim::task_set{1} << random.tasks.size()) - 1;
    const auto plain = sim::explore(one_by_one(), random.program(0, true));
    const auto visible = sim::explore({}, random.program(everybody, false));
    ASSERT_EQ(visible.verdict, plain.verdict) << "seed " << seed << '\n' << plain << visible;
    if (plain.verdict == verdict::clean) {
      ASSERT_TRUE(visible.complete);
      continue;
    }
    ++wrong;
    silent_misses += sim::explore({}, random.program(0, false)).verdict == verdict::clean ? 1 : 0;
  }
  EXPECT_GT(wrong, 100);
  EXPECT_LT(wrong, 300);
  EXPECT_GT(silent_misses, 10);
  RecordProperty("wrong", wrong);
  RecordProperty("silent_misses", silent_misses);
}

TEST(Recorder, a_call_that_hangs_stays_open_and_the_deadlock_is_the_verdict) {
  const auto r = sim::explore({}, [](sim::execution& e) {
    auto& m = e.make<simulated::mutex>("m");
    auto& calls = record(e, 0);
    e.spawn("T0", [&] {
      (void)calls.call(write(1), [&m] {
        m.lock();
        m.lock();
        return 0;
      });
    });
    e.at_end([&calls] {
      calls.check(cell{});
      sim::world::here().observe("open", calls.calls().calls().at(0).gave ? 0 : 1);
    });
  });
  EXPECT_THAT(r, Deadlocks("mutex:m"));
  EXPECT_EQ(r.observations.at("open"), "1");
}

TEST(Recorder, says_so_if_a_task_was_not_given_as_a_caller_or_there_is_too_much) {
  const auto stranger = sim::explore({}, [](sim::execution& e) {
    auto& calls = record(e, sim::only(1));
    e.spawn("T0", [&calls] { (void)calls.call(read, [] { return 0; }); });
  });
  EXPECT_THAT(stranger, Violates("not given as a caller"));
  const auto many = sim::explore({}, [](sim::execution& e) {
    auto& calls = record(e, 0);
    e.spawn("T0", [&calls] {
      for (int i = 0; i < 65; ++i) (void)calls.call(read, [] { return 0; });
    });
    e.at_end([&calls] { calls.check(cell{}); });
  });
  EXPECT_THAT(many, Violates("64 calls can be"));
}

}  // namespace
}  // namespace faultline

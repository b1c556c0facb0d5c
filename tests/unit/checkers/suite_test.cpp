// SPDX-License-Identifier: BSD-2-Clause
// The checkers beside real searches; observers, executions that go on after a deadlock, and directed runs.
#include "support/programs.hpp"

#include <faultline/scenario/checkers/suite.hpp>
#include <faultline/scenario/scenario.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace faultline {
namespace {

using scenario::checkers::checker_result;
using scenario::checkers::suite;
using sim::verdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const checker_result& of(const std::vector<checker_result>& results, std::string_view name) {
  const auto at = std::find_if(results.begin(), results.end(), [&](const auto& r) { return r.name == name; });
  if (at == results.end()) throw std::invalid_argument(std::string(name));
  return *at;
}

sim::program scenario_program(std::string_view name, const scenario::policies& chosen) {
  const auto* s = scenario::find(name);
  if (s == nullptr) throw std::invalid_argument(std::string(name));
  return s->program(scenario::complete(*s, chosen));
}

/// Writes down what it is told.
struct recorder final : sim::lock_observer {
  std::vector<std::string> seen;
  std::vector<std::uint64_t> executions;
  std::vector<std::string> for_ever;
  void add(const char* what, const sim::lock_event& e) {
    seen.push_back(std::string(e.task_name) + " " + what + " " + e.lock.kind + ":" + e.lock.name);
  }
  void begins(std::uint64_t execution) override {
    executions.push_back(execution);
    for_ever.clear();
  }
  void asks(const sim::lock_event& e) override { add("asks", e); }
  void acquired(const sim::lock_event& e) override { add("has", e); }
  void tried(const sim::lock_event& e, bool got) override { add(got ? "tries and has" : "tries", e); }
  void released(const sim::lock_event& e) override { add("drops", e); }
  void sleeps(const sim::sleep_event& e) override {
    seen.push_back(std::string(e.task_name) + " sleeps on " + e.wait_name);
  }
  void ends(const sim::end_event& e) override {
    for (const auto& s : e.sleepers) {
      if (s.for_ever) for_ever.emplace_back(s.task_name);
    }
  }
};

TEST(LockObserver, is_told_what_a_task_does_in_order) {
  recorder heard;
  const auto r = sim::explore({.observers = {&heard}}, [](sim::execution& e) {
    auto& a = e.make<simulated::mutex>("a");
    auto& b = e.make<simulated::mutex>("b");
    e.spawn("T0", [&a, &b] {
      a.lock();
      EXPECT_TRUE(b.try_lock());
      EXPECT_FALSE(a.try_lock());
      b.unlock();
      a.unlock();
    });
  });
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_THAT(heard.executions, ElementsAre(1));  // not told of the second run of the first execution
  EXPECT_THAT(heard.seen, ElementsAre("T0 asks mutex:a", "T0 has mutex:a", "T0 tries and has mutex:b",
                                      "T0 tries mutex:a", "T0 drops mutex:b", "T0 drops mutex:a"));
}

TEST(LockObserver, numbers_executions_as_the_report_does) {
  recorder heard;
  const auto r = sim::explore({.observers = {&heard}}, programs::abba());
  ASSERT_EQ(r.verdict, verdict::deadlock);
  EXPECT_EQ(heard.executions.back(), r.defect_execution);
  EXPECT_THAT(heard.for_ever, UnorderedElementsAre("T0", "T1"));
}

TEST(LockObserver, a_wait_that_a_timer_ends_is_not_for_ever) {
  recorder heard;
  const auto r = sim::explore({.stop_at_first = false, .observers = {&heard}}, [](sim::execution& e) {
    auto& a = e.make<simulated::mutex>("a");
    e.spawn("sleeper", [&a] {
      a.lock();
      sim::world::here().sleep_for(std::chrono::nanoseconds{10});
      a.unlock();
    });
    e.spawn("waiter", [&a] {
      a.lock();
      sim::world::here().fail("ends the execution");
    });
  });
  EXPECT_EQ(r.verdict, verdict::violation) << r;
  EXPECT_THAT(heard.for_ever, IsEmpty());
  EXPECT_THAT(heard.seen, testing::Contains("sleeper sleeps on sleep"));
}

TEST(LockObserver, does_not_change_the_search) {
  recorder heard;
  for (const bool ordered : {false, true}) {
    const auto with = sim::explore({.stop_at_first = false, .observers = {&heard}}, programs::abba(ordered));
    const auto without = sim::explore({.stop_at_first = false}, programs::abba(ordered));
    EXPECT_EQ(with.executions, without.executions);
    EXPECT_EQ(with.steps, without.steps);
    EXPECT_EQ(with.schedule, without.schedule);
    EXPECT_EQ(with.event_hash, without.event_hash);
  }
}

/// T0 and T1 hang on a and b; T2 has nothing to do with it.
sim::program hang_beside_a_third(int* third_done) {
  return [third_done](sim::execution& e) {
    auto& a = e.make<simulated::mutex>("a");
    auto& b = e.make<simulated::mutex>("b");
    auto& c = e.make<simulated::mutex>("c");
    const auto both = [](simulated::mutex& first, simulated::mutex& second) {
      first.lock();
      second.lock();
      second.unlock();
      first.unlock();
    };
    e.spawn("T0", [&a, &b, both] { both(a, b); });
    e.spawn("T1", [&a, &b, both] { both(b, a); });
    e.spawn("T2", [&c, third_done] {
      for (int i = 0; i < 3; ++i) {
        c.lock();
        c.unlock();
      }
      ++*third_done;
    });
  };
}

TEST(ContinueAfterDeadlock, lets_the_others_go_on_and_keeps_the_cycle_as_it_closed) {
  int done = 0;
  const auto p = hang_beside_a_third(&done);
  recorder heard;
  const auto found = sim::explore({}, p);
  ASSERT_EQ(found.verdict, verdict::deadlock) << found;
  done = 0;
  const auto stops = sim::replay(found.schedule, p, {.observers = {&heard}});
  const int done_when_it_stops = done;
  done = 0;
  const auto goes_on =
      sim::replay(found.schedule, p, {.observers = {&heard}, .continue_after_deadlock = true});
  EXPECT_EQ(done, 1);
  EXPECT_GE(done, done_when_it_stops);
  EXPECT_EQ(goes_on.verdict, verdict::deadlock);
  EXPECT_EQ(goes_on.message, stops.message);
  EXPECT_EQ(goes_on.cycle, stops.cycle);
  EXPECT_THAT(heard.for_ever, UnorderedElementsAre("T0", "T1"));
}

TEST(ContinueAfterDeadlock, a_search_sees_what_the_others_do_too) {
  int done = 0;
  const auto r =
      sim::explore({.stop_at_first = false, .continue_after_deadlock = true}, hang_beside_a_third(&done));
  EXPECT_TRUE(r.complete) << r;
  EXPECT_EQ(static_cast<std::uint64_t>(done), r.executions + r.blocked + 1) << r;  // the first one twice
}

TEST(LockClasses, every_row_has_a_source_and_a_kind_of_its_own) {
  const scenario::checkers::lock_classes table;
  std::set<std::string> keys;
  for (const auto& row : table.rows()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_FALSE(row.source.empty()) << row.key;
  }
}

TEST(LockClasses, a_row_for_one_lock_goes_before_that_of_its_kind) {
  scenario::checkers::lock_classes table;
  table.set({.key = "vnode:z0", .witness_type = "zfs"});
  EXPECT_EQ(table.find("vnode", "z0").witness_type, "zfs");
  EXPECT_EQ(table.find("vnode", "f0").witness_type, "ufs");
  EXPECT_EQ(table.find("mutex", "a").witness_type, "a");
  EXPECT_EQ(table.find("lock of mine", "a").witness_type, "lock of mine");
}

TEST(Suite, thread_1_hangs_at_once_for_the_graph_in_half_an_hour_for_deadlkres_and_never_for_witness) {
  const auto p = scenario_program("vn-io-fault/crossed-write", {{"io", "vnode-locked"}});
  suite beside;
  const auto r = beside.explore({}, p);
  ASSERT_EQ(r.verdict, verdict::deadlock) << r;
  const auto all = beside.results(r);
  EXPECT_FALSE(of(all, "witness").fired);
  EXPECT_THAT(of(all, "witness").why_silent, HasSubstr("both of type ufs, DUPOK"));
  EXPECT_EQ(of(all, "deadlkres").virtual_seconds, 1803U);
  EXPECT_EQ(of(all, "deadlkres").execution, r.defect_execution);
  EXPECT_EQ(of(all, "khungtaskd").virtual_seconds, 240U);
  EXPECT_EQ(of(all, "wait-for-graph").virtual_seconds, 0U);
  // The two names of the cycle, and one name only.
  EXPECT_THAT(of(all, "wait-for-graph").text, HasSubstr("T0 waits for vnode:f1; T1 waits for vnode:f0"));
  EXPECT_EQ(of(all, "deadlkres").text.find("T1"), std::string::npos);
}

TEST(Suite, a_sleep_with_a_mutex_held_is_seen_by_witness) {
  suite beside;
  const auto r = beside.explore({}, [](sim::execution& e) {
    auto& outer = e.make<simulated::mutex>("outer");
    auto& inner = e.make<simulated::mutex>("inner");
    auto& queue = e.make<simulated::waitq>("ready");
    auto& ready = e.make<bool>(false);
    e.spawn("sleeper", [&] {
      outer.lock();
      inner.lock();
      while (!ready) queue.wait(inner);
      inner.unlock();
      outer.unlock();
    });
    e.spawn("waker", [&] {
      inner.lock();
      ready = true;
      queue.wake_all();
      inner.unlock();
    });
  });
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  const auto all = beside.results(r);
  EXPECT_THAT(of(all, "witness").text,
              StartsWith("Sleeping on \"ready\" with the following non-sleepable locks held:\n"
                         "exclusive sleep mutex outer r = 0 (mutex:outer)"));
  EXPECT_FALSE(of(all, "lockdep").fired);
}

TEST(Confirm, a_directed_run_hangs_at_once_on_a_reversal_that_can_hang) {
  const auto c = sim::confirm({"mutex:a", "mutex:b"}, {}, programs::abba(false, true));
  ASSERT_TRUE(c.confirmed);
  EXPECT_EQ(c.executions, 1U);
  EXPECT_THAT(c.cycle, UnorderedElementsAre("mutex:a", "mutex:b"));
  const auto again = sim::replay(c.schedule, programs::abba(false, true));
  EXPECT_EQ(again.verdict, verdict::deadlock);
  EXPECT_EQ(again.diverged, "");
  EXPECT_EQ(sim::text_of(c), "confirmed: schedule " + c.schedule);
}

TEST(Confirm, an_order_that_holds_is_unconfirmed) {
  const auto c = sim::confirm({"mutex:a", "mutex:b"}, {}, programs::abba(true, true), 20);
  EXPECT_FALSE(c.confirmed);
  EXPECT_EQ(sim::text_of(c), "unconfirmed in 20 executions");
}

TEST(Confirm, finds_a_pair_that_is_not_the_first_a_task_comes_by) {
  // T0 nests a and b a few times under a lock that T1 needs first; only its last time is open.
  const sim::program p = [](sim::execution& e) {
    auto& a = e.make<simulated::mutex>("a");
    auto& b = e.make<simulated::mutex>("b");
    auto& gate = e.make<simulated::mutex>("gate");
    const auto both = [](simulated::mutex& first, simulated::mutex& second) {
      first.lock();
      second.lock();
      second.unlock();
      first.unlock();
    };
    e.spawn("T0", [&, both] {
      for (int i = 0; i < 2; ++i) {
        gate.lock();
        both(a, b);
        gate.unlock();
      }
      both(a, b);
    });
    e.spawn("T1", [&, both] {
      gate.lock();
      both(b, a);
      gate.unlock();
    });
  };
  const auto c = sim::confirm({"mutex:a", "mutex:b"}, {}, p);
  EXPECT_TRUE(c.confirmed) << sim::text_of(c);
}

TEST(Confirm, nothing_to_look_for_runs_nothing) {
  const auto c = sim::confirm({}, {}, programs::abba());
  EXPECT_FALSE(c.confirmed);
  EXPECT_EQ(c.executions, 0U);
}

TEST(ConfirmAll, says_in_each_text_what_came_of_it) {
  const auto p = scenario_program("vn-io-fault/crossed-write", {{"io", "vnode-locked"}});
  const sim::options how{.executions_max = 2};
  suite beside;
  auto r = beside.explore(how, p);
  ASSERT_EQ(r.verdict, verdict::clean) << r;
  auto all = beside.results(r);
  scenario::checkers::confirm_all(r, all, how, p, [](const auto& schedule) { return "<" + schedule + ">"; });
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_THAT(r.findings[0].text, HasSubstr("; confirmed: schedule <"));
  EXPECT_THAT(of(all, "lockdep").confirmation, StartsWith("confirmed: schedule <"));
  EXPECT_THAT(of(all, "witness").confirmation, IsEmpty());
}

TEST(ConfirmAll, runs_nothing_where_the_search_was_a_proof) {
  const auto p = scenario_program("vn-io-fault/crossed-read", {});
  suite beside;
  auto r = beside.explore({}, p);
  ASSERT_TRUE(r.complete) << r;
  auto all = beside.results(r);
  scenario::checkers::confirm_all(r, all, {}, p, [](const auto& schedule) { return schedule; });
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_THAT(r.findings[0].text, HasSubstr("; unconfirmed: the search covered every interleaving"));
}

}  // namespace
}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
// What the matchers match, and what they say when they do not.
#include "support/programs.hpp"

#include <faultline/conformance/matchers.hpp>

#include <gmock/gmock.h>

#include <string>

namespace faultline {
namespace {

using namespace conformance;
using sim::verdict;
using testing::AllOf;
using testing::HasSubstr;
using testing::Matcher;
using testing::Not;

std::string explained(const Matcher<const sim::report&>& m, const sim::report& r) {
  testing::StringMatchResultListener listener;
  (void)m.MatchAndExplain(r, &listener);
  return listener.str();
}
std::string described(const Matcher<const sim::report&>& m) {
  return testing::DescribeMatcher<const sim::report&>(m);
}

sim::report of(verdict v, std::string message = "") {
  sim::report r;
  r.verdict = v;
  r.message = std::move(message);
  r.why_incomplete = "it stopped at the first defect";
  r.executions = 3;
  r.schedule = "0*2.1@ff";
  return r;
}
sim::report deadlock(std::vector<std::string> cycle) {
  auto r = of(verdict::deadlock, "cycle: T0 waits for mutex:b; T1 waits for mutex:a");
  r.cycle = std::move(cycle);
  return r;
}

TEST(Matchers, clean_is_no_proof_and_complete_is_one) {
  auto r = of(verdict::clean);
  EXPECT_THAT(r, IsClean());
  EXPECT_THAT(r, Not(IsCompleteAndClean()));
  r.complete = true;
  EXPECT_THAT(r, AllOf(IsClean(), IsCompleteAndClean(), HasVerdict(verdict::clean)));
  EXPECT_THAT(of(verdict::race), AllOf(Not(IsClean()), Not(IsCompleteAndClean()), HasVerdict(verdict::race)));
}

TEST(Matchers, a_deadlock_has_exactly_the_objects_in_any_order) {
  const auto r = deadlock({"mutex:b", "mutex:a"});
  EXPECT_THAT(r, Deadlocks());
  EXPECT_THAT(r, Deadlocks("mutex:a", "mutex:b"));
  EXPECT_THAT(r, Deadlocks("mutex:b", std::string("mutex:a")));
  EXPECT_THAT(r, Not(Deadlocks("mutex:a")));
  EXPECT_THAT(r, Not(Deadlocks("mutex:a", "mutex:b", "mutex:c")));
  EXPECT_THAT(r, Not(Deadlocks("mutex:a", "mutex:a")));
  EXPECT_THAT(deadlock({"rw:l", "rw:l"}), AllOf(Deadlocks("rw:l", "rw:l"), Not(Deadlocks("rw:l"))));
  EXPECT_THAT(of(verdict::clean), Not(Deadlocks()));
}

TEST(Matchers, each_other_verdict_has_one) {
  EXPECT_THAT(of(verdict::lost_wakeup), AllOf(LosesWakeup(), Not(Livelocks())));
  EXPECT_THAT(of(verdict::livelock), AllOf(Livelocks(), Not(LosesWakeup())));
  const auto race = of(verdict::race, "race on var:count: read by T0 is not ordered after the write by T1");
  EXPECT_THAT(race, Races("var:count"));
  EXPECT_THAT(race, AllOf(Not(Races("var:coun")), Not(Races("count")), Not(Races("var:other"))));
  EXPECT_THAT(of(verdict::violation, "race on var:count: "), Not(Races("var:count")));
  const auto violation = of(verdict::violation, "lost update (a.cpp:3)");
  EXPECT_THAT(violation, AllOf(Violates("lost update"), Violates(""), Not(Violates("torn"))));
  EXPECT_THAT(of(verdict::race, "lost update"), Not(Violates("lost update")));
}

TEST(Matchers, a_reversal_is_found_whatever_the_verdict_and_order) {
  auto r = of(verdict::clean);
  EXPECT_THAT(r, Not(FindsReversal("mutex:a", "mutex:b")));
  r.findings.push_back({.kind = "order-reversal", .objects = {"mutex:b", "mutex:a"}, .text = ""});
  EXPECT_THAT(r, AllOf(FindsReversal("mutex:a", "mutex:b"), FindsReversal("mutex:b", "mutex:a")));
  EXPECT_THAT(r, Not(FindsReversal("mutex:a", "mutex:c")));
  r.findings[0].kind = "another";
  EXPECT_THAT(r, Not(FindsReversal("mutex:a", "mutex:b")));
}

TEST(Matchers, descriptions_say_what_is_wanted) {
  EXPECT_EQ(described(IsClean()), "is a report that is clean");
  EXPECT_EQ(described(IsCompleteAndClean()), "is a report that is clean and complete");
  EXPECT_EQ(described(Not(IsClean())), "is a report of which it is not true that it is clean");
  EXPECT_EQ(described(Deadlocks()), "is a report that deadlocks");
  EXPECT_EQ(described(Deadlocks("mutex:b", "mutex:a")),
            "is a report that deadlocks on exactly mutex:a, mutex:b");
  EXPECT_EQ(described(LosesWakeup()), "is a report that loses a wake-up");
  EXPECT_EQ(described(Livelocks()), "is a report that livelocks");
  EXPECT_EQ(described(Races("var:x")), "is a report that races on var:x");
  EXPECT_EQ(described(Violates("torn")), "is a report that has a violation that says \"torn\"");
  EXPECT_EQ(described(HasVerdict(verdict::budget)), "is a report that has the verdict budget");
  EXPECT_EQ(described(FindsReversal("b", "a")), "is a report that finds the order reversal of a, b");
}

TEST(Matchers, a_mismatch_is_explained_by_message_cycle_and_schedule) {
  auto r = deadlock({"mutex:b", "mutex:a"});
  r.findings.push_back({.kind = "order-reversal", .objects = {"mutex:a", "mutex:b"}, .text = ""});
  EXPECT_EQ(explained(IsClean(), r),
            "whose verdict is deadlock: cycle: T0 waits for mutex:b; T1 waits for mutex:a\n"
            "cycle: mutex:b, mutex:a\n"
            "found besides: order-reversal of mutex:a, mutex:b\n"
            "not complete: it stopped at the first defect, 3 executions\n"
            "schedule: 0*2.1@ff");
  auto clean = of(verdict::clean);
  clean.complete = true;
  clean.executions = 1;
  EXPECT_EQ(explained(Deadlocks(), clean), "whose verdict is clean\ncomplete, 1 execution");
}

TEST(Matchers, work_on_explorations) {
  const auto wrong = sim::explore({}, programs::abba());
  EXPECT_THAT(wrong, Deadlocks("mutex:a", "mutex:b"));
  EXPECT_THAT(sim::explore({}, programs::abba(true)), IsCompleteAndClean());
  EXPECT_THAT(sim::explore({}, programs::increments(2)), Violates("lost update"));
  EXPECT_THAT(sim::replay("0*4.1*4", programs::abba()),
              AllOf(IsClean(), FindsReversal("mutex:a", "mutex:b")));
  EXPECT_THAT(explained(IsClean(), wrong), HasSubstr("schedule: " + wrong.schedule));
}

}  // namespace
}  // namespace faultline

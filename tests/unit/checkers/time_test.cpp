// SPDX-License-Identifier: BSD-2-Clause
// The checkers that measure time: deadlkres and khungtaskd.
#include "feed.hpp"

#include <faultline/scenario/checkers/deadlkres.hpp>
#include <faultline/scenario/checkers/khungtaskd.hpp>

#include <gmock/gmock.h>

namespace faultline {
namespace {

using scenario::checkers::deadlkres;
using scenario::checkers::khungtaskd;
using test::lock;
using testing::HasSubstr;
using testing::Not;

constexpr lock a{"mutex", "a"};
constexpr lock f0{"vnode", "f0"};
constexpr lock f1{"vnode", "f1"};

template <class Checker>
scenario::checkers::checker_result at_the_end(Checker& c, std::vector<sim::sleep_event> sleepers) {
  c.ends({.execution = 1, .verdict = sim::verdict::deadlock, .sleepers = sleepers});
  return c.result();
}

TEST(Deadlkres, names_one_thread_at_the_first_scan_after_half_an_hour) {
  deadlkres d;
  d.begins(1);
  const test::task t0{d, 0, "T0"};
  const test::task t1{d, 1, "T1"};
  const auto r = at_the_end(d, {t0.asleep_on(f1, "vnode"), t1.asleep_on(f0, "vnode")});
  EXPECT_TRUE(r.fired);
  EXPECT_EQ(r.virtual_seconds, 1803U);
  EXPECT_EQ(r.text,
            "panic: deadlres_td_sleep_q: possible deadlock detected for T0, blocked for 1803000 ticks\n");
}

TEST(Deadlkres, a_turnstile_has_a_quarter_of_an_hour) {
  deadlkres d;
  d.begins(1);
  const test::task t0{d, 0, "T0"};
  const test::task t1{d, 1, "T1"};
  const auto r = at_the_end(d, {t0.asleep_on(f1, "vnode"), t1.asleep_on(a, "mutex")});
  EXPECT_EQ(r.virtual_seconds, 903U);
  EXPECT_THAT(r.text, HasSubstr("deadlres_td_on_lock: possible deadlock detected for T1"));
}

TEST(Deadlkres, never_looks_at_range_busy_page_and_offset_waits) {
  deadlkres d;
  d.begins(1);
  const test::task t0{d, 0, "T0"};
  const auto r = at_the_end(d, {t0.asleep_on({"range", "f0"}, "range"), t0.asleep("vmpfw"),
                                t0.asleep_on({"vofflock", "f0"}, "vofflock")});
  EXPECT_FALSE(r.fired);
  EXPECT_THAT(r.why_silent, HasSubstr("\"range\", \"vmpfw\", \"vofflock\""));
}

TEST(Deadlkres, lets_blessed_wait_messages_sleep) {
  deadlkres d;
  d.begins(1);
  const test::task t0{d, 0, "T0"};
  EXPECT_FALSE(at_the_end(d, {t0.asleep_on(f0, "getblk")}).fired);
}

TEST(Deadlkres, a_wait_that_somebody_ends_is_none) {
  deadlkres d;
  d.begins(1);
  const test::task t0{d, 0, "T0"};
  auto s = t0.asleep_on(f0, "vnode");
  s.for_ever = false;
  EXPECT_FALSE(at_the_end(d, {s}).fired);
  EXPECT_EQ(d.result().why_silent, "no thread was left asleep for ever");
}

TEST(Khungtaskd, reports_each_hung_task_at_the_second_look_and_falls_silent_after_ten) {
  khungtaskd k;
  k.begins(1);
  test::task t0{k, 0, "T0"};
  test::task t1{k, 1, "T1"};
  t0.in("write", "f0").takes(f0).asks(f1);
  t1.takes(f1).asks(f0);
  auto first = t0.asleep_on(f1, "vnode", access::shared);
  first.owner = 1;
  const auto r = at_the_end(k, {first, t1.asleep_on(f0, "vnode")});
  EXPECT_TRUE(r.fired);
  EXPECT_EQ(r.virtual_seconds, 240U);
  EXPECT_THAT(r.text,
              HasSubstr("INFO: task T0:1 blocked for more than 120 seconds.\n"
                        "      Not tainted faultline #1\n"
                        "\"echo 0 > /proc/sys/kernel/hung_task_timeout_secs\" disables this message.\n"
                        "task:T0 state:D pid:1\nCall Trace:\n write(f0)\n"
                        "INFO: task T0:1 <reader> blocked on an rw-semaphore likely owned by task T1:2 "
                        "<writer>\n"));
  EXPECT_THAT(r.text, HasSubstr("INFO: task T1:2 blocked for more than 120 seconds.\n"));
  EXPECT_THAT(r.text, HasSubstr("Showing all locks held in the system:\n2 locks held by T0/1:\n"));
  EXPECT_THAT(r.text, Not(HasSubstr("suppressed")));  // that comes with the tenth
  EXPECT_EQ(k.warnings(), 10U);
}

TEST(Khungtaskd, says_when_it_falls_silent) {
  khungtaskd k({}, {.timeout = 120, .warnings = 1});
  k.begins(1);
  const test::task t0{k, 0, "T0"};
  EXPECT_THAT(at_the_end(k, {t0.asleep_on(a, "mutex")}).text,
              HasSubstr("Future hung task reports are suppressed, see sysctl kernel.hung_task_warnings\n"));
}

TEST(Khungtaskd, does_not_look_at_killable_waits) {
  khungtaskd k;
  k.begins(1);
  const test::task t0{k, 0, "T0"};
  const auto r = at_the_end(k, {t0.asleep("vmpfw"), t0.asleep_on({"vmmap", "P0"}, "vmmap")});
  EXPECT_FALSE(r.fired);
  EXPECT_EQ(r.why_silent,
            "it looks at TASK_UNINTERRUPTIBLE only: \"vmpfw\" is killable, \"vmmap\" is killable");
}

TEST(Khungtaskd, sees_a_truncation_that_waits_for_a_page) {
  khungtaskd k;
  k.begins(1);
  const test::task t0{k, 0, "T0"};
  EXPECT_TRUE(at_the_end(k, {t0.asleep("vmopar")}).fired);
}

}  // namespace
}  // namespace faultline

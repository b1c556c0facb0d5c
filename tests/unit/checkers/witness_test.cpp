// SPDX-License-Identifier: BSD-2-Clause
#include "feed.hpp"

#include <faultline/scenario/checkers/witness.hpp>

#include <gmock/gmock.h>

namespace faultline {
namespace {

using scenario::checkers::freebsd_primitive;
using scenario::checkers::lock_classes;
using scenario::checkers::witness;
using test::lock;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr lock a{"mutex", "a"};
constexpr lock b{"mutex", "b"};
constexpr lock c{"mutex", "c"};
constexpr lock f0{"vnode", "f0"};
constexpr lock f1{"vnode", "f1"};

class Witness : public testing::Test {
 protected:
  Witness() { w.begins(1); }
  witness w;
  test::task t0{w, 0, "T0"};
  test::task t1{w, 1, "T1"};
};

TEST_F(Witness, reports_two_types_in_both_orders_in_one_clean_run) {
  t0.in("one").takes(a).takes(b).drops(b).drops(a).out();
  EXPECT_FALSE(w.result().fired);
  t0.in("two").takes(b).in("inner").takes(a);
  const auto r = w.result();
  EXPECT_TRUE(r.fired);
  EXPECT_EQ(r.text,
            "lock order reversal:\n"
            " 1st mutex:b b (b) @ two\n"
            " 2nd mutex:a a (a) @ inner\n");
  EXPECT_THAT(r.objects, ElementsAre("mutex:b", "mutex:a"));
}

TEST_F(Witness, reports_a_pair_once_in_all_executions) {
  for (std::uint64_t execution = 1; execution <= 3; ++execution) {
    w.begins(execution);
    t0.takes(a).takes(b).drops(b).drops(a);
    t1.takes(b).takes(a).drops(a).drops(b);
  }
  EXPECT_EQ(w.reports().size(), 1U);
  EXPECT_EQ(w.result().execution, 1U);
  EXPECT_FALSE(w.knows("b", "a"));  // no edge is learnt from a reversal
}

TEST_F(Witness, keeps_what_it_learnt_in_earlier_executions) {
  t0.takes(a).takes(b);
  w.begins(2);
  t0.takes(b).takes(a);
  EXPECT_TRUE(w.result().fired);
  EXPECT_EQ(w.result().execution, 2U);
}

TEST_F(Witness, learns_one_edge_from_the_last_held_and_the_rest_by_closure) {
  t0.takes(a).takes(b).takes(c);
  EXPECT_TRUE(w.knows("a", "b"));
  EXPECT_TRUE(w.knows("b", "c"));
  EXPECT_TRUE(w.knows("a", "c"));
  t0.drops(b);  // what is held now is a, c: nothing new is learnt of them
  w.begins(2);
  t1.takes(c).takes(a);
  EXPECT_TRUE(w.result().fired);
}

TEST_F(Witness, third_line_tells_of_an_earlier_lock_of_the_wanted_type) {
  lock_classes table;
  table.set({.key = "mutex:b2", .freebsd = freebsd_primitive::mtx, .witness_type = "b", .dup_ok = true});
  witness own(table);
  own.begins(1);
  test::task t{own, 0, "T0"};
  t.takes(b).takes(a).takes({"mutex", "b2"});
  EXPECT_THAT(own.result().text, HasSubstr(" 1st mutex:b b (b) @ T0\n 2nd mutex:a a (a) @ T0\n"
                                           " 3rd mutex:b2 b (b) @ T0\n"));
}

TEST_F(Witness, a_try_teaches_nothing_but_is_held) {
  t0.takes(a).tries(b).drops(b).drops(a);
  EXPECT_FALSE(w.knows("a", "b"));
  t0.takes(b).takes(a).drops(a).drops(b);  // b -> a is all that it has learnt
  EXPECT_FALSE(w.result().fired);
  t1.tries(a).takes(b);  // held by a try
  EXPECT_TRUE(w.result().fired);
}

TEST_F(Witness, a_failed_try_is_not_held) {
  t0.tries(a, access::exclusive, false).takes(b);
  EXPECT_FALSE(w.knows("a", "b"));
}

TEST_F(Witness, is_silent_about_two_vnodes_of_one_file_system_in_both_orders) {
  t0.takes(f0).takes(f1).drops(f1).drops(f0);
  t1.takes(f1).takes(f0);
  const auto r = w.result();
  EXPECT_FALSE(r.fired);
  EXPECT_EQ(r.why_silent, "vnode:f0 and vnode:f1 are both of type ufs, DUPOK");
}

TEST_F(Witness, reports_vnodes_of_two_file_systems) {
  lock_classes table;
  auto row = table.find("vnode", "z0");
  row.key = "vnode:z0";
  row.witness_type = "zfs";
  table.set(row);
  witness own(table);
  own.begins(1);
  test::task t{own, 0, "T0"};
  t.takes(f0).takes({"vnode", "z0"}).drops({"vnode", "z0"}).drops(f0);
  t.takes({"vnode", "z0"}).takes(f0);
  EXPECT_THAT(own.result().text, HasSubstr(" 1st vnode:z0 zfs (zfs) @"));
}

TEST_F(Witness, reports_a_duplicate_once_and_only_against_the_last_held) {
  lock_classes table;
  table.set({.key = "leaf", .freebsd = freebsd_primitive::mtx, .witness_type = "leaf"});
  witness own(table);
  own.begins(1);
  test::task t{own, 0, "T0"};
  t.takes({"leaf", "1"}).takes(a).takes({"leaf", "2"});
  EXPECT_THAT(own.result().text, HasSubstr("lock order reversal"));  // leaf -> a -> leaf: no duplicate
  witness other(table);
  other.begins(1);
  test::task u{other, 0, "T0"};
  for (int i = 0; i < 2; ++i) {
    u.takes({"leaf", "1"}).takes({"leaf", "2"}).drops({"leaf", "2"}).drops({"leaf", "1"});
  }
  EXPECT_THAT(other.reports(),
              ElementsAre("acquiring duplicate lock of same type: \"leaf\"\n 1st leaf:1 @ T0\n"
                          " 2nd leaf:2 @ T0\n"));
}

TEST_F(Witness, a_duplicate_that_is_let_pass_hides_a_reversal_against_earlier_locks) {
  t0.takes(f0).takes(a).drops(a).drops(f0);
  t1.tries(a).tries(f0).takes(f1);  // ufs after a: but the last held is a ufs, and nothing else is looked at
  EXPECT_FALSE(w.result().fired);
}

TEST_F(Witness, a_pair_seen_before_is_not_checked_against_the_others) {
  t0.takes(b).takes(c).drops(c).drops(b);
  t0.takes(c).takes(a).drops(a).drops(c);
  t1.tries(a).tries(b).takes(c);  // c before a is known, so a -> c is wrong; b -> c was seen
  EXPECT_FALSE(w.result().fired);
}

TEST_F(Witness, sleepable_after_non_sleepable_is_a_reversal_at_first_sight) {
  t0.takes(a).takes({"vmmap", "P0"});
  EXPECT_THAT(w.result().text,
              HasSubstr("lock order reversal: (sleepable after non-sleepable)\n 1st mutex:a"));
}

TEST_F(Witness, tells_of_a_sleep_with_a_non_sleepable_lock_held) {
  t0.takes(f0).in("vm_fault").takes(a).sleeps("vmpfw");
  EXPECT_EQ(w.result().text,
            "Sleeping on \"vmpfw\" with the following non-sleepable locks held:\n"
            "exclusive sleep mutex a r = 0 (mutex:a) locked @ vm_fault\n");
}

TEST_F(Witness, a_sleep_with_sleepable_locks_held_is_right) {
  t0.takes(f0).sleeps("vmpfw");
  EXPECT_FALSE(w.result().fired);
}

TEST_F(Witness, recursion_is_right_in_the_same_mode_and_a_panic_in_another) {
  t0.takes(f0).takes(f0).drops(f0).takes(a).drops(a);
  EXPECT_FALSE(w.result().fired);
  EXPECT_TRUE(w.knows("ufs", "a"));  // still held
  t0.takes(f0, access::shared);
  EXPECT_THAT(w.result().text, HasSubstr("panic: excl->share"));
}

TEST_F(Witness, does_not_see_what_is_no_lock_object) {
  const lock range{"range", "f0"};
  t0.takes(range).takes(f0).drops(f0).drops(range);
  t1.takes(f0).takes(range);
  EXPECT_FALSE(w.result().fired);
  EXPECT_EQ(
      w.result().why_silent,
      "no lock that it knows was asked for while another one was held; no lock objects, so not seen: range");
}

TEST_F(Witness, blessed_pairs_pass_in_both_orders) {
  lock_classes table;
  table.set({.key = "buf", .freebsd = freebsd_primitive::lockmgr, .witness_type = "bufwait", .dup_ok = true});
  witness own(table);
  own.begins(1);
  test::task t{own, 0, "T0"};
  t.takes(f0).takes({"buf", "1"}).drops({"buf", "1"}).drops(f0).takes({"buf", "1"}).takes(f0);
  EXPECT_FALSE(own.result().fired);
}

}  // namespace
}  // namespace faultline

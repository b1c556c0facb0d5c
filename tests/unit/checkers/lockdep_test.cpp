// SPDX-License-Identifier: BSD-2-Clause
#include "feed.hpp"

#include <faultline/scenario/checkers/lockdep.hpp>

#include <gmock/gmock.h>

namespace faultline {
namespace {

using scenario::checkers::linux_primitive;
using scenario::checkers::lock_classes;
using scenario::checkers::lockdep;
using test::lock;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr lock a{"mutex", "a"};
constexpr lock b{"mutex", "b"};
constexpr lock c{"mutex", "c"};
constexpr lock x{"rwsem", "x"};
constexpr lock y{"rwsem", "y"};
constexpr lock r{"rcu", "r"};
constexpr lock s{"rcu", "s"};
constexpr auto shared = access::shared;

/// x and y are rwsems; r and s have recursive readers.
lock_classes table() {
  lock_classes t;
  for (const char* name : {"x", "y"})
    t.set({.key = std::string("rwsem:") + name, .linux_lock = linux_primitive::rwsem, .lockdep_class = name});
  for (const char* name : {"r", "s"})
    t.set({.key = std::string("rcu:") + name,
           .linux_lock = linux_primitive::recursive_reader,
           .lockdep_class = name});
  return t;
}

class Lockdep : public testing::Test {
 protected:
  Lockdep() { l.begins(1); }
  lockdep l{table()};
  test::task t0{l, 0, "T0"};
  test::task t1{l, 1, "T1"};
};

TEST_F(Lockdep, reports_a_circle_in_full_from_one_clean_run) {
  t0.in("one").takes(a).takes(b).drops(b).drops(a).out();
  t0.in("two").takes(b).takes(a);
  EXPECT_TRUE(l.result().fired);
  EXPECT_EQ(l.result().text,
            "======================================================\n"
            "WARNING: possible circular locking dependency detected\n"
            "faultline #1 Not tainted\n"
            "------------------------------------------------------\n"
            "T0/1 is trying to acquire lock:\n"
            "mutex:a (a){+.+.}-{3:3}, at: two\n"
            "\n"
            "but task is already holding lock:\n"
            "mutex:b (b){+.+.}-{3:3}, at: two\n"
            "\n"
            "which lock already depends on the new lock.\n"
            "\n"
            "\n"
            "the existing dependency chain (in reverse order) is:\n"
            "\n"
            "-> #1 (b){+.+.}-{3:3}:\n"
            "       one\n"
            "\n"
            "-> #0 (a){+.+.}-{3:3}:\n"
            "       two\n"
            "\n"
            "other info that might help us debug this:\n"
            "\n"
            " Possible unsafe locking scenario:\n"
            "\n"
            "       CPU0                    CPU1\n"
            "       ----                    ----\n"
            "  lock(b);\n"
            "                               lock(a);\n"
            "                               lock(b);\n"
            "  lock(a);\n"
            "\n"
            " *** DEADLOCK ***\n"
            "\n"
            "1 lock held by T0/1:\n"
            " #0: mutex:b (b){+.+.}-{3:3}, at: two\n"
            "\n"
            "stack backtrace:\n"
            " two\n");
}

TEST_F(Lockdep, a_longer_circle_shows_its_chain) {
  t0.takes(a).takes(b).drops(b).drops(a);
  t0.takes(b).takes(c).drops(c).drops(b);
  t1.takes(c).takes(a);
  EXPECT_THAT(l.result().text, HasSubstr("Chain exists of:\n  a --> b --> c\n\n"));
  EXPECT_THAT(l.result().text, HasSubstr("-> #2 (c){+.+.}-{3:3}:\n"));
  EXPECT_THAT(l.result().objects, ElementsAre("mutex:c", "mutex:a", "mutex:b"));
}

TEST_F(Lockdep, is_off_after_its_first_report) {
  t0.takes(a).takes(b).drops(b).drops(a).takes(b).takes(a);
  const auto first = l.result().text;
  l.begins(2);
  t1.takes(x).takes(y).drops(y).drops(x).takes(y).takes(x);
  EXPECT_EQ(l.result().text, first);
  EXPECT_EQ(l.result().execution, 1U);
}

TEST_F(Lockdep, two_of_a_class_are_recursive_locking) {
  t0.takes({"vnode", "f0"}).takes({"vnode", "f1"}, shared);
  EXPECT_THAT(l.result().text, HasSubstr("WARNING: possible recursive locking detected\n"));
  EXPECT_THAT(l.result().text, HasSubstr("       CPU0\n       ----\n  lock(&sb->s_type->i_mutex_key);\n"
                                         "  lock(&sb->s_type->i_mutex_key);\n\n *** DEADLOCK ***\n\n"
                                         " May be due to missing lock nesting notation\n"));
}

TEST_F(Lockdep, two_readers_of_a_rwsem_class_are_recursive_locking_too) {
  t0.takes({"vnode", "f0"}, shared).takes({"vnode", "f1"}, shared);
  EXPECT_THAT(l.result().text, HasSubstr("recursive locking"));
}

TEST_F(Lockdep, recursive_readers_may_nest) {
  t0.takes(r, shared).takes(r, shared);
  EXPECT_FALSE(l.result().fired);
}

TEST_F(Lockdep, a_try_is_not_checked_but_what_comes_after_it_depends_on_it) {
  t0.takes(a).tries(b).drops(b).drops(a);
  t0.takes(b).takes(a).drops(a).drops(b);  // a -> b was never learnt
  EXPECT_FALSE(l.result().fired);
  t1.tries(a).takes(b);
  EXPECT_TRUE(l.result().fired);
}

TEST_F(Lockdep, depends_on_held_locks_up_to_the_last_that_was_not_tried) {
  t0.takes(a).tries(b).takes(c).drops(c).drops(b).drops(a);
  l.begins(2);
  t1.takes(c).takes(a);  // c depends on a through a try
  EXPECT_TRUE(l.result().fired);
}

TEST_F(Lockdep, validates_a_chain_once) {
  t0.takes(a).takes(b).drops(b).drops(a);
  const auto n = l.chains();
  for (int i = 0; i < 3; ++i) t1.takes(a).takes(b).drops(b).drops(a);
  EXPECT_EQ(l.chains(), n);
  t1.takes(b);
  EXPECT_EQ(l.chains(), n + 1);
}

TEST_F(Lockdep, readers_of_rwsems_in_both_orders_count_since_a_writer_can_queue) {
  t0.takes(x, shared).takes(y, shared).drops(y).drops(x);
  t1.takes(y, shared).takes(x, shared);
  EXPECT_TRUE(l.result().fired);
  EXPECT_THAT(l.result().text, HasSubstr("  rlock(y);\n"));
  EXPECT_THAT(l.result().text, HasSubstr("(x){.+.+}-{3:3}"));
}

TEST_F(Lockdep, recursive_readers_in_both_orders_are_no_strong_path) {
  t0.takes(r, shared).takes(s, shared).drops(s).drops(r);
  t1.takes(s, shared).takes(r, shared);
  EXPECT_FALSE(l.result().fired);
}

TEST_F(Lockdep, a_recursive_reader_then_a_shared_hold_is_no_strong_path) {
  t0.takes(a).takes(r, shared).drops(r).drops(a);  // -(ER)->
  t1.takes(r, shared).takes(a);                    // -(SN)->: after *R it is masked
  EXPECT_FALSE(l.result().fired);
}

TEST_F(Lockdep, a_recursive_reader_against_a_writer_is_a_strong_path) {
  t0.takes(a).takes(r, shared).drops(r).drops(a);  // -(ER)->
  t1.takes(r).takes(a);                            // -(EN)->
  EXPECT_TRUE(l.result().fired);
}

TEST_F(Lockdep, a_second_kind_of_dependency_makes_a_weak_path_strong) {
  t0.takes(a).takes(r, shared).drops(r).drops(a);
  t1.takes(r, shared).takes(a).drops(a).drops(r);
  EXPECT_FALSE(l.result().fired);
  t0.takes(a).takes(r);  // a -(EN)-> r now, and r -(SN)-> a is known
  EXPECT_TRUE(l.result().fired);
}

TEST_F(Lockdep, a_copy_that_could_fault_counts_as_a_read_of_mmap_lock) {
  const lock map{"vmmap", "P0"};
  t0.in("munmap").takes(map).takes(a).drops(a).drops(map).out();
  t1.takes(a).in("uiomove");  // does not fault, and yet
  EXPECT_THAT(l.result().text, HasSubstr("(&mm->mmap_lock){++++}-{3:3}, at: uiomove"));
  EXPECT_THAT(l.result().objects, ElementsAre("mutex:a", "vmmap:P0"));
}

TEST_F(Lockdep, a_copy_with_faults_disabled_does_not) {
  const lock map{"vmmap", "P0"};
  t0.takes(map).takes(a).drops(a).drops(map);
  t1.in("vn_io_fault").takes(a).in("uiomove");
  EXPECT_FALSE(l.result().fired);
}

TEST_F(Lockdep, does_not_see_busy_pages) {
  const lock page{"vmpage", "f0.0"};
  t0.takes(page).takes(a).drops(a).drops(page);
  t1.takes(a).takes(page);
  EXPECT_FALSE(l.result().fired);
  EXPECT_THAT(l.result().why_silent, HasSubstr("without a lock map, so not seen: vmpage"));
}

}  // namespace
}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
// The explorer against programs whose traces were counted by others.
#include "support/programs.hpp"

#include <faultline/conformance/matchers.hpp>

#include <gmock/gmock.h>

namespace faultline {
namespace {

using conformance::Deadlocks;
using sim::verdict;
using testing::UnorderedElementsAre;

struct counted {
  const char* name;
  sim::program program;
  std::uint64_t traces;
  std::uint64_t defects;
};

class Programs : public testing::TestWithParam<counted> {};

TEST_P(Programs, have_exactly_their_traces) {
  const auto r = sim::explore({.stop_at_first = false}, GetParam().program);
  EXPECT_TRUE(r.complete) << r;
  EXPECT_EQ(r.executions, GetParam().traces) << r;
  EXPECT_EQ(r.defects, GetParam().defects) << r;
  RecordProperty("sleep_blocked_runs", std::to_string(r.blocked));
}

INSTANTIATE_TEST_SUITE_P(sim, Programs,
                         testing::Values(counted{"P01_abba", programs::abba(), 3, 1},
                                         counted{"P01_ordered", programs::abba(true), 2, 0},
                                         counted{"P02_sb", programs::store_buffering(), 3, 0},
                                         counted{"P03_inc2", programs::increments(2), 4, 2},
                                         counted{"P03_inc3", programs::increments(3), 36, 30},
                                         counted{"P03_inc4", programs::increments(4), 576, 552},
                                         counted{"P03_inc5", programs::increments(5), 14'400, 14'280},
                                         counted{"P04_rc", programs::refcount(false), 93, 36},
                                         counted{"P04_locked", programs::refcount(true), 22, 0},
                                         counted{"P05_phil2", programs::philosophers(2), 3, 1},
                                         counted{"P05_phil3", programs::philosophers(3), 7, 1},
                                         counted{"P05_phil4", programs::philosophers(4), 15, 1},
                                         counted{"P05_phil5", programs::philosophers(5), 31, 1},
                                         counted{"P05_phil6", programs::philosophers(6), 63, 1},
                                         counted{"P06_lastzero3", programs::last_zero(3), 12, 0},
                                         counted{"P06_lastzero5", programs::last_zero(5), 64, 0},
                                         counted{"P06_lastzero8", programs::last_zero(8), 704, 0},
                                         counted{"P06_lastzero10", programs::last_zero(10), 3'328, 0},
                                         counted{"P07_readers2", programs::readers(2), 4, 0},
                                         counted{"P07_readers5", programs::readers(5), 32, 0},
                                         counted{"P07_readers8", programs::readers(8), 256, 0},
                                         counted{"P07_readers10", programs::readers(10), 1'024, 0},
                                         counted{"P08_mp", programs::message_passing(), 3, 0},
                                         counted{"P08_mp_relaxed",
                                                 programs::message_passing(std::memory_order_relaxed,
                                                                           std::memory_order_relaxed),
                                                 3, 0},
                                         counted{"P09_indexer11", programs::indexer(11), 1, 0},
                                         counted{"P09_indexer12", programs::indexer(12), 8, 0},
                                         counted{"P09_indexer13", programs::indexer(13), 64, 0},
                                         counted{"P09_indexer15", programs::indexer(15), 4'096, 0},
                                         counted{"sections7", programs::sections(7), 5'040, 0},
                                         counted{"exchanges7", programs::exchanges(7), 5'040, 0}),
                         [](const auto& i) { return i.param.name; });

// Closed forms, as large as they take about a second here; bench/explore/counts_bench.cpp has the largest.
INSTANTIATE_TEST_SUITE_P(closed_forms, Programs,
                         testing::Values(counted{"phil16", programs::philosophers(16), 65'535, 1},
                                         counted{"readers17", programs::readers(17), 131'072, 0},
                                         counted{"lastzero12", programs::last_zero(12), 15'360, 0},
                                         counted{"inc6", programs::increments(6), 518'400, 517'680},
                                         counted{"sections9", programs::sections(9), 362'880, 0},
                                         counted{"exchanges9", programs::exchanges(9), 362'880, 0}),
                         [](const auto& i) { return i.param.name; });

TEST(Abba, live_is_a_cycle_that_names_locks_and_holders_under_exhaustive) {
  const auto r = sim::explore({}, programs::abba(false, true));
  ASSERT_THAT(r, Deadlocks("mutex:a", "mutex:b"));
  ASSERT_EQ(r.waits.size(), 2U);
  EXPECT_EQ(r.waits[0].task, "T0");
  EXPECT_EQ(r.waits[0].object, "mutex:b");
  ASSERT_EQ(r.waits[0].held_by.size(), 1U);
  EXPECT_EQ(r.waits[0].held_by[0].task, "T1");
  EXPECT_EQ(r.waits[1].task, "T1");
  EXPECT_EQ(r.waits[1].object, "mutex:a");
  EXPECT_THAT(r.still_running, UnorderedElementsAre("T2"));
}

TEST(Abba, live_is_the_same_cycle_under_random_and_in_its_replay) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto r = sim::explore({.strategy = sim::strategy_kind::random, .seed = seed, .executions_max = 100},
                                programs::abba(false, true));
    ASSERT_THAT(r, Deadlocks("mutex:a", "mutex:b"));
    EXPECT_LE(r.executions, 25U) << "seed " << seed;
    const auto again = sim::replay(r.schedule, programs::abba(false, true));
    EXPECT_EQ(again.verdict, verdict::deadlock);
    EXPECT_EQ(again.event_hash, r.event_hash);
    EXPECT_EQ(again.diverged, "");
  }
}

}  // namespace
}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
// The verdict matrix: every row of every scenario, and what is asked of single ones.
#include <faultline/scenario/scenario.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

namespace faultline {
namespace {

using sim::verdict;
using testing::UnorderedElementsAre;

struct row_of {
  const scenario::scenario* scenario;
  const scenario::expectation* row;
};

std::string label(const row_of& r) {
  std::string text(r.scenario->info.name);
  for (const auto& [axis, policy] : r.row->policies) text += "_" + policy;
  for (const auto& id : r.row->omit) text += "_without_" + id;
  if (r.row->memory) text += std::string("_") + sim::name_of(*r.row->memory);
  if (r.row->preemptions) text += "_preemptions_" + std::to_string(*r.row->preemptions);
  for (auto& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

std::vector<row_of> rows() {
  std::vector<row_of> all;
  for (const auto& s : scenario::all()) {
    for (const auto& row : s.expected) all.push_back({&s, &row});
  }
  return all;
}

class Matrix : public testing::TestWithParam<row_of> {};

TEST_P(Matrix, row_is_as_expected) {
  const auto result = scenario::check(*GetParam().scenario, *GetParam().row);
  for (const auto& wrong : result.wrong) ADD_FAILURE() << wrong;
  if (!result.wrong.empty()) ADD_FAILURE() << result.report;
}

INSTANTIATE_TEST_SUITE_P(scenario, Matrix, testing::ValuesIn(rows()),
                         [](const auto& i) { return label(i.param); });

sim::report explore(std::string_view name, const scenario::policies& chosen, sim::options how = {}) {
  const auto* s = scenario::find(name);
  if (s == nullptr) throw std::invalid_argument(std::string(name));
  how.grain = s->info.grain;
  return sim::explore(how, s->program(scenario::complete(*s, chosen)));
}

TEST(Table, each_step_of_thread_1s_reproductions_fails_as_its_own_defect) {
  // A row that omits a step must pin the defect; and the step must be one of the table.
  for (const auto& r : rows()) {
    for (const auto& id : r.row->omit) {
      EXPECT_NE(scenario::find_step(id), nullptr) << id;
      EXPECT_NE(r.row->verdict, verdict::clean) << label(r);
    }
  }
}

TEST(CrossedWrite, random_finds_the_deadlock_within_ten_executions_for_95_of_100_seeds) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto r = explore("vn-io-fault/crossed-write", {{"io", "vnode-locked"}},
                           {.strategy = sim::strategy_kind::random, .seed = seed, .executions_max = 10});
    if (r.verdict == verdict::deadlock) {
      EXPECT_THAT(r.cycle, UnorderedElementsAre("vnode:f0", "vnode:f1"));
      ++found;
    }
  }
  EXPECT_GE(found, 95);
  RecordProperty("seeds_that_found_it", found);
}

TEST(CrossedWrite, a_deadlock_is_told_in_kernel_terms_and_replays) {
  const auto r = explore("vn-io-fault/crossed-write", {{"io", "vnode-locked"}});
  ASSERT_EQ(r.verdict, verdict::deadlock) << r;
  ASSERT_EQ(r.waits.size(), 2U);
  EXPECT_THAT(r.waits[0].chain, testing::ElementsAre("write(f0)", "vn_write(f0)", "ffs_write(f0)", "uiomove",
                                                     "vm_fault", "vget(f1)"));
  EXPECT_EQ(r.waits[0].wait_name, "vnode");
  ASSERT_EQ(r.waits[0].held_by.size(), 1U);
  EXPECT_EQ(r.waits[0].held_by[0].task, "T1");
  EXPECT_THAT(r.waits[0].held_by[0].since, testing::ElementsAre("write(f1)", "vn_write(f1)"));

  const auto* s = scenario::find("vn-io-fault/crossed-write");
  const auto again = sim::replay(r.schedule, s->program(scenario::complete(*s, {{"io", "vnode-locked"}})));
  EXPECT_EQ(again.verdict, verdict::deadlock);
  EXPECT_EQ(again.event_hash, r.event_hash);
  EXPECT_EQ(again.diverged, "");
}

TEST(CrossedWrite, vn_io_fault_is_clean_in_all_executions_with_fine_steps_and_two_preemptions_too) {
  const auto* s = scenario::find("vn-io-fault/crossed-write");
  const auto r = sim::explore({.grain = sim::granularity::fine, .preemptions = 2, .stop_at_first = false},
                              s->program(scenario::complete(*s, {{"io", "vn-io-fault"}})));
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
}

TEST(CrossedRead, shared_locks_never_hang_but_the_reversal_is_told) {
  const auto stock = explore("vn-io-fault/crossed-read", {{"io", "vnode-locked"}}, {.stop_at_first = false});
  EXPECT_EQ(stock.verdict, verdict::clean) << stock;
  EXPECT_TRUE(stock.complete);
  ASSERT_EQ(stock.findings.size(), 1U) << stock;
  EXPECT_THAT(stock.findings[0].objects, UnorderedElementsAre("vnode:f0", "vnode:f1"));
  const auto fixed = explore("vn-io-fault/crossed-read", {{"io", "vn-io-fault"}}, {.stop_at_first = false});
  EXPECT_EQ(fixed.verdict, verdict::clean) << fixed;
  EXPECT_TRUE(fixed.complete);
  EXPECT_TRUE(fixed.findings.empty()) << fixed;
}

TEST(PhilosophersBystander, a_search_names_the_circle_though_somebody_could_go_on) {
  const auto r = explore("lib/philosophers-bystander", {}, {.omit = {scenario::find_step("PH1")}});
  ASSERT_EQ(r.verdict, verdict::deadlock) << r;
  EXPECT_THAT(r.cycle, UnorderedElementsAre("mutex:fork0", "mutex:fork1", "mutex:fork2"));
  EXPECT_THAT(r.still_running, testing::ElementsAre("bystander"));
  EXPECT_LE(r.executions, 10U);
}

TEST(UpgradingReaders, each_waits_for_a_sharer_of_the_lock_that_it_shares_itself) {
  const auto r = explore("lib/upgrading-readers", {}, {.omit = {scenario::find_step("RW1")}});
  ASSERT_EQ(r.verdict, verdict::deadlock) << r;
  EXPECT_THAT(r.cycle, testing::ElementsAre("rw:table", "rw:table"));
  for (const auto& w : r.waits) {
    EXPECT_EQ(w.mode, "exclusive");
    ASSERT_EQ(w.held_by.size(), 1U);
    EXPECT_EQ(w.held_by[0].mode, "shared");
    EXPECT_NE(w.held_by[0].task, w.task);
  }
}

}  // namespace
}  // namespace faultline

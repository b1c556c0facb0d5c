// SPDX-License-Identifier: BSD-2-Clause
// A search in parts, in processes, in other ways; traces.
#include "program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using faultline::test::contents;
using faultline::test::run;
using testing::AllOf;
using testing::HasSubstr;

const std::string crossed = "vn-io-fault/crossed-write";

class Search : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string shard(int i, int n, const std::string& arguments) const {
    const auto file = path("part" + std::to_string(i));
    const auto got =
        run("explore " + arguments + " --json --shard " + std::to_string(i) + "/" + std::to_string(n));
    std::ofstream(file) << got.out;
    return file;
  }
  static json::object object(const std::string& text) { return json::parse(text).as_object(); }

 private:
  fs::path folder_ =
      fs::temp_directory_path() /
      ("faultline-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(Search, shards_put_together_are_the_whole_search) {
  const auto arguments = crossed + " --policy vn-io-fault --all";
  const auto whole = object(run("explore " + arguments + " --json").out);
  const auto merged = run("merge --json " + shard(2, 3, arguments) + " " + shard(0, 3, arguments) + " " +
                          shard(1, 3, arguments));
  EXPECT_EQ(merged.status, 0) << merged.err;
  const auto all = object(merged.out);
  for (const char* key : {"verdict", "executions", "complete", "outcomes", "by_verdict", "steps_reached",
                          "expected", "strategy", "memory"}) {
    EXPECT_EQ(all.at(key), whole.at(key)) << key;
  }
  EXPECT_TRUE(all.at("complete").as_bool());
  const auto one = object(contents(path("part1")));
  EXPECT_FALSE(one.at("complete").as_bool());
  EXPECT_LT(one.at("executions").to_number<int>(), whole.at("executions").to_number<int>());
}

TEST_F(Search, reversals_are_found_in_edges_of_different_shards) {
  const auto arguments = std::string("vn-io-fault/crossed-read --policy vnode-locked --all");
  const auto whole = object(run("explore " + arguments + " --json").out);
  const auto merged =
      object(run("merge --json " + shard(0, 2, arguments) + " " + shard(1, 2, arguments)).out);
  ASSERT_EQ(merged.at("findings").as_array().size(), whole.at("findings").as_array().size());
  EXPECT_EQ(merged.at("findings").at(0).at("objects"), whole.at("findings").at(0).at("objects"));
}

TEST_F(Search, a_defect_of_a_shard_is_the_whole_searchs) {
  const auto arguments = crossed + " --policy vnode-locked --all";
  const auto got = run("merge " + shard(0, 2, arguments) + " " + shard(1, 2, arguments));
  EXPECT_EQ(got.status, 1) << got.err;
  EXPECT_THAT(got.out, AllOf(HasSubstr("deadlock: T0 and T1 wait for each other"), HasSubstr("replay")));
}

TEST_F(Search, merge_says_what_does_not_fit) {
  const auto part = shard(0, 2, crossed + " --all");
  const auto other = shard(1, 2, crossed + " --all --policy page-busy");
  auto got = run("merge " + part);
  EXPECT_EQ(got.status, 2);
  EXPECT_THAT(got.err, HasSubstr("shard 1 of 2 is missing"));
  got = run("merge " + part + " " + part);
  EXPECT_EQ(got.status, 2);
  EXPECT_THAT(got.err, HasSubstr("given twice"));
  got = run("merge " + part + " " + other);
  EXPECT_EQ(got.status, 2);
  EXPECT_THAT(got.err, HasSubstr("another search"));
  std::ofstream(path("text")) << "no JSON\n";
  got = run("merge " + path("text"));
  EXPECT_EQ(got.status, 2);
  EXPECT_THAT(got.err, HasSubstr("not JSON"));
  std::ofstream(path("whole")) << run("explore " + crossed + " --json").out;
  got = run("merge " + path("whole"));
  EXPECT_EQ(got.status, 2);
  EXPECT_THAT(got.err, HasSubstr("not a part of a search"));
}

TEST_F(Search, jobs_find_what_one_process_finds) {
  const auto whole = object(run("explore " + crossed + " --policy vn-io-fault --all --json").out);
  const auto jobs = object(run("explore " + crossed + " --policy vn-io-fault --all --json --jobs 2").out);
  EXPECT_EQ(jobs.at("executions"), whole.at("executions"));
  EXPECT_EQ(jobs.at("outcomes"), whole.at("outcomes"));
  EXPECT_TRUE(jobs.at("complete").as_bool());
  const auto found = run("explore " + crossed + " --policy vnode-locked --jobs 3");
  EXPECT_EQ(found.status, 1) << found.err;
  EXPECT_THAT(found.out, HasSubstr("deadlock: T0 and T1 wait for each other"));
}

TEST_F(Search, jobs_and_shards_refuse_what_cannot_be_divided) {
  for (const char* arguments :
       {"--jobs 2 --shard 0/2", "--jobs 2 --strategy auto", "--shard 2/2", "--shard 1", "--shard 0/0",
        "--shard 0/2 --preemptions 0..2", "--jobs 2 --checkers", "--jobs 0", "--preemptions 0..",
        "--preemptions 1..2", "--preemptions x"}) {
    const auto got = run("explore " + crossed + " " + arguments);
    EXPECT_EQ(got.status, 2) << arguments << got.out << got.err;
    EXPECT_EQ(got.out, "");
  }
}

TEST_F(Search, every_strategy_finds_the_deadlock) {
  for (const char* strategy : {"exhaustive", "random", "pct", "pos", "auto"}) {
    const auto got = run("explore " + crossed + " --policy vnode-locked --strategy " + strategy);
    EXPECT_EQ(got.status, 1) << strategy;
    EXPECT_THAT(got.out, HasSubstr("T0 and T1 wait for each other")) << strategy;
  }
}

TEST_F(Search, bounds_one_after_the_other) {
  auto got = object(run("explore " + crossed + " --policy vnode-locked --preemptions 0..3 --json").out);
  EXPECT_EQ(got.at("verdict").as_string(), "deadlock");
  EXPECT_EQ(got.at("preemptions").to_number<int>(), 1);
  got = object(run("explore lib/priority-inversion --preemptions 0..9 --json").out);
  EXPECT_TRUE(got.at("preemptions").is_null());  // the bound cut nothing off
  EXPECT_TRUE(got.at("complete").as_bool());
}

TEST_F(Search, the_memory_is_part_of_the_schedule) {
  const auto got =
      run("explore lib/seqlock --memory weak --omit "
          "SQ1"
          " --json");
  ASSERT_EQ(got.status, 1) << got.out << got.err;
  const auto schedule = std::string(object(got.out).at("schedule").as_string());
  EXPECT_THAT(schedule, HasSubstr("memory=weak"));
  const auto again = run("replay '" + schedule + "'");
  EXPECT_EQ(again.status, 1) << again.out << again.err;
  EXPECT_THAT(again.out, testing::Not(HasSubstr("not the same execution")));
}

TEST_F(Search, a_trace_is_json_with_a_track_for_each_task) {
  const auto file = path("trace.json");
  EXPECT_EQ(run("explore " + crossed + " --policy vnode-locked --trace " + file).status, 1);
  const auto trace = object(contents(file));
  std::size_t tracks = 0;
  std::size_t steps = 0;
  std::size_t calls = 0;
  for (const auto& v : trace.at("traceEvents").as_array()) {
    const auto& e = v.as_object();
    tracks += e.at("ph").as_string() == "M" ? 1U : 0U;
    if (e.at("ph").as_string() != "X") continue;
    ++(e.at("cat").as_string() == "step" ? steps : calls);
    EXPECT_GE(e.at("dur").to_number<int>(), 1);
  }
  EXPECT_EQ(tracks, 2U);
  EXPECT_EQ(steps, 22U);
  EXPECT_GE(calls, 4U);
  EXPECT_EQ(run("explore " + crossed + " --trace /nowhere/x").status, 2);
  EXPECT_EQ(run("explore " + crossed + " --trace " + path("a") + " --dot " + path("a")).status, 2);
}

}  // namespace

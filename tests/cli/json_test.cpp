// SPDX-License-Identifier: BSD-2-Clause
// What scripts read: the keys of each command's object.
#include "program.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace {

namespace json = boost::json;
using faultline::test::run;
using testing::ElementsAre;
using testing::IsSupersetOf;

const std::string crossed = "vn-io-fault/crossed-write";

json::object object_of(const faultline::test::outcome& got) {
  boost::system::error_code failed;
  auto value = json::parse(got.out, failed);
  EXPECT_FALSE(failed) << got.out << got.err;
  return value.is_object() ? value.as_object() : json::object{};
}

std::vector<std::string> keys_of(const json::object& object) {
  std::vector<std::string> out;
  for (const auto& member : object) out.emplace_back(member.key());
  return out;
}

TEST(CliJson, explore_has_these_keys) {
  const auto found = object_of(run("explore " + crossed + " --policy vnode-locked --json"));
  EXPECT_THAT(keys_of(found),
              ElementsAre("scenario", "policy", "omit", "strategy", "granularity", "preemptions", "memory",
                          "seed", "verdict", "expected", "executions", "truncated", "complete", "seconds",
                          "findings", "observations", "cycle", "schedule", "blocked", "steps",
                          "why_incomplete", "message", "waits", "outcomes", "by_verdict", "steps_reached",
                          "steps_skipped", "processors", "timers", "shortened"));
}

TEST(CliJson, explore_says_what_it_did_and_what_it_found) {
  const auto got = run("explore " + crossed + " --policy vnode-locked --json");
  EXPECT_EQ(got.status, 1);
  EXPECT_EQ(got.err, "");
  const auto found = object_of(got);
  EXPECT_EQ(found.at("scenario").as_string(), crossed);
  EXPECT_EQ(found.at("policy").at("io").as_string(), "vnode-locked");
  EXPECT_TRUE(found.at("preemptions").is_null());
  EXPECT_EQ(found.at("memory").as_string(), "sc");
  EXPECT_EQ(found.at("verdict").as_string(), "deadlock");
  EXPECT_EQ(found.at("expected").as_string(), "deadlock");
  EXPECT_EQ(found.at("cycle").as_array().size(), 2U);
  EXPECT_GE(found.at("waits").as_array().size(), 2U);

  const auto bounded = object_of(run("explore " + crossed + " --policy vn-io-fault --preemptions 0 --json"));
  EXPECT_EQ(bounded.at("preemptions").to_number<int>(), 0);
  EXPECT_EQ(bounded.at("verdict").as_string(), "clean");
  EXPECT_TRUE(bounded.at("complete").as_bool());
}

TEST(CliJson, explore_has_the_checkers_where_they_are_asked_for) {
  const auto found = object_of(run("explore " + crossed + " --policy vnode-locked --checkers --json"));
  ASSERT_TRUE(found.contains("checkers"));
  std::vector<std::string> names;
  for (const auto& one : found.at("checkers").as_array()) {
    EXPECT_THAT(keys_of(one.as_object()), ElementsAre("name", "fired", "execution", "text", "virtual_seconds",
                                                      "why_silent", "objects", "confirmation"));
    names.emplace_back(one.at("name").as_string());
  }
  EXPECT_THAT(names, ElementsAre("witness", "lockdep", "deadlkres", "khungtaskd", "wait-for-graph"));
  const auto& deadlkres = found.at("checkers").as_array().at(2);
  EXPECT_TRUE(deadlkres.at("fired").as_bool());
  EXPECT_EQ(deadlkres.at("virtual_seconds").to_number<int>(), 1803);
}

TEST(CliJson, a_reversal_that_hangs_in_a_directed_run_comes_with_its_schedule) {
  const auto found = object_of(run("explore " + crossed + " --policy vnode-locked --executions 2 --json"));
  EXPECT_EQ(found.at("verdict").as_string(), "clean");
  ASSERT_EQ(found.at("findings").as_array().size(), 1U);
  const std::string text(found.at("findings").at(0).at("text").as_string());
  const std::string before = "; confirmed: schedule ";
  const auto at = text.find(before);
  ASSERT_NE(at, std::string::npos) << text;
  const auto got = run("replay --json '" + text.substr(at + before.size()) + "'");
  EXPECT_EQ(got.status, 1);
  EXPECT_EQ(object_of(got).at("verdict").as_string(), "deadlock");
}

TEST(CliJson, the_schedule_replays) {
  const auto found = object_of(run("explore " + crossed + " --policy vnode-locked --json"));
  const auto got = run("replay --json '" + std::string(found.at("schedule").as_string()) + "'");
  EXPECT_EQ(got.status, 1);
  const auto again = object_of(got);
  EXPECT_EQ(again.at("verdict").as_string(), "deadlock");
  EXPECT_TRUE(again.at("diverged").is_null());
  EXPECT_EQ(again.at("waits"), found.at("waits"));
  ASSERT_FALSE(again.at("steps").as_array().empty());
  EXPECT_THAT(keys_of(again.at("steps").as_array().front().as_object()),
              ElementsAre("step", "task", "what", "chain"));
}

TEST(CliJson, list_has_every_expectation) {
  const auto got = run("list --json");
  EXPECT_EQ(got.status, 0);
  const auto listed = object_of(got);
  EXPECT_THAT(keys_of(listed), ElementsAre("scenarios", "cases", "axes", "mutants", "steps"));
  for (const auto& s : listed.at("scenarios").as_array()) {
    EXPECT_THAT(keys_of(s.as_object()),
                ElementsAre("name", "summary", "thread", "cases", "axes", "stock", "granularity", "memory",
                            "processors", "timers", "expectations"));
    EXPECT_FALSE(s.at("expectations").as_array().empty()) << s.at("name").as_string();
    for (const auto& row : s.at("expectations").as_array()) {
      EXPECT_THAT(keys_of(row.as_object()),
                  IsSupersetOf({"policy", "omit", "preemptions", "verdict", "cycle"}));
      EXPECT_EQ(row.at("policy").as_object().size(), s.at("axes").as_array().size());  // one for each axis
    }
  }
}

TEST(CliJson, list_shows_where_each_case_step_and_mutant_has_its_rows) {
  const auto listed = object_of(run("list --json"));
  std::vector<std::string> cases;
  for (const auto& c : listed.at("cases").as_array()) {
    cases.emplace_back(c.at("id").as_string());
    EXPECT_FALSE(c.at("scenarios").as_array().empty()) << c.at("id").as_string();
  }
  EXPECT_THAT(cases, IsSupersetOf({"A1", "A2", "A3", "A4", "A5", "C01", "C02", "C03", "C04", "C05", "C07",
                                   "C08", "C09", "C20", "C22", "C23", "C24"}));
  for (const char* kind : {"steps", "mutants"}) {
    for (const auto& s : listed.at(kind).as_array()) {
      // The steps of locks alone are shown by their conformance tests.
      if (!s.at("id").as_string().starts_with("V")) continue;
      EXPECT_FALSE(s.at("shown_by").as_array().empty()) << s.at("id").as_string();
    }
  }
  EXPECT_EQ(listed.at("mutants").as_array().size(), 4U);
}

TEST(CliJson, steps_that_executions_come_by_can_be_left_out) {
  const auto found = object_of(run("explore " + crossed + " --policy vn-io-fault --json"));
  ASSERT_FALSE(found.at("steps_reached").as_array().empty());
  std::vector<std::string> listed;
  const auto known = object_of(run("list --json"));
  for (const auto& s : known.at("steps").as_array()) listed.emplace_back(s.at("id").as_string());
  for (const auto& id : found.at("steps_reached").as_array()) {
    EXPECT_THAT(listed, testing::Contains(std::string(id.as_string())));
  }
}

TEST(CliJson, verify_gives_each_row_and_the_totals) {
  const auto got = run("verify --json " + crossed);
  const auto checked = object_of(got);
  EXPECT_THAT(keys_of(checked), ElementsAre("rows", "total", "checked", "wrong", "left_to_full", "seconds"));
  EXPECT_EQ(checked.at("rows").as_array().size(), checked.at("total").to_number<std::size_t>());
  EXPECT_EQ(got.status, checked.at("wrong").to_number<int>() == 0 ? 0 : 1);
  for (const auto& row : checked.at("rows").as_array()) {
    EXPECT_EQ(row.at("ok").as_bool(), row.at("wrong").as_array().empty());
  }
}

}  // namespace

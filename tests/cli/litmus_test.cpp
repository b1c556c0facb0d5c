// SPDX-License-Identifier: BSD-2-Clause
// faultline litmus: what is printed, and exit statuses.
#include "program.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

#include <fstream>
#include <string>

namespace {

namespace json = boost::json;
using faultline::test::run;
using faultline::test::scratch;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CliLitmus, prints_as_herd_does) {
  const auto got = run("litmus SB+rlx --memory tso");
  EXPECT_EQ(got.status, 0) << got.err;
  EXPECT_THAT(got.out, AllOf(StartsWith("Test SB+rlx Allowed\n"), HasSubstr("\nStates 4\n"),
                             HasSubstr("*>0:r0=0; 1:r0=0;\n"), HasSubstr(":>0:r0=1; 1:r0=1;\n"),
                             HasSubstr("\nOk\n"), HasSubstr("Condition exists (0:r0=0 /\\ 1:r0=0)\n"),
                             HasSubstr("Observation SB+rlx Sometimes ")));
  EXPECT_THAT(run("litmus SB+rlx --memory sc").out, AllOf(HasSubstr("\nNo\n"), HasSubstr("SB+rlx Never 0 ")));
}

TEST(CliLitmus, tells_what_is_outside_the_model) {
  const auto got = run("litmus LB+rlx 2+2W+rlx Z6.U");
  EXPECT_EQ(got.status, 0) << got.err;
  EXPECT_THAT(got.out, AllOf(HasSubstr("outside the model: load-buffering: 0:r0=1; 1:r0=1;"),
                             HasSubstr("outside the model: store-order: x=1; y=1;"),
                             HasSubstr("outside the model: sc-order: 1:r0=1; 1:r1=3; 2:r0=0;")));
}

TEST(CliLitmus, the_shipped_table_is_as_expected) {
  const auto got = run("litmus");
  EXPECT_EQ(got.status, 0) << got.out << got.err;
  EXPECT_THAT(got.out, EndsWith(" as expected, 0 WRONG\n"));
}

TEST(CliLitmus, undefined_behaviour_and_broken_claims_are_1) {
  const auto race = run("litmus MP+plain+rlx");
  EXPECT_EQ(race.status, 1);
  EXPECT_THAT(race.out, HasSubstr("Flag undefined behaviour: race: "));
  const scratch here;
  const auto path = here / "claim.litmus";
  std::ofstream(path) << "C claim\n{ }\nP0 (atomic_int* x) { *x = 1; }\nP1 (atomic_int* x) { int r0 = *x; }\n"
                         "~exists (1:r0=1)\n";
  EXPECT_EQ(run("litmus '" + path + "'").status, 1);
}

TEST(CliLitmus, input_errors_are_2_with_a_place) {
  const scratch here;
  const auto path = here / "wrong.litmus";
  std::ofstream(path) << "C wrong\n{ }\nP0 (int* x) {\n  WRITE_ONCE(*x, 1);\n}\nexists (x=1)\n";
  for (const auto& [arguments, says] :
       {std::pair{"litmus '" + path + "'", "wrong.litmus:4:3: WRITE_ONCE is of the Linux kernel's model"},
        {"litmus SB+rlx '" + path + "'", "wrong.litmus:4:3: "},
        {"litmus no-such.litmus", "cannot read no-such.litmus"},
        {"litmus SB+rlX", "did you mean SB+rlx?"},
        {"litmus SB+rlx --memory arm", "unknown memory model \"arm\""}}) {
    const auto got = run(arguments);
    EXPECT_EQ(got.status, 2) << arguments;
    EXPECT_EQ(got.out, "") << arguments;
    EXPECT_THAT(got.err, AllOf(StartsWith("faultline: "), HasSubstr(says))) << arguments;
  }
}

TEST(CliLitmus, json_has_these_keys) {
  const auto whole = json::parse(run("litmus LB+rlx --json").out);
  const auto& t = whole.at("tests").as_array().at(0).as_object();
  for (const char* key :
       {"test", "memory", "condition", "ok", "observation", "positive", "negative", "states", "outside",
        "gap", "undefined", "complete", "why_incomplete", "agrees", "seconds"})
    EXPECT_TRUE(t.contains(key)) << key;
  EXPECT_EQ(t.at("memory").as_string(), "weak");
  EXPECT_EQ(t.at("gap").as_string(), "load-buffering");
  EXPECT_EQ(t.at("states").as_array().size(), 3U);
}

}  // namespace

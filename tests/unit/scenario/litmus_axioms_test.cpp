// SPDX-License-Identifier: BSD-2-Clause
// The shipped litmus tests under the definitions of the models, and what each definition says of small programs.
#include <faultline/scenario/litmus.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace faultline {
namespace {

namespace litmus = scenario::litmus;
using litmus::memory_model;
using litmus::observation;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr memory_model models[] = {memory_model::sc, memory_model::tso, memory_model::weak};

std::vector<std::string> ends(const litmus::answer& a, litmus::gaps with = litmus::no_gaps) {
  std::vector<std::string> out;
  for (const auto& s : a.states) {
    if ((s.needs & ~with) == 0) out.push_back(s.text);
  }
  return out;
}

litmus::answer answer_of(const std::string& text, memory_model m) {
  return litmus::check_axioms(litmus::parse(text, "t"), m);
}

TEST(LitmusTable, has_a_row_for_each_test_in_order) {
  const auto& rows = litmus::expected();
  const auto& tests = litmus::shipped();
  ASSERT_EQ(rows.size(), tests.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].test, tests[i].name);
    EXPECT_EQ(litmus::parse(tests[i].text, "t").name, tests[i].name);
  }
}

TEST(LitmusTable, the_definitions_say_what_is_expected) {
  const auto& rows = litmus::expected();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto t = litmus::parse(litmus::shipped()[i].text, rows[i].test);
    EXPECT_FALSE(t.doc.empty()) << t.name;
    for (const auto m : models) {
      const auto a = litmus::check_axioms(t, m);
      ASSERT_TRUE(a.complete()) << t.name << ": " << a.incomplete;
      EXPECT_EQ(litmus::name_of(a.observed(litmus::no_gaps)), litmus::name_of(rows[i].under(m)))
          << t.name << " under " << litmus::name_of(m) << ": " << testing::PrintToString(ends(a));
      EXPECT_EQ(litmus::text_of(litmus::gaps_needed(t, a)),
                litmus::text_of(m == memory_model::weak ? rows[i].needs : litmus::no_gaps))
          << t.name << " under " << litmus::name_of(m);
    }
  }
}

/// What a stronger model allows, a weaker one does.
TEST(LitmusTable, each_model_allows_what_the_one_before_it_allows) {
  for (const auto& file : litmus::shipped()) {
    const auto t = litmus::parse(file.text, std::string(file.name));
    const auto sc = ends(litmus::check_axioms(t, memory_model::sc));
    const auto tso = ends(litmus::check_axioms(t, memory_model::tso));
    const auto weak = ends(litmus::check_axioms(t, memory_model::weak));
    EXPECT_TRUE(std::includes(tso.begin(), tso.end(), sc.begin(), sc.end())) << file.name;
    EXPECT_TRUE(std::includes(weak.begin(), weak.end(), tso.begin(), tso.end())) << file.name;
  }
}

TEST(LitmusAxioms, store_buffering_has_three_ends_or_four) {
  const auto sb = std::find_if(litmus::shipped().begin(), litmus::shipped().end(),
                               [](const auto& s) { return s.name == "SB+rlx"; });
  ASSERT_NE(sb, litmus::shipped().end());
  const auto t = litmus::parse(sb->text, "t");
  EXPECT_THAT(ends(litmus::check_axioms(t, memory_model::sc)),
              ElementsAre("0:r0=0; 1:r0=1;", "0:r0=1; 1:r0=0;", "0:r0=1; 1:r0=1;"));
  EXPECT_EQ(litmus::check_axioms(t, memory_model::tso).states.size(), 4U);
  EXPECT_EQ(litmus::check_axioms(t, memory_model::weak).states.size(), 4U);
}

TEST(LitmusAxioms, nothing_comes_out_of_thin_air) {
  const auto a = answer_of(
      "C t\n{ x=0; y=0; }\n"
      "P0 (atomic_int* x, atomic_int* y) { int r0 = atomic_load_explicit(x, memory_order_relaxed);"
      " atomic_store_explicit(y, r0, memory_order_relaxed); }\n"
      "P1 (atomic_int* x, atomic_int* y) { int r0 = atomic_load_explicit(y, memory_order_relaxed);"
      " atomic_store_explicit(x, r0 + 0, memory_order_relaxed); }\n"
      "exists (0:r0=42 \\/ x=1)",
      memory_model::weak);
  EXPECT_THAT(ends(a, litmus::all_gaps), ElementsAre("0:r0=0; x=0;"));
}

TEST(LitmusAxioms, values_come_about_step_by_step) {
  const auto a = answer_of(
      "C t\n{ x=0; }\n"
      "P0 (atomic_int* x) { int r0 = atomic_fetch_add(x, 3); }\n"
      "P1 (atomic_int* x) { int r0 = atomic_fetch_sub(x, 1); }\n"
      "P2 (atomic_int* x) { int r0 = atomic_fetch_or(x, 8); }\n"
      "forall (x=10 \\/ x=2)",
      memory_model::weak);
  EXPECT_EQ(a.observed(litmus::no_gaps), observation::always) << testing::PrintToString(ends(a));
}

TEST(LitmusAxioms, a_filter_restricts_the_executions) {
  const std::string threads =
      "C t\n{ x=0; }\n"
      "P0 (atomic_int* x) { atomic_store(x, 1); }\n"
      "P1 (atomic_int* x) { int r0 = atomic_load(x); }\n";
  EXPECT_THAT(ends(answer_of(threads + "forall (1:r0=1)", memory_model::sc)),
              ElementsAre("1:r0=0;", "1:r0=1;"));
  EXPECT_THAT(ends(answer_of(threads + "filter (1:r0=1) forall (x=1)", memory_model::sc)),
              ElementsAre("1:r0=1; x=1;"));
  EXPECT_THAT(ends(answer_of(threads + "locations [x; 1:r0;] forall (x=1)", memory_model::sc)),
              ElementsAre("x=1; 1:r0=0;", "x=1; 1:r0=1;"));
}

TEST(LitmusAxioms, a_race_names_what_is_not_ordered) {
  const auto a = answer_of(
      "C t\n{ }\n"
      "P0 (int* x) { *x = 1; }\n"
      "P1 (int* x) { int r0 = *x; }\n"
      "exists (1:r0=1)",
      memory_model::sc);
  ASSERT_TRUE(a.undefined);
  EXPECT_EQ(a.undefined->text, "race: P0 stores to x, P1 loads x");
  EXPECT_EQ(a.observed(litmus::no_gaps), observation::undefined);
}

TEST(LitmusAxioms, an_access_through_no_address_is_undefined) {
  const auto a = answer_of(
      "C t\n{ p = 0; x = 0; }\n"
      "P0 (atomic_int* x, atomic_int** p) { atomic_store(p, x); }\n"
      "P1 (atomic_int** p) { int* q = atomic_load(p); int r0 = *q; }\n"
      "exists (1:r0=0)",
      memory_model::sc);
  ASSERT_TRUE(a.undefined);
  EXPECT_THAT(a.undefined->text, HasSubstr("an access through 0, which is no address (P1, 4:"));
}

TEST(LitmusAxioms, what_is_too_large_is_said) {
  std::string text = "C t\n{ x=0; }\n";
  for (int p = 0; p < 6; ++p) {
    text += "P" + std::to_string(p) + " (atomic_int* x) { ";
    for (int i = 0; i < 4; ++i)
      text += "int r" + std::to_string(i) + " = atomic_exchange(x, " + std::to_string(p * 4 + i + 1) + "); ";
    text += "}\n";
  }
  const auto a = answer_of(text + "exists (x=1)", memory_model::weak);
  EXPECT_FALSE(a.complete());
  EXPECT_THAT(a.incomplete, HasSubstr("too large"));
}

}  // namespace
}  // namespace faultline

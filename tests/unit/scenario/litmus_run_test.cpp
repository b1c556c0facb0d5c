// SPDX-License-Identifier: BSD-2-Clause
// The explorer against the definitions of the memory models: it must find exactly the ends that need no gap.
#include <faultline/scenario/litmus.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace faultline {
namespace {

namespace litmus = scenario::litmus;
using litmus::memory_model;
using testing::HasSubstr;

constexpr memory_model models[] = {memory_model::sc, memory_model::tso, memory_model::weak};

std::vector<std::string> ends(const litmus::answer& a) {
  std::vector<std::string> out;
  for (const auto& s : a.states) {
    if (s.needs == litmus::no_gaps) out.push_back(s.text);
  }
  return out;
}

constexpr std::string_view too_large = "too large for the definitions";

/// \returns the difference, or nothing
std::string difference(const litmus::test& t, memory_model m, litmus::gaps* met = nullptr) {
  const auto defined = litmus::check_axioms(t, m, {.candidates_max = 300'000});
  if (!defined.complete()) return std::string(too_large);
  if (met != nullptr) {
    for (const auto& st : defined.states) *met |= st.needs;
  }
  const auto explored = litmus::run(t, m);
  const bool undefined = defined.undefined && defined.undefined->needs == litmus::no_gaps;
  if (undefined != explored.undefined.has_value()) {
    return "undefined: " + (undefined ? defined.undefined->text : "no") +
           "; explored: " + (explored.undefined ? explored.undefined->text : "no");
  }
  if (undefined) return {};
  if (!explored.complete()) return "the explorer: " + explored.incomplete;
  if (ends(defined) == ends(explored)) return {};
  return "defined:  " + testing::PrintToString(ends(defined)) +
         "\nexplored: " + testing::PrintToString(ends(explored));
}

TEST(LitmusRun, the_explorer_gives_the_shipped_tests_the_ends_that_are_defined) {
  for (const auto& file : litmus::shipped()) {
    const auto t = litmus::parse(file.text, std::string(file.name));
    for (const auto m : models)
      EXPECT_EQ(difference(t, m), "") << file.name << " under " << litmus::name_of(m);
  }
}

TEST(LitmusRun, the_explorer_observes_what_the_table_says) {
  const auto& rows = litmus::expected();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto t = litmus::parse(litmus::shipped()[i].text, rows[i].test);
    for (const auto m : models) {
      EXPECT_EQ(litmus::name_of(litmus::run(t, m).observed(litmus::no_gaps)),
                litmus::name_of(rows[i].under(m)))
          << t.name << " under " << litmus::name_of(m);
    }
  }
}

TEST(LitmusRun, undefined_behaviour_is_told) {
  const auto t = litmus::parse(
      "C t\n{ p = 0; x = 0; }\n"
      "P0 (atomic_int* x, atomic_int** p) { atomic_store(p, x); }\n"
      "P1 (atomic_int** p) { int* q = atomic_load(p); int r0 = *q; }\n"
      "exists (1:r0=0)",
      "t");
  const auto a = litmus::run(t, memory_model::sc);
  ASSERT_TRUE(a.undefined);
  EXPECT_THAT(a.undefined->text, HasSubstr("an access through 0, which is no address (4:"));
}

/// Programs of 2 or 3 threads with at most 3 accesses each.
class generator {
 public:
  explicit generator(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    locations_ = 1 + below(2) + below(2);
    plain_ = below(6) == 0;
    // Mostly of one kind, so that a program is about something.
    style_ = below(4);
    value_ = 0;
    std::string initial;
    for (std::size_t l = 0; l < locations_; ++l) initial += name(l) + "=0; ";
    std::string out = "C generated\n{ " + initial + "}\n";
    std::string seen;
    const auto threads = 2 + below(2);
    for (std::size_t t = 0; t < threads; ++t) {
      out += "P" + std::to_string(t) + " (";
      for (std::size_t l = 0; l < locations_; ++l)
        out += std::string(l == 0 ? "" : ", ") + "atomic_int* " + name(l);
      if (plain_) out += ", int* d";
      out += ") {\n";
      registers_ = 0;
      const auto accesses = 1 + below(3);
      for (std::size_t i = 0; i < accesses; ++i) {
        if (i != 0 && below(4) == 0) out += "  atomic_thread_fence(" + fence_order() + ");\n";
        out += "  " + access() + "\n";
      }
      out += "}\n";
      for (std::size_t r = 0; r < registers_; ++r)
        seen += std::to_string(t) + ":r" + std::to_string(r) + "; ";
    }
    for (std::size_t l = 0; l < locations_; ++l) seen += name(l) + "; ";
    return out + "locations [" + seen + "]\nexists (" + name(0) + "=0)\n";
  }

 private:
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  static std::string name(std::size_t location) { return std::string(1, "xyz"[location]); }
  std::string order(const std::vector<std::string>& of) {
    const auto& o = style_ == 0 ? of.front() : style_ == 1 ? of.back() : of[below(of.size())];
    return "memory_order_" + o;
  }
  std::string fence_order() {
    static const std::vector<std::string> orders{"acquire", "release", "acq_rel", "seq_cst", "seq_cst"};
    return "memory_order_" + orders[below(orders.size())];
  }
  std::string next_register() { return "int r" + std::to_string(registers_++); }
  /// Sometimes of what was loaded before: a data dependency.
  std::string value() {
    const auto fresh = std::to_string(++value_);
    return registers_ != 0 && below(5) == 0 ? "r" + std::to_string(registers_ - 1) + " + " + fresh : fresh;
  }
  std::string access() {
    const auto x = name(below(locations_));
    const std::string guard =
        registers_ != 0 && below(6) == 0 ? "if (r" + std::to_string(registers_ - 1) + " != 0) " : "";
    if (plain_ && below(3) == 0) {
      if (below(2) == 0) return guard + "*d = " + value() + ";";
      return guard + "{ " + next_register() + " = *d; }";
    }
    const auto kind = below(10);
    if (kind < 4) {
      const auto v = value();
      return guard + "atomic_store_explicit(" + x + ", " + v + ", " +
             order({"relaxed", "release", "seq_cst"}) + ");";
    }
    if (kind < 8) {
      const auto r = next_register();
      return guard + "{ " + r + " = atomic_load_explicit(" + x + ", " +
             order({"relaxed", "acquire", "seq_cst"}) + "); }";
    }
    const std::vector<std::string> all{"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    if (kind == 8) {
      const auto v = value();
      const auto r = next_register();
      return guard + "{ " + r + " = atomic_exchange_explicit(" + x + ", " + v + ", " + order(all) + "); }";
    }
    const auto v = value();
    const auto expected = below(2) == 0 ? std::string("0") : std::to_string(1 + below(4));
    const auto r = next_register();
    const auto e = "r" + std::to_string(registers_++);
    return guard + "{ int " + e + " = " + expected + "; " + r +
           " = atomic_compare_exchange_strong_explicit(" + x + ", &" + e + ", " + v + ", " + order(all) +
           ", " + order({"relaxed", "acquire", "seq_cst"}) + "); }";
  }

  std::mt19937_64 random_;
  std::size_t locations_ = 1;
  bool plain_ = false;
  std::size_t style_ = 0;
  std::size_t value_ = 0;
  std::size_t registers_ = 0;
};

class Generated : public testing::TestWithParam<memory_model> {};

TEST_P(Generated, programs_end_as_is_defined) {
  const char* more = std::getenv("FAULTLINE_ORACLE_FACTOR");  // a longer run by hand
  const int programs = 2000 * (more != nullptr ? std::atoi(more) : 1);
  int differ = 0;
  int left_out = 0;
  litmus::gaps met = litmus::no_gaps;
  std::string first;
  std::size_t shortest = ~std::size_t{0};
  for (int i = 0; i < programs; ++i) {
    const auto text = generator(static_cast<std::uint64_t>(i)).text();
    const auto d = difference(litmus::parse(text, "generated"), GetParam(), &met);
    if (d.empty()) continue;
    if (d == too_large) {
      ++left_out;
      continue;
    }
    ++differ;
    if (text.size() >= shortest) continue;
    shortest = text.size();
    first = "program " + std::to_string(i) + "\n" + text + d;
  }
  EXPECT_LT(left_out, programs / 50);
  EXPECT_EQ(met, GetParam() == memory_model::weak ? litmus::all_gaps
                                                  : litmus::no_gaps);  // they were there to be found
  EXPECT_EQ(differ, 0) << "the shortest of them:\n" << first;
}

INSTANTIATE_TEST_SUITE_P(litmus, Generated, testing::ValuesIn(models),
                         [](const auto& i) { return std::string(litmus::name_of(i.param)); });

}  // namespace
}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
#include "commands.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "scenario_file.hpp"
#include "select.hpp"

#include <faultline/scenario/litmus.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace faultline::cli {

namespace {

namespace json = boost::json;
namespace lit = scenario::litmus;

constexpr std::array models{lit::memory_model::sc, lit::memory_model::tso, lit::memory_model::weak};

lit::memory_model memory_named(std::string_view name) {
  for (const auto m : models) {
    if (lit::name_of(m) == name) return m;
  }
  throw usage_error(
      unknown("memory model", name, scenario::names_of(models, [](auto m) { return lit::name_of(m); })));
}

lit::test test_or_file(const std::string& word) {
  const auto& all = lit::shipped();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.name == word; });
  try {
    if (found != all.end()) return lit::parse(found->text, word + ".litmus");
    std::error_code failed;
    if (!word.ends_with(".litmus") && !std::filesystem::exists(word, failed))
      throw usage_error(
          unknown("litmus test or file", word, scenario::names_of(all, &lit::shipped_test::name)));
    return lit::parse(text_of_file(word, scenario::file_bytes_max, "litmus test"), word);
  } catch (const scenario::file_error& error) {
    throw usage_error(error.what());
  }
}

struct result {
  lit::test test;
  lit::answer explored;
  lit::answer defined;  ///< by the model's definition, with gaps
  double seconds = 0;

  [[nodiscard]] bool ok() const { return lit::is_ok(test, explored); }
  /// Gaps that turn the answer.
  [[nodiscard]] lit::gaps needs() const { return lit::gaps_needed(test, defined); }
  /// Ends that one way finds and the other does not, where both looked at all: a mistake of this program.
  [[nodiscard]] bool agree() const {
    if (!explored.complete() || !defined.complete() || explored.undefined || defined.undefined) return true;
    std::vector<std::string> one;
    std::vector<std::string> other;
    for (const auto& s : explored.states) one.push_back(s.text);
    for (const auto& s : defined.states) {
      if (s.needs == lit::no_gaps) other.push_back(s.text);
    }
    if (test.has_consume) return std::includes(other.begin(), other.end(), one.begin(), one.end());
    return one == other;
  }
};

result result_of(lit::test t, lit::memory_model m, progress& shown) {
  const auto start = std::chrono::steady_clock::now();
  result r{.test = std::move(t), .explored = {}, .defined = {}};
  r.explored = lit::run(r.test, m, {.keep_going = [&](std::uint64_t n) { return shown.keep_going(n); }});
  r.defined = lit::check_axioms(r.test, m);
  shown.clear();
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return r;
}

std::string_view kind_of(const lit::test& t) {
  switch (t.quantifier) {
    case lit::quantifier::exists:
      return "Allowed";
    case lit::quantifier::not_exists:
      return "Forbidden";
    case lit::quantifier::forall:
      break;
  }
  return "Required";
}

void print_text(const result& r) {
  const auto& a = r.explored;
  fmt::print("Test {} {}\n", r.test.name, kind_of(r.test));
  if (!r.test.doc.empty()) fmt::print("  {}\n", r.test.doc);
  fmt::print("States {}\n", a.states.size());
  for (const auto& s : a.states) fmt::print("{:<7}{}>{}\n", s.witnesses, s.satisfies ? '*' : ':', s.text);
  fmt::print("{}\n", r.ok() ? "Ok" : "No");
  fmt::print("Witnesses\nPositive: {} Negative: {}\n", a.positive(lit::no_gaps), a.negative(lit::no_gaps));
  fmt::print("Condition {}\n", r.test.condition);
  fmt::print("Observation {} {} {} {}\n", r.test.name, lit::name_of(a.observed(lit::no_gaps)),
             a.positive(lit::no_gaps), a.negative(lit::no_gaps));
  if (a.undefined) fmt::print("Flag undefined behaviour: {}\n", a.undefined->text);
  for (const auto& s : r.defined.states) {
    if (s.needs != lit::no_gaps)
      fmt::print("outside the model: {}: {} ({})\n", lit::text_of(s.needs), s.text,
                 lit::explanation_of(s.needs));
  }
  if (!a.complete()) fmt::print("not complete: {}\n", a.incomplete);
  if (!r.defined.complete()) fmt::print("not compared with the definition: {}\n", r.defined.incomplete);
  if (!r.agree()) fmt::print("WRONG: the explorer and the definition of {} differ\n", lit::name_of(a.memory));
  fmt::print("Time {} {:.2f}\n\n", r.test.name, r.seconds);
}

json::object object_of(const result& r) {
  json::array states;
  for (const auto& s : r.explored.states)
    states.push_back(
        json::object{{"state", s.text}, {"executions", s.witnesses}, {"satisfies", s.satisfies}});
  json::array outside;
  for (const auto& s : r.defined.states) {
    if (s.needs == lit::no_gaps) continue;
    outside.push_back(
        json::object{{"state", s.text}, {"gap", lit::text_of(s.needs)}, {"satisfies", s.satisfies}});
  }
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? json::value() : json::value(text);
  };
  const auto& a = r.explored;
  return {{"test", r.test.name},
          {"memory", lit::name_of(a.memory)},
          {"condition", r.test.condition},
          {"ok", r.ok()},
          {"observation", lit::name_of(a.observed(lit::no_gaps))},
          {"positive", a.positive(lit::no_gaps)},
          {"negative", a.negative(lit::no_gaps)},
          {"states", std::move(states)},
          {"outside", std::move(outside)},
          {"gap", r.needs() == lit::no_gaps ? json::value() : json::value(lit::text_of(r.needs()))},
          {"undefined", a.undefined ? json::value(a.undefined->text) : json::value()},
          {"complete", a.complete()},
          {"why_incomplete", text_or_null(a.incomplete)},
          {"agrees", r.agree()},
          {"seconds", r.seconds}};
}

/// A question is no expectation; ~exists and forall are.
bool is_defect(const result& r) {
  return !r.agree() || r.explored.undefined || (!r.ok() && r.test.quantifier != lit::quantifier::exists);
}

exit_status some(const litmus_request& wanted) {
  const auto m = memory_named(wanted.memory.value_or("weak"));
  std::vector<lit::test> tests;  // all are read before one is run
  tests.reserve(wanted.tests.size());
  for (const auto& word : wanted.tests) tests.push_back(test_or_file(word));
  progress shown("litmus");
  json::array rows;
  bool defect = false;
  bool complete = true;
  for (auto& t : tests) {
    if (interrupted()) break;
    const auto r = result_of(std::move(t), m, shown);
    defect = defect || is_defect(r);
    complete = complete && r.explored.complete();
    if (wanted.json) {
      rows.push_back(object_of(r));
    } else {
      print_text(r);
    }
  }
  if (wanted.json) print({{"tests", std::move(rows)}});
  if (defect) return exit_defect;
  return complete && !interrupted() ? exit_clean : exit_incomplete;
}

std::string cell_of(const result& r, const lit::expected_row& row, bool& wrong) {
  const auto m = r.explored.memory;
  const auto got = r.explored.observed(lit::no_gaps);
  const auto gap = m == lit::memory_model::weak ? r.needs() : lit::no_gaps;
  const bool ok = got == row.under(m) && r.agree() && (m != lit::memory_model::weak || gap == row.needs);
  wrong = wrong || !ok;
  return fmt::format("{}{}{}", lit::name_of(got), gap == lit::no_gaps ? "" : " (" + lit::text_of(gap) + ")",
                     ok ? "" : " WRONG");
}

/// Every shipped test under each model, beside what is expected.
exit_status table(const litmus_request& wanted) {
  std::vector<lit::memory_model> chosen(models.begin(), models.end());
  if (wanted.memory) chosen = {memory_named(*wanted.memory)};
  progress shown("litmus");
  json::array rows;
  std::size_t wrong_rows = 0;
  std::size_t done = 0;
  const auto print_row = [](std::string_view name, const std::vector<std::string>& cells) {
    std::string out = fmt::format("{:<24}", name);
    for (const auto& c : cells) out += fmt::format("{:<11} ", c);
    out.resize(out.find_last_not_of(' ') + 1);
    fmt::print("{}\n", out);
  };
  if (!wanted.json) {
    std::vector<std::string> heads;
    heads.reserve(chosen.size());
    for (const auto m : chosen) heads.emplace_back(lit::name_of(m));
    print_row("test", heads);
  }
  const auto& expected = lit::expected();
  for (std::size_t i = 0; i < expected.size() && !interrupted(); ++i) {
    std::vector<std::string> cells;
    bool wrong = false;
    for (const auto m : chosen) {
      const auto r = result_of(test_or_file(expected[i].test), m, shown);
      bool this_one = false;
      cells.push_back(cell_of(r, expected[i], this_one));
      wrong = wrong || this_one;
      if (!wanted.json) continue;
      auto object = object_of(r);
      object["expected"] = lit::name_of(expected[i].under(m));
      object["as_expected"] = !this_one;
      rows.emplace_back(std::move(object));
    }
    ++done;
    if (wrong) ++wrong_rows;
    if (!wanted.json) print_row(expected[i].test, cells);
  }
  if (wanted.json) {
    print({{"tests", std::move(rows)}, {"checked", done}, {"wrong", wrong_rows}});
  } else {
    fmt::print("\n{} tests, {} as expected, {} WRONG\n", done, done - wrong_rows, wrong_rows);
  }
  if (wrong_rows != 0) return exit_defect;
  return done == expected.size() ? exit_clean : exit_incomplete;
}

}  // namespace

exit_status litmus(const litmus_request& wanted) {
  catch_interrupt();
  return wanted.tests.empty() ? table(wanted) : some(wanted);
}

}  // namespace faultline::cli

// SPDX-License-Identifier: BSD-2-Clause
// What is observed and expected.
#include "scenario/file/resolve.hpp"

#include "scenario/suggest.hpp"

#include <faultline/scenario/checkers/suite.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace faultline::scenario::file {

namespace {

constexpr std::array verdicts{sim::verdict::clean,    sim::verdict::deadlock, sim::verdict::lost_wakeup,
                              sim::verdict::livelock, sim::verdict::race,     sim::verdict::violation};

/// "A.0" of the word "disk.A.0"? Splits at the first dot.
std::pair<std::string_view, std::string_view> split(std::string_view word) {
  const auto dot = word.find('.');
  if (dot == std::string_view::npos) return {word, {}};
  return {word.substr(0, dot), word.substr(dot + 1)};
}

}  // namespace

subject resolver::a_subject(cursor& c) const {
  const auto begin = c.here();
  const std::string word = c.a_word("a file, disk.FILE, size.FILE, PROCESS.MEMORY or a counter");
  const auto& m = out_.program;
  subject s;
  s.shown = word;
  const auto file = [&](std::string_view name) {
    const auto at =
        std::find_if(m.files.begin(), m.files.end(), [&](const auto& f) { return f.name == name; });
    if (at == m.files.end()) return false;
    s.file = static_cast<std::size_t>(at - m.files.begin());
    return true;
  };
  const auto [first, rest] = split(word);
  if (rest.empty()) {
    s.kind = subject_kind::file;
    if (file(word)) return s;
    const auto counters = counter_names();
    if (std::find(counters.begin(), counters.end(), word) != counters.end()) {
      s.kind = subject_kind::counter;
      s.counter = word;
      return s;
    }
  } else if (first == "disk" || first == "size") {
    s.kind = first == "disk" ? subject_kind::disk : subject_kind::size;
    if (file(rest)) return s;
  } else {
    const auto p = std::find_if(m.processes.begin(), m.processes.end(),
                                [&, first = first](const auto& one) { return one.name == first; });
    if (p != m.processes.end()) {
      const auto at = std::find_if(p->memory.begin(), p->memory.end(),
                                   [&, rest = rest](const auto& one) { return one.name == rest; });
      if (at != p->memory.end()) {
        if (at->size > access_max)
          c.fail(begin, fmt::format("{} has more bytes than can be shown: {}", word, access_max));
        s.kind = subject_kind::memory;
        s.process = static_cast<std::size_t>(p - m.processes.begin());
        s.memory = static_cast<std::size_t>(at - p->memory.begin());
        return s;
      }
    }
  }
  std::vector<std::string> names;
  for (const auto& f : m.files) names.push_back(f.name);
  for (const auto& p : m.processes) {
    for (const auto& one : p.memory) names.push_back(p.name + "." + one.name);
  }
  for (const auto name : counter_names()) names.emplace_back(name);
  const std::vector<std::string_view> valid(names.begin(), names.end());
  c.fail(begin, unknown("thing to look at", word, valid) + ", and disk.FILE, size.FILE");
}

void resolver::invariant_line(cursor& c) {
  invariant i;
  i.what = a_subject(c);
  const bool numeric = i.what.kind == subject_kind::size || i.what.kind == subject_kind::counter;
  if (c.word("made-of")) {
    if (numeric) c.fail(c.last(), fmt::format("{} is a number; compare it by ==", i.what.shown));
    do {
      i.made_of.push_back(c.a_text("a record"));
      if (i.made_of.back().empty()) c.fail(c.last(), "a record has a byte or more");
    } while (!c.done());
  } else {
    if (!c.sign("==")) c.fail("after what is looked at comes == VALUE, or made-of \"record\" ...");
    do {
      i.one_of.push_back(numeric ? std::to_string(c.a_size("a value", ~std::uint64_t{0}))
                                 : c.a_text("a value"));
    } while (c.sign("|"));
  }
  out_.program.invariants.push_back(std::move(i));
}

void resolver::observe(cursor& c) {
  do {
    const auto begin = c.here();
    auto s = a_subject(c);
    for (const auto& other : out_.program.observed) {
      if (other.shown == s.shown) c.fail(begin, fmt::format("{} is observed already", s.shown));
    }
    out_.program.observed.push_back(std::move(s));
  } while (!c.done());
}

void resolver::policy(cursor& c, policies& into, bool once) const {
  const auto& own = out_.info.info.axes;
  auto begin = c.here();
  const bool setting = c.at_setting();
  std::string name = own.front();
  if (setting) {
    const std::vector<std::string_view> valid(own.begin(), own.end());
    name = c.one_of("policy axis of the scenario", valid);
    c.the_sign("=", "an axis");
    begin = c.here();
  }
  const auto& a = *find_axis(name);
  std::vector<std::string_view> valid;
  for (const auto& v : a.values) valid.push_back(v.name);
  const bool again =
      !into.insert_or_assign(name, std::string(c.one_of(fmt::format("{} policy", name), valid))).second;
  if (again && once) c.fail(begin, fmt::format("a policy for axis {} is given twice", name));
}

sim::memory_model resolver::memory_model(cursor& c) {
  static constexpr std::array models{sim::memory_model::sc, sim::memory_model::tso, sim::memory_model::weak};
  static constexpr std::array<std::string_view, 3> valid{"sc", "tso", "weak"};
  const auto name = c.one_of("memory model", valid);
  return models[static_cast<std::size_t>(std::find(valid.begin(), valid.end(), name) - valid.begin())];
}

void resolver::search_of(cursor& c, expectation& row) const {
  while (!c.at_sign(":")) {
    if (c.word("stock") || c.sign(",")) continue;
    if (c.word("omit")) {
      do {
        const auto begin = c.here();
        const auto& id = c.a_word("a step");
        const auto* s = find_step(id);
        if (s == nullptr) {
          std::vector<std::string_view> valid;
          for (const auto* known : steps()) valid.push_back(known->id);
          c.fail(begin, unknown("step", id, valid));
        }
        row.omit.emplace_back(s->id);
      } while (c.sign(","));
    } else if (c.word("preemptions")) {
      row.preemptions = static_cast<std::uint32_t>(c.a_number("a bound on preemptions", 1'000'000));
    } else if (c.word("memory")) {
      row.memory = memory_model(c);
    } else if (c.word("random")) {
      row.random_steps = c.a_number("steps of random executions", 1'000'000'000'000);
      if (row.random_steps == 0) c.fail(c.last(), "random is followed by 1 step or more");
      row.random_only = c.word("only");
    } else if (c.word("full")) {
      row.full_only = true;
    } else if (c.word("incomplete")) {
      row.complete = false;
    } else if (c.done()) {
      c.fail("the verdict is missing: expect POLICY ... : VERDICT");
    } else if (std::any_of(verdicts.begin(), verdicts.end(),
                           [&](auto v) { return c.at_word(sim::name_of(v)); })) {
      c.fail("a : is missing before the verdict");
    } else {
      policy(c, row.policies, true);
    }
  }
}

void resolver::outcome(cursor& c, expectation& row) const {
  std::map<std::string, std::string> values;
  while (!c.at_sign("}")) {
    const auto begin = c.here();
    const auto name = c.a_word("what is observed, or }");
    const auto& m = out_.program;
    bool known =
        std::any_of(m.observed.begin(), m.observed.end(), [&](const auto& s) { return s.shown == name; });
    for (const auto& t : m.tasks) {
      known |=
          std::any_of(t.calls.begin(), t.calls.end(), [&](const auto& one) { return one.label == name; });
    }
    if (!known)
      c.fail(begin,
             fmt::format("{} is not observed: no observe line names it, and no call has that label", name));
    c.the_sign("=", "an outcome");
    std::string value;
    if (c.at(token_kind::text)) {
      value = escaped(c.a_text("a value"));
    } else if (c.at(token_kind::number)) {
      value = std::to_string(c.a_number("a value", ~std::uint64_t{0}));
    } else {
      value = c.a_word("a value");
    }
    if (!values.emplace(name, value).second)
      c.fail(begin, fmt::format("{} stands twice in the outcome", name));
    (void)c.sign(",");
  }
  c.the_sign("}", "an outcome");
  std::string line;
  for (const auto& [name, value] : values)
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", name, value);
  row.outcomes.push_back(std::move(line));
}

/// checker NAME silent|fires [at SECONDS] ["a part of what it says"]
void resolver::checker(cursor& c, expectation& row) {
  const auto begin = c.here();
  checker_expectation wanted{.name = std::string(c.one_of("checker", checkers::names))};
  for (const auto& other : row.checkers) {
    if (other.name == wanted.name) c.fail(begin, fmt::format("checker {} stands twice", wanted.name));
  }
  constexpr std::array<std::string_view, 2> ways{"fires", "silent"};
  wanted.fires = c.one_of("answer of a checker", ways) == "fires";
  if (c.word("at")) {
    if (!wanted.fires) c.fail(c.last(), "a checker that is silent has no time; leave out at SECONDS");
    wanted.at = c.a_number("virtual seconds", 1'000'000);
  }
  if (c.at(token_kind::text)) wanted.text = c.a_text("a part of what it says");
  row.checkers.push_back(std::move(wanted));
}

void resolver::expect(cursor& c) {
  const auto begin = c.here();
  expectation row;
  search_of(c, row);
  c.the_sign(":", "an expectation");
  std::vector<std::string_view> valid;
  valid.reserve(verdicts.size());
  for (const auto v : verdicts) valid.emplace_back(sim::name_of(v));
  const auto at = c.here();
  const auto name = c.one_of("verdict", valid);
  row.verdict =
      verdicts[static_cast<std::size_t>(std::find(valid.begin(), valid.end(), name) - valid.begin())];
  const bool clean = row.verdict == sim::verdict::clean;
  const auto object = [&] {
    auto kind = c.a_word("an object, such as vnode:A");
    c.the_sign(":", "an object (vnode:A)");
    return kind + ":" + (c.at(token_kind::word) ? c.a_word("the object's name") : std::string());
  };
  while (!c.done()) {
    if (c.word("checker")) {
      checker(c, row);
    } else if (c.at(token_kind::text)) {
      row.message = c.a_text("a part of the message");
    } else if (c.sign("{")) {
      if (!clean) c.fail(c.last(), "outcomes are those of clean ends; leave them out, or expect clean");
      outcome(c, row);
    } else if (c.word("reversal")) {
      if (!clean) c.fail(c.last(), "reversals go with the verdict clean");
      c.the_sign("(", "reversal (vnode:A vnode:B)");
      row.reversals.emplace_back();
      while (!c.at_sign(")")) row.reversals.back().push_back(object());
      c.the_sign(")", "reversal (vnode:A vnode:B)");
    } else if (!clean) {
      row.cycle.push_back(object());
    } else {
      c.fail(
          "after clean may come outcomes { NAME=VALUE ... }, reversal (OBJECT OBJECT) and checker NAME "
          "fires|silent");
    }
  }
  const auto& tasks = out_.program.tasks;
  if (!row.random_only && std::any_of(tasks.begin(), tasks.end(), [](const auto& t) { return t.forever; }))
    c.fail(at, "beside an adversary that goes on for ever a row is: random N only");
  if (!row.omit.empty() && clean)
    c.fail(at, "a row that omits a step shows its defect: give the verdict that it leads to");
  for (const auto& other : out_.info.expected) {
    if (faultline::scenario::complete(out_.info, other.policies) ==
            faultline::scenario::complete(out_.info, row.policies) &&
        std::set(other.omit.begin(), other.omit.end()) == std::set(row.omit.begin(), row.omit.end()) &&
        other.preemptions == row.preemptions)
      c.fail(begin, "there is an expectation for these policies, steps and bound already");
  }
  out_.info.expected.push_back(std::move(row));
}

}  // namespace faultline::scenario::file

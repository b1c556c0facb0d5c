// SPDX-License-Identifier: BSD-2-Clause
// The question at the end of a litmus file, and what it is asked of.
#include "scenario/litmus/parser.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace faultline::scenario::litmus {

namespace {
using kind = proposition::kind;

proposition joined(kind what, proposition left, proposition right) {
  proposition both{.what = what};
  both.parts.push_back(std::move(left));
  both.parts.push_back(std::move(right));
  return both;
}

constexpr int parts_max = 200;

constexpr std::string_view text_of(quantifier q) {
  switch (q) {
    case quantifier::exists:
      return "exists";
    case quantifier::not_exists:
      return "~exists";
    case quantifier::forall:
      break;
  }
  return "forall";
}
}  // namespace

std::size_t parser::observe(const variable& v) {
  auto& all = program_.observed;
  const auto found = std::find(all.begin(), all.end(), v);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  all.push_back(v);
  return all.size() - 1;
}

/// x, [x], 0:r1
variable parser::a_variable() {
  if (here().kind == token_kind::numeral) {
    const auto of = here();
    ++next_;
    if (of.value < 0 || static_cast<std::size_t>(of.value) >= program_.threads.size())
      fail(of.at,
           fmt::format("there is no thread {}; there are P0 to P{}", of.text, program_.threads.size() - 1));
    the_sign(":", "a register is named as 0:r1");
    const auto& name = a_word("the name of a register");
    const auto& registers = program_.threads[static_cast<std::size_t>(of.value)].registers;
    const auto found = std::find(registers.begin(), registers.end(), name.text);
    if (found == registers.end()) {
      fail(name.at, registers.empty() ? fmt::format("P{} has no registers", of.text)
                                      : fmt::format("P{} has no register {}; it has {}", of.text, name.text,
                                                    fmt::join(registers, ", ")));
    }
    return {static_cast<std::size_t>(of.value), static_cast<std::size_t>(found - registers.begin())};
  }
  const bool bracket = sign("[") || sign("*");
  const bool closes = bracket && tokens_.list[next_ - 1].text == "[";
  const auto& name = a_word("a location, or a register as 0:r1");
  if (closes) the_sign("]", "closes [");
  const auto& all = program_.locations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& l) { return l.name == name.text; });
  if (found == all.end()) {
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const auto& l : all) names.push_back(l.name);
    fail(name.at, fmt::format("there is no location {}; there are: {} (a register is named as 0:{})",
                              name.text, fmt::join(names, ", "), name.text));
  }
  return {{}, static_cast<std::size_t>(found - all.begin())};
}

number parser::a_final_value() {
  const bool minus = sign("-");
  if (here().kind == token_kind::numeral) {
    const auto n = here().value;
    ++next_;
    return minus ? -n : n;
  }
  if (minus) fail_here("a number");
  (void)sign("&");
  const auto at = here().at;
  if (here().kind != token_kind::word) fail_here("a value");
  const auto v = a_variable();
  if (v.thread) fail(at, "a register is compared with a number, or with the address of a location");
  return address_of(v.index);
}

proposition parser::an_atom() {
  if (sign("(")) {
    auto p = a_proposition();
    the_sign(")", "closes (");
    return p;
  }
  if (word("true")) return {.value = 1};
  if (word("false")) return {.value = 0};
  const auto which = observe(a_variable());
  const bool differs = sign("!=");
  if (!differs && !sign("=") && !sign("==")) fail_here("= and a value");
  return {.what = differs ? kind::unequal : kind::equal, .observed = which, .value = a_final_value()};
}

proposition parser::a_negation() {
  const deeper guard(*this);
  if (!sign("~") && !sign("!") && !word("not")) return an_atom();
  proposition p{.what = kind::no};
  p.parts.push_back(a_negation());
  return p;
}

proposition parser::a_conjunction() {
  auto p = a_negation();
  for (int n = 0; sign("/\\") || sign("&&"); ++n) {
    if (n == parts_max) fail(here().at, "the condition is too long");
    p = joined(kind::both, std::move(p), a_negation());
  }
  return p;
}

proposition parser::a_disjunction() {
  auto p = a_conjunction();
  for (int n = 0; sign("\\/") || sign("||"); ++n) {
    if (n == parts_max) fail(here().at, "the condition is too long");
    p = joined(kind::either, std::move(p), a_conjunction());
  }
  return p;
}

proposition parser::an_implication() {
  const deeper guard(*this);
  auto p = a_disjunction();
  if (!sign("=>")) return p;
  return joined(kind::implies, std::move(p), an_implication());
}

proposition parser::a_proposition() { return an_implication(); }

/// locations [x; 0:r1;]
void parser::observed_list() {
  the_sign("[", "locations [x; 0:r1;]");
  while (!sign("]")) {
    if (at_end()) fail_here("] (closes the list of locations)");
    (void)observe(a_variable());
    if (!at_sign("]")) the_sign(";", "ends each of the locations");
  }
}

void parser::final_part(test& out) {
  if (word("locations")) observed_list();
  if (word("filter")) program_.filter = a_proposition();
  if (word("exists")) {
    out.quantifier = quantifier::exists;
  } else if (word("forall")) {
    out.quantifier = quantifier::forall;
  } else if (sign("~")) {
    if (!word("exists")) fail_here("exists");
    out.quantifier = quantifier::not_exists;
  } else {
    fail_here("exists (...), ~exists (...), forall (...), locations [...], filter (...) or another thread");
  }
  const auto first = next_;
  program_.condition = a_proposition();
  if (!at_end()) fail_here("the end of the file");
  out.condition = std::string(text_of(out.quantifier)) + ' ' + written(first);
}

/// The tokens from `first` to here, on one line.
std::string parser::written(std::size_t first) const {
  static constexpr std::string_view tight_before = ") = != : ]";
  static constexpr std::string_view tight_behind = "( = != : [ ~ -";
  const auto among = [](std::string_view list, const token& t) {
    return t.kind == token_kind::sign && list.find(t.text) != std::string_view::npos;
  };
  std::string out;
  for (auto i = first; i < next_; ++i) {
    const auto& t = tokens_.list[i];
    if (i != first && !among(tight_before, t) && !among(tight_behind, tokens_.list[i - 1])) out += ' ';
    out += t.text;
  }
  return out;
}

}  // namespace faultline::scenario::litmus

// SPDX-License-Identifier: BSD-2-Clause
// The frame of a litmus file: title, initial state, threads. Code is code.cpp's, the question condition.cpp's.
#include "scenario/litmus/parser.hpp"
#include "scenario/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace faultline::scenario::litmus {

void parser::fail(place at, const std::string& what) const {
  throw file_error(origin_, at.line, at.column, what);
}

void parser::fail_here(std::string_view wanted) const {
  const auto& t = here();
  fail(t.at, t.kind == token_kind::end ? fmt::format("the file ends where {} is due", wanted)
                                       : fmt::format("\"{}\" is not {}", file::escaped(t.text), wanted));
}

void parser::the_sign(std::string_view text, std::string_view where) {
  if (!sign(text)) fail_here(fmt::format("{} ({})", text, where));
}

const token& parser::a_word(std::string_view what) {
  if (here().kind != token_kind::word) fail_here(what);
  return tokens_.list[next_++];
}

namespace {

constexpr std::array<std::string_view, 13> integer_types{
    "int",  "long",    "short",    "char",    "unsigned", "signed",   "_Bool",
    "bool", "int32_t", "uint32_t", "int64_t", "intptr_t", "uintptr_t"};
constexpr std::array<std::string_view, 8> atomic_types{"atomic_int",      "atomic_long",     "atomic_uint",
                                                       "atomic_ulong",    "atomic_bool",     "atomic_char",
                                                       "atomic_intptr_t", "atomic_uintptr_t"};
constexpr std::array<std::string_view, 6> qualifiers{"volatile", "const", "_Atomic",
                                                     "struct",   "void",  "register"};

template <class Range>
bool has(const Range& range, std::string_view text) {
  return std::find(range.begin(), range.end(), text) != range.end();
}

}  // namespace

bool parser::at_type() const noexcept {
  return here().kind == token_kind::word &&
         (has(integer_types, here().text) || has(atomic_types, here().text) || has(qualifiers, here().text));
}

type parser::a_type() {
  type t;
  bool named = false;
  while (at_type()) {
    const auto& text = here().text;
    if (text == "struct" || text == "void" || text == "register")
      fail(here().at,
           fmt::format("{} is not understood; types are int, atomic_int, int* and the like", text));
    t.atomic = t.atomic || text == "_Atomic" || has(atomic_types, text);
    named = named || !has(qualifiers, text);
    ++next_;
    if (text == "_Atomic" && sign("(")) {
      const auto inner = a_type();
      t.stars += inner.stars;
      named = true;
      the_sign(")", "closes _Atomic(");
    }
  }
  if (!named) fail_here("a type such as int or atomic_int");
  for (;;) {
    if (sign("*")) {
      ++t.stars;
    } else if (at_word("_Atomic")) {
      t.atomic = true;
      ++next_;
    } else if (!word("volatile") && !word("const")) {
      return t;
    }
  }
}

std::size_t parser::location(const std::string& name) {
  auto& all = program_.locations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& l) { return l.name == name; });
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  if (all.size() == locations_max)
    fail(tokens_.list[next_ == 0 ? 0 : next_ - 1].at, fmt::format("more than {} locations", locations_max));
  all.push_back({name, 0, false});
  known_.emplace_back();
  return all.size() - 1;
}

void parser::said(std::size_t location, const type& t, place at) {
  auto& k = known_[location];
  auto& first = t.atomic ? k.said_atomic : k.said_plain;
  if (!first) first = at;
}

/// A number, or the address of a location: x, &x.
number parser::a_value() {
  const bool minus = sign("-");
  if (here().kind == token_kind::numeral) {
    const auto n = here().value;
    ++next_;
    return minus ? -n : n;
  }
  if (minus) fail_here("a number");
  const bool reference = sign("&");
  if (here().kind != token_kind::word) fail_here(reference ? "the name of a location" : "a value: 1, or &x");
  const auto& name = a_word("the name of a location");
  return address_of(location(name.text));
}

void parser::initial_item() {
  std::optional<type> t;
  const auto at = here().at;
  if (at_type()) t = a_type();
  if (here().kind == token_kind::numeral) {  // 0:r1=5
    const auto thread = here();
    ++next_;
    the_sign(":", "0:r1=5 sets a register of P0");
    const auto& name = a_word("the name of a register");
    the_sign("=", "a register is set to a value");
    if (thread.value >= static_cast<number>(threads_max))
      fail(thread.at, fmt::format("there are at most {} threads, P0 to P{}", threads_max, threads_max - 1));
    const auto text = name.text;
    set_[static_cast<std::size_t>(thread.value)].emplace_back(text, a_value());
    return;
  }
  const bool bracket = sign("[");
  const auto name = a_word("the name of a location, or a register as 0:r1");
  if (bracket) the_sign("]", "closes [");
  if (at_sign("[")) fail(here().at, "arrays are not understood; a location is one value: x, y, ...");
  const auto which = location(name.text);
  if (t) said(which, *t, at);
  if (sign("=")) {
    program_.locations[which].initial = a_value();
  } else if (!t) {
    fail_here("= and a value");
  }
}

void parser::initial_state() {
  the_sign("{", "begins the initial state: { x=0; y=0; }");
  while (!sign("}")) {
    if (at_end()) fail_here("} (closes the initial state)");
    if (sign(";")) continue;
    initial_item();
    if (!at_sign("}")) the_sign(";", "ends each item of the initial state");
  }
}

void parser::header(std::size_t thread) {
  parameters_.clear();
  the_sign("(", fmt::format("P{} has the locations it uses as parameters: (atomic_int* x, int* y)", thread));
  while (!sign(")")) {
    const auto at = here().at;
    auto t = a_type();
    const auto& name = a_word("the name of a location");
    if (t.stars == 0)
      fail(at, fmt::format("{} is a location, so its parameter is a pointer: atomic_int* {}", name.text,
                           name.text));
    if (!parameters_.emplace(name.text, t).second)
      fail(name.at, fmt::format("P{} has {} twice among its parameters", thread, name.text));
    const auto which = location(name.text);
    if (t.atomic) said(which, t, at);
    if (!t.atomic && t.stars == 1) said(which, t, at);
    if (!at_sign(")")) the_sign(",", "between parameters");
  }
}

void parser::a_thread() {
  const auto name = here();
  const auto which = program_.threads.size();
  if (which == threads_max) fail(name.at, fmt::format("more than {} threads", threads_max));
  if (name.text != fmt::format("P{}", which))
    fail(name.at, fmt::format("\"{}\" is not P{}; threads are P0, P1, ... in this order", name.text, which));
  ++next_;
  auto& t = program_.threads.emplace_back();
  if (const auto set = set_.find(which); set != set_.end()) {
    for (const auto& [text, value] : set->second) {
      if (std::find(t.registers.begin(), t.registers.end(), text) != t.registers.end()) continue;
      t.registers.push_back(text);
      t.initial.push_back(value);
    }
  }
  header(which);
  for (const auto& text : t.registers) {
    if (parameters_.contains(text))
      fail(name.at, fmt::format("{} is set as a register of P{} and is one of its parameters", text, which));
  }
  if (t.registers.size() > registers_max) fail(name.at, fmt::format("more than {} registers", registers_max));
  the_sign("{", fmt::format("begins the body of P{}", which));
  auto body = a_block();
  program_.threads.back().body = std::move(body);
}

/// A location is atomic or plain for all.
void parser::check_locations() const {
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const auto& k = known_[i];
    const auto& name = program_.locations[i].name;
    if (!k.said_atomic && !k.used_atomic) continue;
    if (k.said_atomic && k.said_plain) {
      fail(*k.said_plain,
           fmt::format("{} is not atomic here, and is at {}:{}; a location is one or the other", name,
                       k.said_atomic->line, k.said_atomic->column));
    }
    if (k.used_plain) {
      const auto& other = k.used_atomic ? *k.used_atomic : *k.said_atomic;
      fail(*k.used_plain,
           fmt::format("a plain access to {}, which is atomic at {}:{}; as atomic_int* {} this would be a "
                       "seq_cst access",
                       name, other.line, other.column, name));
    }
  }
}

test parser::whole() {
  if (tokens_.architecture != "C") {
    fail(tokens_.architecture_at,
         fmt::format("\"{}\" is no test in C; the first line is C NAME, and other languages "
                     "(assembly, LISA) are not read",
                     tokens_.architecture));
  }
  if (tokens_.name.empty()) fail(tokens_.architecture_at, "the test has no name; the first line is C NAME");
  test out;
  out.name = tokens_.name;
  while (here().kind == token_kind::text) {  // herd's "name=value" lines are texts or settings without quotes
    if (out.doc.empty()) out.doc = here().text;
    ++next_;
  }
  while (here().kind == token_kind::word &&
         after().text == "=") {  // Prefetch=..., Orig=...: a line of herd's tools
    const auto line = here().at.line;
    while (!at_end() && here().at.line == line) ++next_;
  }
  initial_state();
  while (here().kind == token_kind::word && here().text.starts_with('P') && after().text == "(") a_thread();
  if (program_.threads.empty()) fail_here("a thread: P0 (atomic_int* x) { ... }");
  if (!set_.empty() && set_.rbegin()->first >= program_.threads.size())
    fail(tokens_.name_at,
         fmt::format("the initial state sets a register of P{}, which is not there", set_.rbegin()->first));
  check_locations();
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const auto& k = known_[i];
    program_.locations[i].atomic = k.said_atomic || k.used_atomic || (k.nothing() && atomic_pointees_);
  }
  final_part(out);
  out.has_consume = has_consume_;
  out.code = std::make_shared<const program>(std::move(program_));
  return out;
}

test parse(std::string_view text, const std::string& origin) {
  return parser(tokens_of(text, origin), origin).whole();
}

}  // namespace faultline::scenario::litmus

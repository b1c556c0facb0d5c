// SPDX-License-Identifier: BSD-2-Clause
// The body of a thread.
#include "scenario/litmus/parser.hpp"
#include "scenario/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace faultline::scenario::litmus {

namespace {

struct binary {
  std::string_view text;
  op what;
  int level;
};
constexpr int tightest = 9;
constexpr std::array binaries{
    binary{"||", op::or_else, 0}, binary{"&&", op::and_also, 1}, binary{"|", op::bit_or, 2},
    binary{"^", op::bit_xor, 3},  binary{"&", op::bit_and, 4},   binary{"==", op::equal, 5},
    binary{"!=", op::unequal, 5}, binary{"<", op::less, 6},      binary{">", op::more, 6},
    binary{"<=", op::at_most, 6}, binary{">=", op::at_least, 6}, binary{"+", op::plus, 7},
    binary{"-", op::minus, 7},    binary{"*", op::times, 8},
};

struct function {
  std::string_view name;
  op what;
  std::size_t values;       ///< arguments beside the address and the orders
  std::string_view barred;  ///< orders that it may not have
};
constexpr std::array functions{
    function{"atomic_load", op::load, 0, "release acq_rel"},
    function{"atomic_store", op::store, 1, "consume acquire acq_rel"},
    function{"atomic_exchange", op::exchange, 1, ""},
    function{"atomic_fetch_add", op::add, 1, ""},
    function{"atomic_fetch_sub", op::sub, 1, ""},
    function{"atomic_fetch_or", op::with_or, 1, ""},
    function{"atomic_fetch_and", op::with_and, 1, ""},
    function{"atomic_fetch_xor", op::with_xor, 1, ""},
    function{"atomic_compare_exchange_strong", op::compare_exchange, 1, ""},
    function{"atomic_compare_exchange_weak", op::compare_exchange, 1, ""},
    function{"atomic_thread_fence", op::fence, 0, ""},
};
constexpr std::string_view explicit_end = "_explicit";

const function* function_named(std::string_view name) {
  const auto* const found =
      std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
  return found == functions.end() ? nullptr : found;
}

constexpr std::array<std::string_view, 6> order_names{"relaxed", "consume", "acquire",
                                                      "release", "acq_rel", "seq_cst"};
constexpr std::string_view order_begin = "memory_order_";

constexpr std::array<std::string_view, 18> kernel_words{
    "READ_ONCE",  "WRITE_ONCE", "smp_",       "rcu_",           "srcu_",       "synchronize_",
    "spin_",      "xchg",       "cmpxchg",    "atomic_read",    "atomic_set",  "atomic_inc",
    "atomic_dec", "atomic_add", "atomic_sub", "atomic_cmpxchg", "atomic_xchg", "atomic_long_"};
constexpr std::array<std::string_view, 9> no_statements{"while", "for",    "do",   "goto",    "switch",
                                                        "break", "return", "case", "continue"};
constexpr std::string_view subset =
    "a thread is declarations, assignments, *x = 1, atomic_... calls and if with else, without loops or "
    "jumps";

/// The location that an address is one of, if it can be told: x, x + (r0 ^ r0).
std::optional<std::size_t> base_of(const expression& e) {
  if (e.what == op::address) return e.index;
  if (e.what != op::plus && e.what != op::minus) return {};
  for (const auto& part : e.operands) {
    if (const auto found = base_of(part)) return found;
  }
  return {};
}

}  // namespace

std::optional<std::size_t> parser::register_named(std::string_view name) const noexcept {
  const auto& all = program_.threads.back().registers;
  const auto found = std::find(all.begin(), all.end(), name);
  if (found == all.end()) return {};
  return static_cast<std::size_t>(found - all.begin());
}

std::size_t parser::make_register(const std::string& name, place at) {
  if (parameters_.contains(name)) fail(at, fmt::format("{0} is a location; *{0} = 1 stores to it", name));
  if (const auto found = register_named(name)) return *found;
  auto& t = program_.threads.back();
  if (t.registers.size() == registers_max) fail(at, fmt::format("more than {} registers", registers_max));
  t.registers.push_back(name);
  t.initial.push_back(0);
  return t.registers.size() - 1;
}

std::string parser::names_here() const {
  std::vector<std::string_view> out;
  for (const auto& [name, t] : parameters_) out.push_back(name);
  for (const auto& name : program_.threads.back().registers) out.push_back(name);
  return out.empty() ? "nothing" : fmt::format("{}", fmt::join(out, ", "));
}

void parser::used_plainly(const expression& address) {
  const auto which = base_of(address);
  if (!which) return;
  const auto known = parameters_.find(program_.locations[*which].name);
  if (known == parameters_.end() || known->second.atomic) return;
  auto& first = known_[*which].used_plain;
  if (!first) first = address.at;
}

std::vector<statement> parser::a_block() {
  std::vector<statement> out;
  while (!sign("}")) {
    if (at_end()) fail_here("} (closes what { began)");
    a_statement(out);
  }
  return out;
}

void parser::a_statement(std::vector<statement>& out) {
  const deeper guard(*this);
  if (sign(";")) return;
  if (sign("{")) {
    statement s{.what = statement::kind::block};
    s.yes = a_block();
    out.push_back(std::move(s));
    return;
  }
  if (here().kind == token_kind::word &&
      std::find(no_statements.begin(), no_statements.end(), here().text) != no_statements.end())
    fail(here().at, fmt::format("{} is not in the subset of C that is read: {}", here().text, subset));
  if (at_word("if")) {
    out.push_back(a_choice());
    return;
  }
  if (at_type()) {
    a_declaration(out);
  } else if (at_sign("*")) {
    a_write(out);
  } else if (here().kind == token_kind::word && after().kind == token_kind::sign && after().text != "(") {
    an_assignment(out);
  } else if (here().kind == token_kind::word && after().text == "(") {
    out.push_back({.what = statement::kind::evaluate, .value = a_call()});
  } else if (at_sign("(") && after().text == "void") {
    next_ += 2;
    the_sign(")", "closes (void");
    out.push_back({.what = statement::kind::evaluate, .value = a_call()});
  } else {
    fail_here(fmt::format("a statement; {}", subset));
  }
  the_sign(";", "ends a statement");
}

statement parser::a_choice() {
  ++next_;
  statement s{.what = statement::kind::choose};
  the_sign("(", "if (condition)");
  s.value = an_expression();
  the_sign(")", "closes the condition");
  a_statement(s.yes);
  if (word("else")) a_statement(s.no);
  return s;
}

void parser::a_declaration(std::vector<statement>& out) {
  const auto t = a_type();
  atomic_pointees_ = atomic_pointees_ || (t.atomic && t.stars != 0);
  for (;;) {
    while (sign("*")) {
    }
    const auto name = a_word("the name of a register");
    if (at_sign("[")) fail(here().at, "arrays are not understood; a register is one value");
    const auto which = make_register(name.text, name.at);
    if (sign("=")) out.push_back({.what = statement::kind::assign, .index = which, .value = an_expression()});
    if (!sign(",")) return;
  }
}

void parser::an_assignment(std::vector<statement>& out) {
  const auto name = a_word("the name of a register");
  const auto to = here();
  ++next_;
  if (to.text == "=") {
    auto value = an_expression();  // before the register is made: r = r + 1 needs an r
    out.push_back({.what = statement::kind::assign,
                   .index = make_register(name.text, name.at),
                   .value = std::move(value)});
    return;
  }
  const auto* const how = std::find_if(binaries.begin(), binaries.end(), [&](const auto& b) {
    return b.level >= 2 && to.text.size() == 2 && to.text[1] == '=' && b.text == to.text.substr(0, 1);
  });
  const bool step = to.text == "++" || to.text == "--";
  if ((how == binaries.end() || how->level == 6) && !step)
    fail(to.at, fmt::format("\"{}\" is not = and a value, nor ( and arguments", to.text));
  if (parameters_.contains(name.text))
    fail(name.at, fmt::format("{0} is a location; *{0} = 1 stores to it", name.text));
  const auto which = register_named(name.text);
  if (!which) fail(name.at, fmt::format("\"{}\" is not known here; there are: {}", name.text, names_here()));
  expression old{.what = op::local, .index = *which, .at = name.at};
  expression by = step ? expression{.value = 1, .at = to.at} : an_expression();
  expression sum{.what = step ? (to.text == "++" ? op::plus : op::minus) : how->what, .at = to.at};
  sum.operands.push_back(std::move(old));
  sum.operands.push_back(std::move(by));
  out.push_back({.what = statement::kind::assign, .index = *which, .value = std::move(sum)});
}

void parser::a_write(std::vector<statement>& out) {
  const auto at = here().at;
  ++next_;
  auto target = a_unary();
  target.at = at;
  used_plainly(target);
  if (here().kind == token_kind::sign && here().text != "=" && here().text.ends_with('='))
    fail(here().at, "only = stores to a location; atomic_fetch_add and the like change one");
  the_sign("=", "*x = value");
  statement s{.what = statement::kind::write};
  s.target = std::move(target);
  s.value = an_expression();
  out.push_back(std::move(s));
}

expression parser::an_expression(int level) {
  const deeper guard(*this);
  if (level == tightest) return a_unary();
  auto left = a_unary();
  // Precedence climbing: what binds less tightly than `level` is left to the caller.
  for (std::size_t length = 0;; ++length) {
    const auto* const b = std::find_if(binaries.begin(), binaries.end(), [&](const auto& candidate) {
      return candidate.level >= level && at_sign(candidate.text);
    });
    if (b == binaries.end()) return left;
    if (length == 200) fail(here().at, "the expression is too long; a litmus test is smaller");
    const auto at = here().at;
    ++next_;
    auto right = an_expression(b->level + 1);
    expression both{.what = b->what, .at = at};
    both.operands.push_back(std::move(left));
    both.operands.push_back(std::move(right));
    left = std::move(both);
  }
}

expression parser::a_unary() {
  const deeper guard(*this);
  const auto at = here().at;
  if (at_sign("(") && after().kind == token_kind::word) {  // a cast?
    ++next_;
    if (at_type()) {
      (void)a_type();
      the_sign(")", "closes the cast");
      return a_unary();
    }
    --next_;
  }
  if (sign("+")) return a_unary();
  for (const auto& [text, what] :
       {std::pair{"-", op::negate}, {"~", op::complement}, {"!", op::negation}, {"*", op::pointee}}) {
    if (!sign(text)) continue;
    expression e{.what = what, .at = at};
    e.operands.push_back(a_unary());
    if (what == op::pointee) used_plainly(e.operands.front());
    return e;
  }
  return a_primary();
}

expression parser::a_primary() {
  const auto at = here().at;
  if (sign("(")) {
    auto e = an_expression();
    the_sign(")", "closes (");
    return e;
  }
  if (here().kind == token_kind::numeral) {
    expression e{.value = here().value, .at = at};
    ++next_;
    return e;
  }
  if (at_sign("&"))
    fail(at, "& is for the expected value of a compare_exchange; a parameter is an address already");
  if (here().kind != token_kind::word) fail_here("a value");
  if (after().text == "(" && after().kind == token_kind::sign) {
    auto call = a_call();
    if (call.what == op::store || call.what == op::fence) fail(at, "a store and a fence have no value");
    return call;
  }
  const auto& name = a_word("a value").text;
  if (parameters_.contains(name)) return {.what = op::address, .index = location(name), .at = at};
  if (const auto found = register_named(name)) return {.what = op::local, .index = *found, .at = at};
  const auto& all = program_.locations;
  if (std::any_of(all.begin(), all.end(), [&](const auto& l) { return l.name == name; }))
    fail(at, fmt::format("{0} is no parameter of P{1}; add it: P{1} (atomic_int* {0})", name,
                         program_.threads.size() - 1));
  fail(at, fmt::format("\"{}\" is not known here; there are: {}", name, names_here()));
}

std::memory_order parser::an_order(std::string_view call, std::string_view barred) {
  const auto& t = a_word("a memory order: memory_order_relaxed, ...");
  const auto bare =
      t.text.starts_with(order_begin) ? std::string_view(t.text).substr(order_begin.size()) : "";
  const auto* const found = std::find(order_names.begin(), order_names.end(), bare);
  if (found == order_names.end())
    fail(t.at, fmt::format("\"{}\" is no memory order; there are memory_order_ {}", t.text,
                           fmt::join(order_names, ", ")));
  if ((" " + std::string(barred) + " ").find(fmt::format(" {} ", bare)) != std::string::npos)
    fail(t.at, fmt::format("{} cannot be {}", call, t.text));
  const auto order = static_cast<std::memory_order>(found - order_names.begin());
  has_consume_ = has_consume_ || order == std::memory_order_consume;
  return order;
}

expression parser::an_address(std::string_view call) {
  if (at_sign("&")) fail(here().at, fmt::format("{} takes a parameter as it is: {}(x, ...)", call, call));
  auto e = an_expression();
  if (const auto which = base_of(e)) {
    auto& first = known_[*which].used_atomic;
    if (!first) first = e.at;
  } else {
    atomic_pointees_ = true;
  }
  return e;
}

expression parser::a_call() {
  const deeper guard(*this);
  const auto name = a_word("the name of a function");
  const bool has_order = name.text.ends_with(explicit_end) || name.text == "atomic_thread_fence";
  auto bare = std::string_view(name.text);
  if (bare.ends_with(explicit_end)) bare.remove_suffix(explicit_end.size());
  const auto* const f = function_named(bare);
  if (f == nullptr || name.text == "atomic_thread_fence_explicit") {
    const auto names = names_of(functions, &function::name);
    if (std::any_of(kernel_words.begin(), kernel_words.end(),
                    [&](auto w) { return name.text.starts_with(w); }))
      fail(name.at,
           fmt::format("{} is of the Linux kernel's model, which is not understood; C11 atomics are: {} (all "
                       "but the fence also with _explicit)",
                       name.text, fmt::join(names, ", ")));
    fail(name.at, unknown("function", name.text, names));
  }
  expression e{.what = f->what, .at = name.at};
  the_sign("(", "begins the arguments");
  if (f->what == op::fence) {
    e.order = an_order(name.text, f->barred);
  } else {
    e.operands.push_back(an_address(name.text));
    if (f->what == op::compare_exchange) {
      the_sign(",", "&expected comes next");
      the_sign("&", "the expected value is given as &r, r a register");
      const auto& r = a_word("the name of a register");
      const auto which = register_named(r.text);
      if (!which)
        fail(r.at, fmt::format("\"{}\" is no register of P{}", r.text, program_.threads.size() - 1));
      e.index = *which;
    }
    for (std::size_t i = 0; i < f->values; ++i) {
      the_sign(",", "a value comes next");
      e.operands.push_back(an_expression());
    }
    if (has_order) {
      the_sign(",", "a memory order comes next");
      e.order = an_order(name.text, f->barred);
      if (f->what == op::compare_exchange) {
        the_sign(",", "the memory order of failure comes next");
        e.failure = an_order("the order of failure", "release acq_rel");
      }
    }
  }
  the_sign(")", "closes the arguments");
  return e;
}

}  // namespace faultline::scenario::litmus

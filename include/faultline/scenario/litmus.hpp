// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Litmus tests: small programs of C11 atomics with a question about how they may end. docs/litmus.md is the guide.
///
/// Two things answer the question: the definitions of the memory models, over all candidate executions (check_axioms), and
/// the explorer (run). They share the test and nothing else.
#include <faultline/scenario/file.hpp>
#include <faultline/sim/explore.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::scenario::litmus {

struct program;

/// What the last line asks.
enum class quantifier : std::uint8_t {
  exists,      ///< some end satisfies the condition
  not_exists,  ///< none does
  forall,      ///< every end does
};

struct test {
  std::string name;
  std::string doc;  ///< empty if there is none
  litmus::quantifier quantifier = quantifier::exists;
  std::string condition;     ///< as written, with its quantifier
  bool has_consume = false;  ///< then run() may find fewer ends than are defined
  std::shared_ptr<const program> code;
};

/// The test that a file's text describes. Names and types are checked here.
/// \param origin  name of the file, for errors
/// \errors throws file_error at the first thing that is wrong
[[nodiscard]] test parse(std::string_view text, const std::string& origin);

using sim::memory_model;
/// "sc", "tso", "weak"
[[nodiscard]] std::string_view name_of(memory_model m) noexcept;

/// Ways in which C++20 allows more than any machine that performs one operation after the other, with each store the newest
/// of its location when it is performed. The explorer is such a machine.
enum class gap : std::uint8_t {
  sc_order = 1,        ///< the seq_cst operations are in an order other than that in which they are performed
  store_order = 2,     ///< a store takes its place before one that was there earlier
  load_buffering = 4,  ///< a load takes a value that is stored later
};
/// A set of gaps, by their values.
using gaps = std::uint8_t;
/// "load-buffering", "store-order+sc-order"; "-" if there is none
[[nodiscard]] std::string text_of(gaps set);
/// One sentence for each gap of the set.
[[nodiscard]] std::string explanation_of(gaps set);

/// A way to end.
struct state {
  std::string text;             ///< "0:r0=1; 1:r1=0;"
  bool satisfies = false;       ///< the condition, without its quantifier
  gaps needs = 0;               ///< what it cannot do without; 0 if some execution needs no gap
  std::uint64_t witnesses = 0;  ///< executions that end so and need no other gaps
};

enum class observation : std::uint8_t { never, sometimes, always, undefined };
/// "Never", "Sometimes", "Always", "Undefined"
[[nodiscard]] std::string_view name_of(observation o) noexcept;

/// Undefined behaviour in some execution.
struct hazard {
  std::string text;  ///< "race: P0 stores to x, P1 loads x"
  gaps needs = 0;
};

struct answer {
  memory_model memory = memory_model::weak;
  std::vector<state> states{};  ///< sorted by text
  std::optional<hazard> undefined{};
  std::string incomplete{};     ///< why this is not all; empty if it is
  std::uint64_t looked_at = 0;  ///< candidates, or executions

  [[nodiscard]] bool complete() const noexcept { return incomplete.empty(); }
  /// \param with  states that need other gaps do not count
  [[nodiscard]] std::uint64_t positive(gaps with) const noexcept;
  [[nodiscard]] std::uint64_t negative(gaps with) const noexcept;
  [[nodiscard]] observation observed(gaps with) const noexcept;
};

inline constexpr gaps no_gaps = 0;
inline constexpr gaps all_gaps = 7;

/// Whether the test's question, with its quantifier, is answered by yes.
[[nodiscard]] bool is_ok(const test& t, const answer& a, gaps with = no_gaps) noexcept;
/// The gaps without which the condition has no witness (for forall: no counterexample), although C++20 has one; 0 if it needs
/// none, or has none. \param a  of check_axioms
[[nodiscard]] gaps gaps_needed(const test& t, const answer& a) noexcept;

/// Bounds: a test beyond them is answered by answer::incomplete.
struct axiom_limits {
  std::uint64_t candidates_max =
      5'000'000;                   ///< choices of values, of stores to read, and of orders of stores
  std::size_t paths_max = 20'000;  ///< of one thread, by the values that it loads
};

/// Every end that the model's definition allows, found by looking at every candidate execution.
[[nodiscard]] answer check_axioms(const test& t, memory_model m, const axiom_limits& limits = {});

struct run_limits {
  std::uint64_t executions_max = 0;  ///< as of sim::options
  std::function<bool(std::uint64_t executions)> keep_going{};
};

/// Every end that the explorer finds. No state of it needs a gap. A consume load of a location that holds addresses is a
/// dependent load (simulated::load_dependent), which orders all that its thread does with the pointee; any other consume load is
/// taken as acquire.
[[nodiscard]] answer run(const test& t, memory_model m, const run_limits& limits = {});

/// A file of docs/litmus, as it was when the library was built.
struct shipped_test {
  std::string_view name;  ///< "MP+rlx": the file's, without .litmus, and the test's
  std::string_view text;
};
/// Sorted by file.
[[nodiscard]] const std::vector<shipped_test>& shipped();

/// A line of docs/litmus/expected.txt.
struct expected_row {
  std::string test;
  observation sc = observation::never;
  observation tso = observation::never;
  observation weak = observation::never;  ///< without gaps
  gaps needs = 0;                         ///< if not 0: C++20 has witnesses, which need these gaps
  [[nodiscard]] observation under(memory_model m) const noexcept;
};
/// \errors throws file_error
[[nodiscard]] std::vector<expected_row> parse_expected(std::string_view text, const std::string& origin);
/// One row for each shipped test, in their order.
[[nodiscard]] const std::vector<expected_row>& expected();

}  // namespace faultline::scenario::litmus

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A scenario: a named reproduction with what is expected of it under each policy and omitted step.
#include <faultline/core/step.hpp>
#include <faultline/sim/explore.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::scenario {

/// Chosen policy of each axis: {"io": "vn-io-fault", "vnode": "shared"}.
using policies = std::map<std::string, std::string, std::less<>>;

/// One way in which kernels differ.
struct axis {
  std::string_view name;  ///< "io"
  std::string_view summary;
  struct value {
    std::string_view name;     ///< "vn-io-fault"
    std::string_view summary;  ///< what it holds while a user page may be faulted in
    /// \name Mutants only: a step replaced by something that does not do
    /// \{
    std::string_view mutant_of{};  ///< the policy
    std::string_view id{};         ///< of the step: "V4a"
    std::string_view defect{};     ///< that it shows
    /// \}
  };
  std::vector<value> values;
};

/// What a kernel's checker says beside a row's verdict.
struct checker_expectation {
  std::string name{};  ///< one of checkers::names: "witness"
  bool fires = false;
  std::optional<std::uint64_t> at{};  ///< virtual seconds, of those that measure time
  /// Substring of its report, or of why it is silent.
  std::string text{};
};

/// One row of the verdict matrix.
struct expectation {
  faultline::scenario::policies policies{};    ///< axes not named take the scenario's stock policy
  std::vector<std::string> omit{};             ///< ids of steps left out
  std::optional<std::uint32_t> preemptions{};  ///< bound; none: every interleaving
  std::optional<sim::memory_model> memory{};   ///< none: the scenario's
  /// After the bounded search so many steps of random executions, not bounded: the same verdict. 0: none.
  std::uint64_t random_steps = 0;
  /// Those random executions in place of the search: where a daemon never ends, a search does not see all that it could do.
  bool random_only = false;
  sim::verdict verdict = sim::verdict::clean;
  /// Substring of the report's one-line message.
  std::string message{};
  /// Objects of the cycle, in any order ("vnode:f0"); for deadlocks.
  std::vector<std::string> cycle{};
  /// Every clean end shows one of these, and each is seen ("a=1 b=2"); empty: not compared.
  std::vector<std::string> outcomes{};
  /// Pairs (or longer cycles) that the order graph reports, exactly; for clean rows.
  std::vector<std::vector<std::string>> reversals{};
  /// The search must have been a proof (for its bound).
  bool complete = true;
  /// Only with --full: takes long.
  bool full_only = false;
  /// Of the checkers named here; the others are not looked at.
  std::vector<checker_expectation> checkers{};
};

struct scenario_info {
  std::string name;                  ///< "vn-io-fault/crossed-write"
  std::string summary;               ///< one sentence
  int thread = 0;                    ///< 1 to 5; 0: none of them
  std::vector<std::string> cases{};  ///< "C01", "A1"
  std::vector<std::string> axes{};   ///< the scenario's own axis first: a bare policy name means it
  policies stock{};                  ///< one policy for each axis
  sim::granularity grain = sim::granularity::coarse;
  sim::memory_model memory = sim::memory_model::sc;
  sim::processors processors = sim::processors::own;
  sim::timers timers = sim::timers::may_fire;
  std::uint32_t starvation_after = 0;  ///< sim::options::starvation_after
};

/// How the scenario is run where nothing else is said.
[[nodiscard]] sim::options usual_options(const scenario_info& info);

struct scenario {
  scenario_info info;
  /// The program under test with these policies (one for each axis).
  std::function<sim::program(const policies& chosen)> program{};
  std::vector<expectation> expected{};
};

/// All shipped scenarios, axes and steps, in the order of their names (ids).
[[nodiscard]] std::span<const scenario> all();
[[nodiscard]] const scenario* find(std::string_view name);
[[nodiscard]] std::span<const axis> axes();
[[nodiscard]] const axis* find_axis(std::string_view name);
/// Is the policy of that axis a mutant? Null: it is none.
[[nodiscard]] const axis::value* find_mutant(std::string_view axis_name, std::string_view policy);
[[nodiscard]] std::span<const step* const> steps();
/// By id ("V1") or name ("vn-io-fault.disable-faults").
[[nodiscard]] const step* find_step(std::string_view id);

/// Stock policies with `chosen` over them.
[[nodiscard]] policies complete(const scenario& s, const policies& chosen);

/// How a row came out.
struct row_result {
  const expectation* row = nullptr;
  sim::report report;
  std::optional<sim::report>
      random{};  ///< of the random steps, where the row wants them and the search was as expected
  std::vector<std::string> wrong;  ///< what is not as expected, a sentence each; empty: all is
};

/// Explores the row and compares. A row with omitted steps must fail in an execution that skipped each of them, and a row with a
/// mutant must fail where the policy that it is a mutant of has a clean row.
/// \param steps_max  over all executions; reaching it is "not as expected" where the row wants a proof
[[nodiscard]] row_result check(const scenario& s, const expectation& row, std::uint64_t steps_max = 0);

/// The expectation for these policies, omitted steps and bound, if the matrix has one.
[[nodiscard]] const expectation* expected(const scenario& s, const policies& chosen,
                                          std::span<const step* const> omit,
                                          std::optional<std::uint32_t> preemptions, sim::memory_model memory);

}  // namespace faultline::scenario

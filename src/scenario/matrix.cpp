// SPDX-License-Identifier: BSD-2-Clause
// Look-ups in the tables of scenarios, and the check of one row of the verdict matrix.
#include <faultline/scenario/checkers/suite.hpp>
#include <faultline/scenario/scenario.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

namespace faultline::scenario {

namespace {

using names = std::set<std::string, std::less<>>;

template <class Range>
names as_set(const Range& range) {
  names out;
  for (const auto& text : range) out.emplace(text);
  return out;
}

std::string text_of(const names& set) {
  return set.empty() ? "none" : fmt::format("{}", fmt::join(set, ", "));
}

/// The row's random executions, which no bound holds back.
sim::options random_search_of(const scenario& s, const expectation& row) {
  auto how = usual_options(s.info);
  how.strategy = sim::strategy_kind::random;
  how.memory = row.memory.value_or(how.memory);
  how.steps_max = row.random_steps;
  how.executions_max = row.random_steps;
  return how;
}

/// A search of the row's combination, but for the omitted steps.
sim::options search_of(const scenario& s, const expectation& row, std::uint64_t steps_max) {
  if (row.random_only) return random_search_of(s, row);
  auto how = usual_options(s.info);
  how.memory = row.memory.value_or(how.memory);
  how.preemptions = row.preemptions;
  how.steps_max = steps_max;
  return how;
}

/// What `explore` cannot be asked: names in the row that nothing stands behind.
void check_names(const scenario& s, const expectation& row, std::vector<std::string>& wrong) {
  if (s.program == nullptr) wrong.push_back("the scenario has no program");
  for (const auto& [axis_name, value] : row.policies) {
    const auto* a = find_axis(axis_name);
    if (a == nullptr || std::find(s.info.axes.begin(), s.info.axes.end(), axis_name) == s.info.axes.end()) {
      wrong.push_back(fmt::format("the row names axis {}, which is none of the scenario's", axis_name));
    } else if (std::none_of(a->values.begin(), a->values.end(),
                            [&wanted = value](const auto& v) { return v.name == wanted; })) {
      wrong.push_back(fmt::format("the row names policy {}={}, which does not exist", axis_name, value));
    }
  }
  for (const auto& id : row.omit) {
    if (find_step(id) == nullptr)
      wrong.push_back(fmt::format("the row omits step {}, which does not exist", id));
  }
}

void compare_defect(const expectation& row, const sim::report& r, std::vector<std::string>& wrong) {
  const auto wanted = as_set(row.cycle);
  const auto got = as_set(r.cycle);
  if (!row.cycle.empty() && wanted != got) {
    wrong.push_back(fmt::format("cycle: expected {}, got {}", text_of(wanted), text_of(got)));
  }
  for (const auto& id : row.omit) {
    const auto* s = find_step(id);
    if (!r.steps_skipped_by_defect.contains(std::string(s->id))) {
      wrong.push_back(fmt::format(
          "the defective execution did not come by step {}, so its omission is not the cause", s->id));
    }
  }
}

/// \param all  each expected outcome must have been seen; random executions may miss some
void compare_outcomes(const expectation& row, const sim::report& r, bool all,
                      std::vector<std::string>& wrong) {
  if (row.outcomes.empty()) return;
  const auto wanted = as_set(row.outcomes);
  names got;
  for (const auto& [line, times] : r.outcomes) got.insert(line);
  for (const auto& line : got) {
    if (!wanted.contains(line))
      wrong.push_back(fmt::format("outcome \"{}\" is not among the expected", line));
  }
  for (const auto& line : wanted) {
    if (all && !got.contains(line)) wrong.push_back(fmt::format("outcome \"{}\" was never seen", line));
  }
}

void compare_reversals(const expectation& row, const sim::report& r, std::vector<std::string>& wrong) {
  std::set<names> wanted;
  for (const auto& cycle : row.reversals) wanted.insert(as_set(cycle));
  std::set<names> got;
  for (const auto& f : r.findings) {
    if (f.kind == "order-reversal") got.insert(as_set(f.objects));
  }
  for (const auto& cycle : got) {
    if (!wanted.contains(cycle))
      wrong.push_back(fmt::format("unexpected order reversal of {}", text_of(cycle)));
  }
  for (const auto& cycle : wanted) {
    if (!got.contains(cycle)) wrong.push_back(fmt::format("no order reversal of {}", text_of(cycle)));
  }
}

void compare_clean(const expectation& row, const sim::report& r, std::vector<std::string>& wrong) {
  compare_outcomes(row, r, !row.random_only, wrong);
  compare_reversals(row, r, wrong);
  if (row.complete && !row.random_only && !r.complete)
    wrong.push_back(fmt::format("no proof: {}", r.why_incomplete));
  for (const auto& id : row.omit) {
    if (!r.steps_skipped.contains(std::string(find_step(id)->id))) {
      wrong.push_back(fmt::format("no execution came by step {}", find_step(id)->id));
    }
  }
}

void compare_checkers(const expectation& row, const std::vector<checkers::checker_result>& results,
                      std::vector<std::string>& wrong) {
  for (const auto& wanted : row.checkers) {
    const auto got = std::find_if(results.begin(), results.end(),
                                  [&](const auto& result) { return result.name == wanted.name; });
    if (got == results.end()) {
      wrong.push_back(fmt::format("the row names checker {}, which does not exist", wanted.name));
      continue;
    }
    const auto& said = got->fired ? got->text : got->why_silent;
    if (got->fired != wanted.fires) {
      wrong.push_back(fmt::format("{}: expected {}, but it {}: {}", wanted.name,
                                  wanted.fires ? "a report" : "silence", got->fired ? "fires" : "is silent",
                                  said));
      continue;
    }
    if (said.find(wanted.text) == std::string::npos)
      wrong.push_back(fmt::format("{}: expected \"{}\" in \"{}\"", wanted.name, wanted.text, said));
    if (wanted.at && wanted.at != got->virtual_seconds) {
      wrong.push_back(fmt::format(
          "{}: expected at {} s, got {}", wanted.name, *wanted.at,
          got->virtual_seconds ? fmt::format("{} s", *got->virtual_seconds) : std::string("no time")));
    }
  }
}
/// A message may go on with a table.
std::string_view first_line(std::string_view message) { return message.substr(0, message.find('\n')); }

bool reaches(const sim::report& r, const expectation& row) {
  return std::all_of(row.omit.begin(), row.omit.end(), [&](const auto& id) {
    return r.steps_reached.contains(std::string(find_step(id)->id));
  });
}

bool same_policies(const scenario& s, const policies& a, const policies& b) {
  return complete(s, a) == complete(s, b);
}

/// Does the matrix itself prove the combination clean with every step kept, as far as `row` looks? Then it need not be proved again.
bool has_clean_row(const scenario& s, const policies& chosen, const expectation& row) {
  return std::any_of(s.expected.begin(), s.expected.end(), [&](const expectation& e) {
    if (!e.omit.empty() || e.verdict != sim::verdict::clean || e.memory != row.memory ||
        !same_policies(s, e.policies, chosen))
      return false;
    if (e.random_only) return row.random_only;
    return e.complete && !e.full_only &&
           (!e.preemptions || (row.preemptions && *row.preemptions <= *e.preemptions));
  });
}

/// The defect must come from the mutation: the policy itself has a row that is clean, and the mutant's is not.
void check_mutants(const scenario& s, const expectation& row, std::vector<std::string>& wrong) {
  auto original = row.policies;
  bool any = false;
  for (auto& [axis_name, policy] : original) {
    const auto* mutant = find_mutant(axis_name, policy);
    if (mutant == nullptr) continue;
    any = true;
    policy = mutant->mutant_of;
  }
  if (!any) return;
  if (row.verdict == sim::verdict::clean) wrong.emplace_back("a row with a mutant must show its defect");
  if (!has_clean_row(s, original, row))
    wrong.emplace_back("the policy that this is a mutant of has no row that expects it to be clean");
}

/// The defect must come from the omission: with the steps kept, executions come by them and none fails.
void check_kept(const scenario& s, const expectation& row, const sim::program& p, std::uint64_t steps_max,
                std::vector<std::string>& wrong) {
  constexpr std::uint64_t short_look = 2'000'000;
  sim::options how = search_of(s, row, steps_max == 0 ? short_look : std::min(steps_max, short_look));
  auto kept = sim::explore(how, p);
  const bool short_is_enough = (row.random_only || has_clean_row(s, row.policies, row)) && reaches(kept, row);
  if (kept.verdict == sim::verdict::clean && !kept.complete && !short_is_enough &&
      how.steps_max != steps_max) {
    how.steps_max = steps_max;
    kept = sim::explore(how, p);
  }
  if (kept.verdict != sim::verdict::clean) {
    wrong.push_back(fmt::format("with the steps kept it is not clean either: {}: {}",
                                sim::name_of(kept.verdict), first_line(kept.message)));
  } else if (!kept.complete && !short_is_enough) {
    wrong.push_back(
        fmt::format("with the steps kept there is no proof that it is clean: {}", kept.why_incomplete));
  }
  for (const auto& id : row.omit) {
    const auto* step = find_step(id);
    if (!kept.steps_reached.contains(std::string(step->id))) {
      wrong.push_back(fmt::format("with the steps kept, no execution comes by step {}", step->id));
    }
  }
}

}  // namespace

sim::options usual_options(const scenario_info& info) {
  sim::options how;
  how.grain = info.grain;
  how.memory = info.memory;
  how.processors = info.processors;
  how.timers = info.timers;
  how.starvation_after = info.starvation_after;
  return how;
}

const scenario* find(std::string_view name) {
  const auto table = all();
  const auto at =
      std::find_if(table.begin(), table.end(), [&](const scenario& s) { return s.info.name == name; });
  return at == table.end() ? nullptr : &*at;
}

const axis* find_axis(std::string_view name) {
  const auto table = axes();
  const auto at = std::find_if(table.begin(), table.end(), [&](const axis& a) { return a.name == name; });
  return at == table.end() ? nullptr : &*at;
}

const axis::value* find_mutant(std::string_view axis_name, std::string_view policy) {
  const auto* a = find_axis(axis_name);
  if (a == nullptr) return nullptr;
  const auto at = std::find_if(a->values.begin(), a->values.end(),
                               [&](const auto& v) { return v.name == policy && !v.mutant_of.empty(); });
  return at == a->values.end() ? nullptr : &*at;
}

const step* find_step(std::string_view id) {
  const auto table = steps();
  const auto at =
      std::find_if(table.begin(), table.end(), [&](const step* s) { return s->id == id || s->name == id; });
  return at == table.end() ? nullptr : *at;
}

policies complete(const scenario& s, const policies& chosen) {
  policies all_axes = chosen;
  all_axes.insert(s.info.stock.begin(), s.info.stock.end());  // what is chosen stays
  return all_axes;
}

row_result check(const scenario& s, const expectation& row, std::uint64_t steps_max) {
  row_result result{.row = &row, .report = {}, .wrong = {}};
  auto& wrong = result.wrong;
  check_names(s, row, wrong);
  check_mutants(s, row, wrong);
  if (!wrong.empty()) return result;
  try {
    const auto p = s.program(complete(s, row.policies));
    auto how = search_of(s, row, steps_max);
    how.stop_at_first = row.verdict != sim::verdict::clean;
    for (const auto& id : row.omit) how.omit.push_back(find_step(id));
    checkers::suite beside;
    result.report = row.checkers.empty() ? sim::explore(how, p) : beside.explore(how, p);
    const auto& r = result.report;
    if (r.verdict != row.verdict) {
      wrong.push_back(fmt::format("expected {}, got {}{}{}", sim::name_of(row.verdict),
                                  sim::name_of(r.verdict), r.message.empty() ? "" : ": ",
                                  first_line(r.message)));
      if (r.verdict == sim::verdict::clean && !r.complete) {
        wrong.push_back(fmt::format("the search ended early: {}", r.why_incomplete));
      }
      return result;
    }
    if (r.message.find(row.message) == std::string::npos) {
      wrong.push_back(fmt::format("message: expected \"{}\" in \"{}\"", row.message, first_line(r.message)));
    }
    if (r.verdict == sim::verdict::clean) {
      compare_clean(row, r, wrong);
    } else {
      compare_defect(row, r, wrong);
    }
    compare_checkers(row, beside.results(r), wrong);
    if (!row.omit.empty()) check_kept(s, row, p, steps_max, wrong);
    if (row.random_steps != 0 && !row.random_only) {
      how = random_search_of(s, row);
      for (const auto& id : row.omit) how.omit.push_back(find_step(id));
      result.random = sim::explore(how, p);
      if (result.random->verdict != row.verdict) {
        wrong.push_back(fmt::format("random executions: expected {}, got {}: {}", sim::name_of(row.verdict),
                                    sim::name_of(result.random->verdict),
                                    first_line(result.random->message)));
      } else if (row.verdict == sim::verdict::clean) {
        compare_outcomes(row, *result.random, false, wrong);
      }
    }
  } catch (const std::exception& error) {
    wrong.push_back(fmt::format("the scenario cannot be run: {}", error.what()));
  }
  return result;
}

const expectation* expected(const scenario& s, const policies& chosen, std::span<const step* const> omit,
                            std::optional<std::uint32_t> preemptions, sim::memory_model memory) {
  const std::set<const step*> wanted(omit.begin(), omit.end());
  for (const auto& row : s.expected) {
    std::set<const step*> of_row;
    for (const auto& id : row.omit) of_row.insert(find_step(id));
    if (of_row == wanted && row.preemptions == preemptions && row.memory.value_or(s.info.memory) == memory &&
        same_policies(s, row.policies, chosen))
      return &row;
  }
  return nullptr;
}

}  // namespace faultline::scenario

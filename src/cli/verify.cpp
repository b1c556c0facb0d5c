// SPDX-License-Identifier: BSD-2-Clause
#include "commands.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "scenario_file.hpp"
#include "select.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace faultline::cli {

namespace {

namespace json = boost::json;

constexpr std::uint64_t steps_of_a_row = 20'000'000;
constexpr std::uint64_t steps_of_a_row_full = 500'000'000;

struct job {
  const scenario::scenario* what;
  const scenario::expectation* row;
};

struct work {
  std::vector<job> jobs;
  std::size_t left_out = 0;  ///< rows of --full
};

work work_for(const verify_request& wanted) {
  std::vector<const scenario::scenario*> chosen;
  for (const auto& name : wanted.scenarios) {
    const auto* s = scenario_or_file(name).what;
    if (s->expected.empty()) {
      throw usage_error(
          fmt::format("{} has no expect line, so there is nothing to verify; explore runs it", name));
    }
    if (std::find(chosen.begin(), chosen.end(), s) == chosen.end()) chosen.push_back(s);
  }
  if (chosen.empty()) {
    for (const auto& s : scenario::all()) chosen.push_back(&s);
  }
  work w;
  for (const auto* s : chosen) {
    for (const auto& row : s->expected) {
      if (row.full_only && !wanted.full) {
        ++w.left_out;
      } else {
        w.jobs.push_back({s, &row});
      }
    }
  }
  return w;
}

using cells = std::array<std::string, 10>;
constexpr std::array<bool, 10> to_the_right{false, false, false, true,  false,
                                            false, false, true,  false, true};
const cells heads{"scenario", "policies", "omit",       "preemptions", "memory",
                  "expected", "got",      "executions", "complete",    "seconds"};

cells first_cells(const job& j) {
  cells c;
  c[0] = j.what->info.name;
  c[1] = j.row->policies.empty() ? "stock" : text_of(j.row->policies, ",");
  c[2] = j.row->omit.empty() ? "-" : fmt::format("{}", fmt::join(j.row->omit, ","));
  c[3] = j.row->random_only ? "random" : j.row->preemptions ? std::to_string(*j.row->preemptions) : "any";
  c[4] = sim::name_of(j.row->memory.value_or(j.what->info.memory));
  c[5] = sim::name_of(j.row->verdict);
  return c;
}

class table {
 public:
  explicit table(const std::vector<job>& jobs) {
    for (std::size_t i = 0; i < widths_.size(); ++i) widths_[i] = heads[i].size();
    for (const auto& j : jobs) {
      const auto c = first_cells(j);
      for (std::size_t i = 0; i < widths_.size(); ++i) widths_[i] = std::max(widths_[i], c[i].size());
    }
    widths_[6] = std::max<std::size_t>(widths_[6], 11);
  }
  void print(const cells& c, std::string_view last) const {
    std::string out;
    for (std::size_t i = 0; i < c.size(); ++i) {
      out += to_the_right[i] ? fmt::format("{:>{}}  ", c[i], widths_[i])
                             : fmt::format("{:<{}}  ", c[i], widths_[i]);
    }
    fmt::print("{}{}\n", out, last);
    std::fflush(stdout);
  }

 private:
  std::array<std::size_t, 10> widths_{};
};

void print_row(const table& t, const job& j, const scenario::row_result& result) {
  auto c = first_cells(j);
  c[6] = sim::name_of(result.report.verdict);
  c[7] = std::to_string(result.report.executions);
  c[8] = result.report.complete ? "yes" : "no";
  c[9] = fmt::format("{:.2f}", result.report.seconds + (result.random ? result.random->seconds : 0));
  std::string last = result.wrong.empty() ? "ok" : "WRONG";
  if (result.random)
    last += fmt::format(", and {} random steps in {} executions", result.random->steps,
                        result.random->executions);
  t.print(c, last);
  for (const auto& reason : result.wrong) fmt::print("    {}\n", reason);
  std::fflush(stdout);
}

json::object object_of(const job& j, const scenario::row_result& result) {
  const auto expected = row_of(*j.what, *j.row);
  const auto& r = result.report;
  return {{"scenario", j.what->info.name},
          {"policy", expected.at("policy")},
          {"omit", expected.at("omit")},
          {"preemptions", expected.at("preemptions")},
          {"memory", expected.at("memory")},
          {"expected", sim::name_of(j.row->verdict)},
          {"got", sim::name_of(r.verdict)},
          {"executions", r.executions},
          {"blocked", r.blocked},
          {"steps", r.steps},
          {"complete", r.complete},
          {"random_executions", result.random ? result.random->executions : 0},
          {"random_steps", result.random ? result.random->steps : 0},
          {"seconds", r.seconds + (result.random ? result.random->seconds : 0)},
          {"ok", result.wrong.empty()},
          {"wrong", array_of(result.wrong)}};
}

}  // namespace

exit_status verify(const verify_request& wanted) {
  const auto todo = work_for(wanted);
  const table t(todo.jobs);
  const auto start = std::chrono::steady_clock::now();
  catch_interrupt();
  progress shown("verify");
  json::array rows;
  std::size_t done = 0;
  std::size_t wrong = 0;
  if (!wanted.json) t.print(heads, "");
  for (const auto& j : todo.jobs) {
    if (interrupted()) break;
    shown.show(fmt::format("row {} of {}: {}", done + 1, todo.jobs.size(), j.what->info.name));
    const auto result = scenario::check(*j.what, *j.row, wanted.full ? steps_of_a_row_full : steps_of_a_row);
    shown.clear();
    ++done;
    if (!result.wrong.empty()) ++wrong;
    if (wanted.json) {
      rows.push_back(object_of(j, result));
    } else {
      print_row(t, j, result);
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool all_done = done == todo.jobs.size();
  if (wanted.json) {
    print({{"rows", std::move(rows)},
           {"total", todo.jobs.size()},
           {"checked", done},
           {"wrong", wrong},
           {"left_to_full", todo.left_out},
           {"seconds", seconds}});
  } else {
    fmt::print("\n{} of {} rows checked, {} as expected, {} WRONG, {:.1f} s{}\n", done, todo.jobs.size(),
               done - wrong, wrong, seconds,
               todo.left_out == 0 ? "" : fmt::format("; {} more with --full", todo.left_out));
    if (!all_done) fmt::print("interrupted\n");
  }
  if (wrong != 0) return exit_defect;
  return all_done ? exit_clean : exit_incomplete;
}

}  // namespace faultline::cli

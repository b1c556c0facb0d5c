// SPDX-License-Identifier: BSD-2-Clause
#include "commands.hpp"
#include "dot.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "output_file.hpp"
#include "recording.hpp"
#include "scenario_file.hpp"
#include "select.hpp"
#include "sim/report_text.hpp"
#include "text.hpp"

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

namespace faultline::cli {

namespace {

recording what_to_run(const explore_request& wanted) {
  recording run;
  auto chosen = scenario_or_file(wanted.scenario);
  if (chosen.path.find_first_of(";\n") != std::string::npos)
    throw usage_error(
        fmt::format("{}: a schedule cannot name a path with a ; in it; rename the file", chosen.path));
  run.what = chosen.what;
  run.path = std::move(chosen.path);
  run.fingerprint = std::move(chosen.fingerprint);
  run.policies = scenario::complete(*run.what, policies_named(*run.what, wanted.policies));
  run.omit = steps_named(wanted.omit);
  run.grain = wanted.granularity ? granularity_named(*wanted.granularity) : run.what->info.grain;
  return run;
}

sim::options how_to_run(const explore_request& wanted, const recording& run) {
  sim::options how;
  how.strategy = strategy_named(wanted.strategy);
  check_memory(wanted.memory);
  if (wanted.preemptions && how.strategy != sim::strategy_kind::exhaustive) {
    throw usage_error(
        "--preemptions bounds an exhaustive search; leave it out, or use --strategy exhaustive");
  }
  how.grain = run.grain;
  how.starvation_after = run.what->info.starvation_after;
  how.seed = wanted.seed;
  how.executions_max = wanted.executions.value_or(0);
  how.steps_max = wanted.steps.value_or(0);
  how.preemptions = wanted.preemptions;
  how.stop_at_first = !wanted.all;
  how.omit = run.omit;
  return how;
}

std::string remark(const explore_request& wanted, const recording& run) {
  if (run.policies.empty()) return {};
  if (wanted.policies.empty()) return "the scenario's stock policies";
  return run.policies == run.what->info.stock ? "as the scenario's stock policies" : "";
}

std::string verdict_line(const sim::report& r, const scenario::expectation* expected) {
  std::string out;
  if (r.verdict != sim::verdict::clean) {
    out = fmt::format("{} in execution {}", sim::name_of(r.verdict), r.defect_execution);
    if (r.verdict == sim::verdict::budget)
      out = "nothing can be said: every execution reached the bound on steps";
  } else if (r.complete) {
    out = r.preemptions < 0 ? "clean: no interleaving has a defect" : "clean within the bound on preemptions";
  } else {
    out = fmt::format("no defect in {} executions; this is no proof", r.executions);
  }
  if (expected == nullptr) return out + '\n';
  return out + (expected->verdict == r.verdict
                    ? "; as the matrix expects\n"
                    : fmt::format("; the matrix expects {}\n", sim::name_of(expected->verdict)));
}

std::string ends_text(const sim::report& r) {
  if (r.defects < 2) return {};
  std::string out = "executions by verdict:";
  for (const auto& [v, times] : r.by_verdict) out += fmt::format(" {} {}", sim::name_of(v), times);
  return out + '\n';
}

std::string steps_text(const recording& run, const sim::report& r) {
  std::string out;
  if (!r.steps_reached.empty())
    out += fmt::format("load-bearing steps on the way: {}\n", fmt::join(r.steps_reached, " "));
  for (const auto* s : run.omit) {
    if (!r.steps_skipped.contains(std::string(s->id))) {
      out += fmt::format("no execution came by {}: leaving it out changed nothing\n", s->id);
    }
  }
  return out;
}

std::string saved_text(const recording& run, const sim::report& r) {
  std::string out = "# One execution, to be seen again with: faultline replay FILE\n";
  auto head = headline(run);
  head.pop_back();
  out += "# " + boost::algorithm::replace_all_copy(head, "\n", "\n# ") + '\n';
  out += r.verdict == sim::verdict::clean ? "# no defect: the first execution\n"
                                          : fmt::format("# {}: {}\n", sim::name_of(r.verdict), r.message);
  out += fmt::format("# found by: {}, execution {}", r.strategy,
                     r.defect_execution == 0 ? 1 : r.defect_execution);
  if (r.strategy == "random") out += fmt::format(", seed {}", r.seed);
  if (r.preemptions >= 0) out += fmt::format(", at most {} preemptions", r.preemptions);
  return out + '\n' + text_of(run) + '\n';
}

/// A path that neither looks like an option nor like a schedule.
std::string as_argument(const std::string& path) {
  return path.starts_with('-') || is_recording(path) ? "./" + path : path;
}

std::string blank_line_after(const std::string& text) { return text.empty() ? text : text + '\n'; }

void print_report(const explore_request& wanted, const recording& run, const sim::report& r,
                  const scenario::expectation* expected, const std::string& program) {
  auto text = headline(run, remark(wanted, run)) + verdict_line(r, expected);
  auto coverage = sim::coverage_text(r);
  coverage.insert(coverage.find('\n'), fmt::format(", {:.1f} s", r.seconds));
  text += indented(coverage + ends_text(r), 2) + '\n';
  text += blank_line_after(sim::defect_text(r));
  text += blank_line_after(sim::findings_text(r));
  text += blank_line_after(observations_text(r) + steps_text(run, r));
  if (wanted.dot) text += fmt::format("graph: dot -Tsvg -O {}\n", shell_word(*wanted.dot));
  if (wanted.save || r.verdict != sim::verdict::clean) {
    text +=
        r.verdict == sim::verdict::clean ? "to see the first execution: " : "to see it again, step by step: ";
    text += replay_command(program, wanted.save ? as_argument(*wanted.save) : text_of(run)) + '\n';
  } else {
    text.pop_back();
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

exit_status status_of(const sim::report& r) {
  if (r.verdict == sim::verdict::budget) return exit_incomplete;
  if (r.verdict != sim::verdict::clean) return exit_defect;
  return r.strategy == "exhaustive" && !r.complete ? exit_incomplete : exit_clean;
}

}  // namespace

exit_status explore(const explore_request& wanted, const std::string& program) {
  auto run = what_to_run(wanted);
  auto how = how_to_run(wanted, run);
  if (wanted.save) check_writable(*wanted.save);
  if (wanted.dot) check_writable(*wanted.dot);
  if (wanted.save && wanted.save == wanted.dot)
    throw usage_error("--save and --dot name the same file; name two");

  const auto p = run.what->program(run.policies);
  catch_interrupt();
  progress shown(std::string(run.what->info.name));
  how.keep_going = [&shown](std::uint64_t executions) { return shown.keep_going(executions); };
  const auto r = sim::explore(how, p);
  shown.clear();
  run.schedule = r.schedule;
  const auto* expected = scenario::expected(*run.what, run.policies, run.omit, wanted.preemptions);

  if (wanted.save) write_whole(*wanted.save, saved_text(run, r));
  if (wanted.dot) write_whole(*wanted.dot, dot_of(r, headline(run)));
  if (wanted.json) {
    print(report_of(run, r, expected));
  } else {
    print_report(wanted, run, r, expected, program);
  }
  return status_of(r);
}

}  // namespace faultline::cli

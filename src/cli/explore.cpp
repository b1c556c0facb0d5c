// SPDX-License-Identifier: BSD-2-Clause
#include "checkers.hpp"
#include "commands.hpp"
#include "dot.hpp"
#include "explore_text.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "narration.hpp"
#include "output_file.hpp"
#include "recording.hpp"
#include "scenario_file.hpp"
#include "select.hpp"
#include "shards.hpp"
#include "text.hpp"
#include "trace.hpp"

#include <faultline/scenario/checkers/suite.hpp>
#include <faultline/sim/shorten.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <map>

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
  take_usual_settings(run);
  if (wanted.granularity) run.grain = granularity_named(*wanted.granularity);
  if (wanted.memory) run.memory = memory_named(*wanted.memory);
  if (wanted.processors) run.processors = processors_named(*wanted.processors);
  if (wanted.timers) run.timers = timers_named(*wanted.timers);
  return run;
}

/// "N", or "0..N": bounds 0 to N one after the other.
void take_preemptions(const std::string& text, sim::options& how) {
  const std::string_view digits = text.starts_with("0..") ? std::string_view(text).substr(3) : text;
  std::uint32_t bound = 0;
  const auto* const end = digits.data() + digits.size();
  const auto got = std::from_chars(digits.data(), end, bound);
  if (got.ec != std::errc{} || got.ptr != end || bound > 1'000'000) {
    throw usage_error(
        fmt::format("--preemptions: \"{}\" is not a whole number N from 0 to 1000000, nor 0..N for bounds 0 "
                    "to N one after the other",
                    text));
  }
  how.preemptions = bound;
  how.iterate_bounds = digits.size() != text.size();
}

/// "I/N", the first being 0/N.
void take_shard(const std::string& text, sim::options& how) {
  const auto slash = text.find('/');
  const auto number = [&](std::string_view digits, std::uint32_t& into) {
    const auto* const end = digits.data() + digits.size();
    const auto got = std::from_chars(digits.data(), end, into);
    return !digits.empty() && got.ec == std::errc{} && got.ptr == end;
  };
  const bool fits = slash != std::string::npos &&
                    number(std::string_view(text).substr(0, slash), how.shard.index) &&
                    number(std::string_view(text).substr(slash + 1), how.shard.count) &&
                    how.shard.index < how.shard.count && how.shard.count <= 4096;
  if (!fits) throw usage_error(fmt::format("--shard {}: write I/N, from 0/N to N-1/N, N at most 4096", text));
}

sim::options how_to_run(const explore_request& wanted, const recording& run) {
  auto how = options_of(run);
  how.strategy = strategy_named(wanted.strategy);
  if (wanted.preemptions) {
    if (how.strategy != sim::strategy_kind::exhaustive) {
      throw usage_error(
          "--preemptions bounds an exhaustive search; leave it out, or use --strategy exhaustive");
    }
    take_preemptions(*wanted.preemptions, how);
  }
  if (wanted.shard) take_shard(*wanted.shard, how);
  const bool parts = wanted.jobs.value_or(1) > 1 || wanted.shard;
  if (wanted.jobs.value_or(1) > 1 && wanted.shard)
    throw usage_error("--jobs and --shard: a search is divided once; give one of them");
  if (parts && how.strategy == sim::strategy_kind::automatic)
    throw usage_error("--strategy auto cannot be divided; give exhaustive, random, pct or pos");
  if (parts && how.iterate_bounds) throw usage_error("--preemptions 0..N cannot be divided; give one bound");
  if (parts && wanted.checkers)
    throw usage_error("--checkers watch one search: leave out --jobs and --shard");
  how.seed = wanted.seed;
  how.executions_max = wanted.executions.value_or(0);
  how.steps_max = wanted.steps.value_or(0);
  how.stop_at_first = !wanted.all;
  return how;
}

std::string remark(const explore_request& wanted, const recording& run) {
  if (run.policies.empty()) return {};
  if (wanted.policies.empty()) return "the scenario's stock policies";
  return run.policies == run.what->info.stock ? "as the scenario's stock policies" : "";
}

/// A path that neither looks like an option nor like a schedule.
std::string as_argument(const std::string& path) {
  return path.starts_with('-') || is_recording(path) ? "./" + path : path;
}

using checker_results = std::vector<scenario::checkers::checker_result>;

/// Potential deadlocks that a clean run found are tried out.
void confirm_findings(const explore_request& wanted, const recording& run, sim::report& r,
                      checker_results& results, const sim::options& how, const sim::program& p) {
  if (r.verdict != sim::verdict::clean && !wanted.checkers) return;
  scenario::checkers::confirm_all(r, results, how, p, [&run](const std::string& schedule) {
    auto hangs = run;
    hangs.schedule = schedule;
    return text_of(hangs);
  });
}

/// The schedule as it is shown: short, unless it was asked for as found.
std::optional<sim::shortened> shortened_for(const explore_request& wanted, sim::report& r,
                                            const sim::options& how, const sim::program& p) {
  const bool defect = r.verdict != sim::verdict::clean && r.verdict != sim::verdict::budget;
  if (!defect || wanted.as_found || wanted.checkers || r.interrupted) return {};
  auto s = sim::shorten(r, p, how);
  r = s.report;
  return s;
}

std::string length_text(const sim::schedule_size& s) {
  return fmt::format("{} preemption{} in {} step{}", s.preemptions, s.preemptions == 1 ? "" : "s", s.steps,
                     s.steps == 1 ? "" : "s");
}

std::string schedule_text(const sim::shortened& s) {
  auto text = fmt::format("the schedule, {}", length_text(s.after));
  if (s.after < s.before) text += fmt::format(" (as found: {})", length_text(s.before));
  if (s.fewest_preemptions && s.after.preemptions != 0)
    text += "; no schedule does it with fewer preemptions";
  return fmt::format("{}:\n\n{}\n", text, indented(sim::schedule_table(s), 2));
}

void print_report(const explore_request& wanted, const recording& run, const sim::report& r,
                  const std::optional<sim::shortened>& shorter, const checker_results& results,
                  const scenario::expectation* expected, const std::string& program) {
  auto text = headline(run, remark(wanted, run)) + verdict_line(r, expected) + search_text(run, r);
  if (shorter) text += schedule_text(*shorter);
  if (wanted.checkers) text += checkers_text(results) + '\n';
  if (wanted.dot) text += fmt::format("graph: dot -Tsvg -O {}\n", shell_word(*wanted.dot));
  if (wanted.trace)
    text += fmt::format("trace: open {} in a viewer of Chrome traces\n", shell_word(*wanted.trace));
  if (wanted.save || r.verdict != sim::verdict::clean) {
    text +=
        r.verdict == sim::verdict::clean ? "to see the first execution: " : "to see it again, step by step: ";
    text += replay_command(program, wanted.save ? as_argument(*wanted.save) : text_of(run)) + '\n';
  } else {
    text.pop_back();
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

boost::json::object size_of(const sim::schedule_size& s) {
  return {{"preemptions", s.preemptions}, {"tasks", s.tasks}, {"switches", s.switches}, {"steps", s.steps}};
}

/// Each file is written at the end only; that it can be is checked before the search.
void check_outputs(const explore_request& wanted) {
  std::map<std::string, std::string_view> named;
  for (const auto& [option, path] :
       {std::pair{"--save", wanted.save}, {"--dot", wanted.dot}, {"--trace", wanted.trace}}) {
    if (!path) continue;
    const auto [at, fresh] = named.try_emplace(*path, option);
    if (!fresh) throw usage_error(fmt::format("{} and {} name the same file; name two", at->second, option));
    check_writable(*path);
  }
}

exit_status status_of(const sim::report& r) {
  if (r.verdict == sim::verdict::budget) return exit_incomplete;
  if (r.verdict != sim::verdict::clean) return exit_defect;
  // A part of a search that covered all of its part has done what was asked.
  return r.strategy == "exhaustive" && !r.covers_shard ? exit_incomplete : exit_clean;
}

}  // namespace

exit_status explore(const explore_request& wanted, const std::string& program) {
  auto run = what_to_run(wanted);
  auto how = how_to_run(wanted, run);
  check_outputs(wanted);

  const auto p = run.what->program(run.policies);
  catch_interrupt();
  progress shown(std::string(run.what->info.name));
  const auto keep_going = [&shown](std::uint64_t executions) { return shown.keep_going(executions); };
  scenario::checkers::suite beside;
  sim::report r;
  if (const auto jobs = wanted.jobs.value_or(1); jobs > 1) {
    r = explore_in_parallel(how, p, jobs, keep_going);
  } else {
    how.keep_going = keep_going;
    r = wanted.checkers ? beside.explore(how, p) : sim::explore(how, p);
  }
  auto results = wanted.checkers ? beside.results(r) : checker_results{};
  how.shard = {};  // what follows is no part of the search
  if (!r.interrupted) confirm_findings(wanted, run, r, results, how, p);
  const auto shorter = shortened_for(wanted, r, how, p);
  shown.clear();
  run.schedule = r.schedule;
  const auto* expected = scenario::expected(*run.what, run.policies, run.omit, how.preemptions, how.memory);

  if (wanted.save) write_whole(*wanted.save, saved_text(run, r));
  if (wanted.dot) write_whole(*wanted.dot, dot_of(r, headline(run)));
  if (wanted.trace) {
    const auto w = watch(run.schedule, p, options_of(run));
    write_whole(*wanted.trace, chrome_trace(w.tasks, w.steps));
  }
  if (wanted.json) {
    auto object = report_of(run, r, expected);
    if (shorter) {
      object.emplace("shortened", boost::json::object{{"from", size_of(shorter->before)},
                                                      {"to", size_of(shorter->after)},
                                                      {"fewest_preemptions", shorter->fewest_preemptions}});
    }
    if (r.shards > 1) object.emplace("shard", shard_of(r));
    if (wanted.checkers) object.emplace("checkers", checkers_of(results));
    print(object);
  } else {
    print_report(wanted, run, r, shorter, results, expected, program);
  }
  return status_of(r);
}

}  // namespace faultline::cli

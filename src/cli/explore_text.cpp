// SPDX-License-Identifier: BSD-2-Clause
#include "explore_text.hpp"

#include "sim/report_text.hpp"
#include "text.hpp"

#include <boost/algorithm/string/replace.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace faultline::cli {

namespace {
std::string blank_line_after(const std::string& text) { return text.empty() ? text : text + '\n'; }
}  // namespace

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
  out += r.verdict == sim::verdict::clean
             ? "# no defect: the first execution\n"
             : fmt::format("# {}: {}\n", sim::name_of(r.verdict),
                           boost::algorithm::replace_all_copy(r.message, "\n", "\n# "));
  out += fmt::format("# found by: {}, execution {}", r.strategy,
                     r.defect_execution == 0 ? 1 : r.defect_execution);
  if (r.strategy == "random" || r.strategy == "pct" || r.strategy == "pos")
    out += fmt::format(", seed {}", r.seed);
  if (r.preemptions >= 0) out += fmt::format(", at most {} preemptions", r.preemptions);
  return out + '\n' + text_of(run) + '\n';
}

std::string search_text(const recording& run, const sim::report& r) {
  auto coverage = sim::coverage_text(r);
  coverage.insert(coverage.find('\n'), fmt::format(", {:.1f} s", r.seconds));
  auto text = indented(coverage + ends_text(r), 2) + '\n';
  text += blank_line_after(sim::defect_text(r));
  text += blank_line_after(sim::findings_text(r));
  return text + blank_line_after(observations_text(r) + steps_text(run, r));
}

}  // namespace faultline::cli

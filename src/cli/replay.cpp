// SPDX-License-Identifier: BSD-2-Clause
#include "commands.hpp"
#include "json.hpp"
#include "narration.hpp"
#include "output_file.hpp"
#include "recording.hpp"
#include "select.hpp"
#include "sim/report_text.hpp"
#include "text.hpp"
#include "trace.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace faultline::cli {

namespace {

boost::json::object as_object(const recording& run, const watched& w) {
  boost::json::array steps;
  for (const auto& s : w.steps) {
    steps.push_back(boost::json::object{
        {"step", s.step}, {"task", s.task}, {"what", s.what}, {"chain", array_of(s.chain)}});
  }
  const auto& r = w.report;
  return {{"scenario", run.what->info.name},
          {"policy", object_of(run.policies)},
          {"omit", ids_of(run.omit)},
          {"granularity", r.grain},
          {"memory", r.memory},
          {"verdict", sim::name_of(r.verdict)},
          {"message", r.message},
          {"file_changed", run.changed},
          {"diverged", r.diverged.empty() ? boost::json::value(nullptr) : boost::json::value(r.diverged)},
          {"cycle", array_of(r.cycle)},
          {"waits", waits_of(r)},
          {"findings", findings_of(r)},
          {"observations", observations_of(r)},
          {"schedule", text_of(run)},
          {"tasks", array_of(w.tasks)},
          {"steps", std::move(steps)}};
}

void print_text(const recording& run, const watched& w) {
  const auto& r = w.report;
  auto text = headline(run) + '\n' + narration_of(w) + '\n';
  if (run.changed) text += fmt::format("{} has changed since this was recorded\n", run.path);
  if (!r.diverged.empty()) text += fmt::format("not the same execution any more: {}\n", r.diverged);
  text += r.verdict == sim::verdict::clean ? "clean: the execution ended without a defect\n"
                                           : sim::defect_text(r);
  if (const auto seen = observations_text(r); !seen.empty()) text += '\n' + seen;
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

exit_status replay(const replay_request& wanted) {
  const auto run =
      is_recording(wanted.source) ? recording_from(wanted.source, "") : recording_from_file(wanted.source);
  if (wanted.trace) check_writable(*wanted.trace);
  watched w;
  try {
    w = watch(run.schedule, run.what->program(run.policies), options_of(run));
  } catch (const std::invalid_argument& error) {
    throw usage_error(run.origin + error.what());
  }
  if (wanted.trace) write_whole(*wanted.trace, chrome_trace(w.tasks, w.steps));
  if (wanted.json) {
    print(as_object(run, w));
  } else {
    print_text(run, w);
  }
  if (w.report.verdict != sim::verdict::clean && w.report.verdict != sim::verdict::budget) return exit_defect;
  if (!w.report.diverged.empty()) {
    std::fflush(stdout);
    throw usage_error(
        fmt::format("{}the schedule does not fit this program: {}", run.origin, w.report.diverged));
  }
  return exit_clean;
}

}  // namespace faultline::cli

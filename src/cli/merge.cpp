// SPDX-License-Identifier: BSD-2-Clause
#include "commands.hpp"
#include "explore_text.hpp"
#include "json.hpp"
#include "output_file.hpp"
#include "scenario_file.hpp"
#include "shards.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

namespace faultline::cli {

namespace json = boost::json;

namespace {

constexpr std::size_t file_max = std::size_t{1} << 28U;

struct part {
  recording run;
  sim::report report;
  std::string program;  ///< what was searched: the recording but for its schedule
};

part part_from(const std::string& path) {
  const auto text = text_of_file(path, file_max, "report");
  boost::json::error_code error;
  const auto value = json::parse(text, error);
  if (error)
    throw usage_error(
        fmt::format("{}: not JSON; give what faultline explore --shard I/N --json prints", path));
  try {
    const auto& object = value.as_object();
    if (!object.contains("shard")) {
      throw usage_error(fmt::format(
          "{}: not a part of a search; give what faultline explore --shard I/N --json prints", path));
    }
    part p;
    p.run = recording_from(json::value_to<std::string>(object.at("schedule")), path + ": ");
    p.report = report_from(object.at("shard").as_object());
    auto without = p.run;
    without.schedule.clear();
    p.program = text_of(without);
    return p;
  } catch (const usage_error&) {
    throw;
  } catch (const std::exception& e) {
    throw usage_error(
        fmt::format("{}: a report that another version wrote, or not whole: {}", path, e.what()));
  }
}

}  // namespace

exit_status merge(const merge_request& wanted, const std::string& program) {
  std::vector<part> parts;
  for (const auto& path : wanted.files) {
    parts.push_back(part_from(path));
    if (parts.back().program != parts.front().program) {
      throw usage_error(fmt::format("{}: a part of another search: {}, where {} has {}", path,
                                    parts.back().program, wanted.files.front(), parts.front().program));
    }
  }
  std::vector<sim::report> reports;
  reports.reserve(parts.size());
  for (auto& p : parts) reports.push_back(std::move(p.report));
  sim::report r;
  try {
    r = sim::merge(std::move(reports));
  } catch (const std::invalid_argument& error) {
    throw usage_error(error.what());
  }
  auto run = parts.front().run;
  run.schedule = r.schedule;
  const auto bound =
      r.preemptions < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(r.preemptions));
  const auto* expected = scenario::expected(*run.what, run.policies, run.omit, bound, run.memory);
  if (wanted.json) {
    print(report_of(run, r, expected));
  } else {
    auto text = headline(run, "") + verdict_line(r, expected) + search_text(run, r);
    if (r.verdict != sim::verdict::clean) {
      text += "to see it again, step by step: " + replay_command(program, text_of(run)) + '\n';
    } else {
      text.pop_back();
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (r.verdict == sim::verdict::budget) return exit_incomplete;
  if (r.verdict != sim::verdict::clean) return exit_defect;
  return r.strategy == "exhaustive" && !r.complete ? exit_incomplete : exit_clean;
}

}  // namespace faultline::cli

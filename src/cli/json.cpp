// SPDX-License-Identifier: BSD-2-Clause
#include "json.hpp"

#include "select.hpp"

#include <cstdio>

namespace faultline::cli {

namespace json = boost::json;

json::object object_of(const scenario::policies& chosen) {
  json::object out;
  for (const auto& [axis, policy] : chosen) out.emplace(axis, policy);
  return out;
}

json::array ids_of(const std::vector<const step*>& steps) {
  json::array out;
  for (const auto* s : steps) out.emplace_back(s->id);
  return out;
}

json::array waits_of(const sim::report& r) {
  json::array out;
  for (const auto& w : r.waits) {
    json::array holders;
    for (const auto& h : w.held_by) {
      holders.push_back(json::object{{"task", h.task},
                                     {"mode", h.mode},
                                     {"queued", h.queued},
                                     {"since_step", h.since_step},
                                     {"since", array_of(h.since)}});
    }
    out.push_back(json::object{{"task", w.task},
                               {"object", w.object},
                               {"mode", w.mode},
                               {"wait_name", w.wait_name},
                               {"chain", array_of(w.chain)},
                               {"held_by", std::move(holders)}});
  }
  return out;
}

json::array findings_of(const sim::report& r) {
  json::array out;
  for (const auto& f : r.findings) {
    out.push_back(json::object{{"kind", f.kind}, {"objects", array_of(f.objects)}, {"text", f.text}});
  }
  return out;
}

json::object observations_of(const sim::report& r) {
  json::object out;
  for (const auto& [name, value] : r.observations) out.emplace(name, value);
  return out;
}

json::object row_of(const scenario::scenario& s, const scenario::expectation& row) {
  json::array omit;
  for (const auto& id : row.omit) {
    const auto* known = scenario::find_step(id);
    omit.emplace_back(known != nullptr ? known->id : id);
  }
  json::array reversals;
  for (const auto& cycle : row.reversals) reversals.push_back(array_of(cycle));
  json::array checkers;
  for (const auto& c : row.checkers) {
    checkers.push_back(json::object{{"name", c.name},
                                    {"fires", c.fires},
                                    {"at", c.at ? json::value(*c.at) : json::value(nullptr)},
                                    {"text", c.text}});
  }
  return {{"policy", object_of(scenario::complete(s, row.policies))},
          {"omit", std::move(omit)},
          {"preemptions", row.preemptions ? json::value(*row.preemptions) : json::value(nullptr)},
          {"memory", sim::name_of(row.memory.value_or(s.info.memory))},
          {"verdict", sim::name_of(row.verdict)},
          {"message", row.message},
          {"cycle", array_of(row.cycle)},
          {"outcomes", array_of(row.outcomes)},
          {"reversals", std::move(reversals)},
          {"complete", row.complete && !row.random_only && row.verdict == sim::verdict::clean},
          {"random_steps", row.random_steps},
          {"random_only", row.random_only},
          {"full_only", row.full_only},
          {"checkers", std::move(checkers)}};
}

json::object report_of(const recording& run, const sim::report& r, const scenario::expectation* expected) {
  json::object outcomes;
  for (const auto& [line, times] : r.outcomes) outcomes.emplace(line, times);
  json::object by_verdict;
  for (const auto& [v, times] : r.by_verdict) by_verdict.emplace(sim::name_of(v), times);
  return {
      {"scenario", run.what->info.name},
      {"policy", object_of(run.policies)},
      {"omit", ids_of(run.omit)},
      {"strategy", r.strategy},
      {"granularity", r.grain},
      {"preemptions", r.preemptions < 0 ? json::value(nullptr) : json::value(r.preemptions)},
      {"memory", r.memory},
      {"seed", r.seed},
      {"verdict", sim::name_of(r.verdict)},
      {"expected", expected != nullptr ? json::value(sim::name_of(expected->verdict)) : json::value(nullptr)},
      {"executions", r.executions},
      {"truncated", r.truncated},
      {"complete", r.complete},
      {"seconds", r.seconds},
      {"findings", findings_of(r)},
      {"observations", observations_of(r)},
      {"cycle", array_of(r.cycle)},
      {"schedule", text_of(run)},
      {"blocked", r.blocked},
      {"steps", r.steps},
      {"why_incomplete", r.why_incomplete},
      {"message", r.message},
      {"waits", waits_of(r)},
      {"outcomes", std::move(outcomes)},
      {"by_verdict", std::move(by_verdict)},
      {"steps_reached", array_of(r.steps_reached)},
      {"steps_skipped", array_of(r.steps_skipped)},
      {"processors", r.processors},
      {"timers", r.timers}};
}

void print(const json::object& object) {
  const auto text = json::serialize(object) + '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace faultline::cli

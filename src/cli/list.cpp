// SPDX-License-Identifier: BSD-2-Clause
#include "commands.hpp"
#include "json.hpp"
#include "select.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace faultline::cli {

namespace {

namespace json = boost::json;

/// Names of the scenarios with a row for which `wanted` holds.
template <class Wanted>
std::vector<std::string> scenarios_with(Wanted&& wanted) {
  std::vector<std::string> names;
  for (const auto& s : scenario::all()) {
    if (std::any_of(s.expected.begin(), s.expected.end(), wanted)) names.push_back(s.info.name);
  }
  return names;
}

std::map<std::string, std::vector<std::string>> scenarios_by_case() {
  std::map<std::string, std::vector<std::string>> cases;
  for (const auto& s : scenario::all()) {
    for (const auto& id : s.info.cases) cases[id].push_back(s.info.name);
  }
  return cases;
}

json::object as_object() {
  json::array scenarios;
  for (const auto& s : scenario::all()) {
    json::array rows;
    for (const auto& row : s.expected) rows.push_back(row_of(s, row));
    scenarios.push_back(json::object{{"name", s.info.name},
                                     {"summary", s.info.summary},
                                     {"thread", s.info.thread},
                                     {"cases", array_of(s.info.cases)},
                                     {"axes", array_of(s.info.axes)},
                                     {"stock", object_of(s.info.stock)},
                                     {"granularity", sim::name_of(s.info.grain)},
                                     {"memory", sim::name_of(s.info.memory)},
                                     {"processors", sim::name_of(s.info.processors)},
                                     {"timers", sim::name_of(s.info.timers)},
                                     {"expectations", std::move(rows)}});
  }
  json::array axes;
  json::array mutants;
  for (const auto& a : scenario::axes()) {
    json::array values;
    for (const auto& v : a.values) {
      if (v.mutant_of.empty()) {
        values.push_back(json::object{{"name", v.name}, {"summary", v.summary}});
        continue;
      }
      const auto uses = [&](const auto& row) {
        const auto chosen = row.policies.find(a.name);
        return chosen != row.policies.end() && chosen->second == v.name;
      };
      mutants.push_back(json::object{{"id", v.id},
                                     {"axis", a.name},
                                     {"name", v.name},
                                     {"mutant_of", v.mutant_of},
                                     {"summary", v.summary},
                                     {"defect", v.defect},
                                     {"shown_by", array_of(scenarios_with(uses))}});
    }
    axes.push_back(json::object{{"name", a.name}, {"summary", a.summary}, {"policies", std::move(values)}});
  }
  json::array steps;
  for (const auto* s : scenario::steps()) {
    const auto omits = [&](const auto& row) {
      return std::find(row.omit.begin(), row.omit.end(), s->id) != row.omit.end();
    };
    steps.push_back(json::object{{"id", s->id},
                                 {"name", s->name},
                                 {"defect", s->defect},
                                 {"shown_by", array_of(scenarios_with(omits))}});
  }
  json::array cases;
  for (const auto& [id, names] : scenarios_by_case())
    cases.push_back(json::object{{"id", id}, {"scenarios", array_of(names)}});
  return {{"scenarios", std::move(scenarios)},
          {"cases", std::move(cases)},
          {"axes", std::move(axes)},
          {"mutants", std::move(mutants)},
          {"steps", std::move(steps)}};
}

/// "io: *vnode-locked vn-io-fault", the stock policy marked.
std::string axis_line(const scenario::scenario& s, std::string_view name) {
  std::string out = fmt::format("{}:", name);
  const auto* a = scenario::find_axis(name);
  if (a == nullptr) return out;
  const auto stock = s.info.stock.find(name);
  for (const auto& v : a->values) {
    if (!v.mutant_of.empty()) continue;
    const bool is_stock = stock != s.info.stock.end() && stock->second == v.name;
    out += fmt::format(" {}{}", is_stock ? "*" : "", v.name);
  }
  return out;
}

std::string as_text() {
  std::string out =
      "Scenarios (* marks the stock policy; the first axis is the one a bare --policy NAME means)\n";
  for (const auto& s : scenario::all()) {
    out += fmt::format("\n  {}\n      {}\n      {}", s.info.name, s.info.summary,
                       s.info.thread == 0 ? "of no thread" : fmt::format("thread {}", s.info.thread));
    if (!s.info.cases.empty()) out += fmt::format(", cases {}", fmt::join(s.info.cases, " "));
    out += fmt::format(", {} row{} in the verdict matrix\n", s.expected.size(),
                       s.expected.size() == 1 ? "" : "s");
    for (const auto& name : s.info.axes) out += fmt::format("      {}\n", axis_line(s, name));
  }
  out += "\nPolicies\n";
  for (const auto& a : scenario::axes()) {
    out += fmt::format("\n  {}: {}\n", a.name, a.summary);
    std::size_t width = 0;
    for (const auto& v : a.values) width = std::max(width, v.name.size());
    for (const auto& v : a.values) {
      if (v.mutant_of.empty()) out += fmt::format("      {:<{}}  {}\n", v.name, width, v.summary);
    }
  }
  out += "\nMutant policies: a step replaced by something that does not do (--policy NAME)\n\n";
  for (const auto& a : scenario::axes()) {
    for (const auto& v : a.values) {
      if (!v.mutant_of.empty())
        out += fmt::format("  {:<4}  {}={}, of {}: {}: {}\n", v.id, a.name, v.name, v.mutant_of, v.summary,
                           v.defect);
    }
  }
  out += "\nLoad-bearing steps (--omit), and what each prevents\n\n";
  std::size_t id_width = 0;
  std::size_t name_width = 0;
  for (const auto* s : scenario::steps()) {
    id_width = std::max(id_width, s->id.size());
    name_width = std::max(name_width, s->name.size());
  }
  for (const auto* s : scenario::steps()) {
    out += fmt::format("  {:<{}}  {:<{}}  {}\n", s->id, id_width, s->name, name_width, s->defect);
  }
  return out;
}

}  // namespace

exit_status list(bool json_wanted) {
  if (json_wanted) {
    print(as_object());
  } else {
    const auto text = as_text();
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return exit_clean;
}

}  // namespace faultline::cli

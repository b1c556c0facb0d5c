// SPDX-License-Identifier: BSD-2-Clause
#include "commands.hpp"
#include "json.hpp"
#include "select.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

namespace faultline::cli {

namespace {

namespace json = boost::json;

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
                                     {"granularity", name_of(s.info.grain)},
                                     {"expectations", std::move(rows)}});
  }
  json::array axes;
  for (const auto& a : scenario::axes()) {
    json::array values;
    for (const auto& v : a.values) values.push_back(json::object{{"name", v.name}, {"summary", v.summary}});
    axes.push_back(json::object{{"name", a.name}, {"summary", a.summary}, {"policies", std::move(values)}});
  }
  json::array steps;
  for (const auto* s : scenario::steps()) {
    steps.push_back(json::object{{"id", s->id}, {"name", s->name}, {"defect", s->defect}});
  }
  return {{"scenarios", std::move(scenarios)}, {"axes", std::move(axes)}, {"steps", std::move(steps)}};
}

/// "io: *vnode-locked vn-io-fault", the stock policy marked.
std::string axis_line(const scenario::scenario& s, std::string_view name) {
  std::string out = fmt::format("{}:", name);
  const auto* a = scenario::find_axis(name);
  if (a == nullptr) return out;
  const auto stock = s.info.stock.find(name);
  for (const auto& v : a->values) {
    const bool is_stock = stock != s.info.stock.end() && stock->second == v.name;
    out += fmt::format(" {}{}", is_stock ? "*" : "", v.name);
  }
  return out;
}

std::string as_text() {
  std::string out =
      "Scenarios (* marks the stock policy; the first axis is the one a bare --policy NAME means)\n";
  for (const auto& s : scenario::all()) {
    out += fmt::format("\n  {}\n      {}\n      thread {}", s.info.name, s.info.summary, s.info.thread);
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
    for (const auto& v : a.values) out += fmt::format("      {:<{}}  {}\n", v.name, width, v.summary);
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

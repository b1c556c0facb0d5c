// SPDX-License-Identifier: BSD-2-Clause
#include "select.hpp"

#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace faultline::cli {

namespace {

bool has_value(const scenario::axis& a, std::string_view value) {
  return std::any_of(a.values.begin(), a.values.end(), [&](const auto& v) { return v.name == value; });
}

/// The axes of the scenario on which there is such a policy.
std::vector<std::string_view> axes_with(const scenario::scenario& s, std::string_view policy) {
  std::vector<std::string_view> out;
  for (const std::string_view name : s.info.axes) {
    if (const auto* a = scenario::find_axis(name); a != nullptr && has_value(*a, policy)) out.push_back(name);
  }
  return out;
}

const scenario::axis& axis_named(const scenario::scenario& s, std::string_view name) {
  const auto* a = scenario::find_axis(name);
  if (a == nullptr)
    throw usage_error(unknown("policy axis", name, scenario::names_of(s.info.axes, std::identity{})));
  if (std::find(s.info.axes.begin(), s.info.axes.end(), name) == s.info.axes.end()) {
    throw usage_error(fmt::format("{} has no policy axis {}; its axes are: {}", s.info.name, name,
                                  fmt::join(s.info.axes, ", ")));
  }
  return *a;
}

}  // namespace

const scenario::scenario& scenario_named(std::string_view name) {
  if (const auto* s = scenario::find(name)) return *s;
  throw usage_error(unknown("scenario", name, scenario::names_of(scenario::all(), [](const auto& s) {
                              return std::string_view(s.info.name);
                            })));
}

scenario::policies policies_named(const scenario::scenario& s, std::span<const std::string> items) {
  scenario::policies chosen;
  for (const std::string_view item : items) {
    const auto sign = item.find('=');
    const bool bare = sign == std::string_view::npos;
    if (bare && s.info.axes.empty())
      throw usage_error(fmt::format("{} has no policies to choose", s.info.name));
    const auto& a = axis_named(s, bare ? std::string_view(s.info.axes.front()) : item.substr(0, sign));
    const auto value = bare ? item : item.substr(sign + 1);
    if (!has_value(a, value)) {
      if (const auto others = axes_with(s, value); bare && !others.empty()) {
        throw usage_error(fmt::format("policy \"{}\" is not of {}'s own axis {}; write {}={}", value,
                                      s.info.name, a.name, others.front(), value));
      }
      throw usage_error(unknown(fmt::format("{} policy", a.name), value,
                                scenario::names_of(a.values, [](const auto& v) { return v.name; })));
    }
    if (!chosen.emplace(a.name, value).second) {
      throw usage_error(fmt::format("a policy for axis {} is given twice: choose one of \"{}\" and \"{}\"",
                                    a.name, chosen.find(a.name)->second, value));
    }
  }
  return chosen;
}

std::vector<const step*> steps_named(std::span<const std::string> names) {
  std::vector<const step*> out;
  for (const auto& name : names) {
    const auto* s = scenario::find_step(name);
    if (s == nullptr) {
      auto valid = scenario::names_of(scenario::steps(), [](const step* known) { return known->id; });
      const auto long_names =
          scenario::names_of(scenario::steps(), [](const step* known) { return known->name; });
      auto near = scenario::nearest(name, long_names);
      auto text = unknown("step", name, valid);
      if (name.size() > 4 && !near.empty()) text += fmt::format("; of the long names, {} is near", near);
      throw usage_error(text);
    }
    if (std::find(out.begin(), out.end(), s) == out.end()) out.push_back(s);
  }
  return out;
}

namespace {

template <class Value, std::size_t N>
struct names {
  std::array<std::pair<std::string_view, Value>, N> known;

  [[nodiscard]] Value find(std::string_view kind, std::string_view name) const {
    std::array<std::string_view, N> valid;
    for (std::size_t i = 0; i < N; ++i) {
      if (known[i].first == name) return known[i].second;
      valid[i] = known[i].first;
    }
    throw usage_error(unknown(kind, name, valid));
  }
};

}  // namespace

sim::granularity granularity_named(std::string_view name) {
  using enum sim::granularity;
  return names<sim::granularity, 2>{{{{"fine", fine}, {"coarse", coarse}}}}.find("granularity", name);
}

sim::strategy_kind strategy_named(std::string_view name) {
  using enum sim::strategy_kind;
  return names<sim::strategy_kind, 5>{
      {{{"exhaustive", exhaustive}, {"random", random}, {"pct", pct}, {"pos", pos}, {"auto", automatic}}}}
      .find("strategy", name);
}

sim::memory_model memory_named(std::string_view name) {
  using enum sim::memory_model;
  return names<sim::memory_model, 3>{{{{"sc", sc}, {"tso", tso}, {"weak", weak}}}}.find("memory model", name);
}

sim::processors processors_named(std::string_view name) {
  using enum sim::processors;
  return names<sim::processors, 2>{{{{"own", own}, {"shared", shared}}}}.find("kind of processors", name);
}

sim::timers timers_named(std::string_view name) {
  using enum sim::timers;
  return names<sim::timers, 2>{{{{"may-fire", may_fire}, {"maximal-progress", maximal_progress}}}}.find(
      "kind of timers", name);
}

std::string text_of(const scenario::policies& chosen, std::string_view between) {
  std::string out;
  for (const auto& [axis, policy] : chosen)
    out += fmt::format("{}{}={}", out.empty() ? "" : between, axis, policy);
  return out;
}

}  // namespace faultline::cli

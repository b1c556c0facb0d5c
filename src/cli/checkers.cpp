// SPDX-License-Identifier: BSD-2-Clause
#include "checkers.hpp"

#include "json.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace faultline::cli {

namespace json = boost::json;

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> shown_names{{
    {"witness", "WITNESS (FreeBSD)"},
    {"lockdep", "lockdep (Linux)"},
    {"deadlkres", "deadlkres (FreeBSD)"},
    {"khungtaskd", "khungtaskd (Linux)"},
    {"wait-for-graph", "wait-for graph (faultline)"},
}};

std::string_view shown_name(std::string_view name) {
  for (const auto& [id, shown] : shown_names) {
    if (id == name) return shown;
  }
  return name;
}

}  // namespace

std::string checkers_text(const std::vector<scenario::checkers::checker_result>& results) {
  std::string out = "checkers beside the verdict:\n";
  for (const auto& r : results) {
    if (!r.fired) {
      out += fmt::format("\n  {}: silent: {}\n", shown_name(r.name), r.why_silent);
      continue;
    }
    out += fmt::format("\n  {}: fires in execution {}", shown_name(r.name), r.execution);
    if (r.virtual_seconds) {
      out += *r.virtual_seconds == 0
                 ? ", at once"
                 : fmt::format(", {} s of virtual time after the hang", *r.virtual_seconds);
    }
    out += ":\n" + indented(r.text, 4);
    if (!r.confirmation.empty()) out += fmt::format("    {}\n", r.confirmation);
  }
  return out;
}

json::array checkers_of(const std::vector<scenario::checkers::checker_result>& results) {
  json::array out;
  for (const auto& r : results) {
    out.push_back(json::object{
        {"name", r.name},
        {"fired", r.fired},
        {"execution", r.fired ? json::value(r.execution) : json::value(nullptr)},
        {"text", r.text},
        {"virtual_seconds", r.virtual_seconds ? json::value(*r.virtual_seconds) : json::value(nullptr)},
        {"why_silent", r.why_silent},
        {"objects", array_of(r.objects)},
        {"confirmation", r.confirmation}});
  }
  return out;
}

}  // namespace faultline::cli

// SPDX-License-Identifier: BSD-2-Clause
#include "text.hpp"

#include "select.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace faultline::cli {

std::string headline(const recording& r, std::string_view remark) {
  auto out = std::string(r.what->info.name);
  if (!r.policies.empty()) out += ": " + text_of(r.policies);
  if (!remark.empty()) out += fmt::format(" ({})", remark);
  for (const auto* s : r.omit)
    out += fmt::format("\nwithout {}, {}: it prevents \"{}\"", s->id, s->name, s->defect);
  return out + '\n';
}

std::string observations_text(const sim::report& r) {
  std::string out;
  if (r.verdict != sim::verdict::clean || r.executions == 1 || r.outcomes.empty()) {
    for (const auto& [name, value] : r.observations)
      out += fmt::format("{}{}={}", out.empty() ? "" : ", ", name, value);
    return out.empty() ? out : "observed: " + out + '\n';
  }
  constexpr std::size_t shown_max = 12;
  out = r.outcomes.size() == 1 ? "observed in every execution:\n" : "observed, and in how many executions:\n";
  std::size_t shown = 0;
  for (const auto& [line, times] : r.outcomes) {
    if (++shown > shown_max) return out + fmt::format("  and {} more\n", r.outcomes.size() - shown_max);
    out += r.outcomes.size() == 1 ? fmt::format("  {}\n", line) : fmt::format("  {:>8}  {}\n", times, line);
  }
  return out;
}

std::string replay_command(const std::string& program, std::string_view source) {
  return fmt::format("{} replay {}", shell_word(program), shell_word(source));
}

std::string indented(std::string_view text, std::size_t by) {
  std::string out;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && c != '\n') out.append(by, ' ');
    out += c;
    at_start = c == '\n';
  }
  return out;
}

std::size_t width_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace faultline::cli

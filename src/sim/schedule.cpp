// SPDX-License-Identifier: BSD-2-Clause
#include "schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace faultline::sim {

namespace {
constexpr std::size_t steps_most = 10'000'000;
}

std::string encode(const std::vector<choice>& choices, task_set agents) {
  std::string text;
  for (std::size_t i = 0; i < choices.size();) {
    std::size_t n = 1;
    while (i + n < choices.size() && choices[i + n] == choices[i]) ++n;
    const choice& c = choices[i];
    if (!text.empty()) text += '.';
    text += (agents & only(c.task)) != 0 ? fmt::format("{}~", agent_of(c.task)) : std::to_string(c.task);
    if (c.pick != 0) text += fmt::format("={}", c.pick);
    if (n > 1) text += fmt::format("*{}", n);
    i += n;
  }
  return text;
}

std::vector<choice> decode(std::string_view text) {
  std::vector<choice> choices;
  if (text.empty()) return choices;
  for (std::size_t at = 0; at <= text.size();) {
    const auto dot = std::min(text.find('.', at), text.size());
    const auto part = text.substr(at, dot - at);
    const auto bad = [&] {
      return std::invalid_argument(
          fmt::format("schedule part \"{}\" is not TASK, TASK~ (its store buffer or timer), TASK=RESULT or "
                      "one of these with "
                      "*COUNT, as in \"0*3.1=2.0~\"",
                      part));
    };
    const auto* next = part.data();
    const auto* const end = next + part.size();
    const auto number = [&](auto& value) {
      const auto got = std::from_chars(next, end, value);
      if (got.ec != std::errc{}) throw bad();
      next = got.ptr;
    };
    choice c{.task = 0};
    std::uint32_t n = 1;
    number(c.task);
    if (c.task >= tasks_max) throw bad();
    if (next != end && *next == '~') {
      ++next;
      c.task = agent_of(c.task);
    }
    if (next != end && *next == '=') {
      ++next;
      number(c.pick);
    }
    if (next != end && *next == '*') {
      ++next;
      number(n);
      if (n == 0 || n > steps_most - choices.size()) throw bad();
    }
    if (next != end) throw bad();
    choices.insert(choices.end(), n, c);
    at = dot + 1;
  }
  return choices;
}

parsed_schedule parse_schedule(std::string_view text) {
  parsed_schedule p;
  const auto sign = text.find('@');
  p.choices = decode(text.substr(0, sign));
  if (sign != std::string_view::npos) {
    const std::string_view digits = text.substr(sign + 1);
    std::uint64_t hash = 0;
    const auto* const end = digits.data() + digits.size();
    const auto got = std::from_chars(digits.data(), end, hash, 16);
    if (got.ec != std::errc{} || got.ptr != end) {
      throw std::invalid_argument(fmt::format("schedule hash \"{}\" is not a hexadecimal number", digits));
    }
    p.hash = hash;
  }
  return p;
}

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
// The table of what is known of the shipped tests.
#include <faultline/scenario/litmus.hpp>

#include "scenario/shipped.hpp"
#include "scenario/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace faultline::scenario::litmus {

namespace {

struct cell {
  std::string_view text;
  std::size_t column;  // from 1
};

std::vector<cell> cells_of(std::string_view line) {
  std::vector<cell> out;
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '#') break;
    if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      ++i;
      continue;
    }
    const auto end = std::min(line.find_first_of(" \t\r", i), line.size());
    out.push_back({line.substr(i, end - i), i + 1});
    i = end;
  }
  return out;
}

constexpr std::array<observation, 4> observations{observation::never, observation::sometimes,
                                                  observation::always, observation::undefined};
constexpr std::array<gap, 3> gap_list{gap::load_buffering, gap::store_order, gap::sc_order};

}  // namespace

observation expected_row::under(memory_model m) const noexcept {
  return m == memory_model::sc ? sc : m == memory_model::tso ? tso : weak;
}

std::vector<expected_row> parse_expected(std::string_view text, const std::string& origin) {
  std::vector<expected_row> out;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto cells = cells_of(line);
    if (cells.empty()) continue;
    if (cells.size() != 5) {
      throw file_error(
          origin, number, cells.back().column,
          fmt::format("{} words; a line is a test, what is observed under sc, tso and weak, and a gap or -",
                      cells.size()));
    }
    const auto one = [&](const cell& c) {
      for (const auto o : observations) {
        if (name_of(o) == c.text) return o;
      }
      throw file_error(
          origin, number, c.column,
          unknown("observation", c.text, names_of(observations, [](auto o) { return name_of(o); })));
    };
    expected_row row{.test = std::string(cells[0].text)};
    row.sc = one(cells[1]);
    row.tso = one(cells[2]);
    row.weak = one(cells[3]);
    for (const auto g : gap_list) {
      if (text_of(static_cast<gaps>(g)) == cells[4].text) row.needs = static_cast<gaps>(g);
    }
    if (row.needs == 0 && cells[4].text != "-") {
      std::vector<std::string> names;
      names.reserve(std::size(gap_list));
      for (const auto g : gap_list) names.push_back(text_of(static_cast<gaps>(g)));
      throw file_error(
          origin, number, cells[4].column,
          unknown("gap", cells[4].text, std::vector<std::string_view>(names.begin(), names.end())));
    }
    out.push_back(std::move(row));
  }
  return out;
}

const std::vector<expected_row>& expected() {
  static const auto rows = [] {
    const auto& table = shipped_litmus_files().front();
    return parse_expected(table.text, std::string(table.name));
  }();
  return rows;
}

const std::vector<shipped_test>& shipped() {
  static const auto all = [] {
    std::vector<shipped_test> out;
    for (const auto& file : shipped_litmus_files().subspan(1))
      out.push_back({file.name.substr(0, file.name.rfind('.')), file.text});
    return out;
  }();
  return all;
}

}  // namespace faultline::scenario::litmus

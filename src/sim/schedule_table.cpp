// SPDX-License-Identifier: BSD-2-Clause
// A schedule as a table of tasks and steps, as lockdep draws what two CPUs did.
#include <faultline/sim/shorten.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace faultline::sim {

namespace {

struct row {
  std::string number;
  std::size_t column;
  std::string text;
};

/// Locks, queues, wake-ups: what others wait for.
bool tells(const trace_event& e) {
  static constexpr std::string_view quiet[] = {"load", "section", "read", "io", "start"};
  return std::none_of(std::begin(quiet), std::end(quiet),
                      [&](std::string_view word) { return e.what.starts_with(word); });
}

std::size_t column_of(const std::vector<std::string>& shown, const std::string& task) {
  return static_cast<std::size_t>(std::find(shown.begin(), shown.end(), task) - shown.begin());
}

/// Long runs of one task: its first step, those that tell, its last.
std::vector<row> rows_of(const shortened& s, const std::vector<std::string>& shown, bool all) {
  std::vector<row> rows;
  for (std::size_t i = 0; i < s.events.size();) {
    std::size_t end = i;
    while (end < s.events.size() && s.events[end].task == s.events[i].task) ++end;
    std::size_t left_out = 0;
    const auto column = column_of(shown, s.events[i].task);
    const auto flush = [&] {
      if (left_out != 0) rows.back().text += fmt::format(" (+{})", left_out);
      left_out = 0;
    };
    for (std::size_t k = i; k < end; ++k) {
      const auto& e = s.events[k];
      if (!all && !tells(e) && k != i && k + 1 != end) {
        ++left_out;
        continue;
      }
      flush();
      rows.push_back({std::to_string(e.step + 1), column, e.what});
    }
    flush();
    i = end;
  }
  return rows;
}

}  // namespace

std::string schedule_table(const shortened& s, std::size_t rows_max) {
  // Only tasks that ran or wait; the others have nothing to do with it.
  std::vector<std::string> shown;
  for (const auto& name : s.tasks) {
    const bool ran =
        std::any_of(s.events.begin(), s.events.end(), [&](const auto& e) { return e.task == name; });
    const bool waits = std::any_of(s.report.waits.begin(), s.report.waits.end(),
                                   [&](const auto& w) { return w.task == name; });
    if (ran || waits) shown.push_back(name);
  }
  auto rows = rows_of(s, shown, true);
  if (rows.size() > rows_max) rows = rows_of(s, shown, false);
  if (rows.size() > rows_max) {
    const auto half = rows_max / 2;
    const auto cut = rows.size() - 2 * half;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(half),
               rows.end() - static_cast<std::ptrdiff_t>(half));
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(half),
                {"", 0, fmt::format("... {} lines ...", cut)});
  }
  for (const auto& w : s.report.waits) {
    const auto what = w.object.empty()
                          ? fmt::format("sleeps on \"{}\"", w.wait_name)
                          : fmt::format("waits for {}{}{}", w.object, w.mode.empty() ? "" : " ", w.mode);
    rows.push_back({"", column_of(shown, w.task), what});
  }

  std::vector<std::size_t> width;
  width.reserve(shown.size());
  for (const auto& name : shown) width.push_back(name.size());
  for (const auto& r : rows) {
    if (r.column < width.size()) width[r.column] = std::max(width[r.column], r.text.size());
  }
  std::string out = "step";
  for (std::size_t c = 0; c < shown.size(); ++c) out += fmt::format("  {:<{}}", shown[c], width[c]);
  const auto end_line = [&out] {
    out.resize(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  end_line();
  out += "----";
  for (const auto w : width) out += "  " + std::string(w, '-');
  end_line();
  for (const auto& r : rows) {
    out += fmt::format("{:>4}", r.number);
    for (std::size_t c = 0; c < shown.size(); ++c)
      out += fmt::format("  {:<{}}", c == r.column ? r.text : "", width[c]);
    end_line();
  }
  return out;
}

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#include "narration.hpp"

#include "sim/report_text.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace faultline::cli {

namespace {

constexpr std::size_t total_width_max = 120;
constexpr std::size_t column_min = 24;

/// The call chain, cut at the outer end until it fits.
std::string innermost(const std::vector<std::string>& chain, std::size_t width) {
  for (std::size_t from = 0; from < chain.size(); ++from) {
    auto text = sim::chain_text({chain.begin() + static_cast<std::ptrdiff_t>(from), chain.end()});
    if (from != 0) text.insert(0, "… › ");
    if (width_of(text) <= width || from + 1 == chain.size()) return text;
  }
  return {};
}

std::string padded(std::string text, std::size_t width) {
  const auto has = width_of(text);
  if (has < width) text.append(width - has, ' ');
  return text;
}

std::string wait_text(const sim::wait_record& w) {
  return w.object.empty() ? fmt::format("sleeps on \"{}\"", w.wait_name)
                          : fmt::format("waits for {} {}", w.object, w.mode);
}

class table {
 public:
  explicit table(const watched& w) : tasks_(w.tasks), widths_(w.tasks.size(), column_min) {
    for (const auto& s : w.steps) grow(s.task, s.what);
    for (const auto& wait : w.report.waits) grow(wait.task, wait_text(wait));
    // What is left over goes to the call chains.
    const auto spare = total() < total_width_max ? (total_width_max - total()) / widths_.size() : 0;
    std::map<std::string, std::size_t, std::less<>> longest;
    for (const auto& s : w.steps) {
      auto& l = longest[s.task];
      l = std::max(l, width_of(sim::chain_text(s.chain)) + 2);
    }
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      widths_[i] = std::max(widths_[i], std::min(widths_[i] + spare, longest[tasks_[i]]));
    }
  }
  [[nodiscard]] bool fits() const { return total() <= total_width_max; }

  void line(std::string_view step, std::string_view task, const std::string& text) {
    std::string out = fmt::format("{:>5} ", step);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      out += "│ " + padded(tasks_[i] == task ? text : "", widths_[i]) + " ";
    }
    add(std::move(out));
  }
  void title() {
    std::string names = " step ";
    std::string rule = "──────";
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      names += "│ " + padded(tasks_[i], widths_[i]) + " ";
      rule += "┼";
      for (std::size_t n = 0; n < widths_[i] + 2; ++n) rule += "─";
    }
    add(std::move(names));
    add(std::move(rule));
  }
  [[nodiscard]] std::size_t width_for(std::string_view task) const { return widths_[column(task)]; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void add(std::string out) {
    out.resize(out.find_last_not_of(' ') + 1);
    text_ += out + '\n';
  }
  [[nodiscard]] std::size_t column(std::string_view task) const {
    return static_cast<std::size_t>(std::find(tasks_.begin(), tasks_.end(), task) - tasks_.begin());
  }
  void grow(std::string_view task, std::string_view text) {
    auto& width = widths_[column(task)];
    width = std::max(width, width_of(text) + 2);
  }
  [[nodiscard]] std::size_t total() const {
    return std::accumulate(widths_.begin(), widths_.end(), 6 + 3 * widths_.size());
  }

  const std::vector<std::string>& tasks_;
  std::vector<std::size_t> widths_;
  std::string text_;
};

std::string side_by_side(const watched& w, table& t) {
  t.title();
  std::map<std::string, std::vector<std::string>, std::less<>> chains;
  for (const auto& s : w.steps) {
    auto& before = chains[s.task];
    if (s.chain != before) {
      before = s.chain;
      t.line("", s.task, innermost(s.chain, t.width_for(s.task)));
    }
    t.line(std::to_string(s.step), s.task, "  " + s.what);
  }
  for (const auto& wait : w.report.waits) {
    if (wait.chain != chains[wait.task]) t.line("", wait.task, innermost(wait.chain, t.width_for(wait.task)));
    t.line("•", wait.task, "  " + wait_text(wait));
  }
  return t.text();
}

std::string one_below_the_other(const watched& w) {
  std::size_t task_width = 4;
  std::size_t what_width = 4;
  for (const auto& s : w.steps) {
    task_width = std::max(task_width, width_of(s.task));
    what_width = std::max(what_width, width_of(s.what));
  }
  std::string out =
      fmt::format("{:>5}  {}  {}  in\n", "step", padded("task", task_width), padded("what", what_width));
  for (const auto& s : w.steps) {
    out += fmt::format("{:>5}  {}  {}  {}\n", s.step, padded(s.task, task_width), padded(s.what, what_width),
                       sim::chain_text(s.chain));
  }
  for (const auto& wait : w.report.waits) {
    out += fmt::format("{:>5}  {}  {}  {}\n", "-", padded(wait.task, task_width),
                       padded(wait_text(wait), what_width), sim::chain_text(wait.chain));
  }
  return out;
}

}  // namespace

watched watch(std::string_view schedule, const sim::program& p, const sim::options& how) {
  watched w;
  const auto add_task = [&w](const std::string& name) {
    if (std::find(w.tasks.begin(), w.tasks.end(), name) == w.tasks.end()) w.tasks.push_back(name);
  };
  auto seen = how;
  seen.on_event = [&](const sim::trace_event& e) {
    add_task(e.task);
    w.steps.push_back(e);
    ++w.steps.back().step;
  };
  w.report = sim::replay(
      schedule,
      [&](sim::execution& e) {
        p(e);
        for (sim::task_id t = 0; t < e.here().task_count(); ++t) add_task(e.here().task_name(t));
      },
      seen);
  for (const auto& wait : w.report.waits) add_task(wait.task);
  return w;
}

std::string narration_of(const watched& w) {
  if (w.steps.empty()) return "no step: the tasks ended, or failed, before their first operation\n";
  table t(w);
  return t.fits() ? side_by_side(w, t) : one_below_the_other(w);
}

}  // namespace faultline::cli

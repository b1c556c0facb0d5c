// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/sim/report.hpp>

#include "report_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

namespace faultline::sim {

const char* name_of(verdict v) noexcept {
  switch (v) {
    case verdict::clean:
      return "clean";
    case verdict::deadlock:
      return "deadlock";
    case verdict::lost_wakeup:
      return "lost-wakeup";
    case verdict::livelock:
      return "livelock";
    case verdict::starvation:
      return "starvation";
    case verdict::inversion:
      return "inversion";
    case verdict::race:
      return "race";
    case verdict::violation:
      return "violation";
    case verdict::budget:
      return "budget";
  }
  return "?";
}

std::string chain_text(const std::vector<std::string>& chain) {
  return chain.empty() ? "(no call)" : fmt::format("{}", fmt::join(chain, " › "));
}

namespace {

std::string counted(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string since_text(const wait_record::holder& h) {
  std::string out = h.since_step == 0 ? " since set-up" : fmt::format(" since step {}", h.since_step);
  if (!h.since.empty()) out += ", taken in " + chain_text(h.since);
  return out;
}

bool has_a_block(const report& r, const std::string& task) {
  return std::any_of(r.waits.begin(), r.waits.end(), [&](const wait_record& w) { return w.task == task; });
}

/// "held exclusive by T1; T3 (exclusive) is ahead in the queue"
std::string blockers_text(const report& r, const wait_record& w) {
  std::string out;
  for (const auto& h : w.held_by) {
    if (!out.empty()) out += "; ";
    if (h.queued) {
      out += fmt::format("behind {}, which is queued for it {}", h.task, h.mode);
      continue;
    }
    out += fmt::format("held {} by {}", h.mode, h.task == w.task ? "itself" : h.task);
    if (!has_a_block(r, h.task)) out += since_text(h);  // told nowhere else
  }
  return out;
}

/// One line of a task's block: what it has, or what it wants.
struct line {
  std::string_view verb;
  std::string object;
  std::string mode;
  std::string rest;
};

/// What `task` holds and somebody in the report waits for, in the order in which it was taken.
std::vector<line> holdings(const report& r, const std::string& task) {
  std::vector<std::pair<std::uint32_t, line>> found;
  for (const auto& w : r.waits) {
    for (const auto& h : w.held_by) {
      if (h.queued || h.task != task) continue;
      const bool told = std::any_of(found.begin(), found.end(), [&](const auto& f) {
        return f.first == h.since_step && f.second.object == w.object;
      });
      if (!told) found.push_back({h.since_step, {"holds", w.object, h.mode, since_text(h)}});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<line> out;
  out.reserve(found.size());
  for (auto& f : found) out.push_back(std::move(f.second));
  return out;
}

line wish(const report& r, const wait_record& w) {
  if (w.object.empty()) return {"sleeps on", fmt::format("\"{}\"", w.wait_name), "", ""};
  line l{"waits for", w.object, w.mode, fmt::format(" asleep on \"{}\"", w.wait_name)};
  if (const auto who = blockers_text(r, w); !who.empty()) l.rest += ": " + who;
  return l;
}

void add_block(std::string& out, const report& r, const wait_record& w) {
  auto lines = holdings(r, w.task);
  lines.push_back(wish(r, w));
  std::size_t object_width = 0;
  std::size_t mode_width = 0;
  for (const auto& l : lines) {
    object_width = std::max(object_width, l.object.size());
    mode_width = std::max(mode_width, l.mode.size());
  }
  out += fmt::format("\n  {}{}\n", w.task, w.chain.empty() ? "" : "  in " + chain_text(w.chain));
  for (const auto& l : lines) {
    auto text = fmt::format("    {:<9}  {:<{}}  {:<{}} {}", l.verb, l.object, object_width, l.mode,
                            mode_width, l.rest);
    text.resize(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  }
}

/// "T0 ──vnode:f1──▶ T1 ──vnode:f0──▶ T0": each task needs the next one to act.
std::string ring_text(const report& r, std::size_t tasks) {
  std::string out = r.waits.front().task;
  std::size_t column = out.size();
  for (std::size_t i = 0; i < tasks; ++i) {
    const auto& w = r.waits[i];
    const auto& next = r.waits[(i + 1) % tasks].task;
    const bool behind = std::none_of(w.held_by.begin(), w.held_by.end(),
                                     [&](const auto& h) { return h.task == next && !h.queued; });
    const auto label = fmt::format("{}{}", r.cycle[i], behind ? " (queue)" : "");
    if (column + label.size() + next.size() > 88) {
      out += "\n       ";
      column = 7;
    }
    out += fmt::format(" ──{}──▶ {}", label, next);
    column += label.size() + next.size() + 7;
  }
  return out;
}

std::string title(const report& r, std::size_t tasks) {
  if (tasks == 1) return fmt::format("{} waits for itself", r.waits.front().task);
  if (tasks == 2) return fmt::format("{} and {} wait for each other", r.waits[0].task, r.waits[1].task);
  return fmt::format("{} tasks wait for each other in a circle", tasks);
}

/// The parts of `text` between semicolons: one edge of a reversal each.
std::vector<std::string_view> edges(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find("; ", at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

std::string reversal_text(const report& r, const finding& f) {
  if (r.verdict == verdict::deadlock &&
      std::set(r.cycle.begin(), r.cycle.end()) == std::set(f.objects.begin(), f.objects.end())) {
    return fmt::format(
        "order reversal: {}, the cycle above; it is there in executions that do not hang, too\n",
        fmt::join(f.objects, ", "));
  }
  auto out =
      fmt::format("order reversal: {} are taken in {} (held -> asked for):\n", fmt::join(f.objects, ", "),
                  f.objects.size() == 2 ? "both orders" : "a circular order");
  for (const auto edge : edges(f.text)) {
    out += fmt::format("  {}\n", edge);
    if (edge.starts_with("confirmed: ")) return out;
  }
  return out + (r.complete ? "  No interleaving of these tasks hangs on it. Others might: one more task that "
                             "queues for one of\n"
                             "  the locks, or a page that is evicted in between, can be enough.\n"
                           : "  No execution was seen to hang on it.\n");
}

}  // namespace

std::string defect_text(const report& r) {
  if (r.verdict == verdict::clean || r.verdict == verdict::budget) return {};
  const std::size_t in_cycle = std::min(r.cycle.size(), r.waits.size());
  std::string out;
  if (in_cycle != 0) {
    out = fmt::format("{}: {}\n\n  {}\n", name_of(r.verdict), title(r, in_cycle), ring_text(r, in_cycle));
  } else {
    out = fmt::format("{}: {}\n", name_of(r.verdict), r.message);
  }
  for (std::size_t i = 0; i < r.waits.size(); ++i) {
    if (in_cycle != 0 && i == in_cycle) out += "\n  Waiting too, not in the cycle:\n";
    add_block(out, r, r.waits[i]);
  }
  if (!r.still_running.empty()) {
    out += fmt::format("\n  Able to go on: {}\n", fmt::join(r.still_running, ", "));
  }
  return out;
}

std::string coverage_text(const report& r) {
  std::string out = counted(r.executions, "execution");
  if (r.blocked != 0) out += fmt::format(" and {} cut short as redundant", r.blocked);
  out += fmt::format(", {}, {}\n{}, {}", counted(r.steps, "step"),
                     r.truncated == 0 ? "none truncated" : fmt::format("{} truncated", r.truncated),
                     r.strategy, r.grain);
  if (r.strategy == "random" || r.strategy == "pct" || r.strategy == "pos")
    out += fmt::format(", seed {}", r.seed);
  if (r.strategy == "exhaustive") {
    out += r.preemptions < 0 ? ", any number of preemptions"
                             : fmt::format(", at most {}",
                                           counted(static_cast<std::uint64_t>(r.preemptions), "preemption"));
  }
  out += fmt::format(", memory {}", r.memory);
  if (r.processors == "shared") out += ", shared CPUs";
  if (r.timers == "maximal-progress") out += ", maximal progress";
  if (r.shards > 1) out += fmt::format(", shard {} of {}", r.shard, r.shards);
  out += "; ";
  if (!r.complete) return out + fmt::format("not complete: {}\n", r.why_incomplete);
  return out + fmt::format("complete: every {}interleaving{} was covered\n",
                           r.fair_only ? "fair (a spin waits until what it looked at is written) " : "",
                           r.preemptions < 0 ? "" : " within that bound");
}

std::string findings_text(const report& r) {
  std::string out;
  for (const auto& f : r.findings) {
    out += f.kind == "order-reversal" ? reversal_text(r, f) : fmt::format("{}: {}\n", f.kind, f.text);
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const report& r) {
  out << name_of(r.verdict) << ": " << coverage_text(r) << defect_text(r) << findings_text(r);
  if (!r.diverged.empty()) out << "diverged: " << r.diverged << '\n';
  if (r.verdict != verdict::clean) out << "schedule: " << r.schedule << '\n';
  return out;
}

}  // namespace faultline::sim

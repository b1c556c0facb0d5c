// SPDX-License-Identifier: BSD-2-Clause
#include "dot.hpp"

#include "sim/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace faultline::cli {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string task_node(std::string_view name) { return quoted(fmt::format("task {}", name)); }
std::string lock_node(std::string_view name) { return quoted(fmt::format("lock {}", name)); }

std::string wait_graph(const sim::report& r) {
  std::set<std::string> tasks;
  std::set<std::string> locks;
  std::set<std::string> edges;
  const auto in_cycle = std::min(r.cycle.size(), r.waits.size());
  std::string out;
  for (std::size_t i = 0; i < r.waits.size(); ++i) {
    const auto& w = r.waits[i];
    const char* colour = i < in_cycle ? ", color=red" : "";
    out += fmt::format("  {} [shape=box, label={}{}];\n", task_node(w.task),
                       quoted(fmt::format("{}\n{}", w.task, sim::chain_text(w.chain))), colour);
    tasks.insert(w.task);
    const auto& what = w.object.empty() ? w.wait_name : w.object;
    locks.insert(what);
    edges.insert(fmt::format("  {} -> {} [label={}{}];\n", task_node(w.task), lock_node(what),
                             quoted(w.mode.empty() ? "sleeps on" : fmt::format("waits, {}", w.mode)),
                             colour));
    const auto& next = in_cycle == 0 ? w.task : r.waits[(i + 1) % in_cycle].task;
    for (const auto& h : w.held_by) {
      const char* edge_colour = i < in_cycle && h.task == next ? ", color=red" : "";
      edges.insert(
          h.queued
              ? fmt::format("  {} -> {} [style=dashed, label={}{}];\n", lock_node(what), task_node(h.task),
                            quoted(fmt::format("queued ahead, {}", h.mode)), edge_colour)
              : fmt::format("  {} -> {} [label={}{}];\n", lock_node(what), task_node(h.task),
                            quoted(fmt::format("held {} since step {}", h.mode, h.since_step)), edge_colour));
    }
  }
  for (const auto& w : r.waits) {
    for (const auto& h : w.held_by) {
      if (tasks.insert(h.task).second)
        out += fmt::format("  {} [shape=box, label={}];\n", task_node(h.task), quoted(h.task));
    }
  }
  for (const auto& l : locks)
    out += fmt::format("  {} [shape=ellipse, label={}];\n", lock_node(l), quoted(l));
  for (const auto& e : edges) out += e;
  return out;
}

std::string order_graph(const sim::report& r) {
  std::set<std::string> locks;
  std::set<std::string> edges;
  for (const auto& f : r.findings) {
    if (f.kind != "order-reversal") continue;
    for (std::size_t i = 0; i < f.objects.size(); ++i) {
      locks.insert(f.objects[i]);
      edges.insert(fmt::format("  {} -> {} [label=\"held while asking for\"];\n", lock_node(f.objects[i]),
                               lock_node(f.objects[(i + 1) % f.objects.size()])));
    }
  }
  std::string out;
  for (const auto& l : locks)
    out += fmt::format("  {} [shape=ellipse, label={}];\n", lock_node(l), quoted(l));
  for (const auto& e : edges) out += e;
  return out;
}

}  // namespace

std::string dot_of(const sim::report& r, std::string_view title) {
  std::string kind;
  std::string body;
  if (!r.waits.empty()) {
    kind = sim::name_of(r.verdict);
    body = wait_graph(r);
  } else if (body = order_graph(r); !body.empty()) {
    kind = "order reversal";
  } else {
    kind = fmt::format("{}: nobody waits, no order is reversed", sim::name_of(r.verdict));
  }
  title = title.substr(0, title.find_last_not_of('\n') + 1);
  return fmt::format("digraph faultline {{\n  label={};\n  labelloc=t;\n{}}}\n",
                     quoted(fmt::format("{}\n{}", title, kind)), body);
}

}  // namespace faultline::cli

// SPDX-License-Identifier: BSD-2-Clause
#include "order_graph.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <map>
#include <set>
#include <tuple>

namespace faultline::sim {

order_graph::node order_graph::intern(std::string_view label) {
  const auto [at, fresh] = nodes_.try_emplace(std::string(label), static_cast<node>(labels_.size()));
  if (fresh) labels_.emplace_back(label);
  return at->second;
}

void order_graph::asked(const std::vector<held>& holds, std::size_t from, node wanted, bool blocking,
                        task_id task, const call_chain& where, const char* task_name) {
  if (holds[from].lock == wanted) return;  // recursion
  auto& e = edges_[key(holds[from].lock, wanted)];
  if (!blocking) return;
  const bool first = !e.blocking;
  if (!first && e.guards.empty() && (e.tasks & only(task)) != 0) return;
  std::vector<node> guards;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (i != from && holds[i].exclusive) guards.push_back(holds[i].lock);
  }
  std::sort(guards.begin(), guards.end());
  if (first) {
    e.blocking = true;
    e.guards = std::move(guards);
    e.example = where.depth == 0 ? std::string(task_name)
                                 : fmt::format("{} in {}", task_name, fmt::join(lines(where), " › "));
  } else {
    std::vector<node> both;
    std::set_intersection(e.guards.begin(), e.guards.end(), guards.begin(), guards.end(),
                          std::back_inserter(both));
    e.guards = std::move(both);
  }
  e.tasks |= only(task);
}

std::vector<order_record> order_graph::records() const {
  std::vector<order_record> out;
  out.reserve(edges_.size());
  for (const auto& [k, e] : edges_) {
    auto& r = out.emplace_back(order_record{.held = labels_[static_cast<node>(k >> 32U)],
                                            .wanted = labels_[static_cast<node>(k & 0xffffffffU)],
                                            .blocking = e.blocking,
                                            .tasks = e.tasks,
                                            .guards = {},
                                            .example = e.example});
    for (const node g : e.guards) r.guards.push_back(labels_[g]);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::tie(a.held, a.wanted) < std::tie(b.held, b.wanted);
  });
  return out;
}

void order_graph::add(const std::vector<order_record>& others) {
  for (const auto& r : others) {
    const node from = intern(r.held);
    const node to = intern(r.wanted);
    auto& e = edges_[key(from, to)];
    if (!r.blocking) continue;
    std::vector<node> guards;
    guards.reserve(r.guards.size());
    for (const auto& g : r.guards) guards.push_back(intern(g));
    std::sort(guards.begin(), guards.end());
    if (!e.blocking) {
      e.blocking = true;
      e.guards = std::move(guards);
      e.example = r.example;
    } else {
      std::vector<node> both;
      std::set_intersection(e.guards.begin(), e.guards.end(), guards.begin(), guards.end(),
                            std::back_inserter(both));
      e.guards = std::move(both);
    }
    e.tasks |= r.tasks;
  }
}

bool order_graph::can_be_live(const std::vector<node>& cycle) const {
  std::vector<node> common;
  std::vector<task_set> tasks;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto& e = edges_.at(key(cycle[i], cycle[(i + 1) % cycle.size()]));
    tasks.push_back(e.tasks);
    if (i == 0) {
      common = e.guards;
    } else {
      std::vector<node> both;
      std::set_intersection(common.begin(), common.end(), e.guards.begin(), e.guards.end(),
                            std::back_inserter(both));
      common = std::move(both);
    }
  }
  if (!common.empty()) return false;
  // Each edge needs a task of its own (Hall's condition, checked for pairs and for the whole).
  task_set all = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    all |= tasks[i];
    for (std::size_t k = i + 1; k < tasks.size(); ++k) {
      if (std::popcount(tasks[i] | tasks[k]) < 2) return false;
    }
  }
  return static_cast<std::size_t>(std::popcount(all)) >= tasks.size();
}

std::vector<finding> order_graph::reversals() const {
  std::map<node, std::vector<node>> next;
  for (const auto& [k, e] : edges_) {
    if (e.blocking) next[static_cast<node>(k >> 32U)].push_back(static_cast<node>(k & 0xffffffffU));
  }
  for (auto& [from, to] : next) std::sort(to.begin(), to.end());

  std::set<std::vector<node>> cycles;
  for (const auto& [from, tos] : next) {
    for (const node to : tos) {
      // The shortest way back from `to` to `from` closes the smallest cycle over this edge.
      std::map<node, node> came;
      std::deque<node> open{to};
      came[to] = to;
      while (!open.empty() && !came.contains(from)) {
        const node at = open.front();
        open.pop_front();
        if (const auto n = next.find(at); n != next.end()) {
          for (const node more : n->second) {
            if (came.try_emplace(more, at).second) open.push_back(more);
          }
        }
      }
      if (!came.contains(from)) continue;
      std::vector<node> cycle;
      for (node at = from; at != to; at = came[at]) cycle.push_back(at);
      cycle.push_back(to);
      std::reverse(cycle.begin(), cycle.end());  // to, ..., from: follows the edges
      std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
      if (can_be_live(cycle)) cycles.insert(std::move(cycle));
    }
  }

  std::vector<finding> found;
  for (const auto& cycle : cycles) {
    finding f{.kind = "order-reversal", .objects = {}, .text = {}};
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const node a = cycle[i];
      const node b = cycle[(i + 1) % cycle.size()];
      f.objects.push_back(labels_[a]);
      f.text += fmt::format("{}{} -> {} ({})", i == 0 ? "" : "; ", labels_[a], labels_[b],
                            edges_.at(key(a, b)).example);
    }
    found.push_back(std::move(f));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const finding& a, const finding& b) { return a.objects.size() < b.objects.size(); });
  return found;
}

}  // namespace faultline::sim

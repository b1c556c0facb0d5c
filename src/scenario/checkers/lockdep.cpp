// SPDX-License-Identifier: BSD-2-Clause
// What lockdep learns and checks. Its reports are in lockdep_report.cpp.
#include <faultline/scenario/checkers/lockdep.hpp>

#include "scenario/checkers/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>

namespace faultline::scenario::checkers {

namespace {

// Types of a dependency, one bit each.
constexpr std::uint8_t er = 1;
constexpr std::uint8_t en = 2;
constexpr std::uint8_t sr = 4;
constexpr std::uint8_t sn = 8;

std::uint8_t type_of(std::uint8_t prev_read, std::uint8_t next_read) {
  if (prev_read == 0) return next_read == 2 ? er : en;
  return next_read == 2 ? sr : sn;
}

std::uint8_t read_of(const sim::lock_event& e, const lock_class& row) {
  if (e.how == access::exclusive) return 0;
  if (row.linux_lock == linux_primitive::recursive_reader) return 2;
  return row.linux_lock == linux_primitive::rwsem ? 1 : 0;
}

}  // namespace

void lockdep::begins(std::uint64_t execution) {
  execution_ = execution;
  held_.clear();
}

lockdep::held_lock lockdep::held_of(const sim::lock_event& e, const lock_class& row, bool tried) const {
  return {.id = e.lock.id,
          .label = label_of(e.lock),
          .name = row.lockdep_class,
          .read = read_of(e, row),
          .tried = tried,
          .place = place_of(e.chain, e.task_name),
          .stack = stack_of(e.chain, e.task_name)};
}

/// From the wanted class to the held one, along dependencies that make up a strong path; empty: there is none.
std::vector<std::string> lockdep::strong_path(const held_lock& next, const held_lock& prev) const {
  const node from{next.name, next.read == 2};
  std::map<node, node> came{{from, from}};
  std::deque<node> open{from};
  while (!open.empty()) {
    const node at = open.front();
    open.pop_front();
    if (at.first == prev.name && (prev.read == 0 || !at.second)) {
      std::vector<std::string> path{at.first};
      for (node back = at; back != from;) {
        back = came.at(back);
        path.push_back(back.first);
      }
      std::reverse(path.begin(), path.end());
      return path;
    }
    for (auto edge = after_.lower_bound({at.first, {}});
         edge != after_.end() && edge->first.first == at.first; ++edge) {
      auto types = edge->second.types;
      if (at.second) types &= static_cast<std::uint8_t>(er | en);  // -(*R)-> -(S*)-> is not strong
      if (types == 0) continue;
      const node to{edge->first.second, (types & (en | sn)) == 0};
      if (came.try_emplace(to, at).second) open.push_back(to);
    }
  }
  return {};
}

/// \returns whether lockdep is still on
bool lockdep::validate(sim::task_id task, const char* task_name, const held_lock& next) {
  const auto& held = held_[task];
  std::string key;
  for (const auto& h : held) key += fmt::format("{}/{} ", h.name, h.read);
  key += fmt::format("{}/{}", next.name, next.read);
  if (!chains_.insert(key).second) return true;
  for (const auto& h : held) {
    if (h.name != next.name || (next.read == 2 && h.read != 0)) continue;
    recursive(task, task_name, h, next);
    return false;
  }
  // The held ones up to the most recent that was not tried: what lies before it is connected through it.
  for (std::size_t i = held.size(); i-- > 0;) {
    const auto& prev = held[i];
    if (const auto path = strong_path(next, prev); !path.empty()) {
      circular(task, task_name, prev, next, path);
      return false;
    }
    auto& known = after_[{prev.name, next.name}];
    if (known.types == 0) {
      known.held_label = prev.label;
      known.label = next.label;
      known.stack = next.stack;
    }
    known.types |= type_of(prev.read, next.read);
    if (!prev.tried) break;
  }
  return true;
}

void lockdep::take(sim::task_id task, const char* task_name, held_lock lock) {
  auto& used = usage_[lock.name];
  (lock.read != 0 ? used.read : used.written) = true;
  if (!lock.tried && !validate(task, task_name, lock)) return;
  held_[task].push_back(std::move(lock));
}

void lockdep::asks(const sim::lock_event& e) {
  if (!report_.empty()) return;
  const auto row = table_.find(e.lock.kind, e.lock.name);
  if (row.linux_lock == linux_primitive::none) {
    invisible_.emplace(e.lock.kind);
    return;
  }
  usage_[row.lockdep_class].spins = row.linux_lock == linux_primitive::spinlock;
  take(e.task, e.task_name, held_of(e, row, false));
}

void lockdep::tried(const sim::lock_event& e, bool got) {
  if (!got || !report_.empty()) return;
  const auto row = table_.find(e.lock.kind, e.lock.name);
  if (row.linux_lock == linux_primitive::none) {
    invisible_.emplace(e.lock.kind);
    return;
  }
  take(e.task, e.task_name, held_of(e, row, true));
}

void lockdep::released(const sim::lock_event& e) {
  auto& held = held_[e.task];
  const auto mine =
      std::find_if(held.rbegin(), held.rend(), [&](const auto& h) { return h.id == e.lock.id; });
  if (mine != held.rend()) held.erase(std::next(mine).base());
}

void lockdep::enters(sim::task_id task, const char* task_name, const sim::call_chain& chain) {
  if (!report_.empty() || chain.depth == 0 || chain.depth > sim::call_chain::depth_max) return;
  if (std::string_view(chain.frames.at(chain.depth - 1).function) != "uiomove" ||
      in_call(&chain, "vn_io_fault"))
    return;
  const sim::lock_event reads{.task = task,
                              .task_name = task_name,
                              .lock = {.id = sim::no_object, .kind = "vmmap", .name = "might_fault"},
                              .how = access::shared,
                              .chain = &chain};
  const auto row = table_.find(reads.lock.kind, reads.lock.name);
  if (row.linux_lock == linux_primitive::none) return;
  take(task, task_name, held_of(reads, row, false));
  released(reads);
}

checker_result lockdep::result() const {
  checker_result r{.name = "lockdep"};
  if (!report_.empty()) {
    r.fired = true;
    r.execution = fired_in_;
    r.text = report_;
    r.objects = objects_;
    return r;
  }
  if (after_.empty()) {
    r.why_silent = "no lock that it knows was asked for while another one was held";
  } else {
    r.why_silent = "no circle of dependencies between classes is a strong path";
  }
  if (!invisible_.empty())
    r.why_silent += fmt::format("; without a lock map, so not seen: {}", fmt::join(invisible_, ", "));
  return r;
}

}  // namespace faultline::scenario::checkers

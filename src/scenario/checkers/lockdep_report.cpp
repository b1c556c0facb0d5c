// SPDX-License-Identifier: BSD-2-Clause
// The layouts of lockdep's reports.
#include <faultline/scenario/checkers/lockdep.hpp>

#include "scenario/checkers/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace faultline::scenario::checkers {

namespace {

constexpr std::size_t wide = 54;    // rule of a circular report
constexpr std::size_t narrow = 44;  // and of a recursive one

std::string head(std::string_view title, std::size_t width) {
  return fmt::format("{:=<{}}\nWARNING: {}\n{}\n{:-<{}}\n", "", width, title, kernel_line, "", width);
}

std::string taken(std::uint8_t read, const std::string& name) {
  return fmt::format("{}lock({});", read != 0 ? "r" : "", name);
}

}  // namespace

/// " (name){+.+.}-{3:3}": used in tasks with interrupts on only, so each usage is '+' or '.'.
std::string lockdep::lock_name(const std::string& name) const {
  const auto known = usage_.find(name);
  const class_usage used = known == usage_.end() ? class_usage{} : known->second;
  const char w = used.written ? '+' : '.';
  const char r = used.read ? '+' : '.';
  return fmt::format("({}){{{}{}{}{}}}-{{{}}}", name, w, r, w, r, used.spins ? "2:2" : "3:3");
}

std::string lockdep::lock_line(const held_lock& l) const {
  return fmt::format("{} {}, at: {}\n", l.label, lock_name(l.name), l.place);
}

std::string lockdep::held_lines(sim::task_id task, const char* task_name) const {
  const auto held = held_.find(task);
  if (held == held_.end() || held->second.empty())
    return fmt::format("no locks held by {}.\n", task_of(task_name, task));
  const auto n = held->second.size();
  auto out = fmt::format("{} lock{} held by {}:\n", n, n == 1 ? "" : "s", task_of(task_name, task));
  for (std::size_t i = 0; i < n; ++i) out += fmt::format(" #{}: {}", i, lock_line(held->second[i]));
  return out;
}

void lockdep::recursive(sim::task_id task, const char* task_name, const held_lock& prev,
                        const held_lock& next) {
  report_ = head("possible recursive locking detected", narrow) +
            fmt::format(
                "{} is trying to acquire lock:\n{}\nbut task is already holding lock:\n{}\n"
                "other info that might help us debug this:\n Possible unsafe locking scenario:\n\n"
                "       CPU0\n       ----\n  lock({});\n  lock({});\n\n *** DEADLOCK ***\n\n"
                " May be due to missing lock nesting notation\n\n{}\nstack backtrace:\n{}",
                task_of(task_name, task), lock_line(next), lock_line(prev), prev.name, next.name,
                held_lines(task, task_name), stack_lines(next.stack, 1));
  objects_ = {prev.label};
  if (next.label != prev.label && next.id != sim::no_object) objects_.push_back(next.label);
  fired_in_ = execution_;
}

/// \param path  from the class of `next` to that of `prev`
void lockdep::circular(sim::task_id task, const char* task_name, const held_lock& prev, const held_lock& next,
                       const std::vector<std::string>& path) {
  auto text = head("possible circular locking dependency detected", wide) +
              fmt::format(
                  "{} is trying to acquire lock:\n{}\nbut task is already holding lock:\n{}\n"
                  "which lock already depends on the new lock.\n\n\n"
                  "the existing dependency chain (in reverse order) is:\n",
                  task_of(task_name, task), lock_line(next), lock_line(prev));
  objects_ = {prev.label};
  if (next.id != sim::no_object) objects_.push_back(next.label);
  for (std::size_t i = path.size(); i-- > 0;) {
    const auto* stack = &next.stack;
    if (i != 0) {
      const auto& edge = after_.at({path[i - 1], path[i]});
      stack = &edge.stack;
      for (const auto& label : {edge.held_label, edge.label}) {
        if (label.ends_with(":might_fault")) continue;  // no lock was asked for
        if (std::find(objects_.begin(), objects_.end(), label) == objects_.end()) objects_.push_back(label);
      }
    }
    text += fmt::format("\n-> #{} {}:\n{}", i, lock_name(path[i]), stack_lines(*stack, 7));
  }
  text += "\nother info that might help us debug this:\n\n";
  const auto& source = path.front();
  const auto& target = path.back();
  const auto& parent = path.size() > 2 ? path[path.size() - 2] : source;
  if (parent != source)
    text += fmt::format("Chain exists of:\n  {} --> {} --> {}\n\n", source, parent, target);
  text += fmt::format(
      " Possible unsafe locking scenario:\n\n"
      "       CPU0                    CPU1\n"
      "       ----                    ----\n"
      "  {}\n{:31}lock({});\n{:31}lock({});\n  {}\n\n *** DEADLOCK ***\n\n",
      taken(prev.read, target), "", parent, "", target, taken(next.read, source));
  text += held_lines(task, task_name) + "\nstack backtrace:\n" + stack_lines(next.stack, 1);
  report_ = std::move(text);
  fired_in_ = execution_;
}

}  // namespace faultline::scenario::checkers

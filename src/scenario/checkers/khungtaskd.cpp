// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/scenario/checkers/khungtaskd.hpp>

#include "scenario/checkers/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace faultline::scenario::checkers {

namespace {

linux_state state_of(const lock_class& row, const sim::sleep_event& s) {
  if (s.takes && s.lock.id != sim::no_object) return row.waits;
  return state_of_wait(s.wait_name, in_call(s.chain, "read") || in_call(s.chain, "pread"));
}

/// Who the lock says it belongs to; for a rwsem with readers that is only a hint.
std::string blocker_line(const lock_class& row, const sim::sleep_event& s, const std::string& owner) {
  const auto me = task_of(s.task_name, s.task, ':');
  if (!s.takes || owner.empty()) return {};
  const auto other = task_of(owner, s.owner, ':');
  if (row.linux_lock == linux_primitive::mutex)
    return fmt::format("INFO: task {} is blocked on a mutex likely owned by task {}.\n", me, other);
  if (row.linux_lock != linux_primitive::rwsem) return {};
  const auto as = [](access how) { return how == access::shared ? "reader" : "writer"; };
  return fmt::format("INFO: task {} <{}> blocked on an rw-semaphore likely owned by task {} <{}>\n", me,
                     as(s.how), other, as(s.owner_how));
}

}  // namespace

void khungtaskd::begins(std::uint64_t execution) {
  execution_ = execution;
  held_.clear();
  names_.clear();
}

void khungtaskd::hold(const sim::lock_event& e) {
  const auto row = table_.find(e.lock.kind, e.lock.name);
  if (row.linux_lock == linux_primitive::none) return;
  names_[e.task] = e.task_name;
  held_[e.task].push_back({e.lock.id, fmt::format("{} ({}), at: {}", label_of(e.lock), row.lockdep_class,
                                                  place_of(e.chain, e.task_name))});
}

void khungtaskd::asks(const sim::lock_event& e) { hold(e); }

void khungtaskd::tried(const sim::lock_event& e, bool got) {
  if (got) hold(e);
}

void khungtaskd::released(const sim::lock_event& e) {
  auto& held = held_[e.task];
  const auto mine =
      std::find_if(held.rbegin(), held.rend(), [&](const auto& h) { return h.id == e.lock.id; });
  if (mine != held.rend()) held.erase(std::next(mine).base());
}

std::string khungtaskd::all_locks() const {
  std::string out = "\nShowing all locks held in the system:\n";
  for (const auto& [task, held] : held_) {
    if (held.empty()) continue;
    out += fmt::format("{} lock{} held by {}:\n", held.size(), held.size() == 1 ? "" : "s",
                       task_of(names_.at(task), task));
    for (std::size_t i = 0; i < held.size(); ++i) out += fmt::format(" #{}: {}\n", i, held[i].line);
  }
  return out + "\n=============================================\n\n";
}

void khungtaskd::ends(const sim::end_event& e) {
  if (found_.fired || e.pruned) return;
  std::vector<const sim::sleep_event*> hung;
  for (const auto& s : e.sleepers) {
    if (!s.for_ever) continue;
    names_[s.task] = s.task_name;
    const auto state = state_of(table_.find(s.lock.kind, s.lock.name), s);
    if (state == linux_state::uninterruptible) {
      hung.push_back(&s);
      continue;
    }
    const auto why = fmt::format("\"{}\" {}", s.wait_name,
                                 state == linux_state::killable ? "is killable" : "is no such wait in Linux");
    if (not_looked_at_.find(why) == std::string::npos)
      not_looked_at_ += (not_looked_at_.empty() ? "" : ", ") + why;
  }
  if (hung.empty() || settings_.warnings == 0 || settings_.timeout == 0) return;

  // The first look notes the switch counts; each later one finds them unchanged.
  const std::uint64_t first_report = 2 * settings_.timeout;
  std::string text;
  for (std::uint64_t now = first_report; warned_ < settings_.warnings; now += settings_.timeout) {
    for (const auto* s : hung) {
      if (warned_ == settings_.warnings) break;
      ++warned_;
      if (now != first_report) continue;  // the same again, with more seconds
      const auto row = table_.find(s->lock.kind, s->lock.name);
      const auto owner = names_.find(s->owner);
      text += fmt::format(
          "INFO: task {} blocked for more than {} seconds.\n      Not tainted faultline #1\n"
          "\"echo 0 > /proc/sys/kernel/hung_task_timeout_secs\" disables this message.\n"
          "task:{} state:D pid:{}\nCall Trace:\n{}{}",
          task_of(s->task_name, s->task, ':'), now - settings_.timeout, s->task_name, s->task + 1,
          stack_lines(stack_of(s->chain, s->task_name), 1),
          blocker_line(row, *s, owner == names_.end() ? std::string() : owner->second));
      if (warned_ == settings_.warnings)
        text += "Future hung task reports are suppressed, see sysctl kernel.hung_task_warnings\n";
    }
  }
  found_ = {.name = std::string(name()),
            .fired = true,
            .text = text + all_locks(),
            .execution = execution_,
            .virtual_seconds = first_report};
}

checker_result khungtaskd::result() const {
  if (found_.fired) return found_;
  checker_result r{.name = std::string(name())};
  r.why_silent = not_looked_at_.empty()
                     ? "no task was left asleep for ever"
                     : fmt::format("it looks at TASK_UNINTERRUPTIBLE only: {}", not_looked_at_);
  return r;
}

}  // namespace faultline::scenario::checkers

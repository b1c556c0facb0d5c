// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/scenario/checkers/witness.hpp>

#include "scenario/checkers/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace faultline::scenario::checkers {

namespace {

/// Silently in both orders: blessed_list.
constexpr std::pair<std::string_view, std::string_view> blessed[] = {{"dirhash", "bufwait"},
                                                                     {"ufs", "bufwait"}};

bool is_blessed(std::string_view a, std::string_view b) {
  return std::any_of(std::begin(blessed), std::end(blessed), [&](const auto& pair) {
    return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
  });
}

}  // namespace

bool witness::knows(const std::string& before, const std::string& after) const {
  std::set<std::string> seen;
  std::vector<std::string> open{before};
  while (!open.empty()) {
    const auto at = std::move(open.back());
    open.pop_back();
    const auto below = children_.find(at);
    if (below == children_.end()) continue;
    if (below->second.contains(after)) return true;
    for (const auto& child : below->second) {
      if (seen.insert(child).second) open.push_back(child);
    }
  }
  return false;
}

void witness::begins(std::uint64_t execution) {
  execution_ = execution;
  held_.clear();
}

witness::instance witness::instance_of(const sim::lock_event& e, const lock_class& row) const {
  return {.id = e.lock.id,
          .label = label_of(e.lock),
          .type = row.witness_type,
          .primitive = row.freebsd,
          .exclusive = e.how == access::exclusive,
          .recursed = 0,
          .place = place_of(e.chain, e.task_name)};
}

void witness::report(std::string text, std::vector<std::string> objects) {
  if (reports_.empty()) {
    first_in_ = execution_;
    first_is_order_ = !objects.empty();
    objects_ = std::move(objects);
  }
  reports_.push_back(std::move(text));
}

/// The lock is held by the thread already. \returns whether that ends the kernel
bool witness::recursion(const instance& held, const instance& wanted) {
  if (held.exclusive == wanted.exclusive) return false;
  const bool shared = !wanted.exclusive;
  report(fmt::format("{} lock of ({}) {} @ {}\nwhile {} locked from {}\npanic: {}\n",
                     shared ? "shared" : "exclusive", class_name(wanted.primitive), wanted.type, wanted.place,
                     shared ? "exclusively" : "share", held.place, shared ? "excl->share" : "share->excl"),
         {});
  return true;
}

void witness::duplicate(const instance& last, const instance& wanted, bool dup_ok) {
  const pair same{wanted.type, wanted.type};
  if (dup_ok) {
    if (dup_ok_.empty())
      dup_ok_ = fmt::format("{} and {} are both of type {}, DUPOK", last.label, wanted.label, wanted.type);
    return;
  }
  if (!reversed_.insert(same).second) return;
  report(fmt::format("acquiring duplicate lock of same type: \"{}\"\n 1st {} @ {}\n 2nd {} @ {}\n",
                     wanted.type, last.label, last.place, wanted.label, wanted.place),
         {last.label, wanted.label});
}

void witness::reversal(const std::vector<instance>& held, std::size_t at, const instance& wanted) {
  const auto& other = held[at];
  if (reversed_.contains({other.type, wanted.type})) return;
  reversed_.insert({other.type, wanted.type});
  reversed_.insert({wanted.type, other.type});
  if (is_blessed(other.type, wanted.type)) return;
  const bool after_non_sleepable = sleepable(wanted.primitive) && !sleepable(other.primitive);
  std::string text =
      fmt::format("lock order reversal:{}\n", after_non_sleepable ? " (sleepable after non-sleepable)" : "");
  const auto line = [](std::string_view which, const instance& i) {
    return fmt::format(" {} {} {} ({}) @ {}\n", which, i.label, i.type, i.type, i.place);
  };
  // An earlier held lock of the wanted type explains where the wrong order began.
  std::size_t earlier = at;
  while (earlier != 0 && held[earlier - 1].type != wanted.type) --earlier;
  if (earlier == 0) {
    text += line("1st", other) + line("2nd", wanted);
  } else {
    text += line("1st", held[earlier - 1]) + line("2nd", other) + line("3rd", wanted);
  }
  report(std::move(text), {other.label, wanted.label});
}

void witness::asks(const sim::lock_event& e) {
  if (panicked_) return;
  const auto row = table_.find(e.lock.kind, e.lock.name);
  if (row.freebsd == freebsd_primitive::none) {
    invisible_.emplace(e.lock.kind);
    return;
  }
  const auto& held = held_[e.task];
  if (held.empty()) return;
  nested_ = true;
  const auto wanted = instance_of(e, row);
  const auto same = std::find_if(held.begin(), held.end(), [&](const auto& h) { return h.id == e.lock.id; });
  if (same != held.end()) {
    panicked_ = recursion(*same, wanted);
    return;
  }
  const auto& last = held.back();
  if (!seen_.insert({last.type, wanted.type}).second) {
    if (last.type == wanted.type) duplicate(last, wanted, row.dup_ok);  // says why it is silent
    return;
  }
  if (last.type == wanted.type) {
    duplicate(last, wanted, row.dup_ok);
    return;
  }
  for (std::size_t i = held.size(); i-- > 0;) {
    const bool unsleepable_before = sleepable(wanted.primitive) && !sleepable(held[i].primitive);
    if (unsleepable_before || knows(wanted.type, held[i].type)) {
      reversal(held, i, wanted);
      return;
    }
  }
  children_[last.type].insert(wanted.type);
}

void witness::hold(const sim::lock_event& e) {
  if (panicked_) return;
  const auto row = table_.find(e.lock.kind, e.lock.name);
  if (row.freebsd == freebsd_primitive::none) return;
  auto& held = held_[e.task];
  const auto mine = std::find_if(held.begin(), held.end(), [&](const auto& h) { return h.id == e.lock.id; });
  if (mine != held.end()) {
    ++mine->recursed;
    mine->place = place_of(e.chain, e.task_name);
  } else {
    held.push_back(instance_of(e, row));
  }
}

void witness::acquired(const sim::lock_event& e) { hold(e); }

void witness::tried(const sim::lock_event& e, bool got) {
  if (table_.find(e.lock.kind, e.lock.name).freebsd == freebsd_primitive::none)
    invisible_.emplace(e.lock.kind);
  if (got) hold(e);
}

void witness::released(const sim::lock_event& e) {
  auto& held = held_[e.task];
  const auto mine = std::find_if(held.begin(), held.end(), [&](const auto& h) { return h.id == e.lock.id; });
  if (mine == held.end()) return;
  if (mine->recursed != 0) {
    --mine->recursed;
  } else {
    held.erase(mine);
  }
}

void witness::sleeps(const sim::sleep_event& e) {
  if (panicked_ || std::string_view(e.wait_name) == "join") return;  // no sleep of a kernel
  // A wait for a lock was checked when the lock was asked for.
  if (e.takes && table_.find(e.lock.kind, e.lock.name).freebsd != freebsd_primitive::none) return;
  std::string locks;
  for (const auto& h : held_[e.task]) {
    if (sleepable(h.primitive)) continue;
    locks += fmt::format("{} {} {} r = {} ({}) locked @ {}\n", h.exclusive ? "exclusive" : "shared",
                         class_name(h.primitive), h.type, h.recursed, h.label, h.place);
  }
  if (locks.empty()) return;
  report(
      fmt::format("Sleeping on \"{}\" with the following non-sleepable locks held:\n{}", e.wait_name, locks),
      {});
}

checker_result witness::result() const {
  checker_result r{.name = "witness"};
  if (!reports_.empty()) {
    r.fired = true;
    r.execution = first_in_;
    r.text = reports_.front();
    if (first_is_order_) r.objects = objects_;
    return r;
  }
  if (!dup_ok_.empty()) {
    r.why_silent = dup_ok_;
  } else if (nested_) {
    r.why_silent = "no two types of lock were asked for in both orders";
  } else {
    r.why_silent = "no lock that it knows was asked for while another one was held";
  }
  if (!invisible_.empty())
    r.why_silent += fmt::format("; no lock objects, so not seen: {}", fmt::join(invisible_, ", "));
  return r;
}

}  // namespace faultline::scenario::checkers

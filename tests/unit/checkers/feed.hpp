// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Feeds a checker by hand, as if tasks took locks.
#include <faultline/scenario/checkers/checker.hpp>

#include <string>
#include <vector>

namespace faultline::test {

/// A lock by kind and name. Its number follows from both, so that the same words are the same lock.
struct lock {
  const char* kind;
  const char* name;
  [[nodiscard]] sim::lock_name seen() const {
    static std::vector<std::string> known;
    const auto label = std::string(kind) + ":" + name;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] == label) return {static_cast<sim::object_id>(i + 1), kind, name};
    }
    known.push_back(label);
    return {static_cast<sim::object_id>(known.size()), kind, name};
  }
};

class task {
 public:
  task(scenario::checkers::checker& told, sim::task_id number, const char* name)
      : told_(told), number_(number), name_(name) {}

  task& in(const char* function, const char* object = "") {
    chain_.frames.at(chain_.depth) = {function, object};
    ++chain_.depth;
    told_.enters(number_, name_, chain_);
    return *this;
  }
  task& out() {
    --chain_.depth;
    return *this;
  }
  task& asks(const lock& l, access how = access::exclusive) {
    told_.asks(event(l, how));
    return *this;
  }
  task& takes(const lock& l, access how = access::exclusive) {
    asks(l, how);
    told_.acquired(event(l, how));
    return *this;
  }
  task& tries(const lock& l, access how = access::exclusive, bool got = true) {
    told_.tried(event(l, how), got);
    return *this;
  }
  task& drops(const lock& l, access how = access::exclusive) {
    told_.released(event(l, how));
    return *this;
  }
  task& sleeps(const char* wait_name) {
    told_.sleeps(asleep(wait_name));
    return *this;
  }
  /// Asleep for ever, on no lock.
  [[nodiscard]] sim::sleep_event asleep(const char* wait_name) const {
    return {.task = number_, .task_name = name_, .wait_name = wait_name, .chain = &chain_, .for_ever = true};
  }
  /// Asleep for ever, on a lock that it would take.
  [[nodiscard]] sim::sleep_event asleep_on(const lock& l, const char* wait_name,
                                           access how = access::exclusive) const {
    auto s = asleep(wait_name);
    s.lock = l.seen();
    s.how = how;
    s.takes = true;
    return s;
  }

 private:
  [[nodiscard]] sim::lock_event event(const lock& l, access how) const {
    return {.task = number_, .task_name = name_, .lock = l.seen(), .how = how, .chain = &chain_};
  }
  scenario::checkers::checker& told_;
  sim::task_id number_;
  const char* name_;
  sim::call_chain chain_{};
};

}  // namespace faultline::test

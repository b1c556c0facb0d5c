// SPDX-License-Identifier: BSD-2-Clause
// The courses of threads: each is run again and again with guessed values for its loads.
#include "scenario/litmus/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace faultline::scenario::litmus {

namespace {

/// Goes through all sequences of guesses, the last guess fastest.
class guesses {
 public:
  std::size_t next(std::size_t among) {
    if (at_ == list_.size()) list_.push_back({0, among});
    return list_[at_++].chosen;
  }
  /// \returns whether there is another sequence
  bool advance() {
    while (!list_.empty() && ++list_.back().chosen == list_.back().among) list_.pop_back();
    at_ = 0;
    return !list_.empty();
  }

 private:
  struct guess {
    std::size_t chosen;
    std::size_t among;
  };
  std::vector<guess> list_;
  std::size_t at_ = 0;
};

/// What each thread may store to each location.
using values = std::vector<std::vector<std::set<number>>>;

class oracle final : public memory {
 public:
  oracle(const program& p, const values& storable, std::size_t thread, guesses& g)
      : storable_(storable), thread_(thread), guesses_(g) {
    own_.reserve(p.locations.size());
    for (const auto& l : p.locations) own_.push_back(l.initial);
  }

  datum load(const access& a) override {
    const auto value = guessed(a.location);
    add({.what = event::kind::load, .order = a.order, .loaded = value, .from = a.address_from}, a);
    return {value, last()};
  }
  void store(const access& a, datum value) override {
    add({.what = event::kind::store,
         .locked = !a.plain && a.order == std::memory_order_seq_cst,
         .order = a.order,
         .stored = value.value,
         .from = a.address_from | value.from},
        a);
  }
  datum modify(const access& a, op how, datum by) override {
    const auto old = guessed(a.location);
    add({.what = event::kind::update,
         .arithmetic = how != op::exchange,
         .locked = true,
         .order = a.order,
         .loaded = old,
         .stored = applied(how, old, by.value),
         .from = a.address_from | by.from},
        a);
    return {old, last()};
  }
  exchanged compare_exchange(const access& a, std::memory_order failure, datum expected,
                             datum desired) override {
    const auto old = guessed(a.location);
    const bool done = old == expected.value;
    event e{.locked = true, .loaded = old, .from = a.address_from | expected.from};
    if (done) {
      e.what = event::kind::update;
      e.order = a.order;
      e.stored = desired.value;
      e.from |= desired.from;
    } else {
      e.order = failure;
    }
    add(e, a);
    return {done, {old, last()}};
  }
  void fence(std::memory_order order) override {
    add({.what = event::kind::fence, .locked = order == std::memory_order_seq_cst, .order = order}, {});
  }
  void undefined(place at, const std::string& what) override {
    course.undefined = fmt::format("{} (P{}, {}:{})", what, thread_, at.line, at.column);
  }

  path course{};
  bool too_long = false;

 private:
  /// A load sees what its own thread stored last, or what others store.
  number guessed(std::size_t location) {
    std::set<number> all{own_[location]};
    for (std::size_t t = 0; t < storable_[location].size(); ++t) {
      if (t != thread_) all.insert(storable_[location][t].begin(), storable_[location][t].end());
    }
    return *std::next(all.begin(), static_cast<std::ptrdiff_t>(guesses_.next(all.size())));
  }
  [[nodiscard]] std::uint64_t last() const noexcept {
    return course.events.empty() ? 0 : std::uint64_t{1} << (course.events.size() - 1);
  }
  void add(event e, const access& a) {
    if (course.events.size() == events_max) {
      too_long = true;
      return;
    }
    e.thread = thread_;
    e.location = a.location;
    e.plain = a.plain;
    if (e.stores()) own_[e.location] = e.stored;
    course.events.push_back(e);
  }

  const values& storable_;
  std::vector<number> own_;  ///< last values stored by this thread, or initial ones
  std::size_t thread_;
  guesses& guesses_;
};

/// \returns why not, or nothing
std::string courses(const program& p, std::size_t thread, const values& storable, const axiom_limits& limits,
                    std::vector<path>& out) {
  guesses g;
  std::vector<datum> registers;
  do {
    if (out.size() == limits.paths_max)
      return fmt::format("too large: P{} has more than {} courses", thread, limits.paths_max);
    oracle on(p, storable, thread, g);
    run_thread(p, thread, on, registers);
    if (on.too_long) return fmt::format("too large: P{} has more than {} accesses", thread, events_max);
    on.course.registers.reserve(registers.size());
    for (const auto& r : registers) on.course.registers.push_back(r.value);
    out.push_back(std::move(on.course));
  } while (g.advance());
  return {};
}

std::size_t stores_in(const path& course) {
  return static_cast<std::size_t>(
      std::count_if(course.events.begin(), course.events.end(), [](const event& e) { return e.stores(); }));
}

}  // namespace

paths paths_of(const program& p, const axiom_limits& limits) {
  values storable(p.locations.size(), std::vector<std::set<number>>(p.threads.size()));
  paths out;
  for (std::size_t round = 0;; ++round) {
    out.of_thread.assign(p.threads.size(), {});
    std::size_t stores = 0;
    bool more = false;
    auto next = storable;
    for (std::size_t t = 0; t < p.threads.size(); ++t) {
      out.too_many = courses(p, t, storable, limits, out.of_thread[t]);
      if (!out.too_many.empty()) return out;
      std::size_t most = 0;
      for (const auto& course : out.of_thread[t]) {
        most = std::max(most, stores_in(course));
        for (const auto& e : course.events) {
          if (e.stores()) more = next[e.location][t].insert(e.stored).second || more;
        }
      }
      stores += most;
    }
    // A value that takes more stores than there are to come about comes about in no execution.
    if (!more || round > stores) return out;
    storable = std::move(next);
  }
}

}  // namespace faultline::scenario::litmus

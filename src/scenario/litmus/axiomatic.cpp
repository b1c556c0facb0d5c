// SPDX-License-Identifier: BSD-2-Clause
// Every candidate execution of a litmus test: courses of threads, stores to read, orders of stores.
#include "scenario/litmus/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace faultline::scenario::litmus {

namespace {

int size_of(gaps set) noexcept { return std::popcount(set); }
bool less_than(gaps a, gaps b) noexcept { return std::pair{size_of(a), a} < std::pair{size_of(b), b}; }

class enumeration {
 public:
  enumeration(const program& p, memory_model m, const axiom_limits& limits)
      : program_(p), model_(m), limits_(limits), chosen_(p.threads.size(), nullptr) {}

  answer all() {
    answer out{.memory = model_};
    const auto courses = paths_of(program_, limits_);
    out.incomplete = courses.too_many;
    if (courses.too_many.empty()) {
      note_later_stores(courses);
      choose_path(courses, 0);
      out.incomplete = stopped_;
    }
    out.undefined = std::move(undefined_);
    out.looked_at = looked_at_;
    for (auto& [seen, s] : found_) out.states.push_back(std::move(s));
    std::sort(out.states.begin(), out.states.end(),
              [](const auto& a, const auto& b) { return a.text < b.text; });
    return out;
  }

 private:
  /// Counts a piece of work. \returns whether there may be more
  bool another() {
    if (++looked_at_ <= limits_.candidates_max) return true;
    stopped_ = fmt::format("too large: more than {} candidate executions", limits_.candidates_max);
    return false;
  }

  using stored = std::pair<std::size_t, number>;  // location, value

  void note_later_stores(const paths& courses) {
    later_.assign(courses.of_thread.size() + 1, {});
    for (auto t = courses.of_thread.size(); t-- > 0;) {
      later_[t] = later_[t + 1];
      for (const auto& course : courses.of_thread[t]) {
        for (const auto& e : course.events) {
          if (e.stores()) later_[t].emplace(e.location, e.stored);
        }
      }
    }
  }

  /// Can each load of the first `threads` threads see a store of theirs, or of those to come?
  [[nodiscard]] bool has_stores(std::size_t threads) const {
    const auto stores = [&](const event& load) {
      for (std::size_t t = 0; t < threads; ++t) {
        for (const auto& e : chosen_[t]->events) {
          if (e.stores() && e.location == load.location && e.stored == load.loaded) return true;
        }
      }
      return load.loaded == program_.locations[load.location].initial ||
             later_[threads].contains({load.location, load.loaded});
    };
    for (std::size_t t = 0; t < threads; ++t) {
      for (const auto& e : chosen_[t]->events) {
        if (e.loads() && !stores(e)) return false;
      }
    }
    return true;
  }

  void choose_path(const paths& courses, std::size_t thread) {
    if (thread == courses.of_thread.size()) {
      choose_reads();
      return;
    }
    for (const auto& course : courses.of_thread[thread]) {
      if (!stopped_.empty() || !another()) return;
      chosen_[thread] = &course;
      if (has_stores(thread + 1)) choose_path(courses, thread + 1);
    }
  }

  /// Events of the chosen courses, behind an initial store for each location that they use.
  [[nodiscard]] bool make_events() {
    c_.events.clear();
    initial_.assign(program_.locations.size(), events_max);
    for (const auto* course : chosen_) {
      for (const auto& e : course->events) {
        if (e.what == event::kind::fence || initial_[e.location] != events_max) continue;
        if (c_.events.size() == events_max) return false;
        initial_[e.location] = c_.events.size();
        const auto& l = program_.locations[e.location];
        c_.events.push_back({.what = event::kind::store,
                             .location = e.location,
                             .plain = !l.atomic,
                             .initial = true,
                             .stored = l.initial});
      }
    }
    const auto initials = c_.events.size();
    for (const auto* course : chosen_) {
      if (c_.events.size() + course->events.size() > events_max) return false;
      c_.events.insert(c_.events.end(), course->events.begin(), course->events.end());
    }
    const auto n = c_.events.size();
    c_.sb = relation(n);
    for (std::size_t b = initials; b < n; ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        if (a < initials || c_.events[a].thread == c_.events[b].thread) c_.sb.add(a, b);
      }
    }
    return true;
  }

  void choose_reads() {
    if (!make_events()) {
      stopped_ = fmt::format("too large: more than {} accesses", events_max);
      return;
    }
    const auto n = c_.events.size();
    loads_.clear();
    stores_.assign(program_.locations.size(), {});
    for (std::size_t i = 0; i < n; ++i) {
      const auto& e = c_.events[i];
      if (e.loads()) loads_.push_back(i);
      if (e.stores() && !e.initial) stores_[e.location].push_back(i);
    }
    reads_from_.assign(n, n);
    read(0);
  }

  void read(std::size_t which) {
    if (which == loads_.size()) {
      order_.assign(program_.locations.size(), {});
      order_location(0);
      return;
    }
    const auto load = loads_[which];
    const auto& e = c_.events[load];
    const auto try_store = [&](std::size_t store) {
      if (!stopped_.empty() || store == load || c_.events[store].stored != e.loaded || c_.sb.has(load, store))
        return;
      // An update is the next store after the one it reads: no two read the same.
      if (e.stores()) {
        for (std::size_t k = 0; k < which; ++k) {
          if (c_.events[loads_[k]].stores() && reads_from_[loads_[k]] == store) return;
        }
      }
      reads_from_[load] = store;
      if (another()) read(which + 1);
    };
    try_store(initial_[e.location]);
    for (const auto store : stores_[e.location]) try_store(store);
    reads_from_[load] = c_.events.size();
  }

  /// Orders the stores of location `which` and of those after it.
  void order_location(std::size_t which) {
    if (which == stores_.size()) {
      judge();
      return;
    }
    if (order_[which].size() == stores_[which].size()) {
      order_location(which + 1);
      return;
    }
    for (const auto store : stores_[which]) {
      if (!stopped_.empty()) return;
      auto& order = order_[which];
      if (std::find(order.begin(), order.end(), store) != order.end()) continue;
      const bool too_early =
          std::any_of(stores_[which].begin(), stores_[which].end(), [&](std::size_t other) {
            return c_.sb.has(other, store) && std::find(order.begin(), order.end(), other) == order.end();
          });
      const auto last = order.empty() ? initial_[which] : order.back();
      if (too_early || (c_.events[store].loads() && reads_from_[store] != last)) continue;
      order.push_back(store);
      if (another()) order_location(which);
      order_[which].pop_back();
    }
  }

  void judge() {
    const auto n = c_.events.size();
    c_.rf = relation(n);
    c_.mo = relation(n);
    for (const auto load : loads_) c_.rf.add(reads_from_[load], load);
    for (std::size_t l = 0; l < order_.size(); ++l) {
      for (std::size_t k = 0; k < order_[l].size(); ++k) {
        c_.mo.add(initial_[l], order_[l][k]);
        for (std::size_t i = 0; i < k; ++i) c_.mo.add(order_[l][i], order_[l][k]);
      }
    }
    c_.fr = relation(n);
    for (const auto load : loads_) {
      for_each(c_.mo.after(reads_from_[load]), [&](std::size_t store) {
        if (store != load) c_.fr.add(load, store);
      });
    }
    const auto seen = ends();
    if (program_.filter && !holds(*program_.filter, seen)) return;
    const auto j = judged(c_, model_);
    if (!j.allowed) return;
    note_undefined(j);
    if (std::any_of(chosen_.begin(), chosen_.end(), [](const auto* p) { return !p->undefined.empty(); }))
      return;
    auto [at, is_new] = found_.try_emplace(seen);
    auto& s = at->second;
    if (is_new) {
      s = {
          .text = state_text(program_, seen), .satisfies = holds(program_.condition, seen), .needs = j.needs};
    } else if (less_than(j.needs, s.needs)) {
      s.needs = j.needs;
      s.witnesses = 0;
    }
    if (s.needs == j.needs) ++s.witnesses;
  }

  void note_undefined(const judgement& j) {
    const auto note = [&](const std::string& text) {
      if (!undefined_ || less_than(j.needs, undefined_->needs)) undefined_ = hazard{text, j.needs};
    };
    if (j.race) {
      const auto text = [&](std::size_t i) {
        const auto& e = c_.events[i];
        return fmt::format("P{} {}{}", e.thread, e.stores() ? "stores to " : "loads ",
                           program_.locations[e.location].name);
      };
      note(fmt::format("race: {}, {}", text(j.race->first), text(j.race->second)));
    }
    for (const auto* course : chosen_) {
      if (!course->undefined.empty()) note(course->undefined);
    }
  }

  [[nodiscard]] std::vector<number> ends() const {
    std::vector<number> out;
    out.reserve(program_.observed.size());
    for (const auto& v : program_.observed) {
      if (v.thread) {
        out.push_back(chosen_[*v.thread]->registers[v.index]);
      } else {
        const auto& order = order_[v.index];
        out.push_back(order.empty() ? program_.locations[v.index].initial : c_.events[order.back()].stored);
      }
    }
    return out;
  }

  const program& program_;
  memory_model model_;
  const axiom_limits& limits_;
  std::vector<const path*> chosen_;
  std::vector<std::set<stored>> later_{};  ///< what thread n and those after it may store
  candidate c_{};
  std::vector<std::size_t> initial_{};  ///< event of each location
  std::vector<std::size_t> loads_{};
  std::vector<std::vector<std::size_t>> stores_{};  ///< of each location, without the initial one
  std::vector<std::vector<std::size_t>> order_{};   ///< the same, in modification order
  std::vector<std::size_t> reads_from_{};
  std::map<std::vector<number>, state> found_{};
  std::optional<hazard> undefined_{};
  std::string stopped_{};
  std::uint64_t looked_at_ = 0;
};

}  // namespace

answer check_axioms(const test& t, memory_model m, const axiom_limits& limits) {
  return enumeration(*t.code, m, limits).all();
}

}  // namespace faultline::scenario::litmus

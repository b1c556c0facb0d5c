// SPDX-License-Identifier: BSD-2-Clause
// A litmus test as a program of the explorer.
#include "scenario/litmus/execution.hpp"

#include <faultline/substrate/simulated.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory_resource>
#include <set>
#include <utility>
#include <variant>

namespace faultline::scenario::litmus {

namespace {

/// A location. One that holds addresses is an atomic pointer, so that a load of it can be a dependent one.
struct cell {
  using value_atomic = simulated::atomic<number>;
  using pointer_atomic = simulated::atomic<cell*>;
  using plain = simulated::var<number>;
  template <class Of, class Value>
  cell(std::in_place_type_t<Of> which, Value initial) : is(which, initial) {}
  std::variant<value_atomic, pointer_atomic, plain> is;
};

enum class cell_kind : std::uint8_t { value, pointer, plain };

/// The cells of one execution, and pointers to them as values of the test.
class cells {
 public:
  cells(sim::execution& e, const program& p, const std::vector<cell_kind>& kinds)
      : size_(p.locations.size()),
        first_(static_cast<cell*>(e.here().memory().allocate((size_ + 1) * sizeof(cell), alignof(cell)))) {
    for (std::size_t i = 0; i < size_; ++i) {
      const auto initial = p.locations[i].initial;
      switch (kinds[i]) {
        case cell_kind::value:
          ::new (first_ + i) cell(std::in_place_type<cell::value_atomic>, initial);
          break;
        case cell_kind::pointer:
          ::new (first_ + i) cell(std::in_place_type<cell::pointer_atomic>, pointer(initial));
          break;
        case cell_kind::plain:
          ::new (first_ + i) cell(std::in_place_type<cell::plain>, initial);
      }
      std::visit([&](auto& object) { simulated::name(object, e.here().keep(p.locations[i].name)); },
                 first_[i].is);
    }
  }

  [[nodiscard]] cell& operator[](std::size_t i) const noexcept { return first_[i]; }

  /// Values that are no address of a location keep their bits.
  [[nodiscard]] cell* pointer(number value) const noexcept {
    const auto which = location_at(value, size_);
    if (which && address_of(*which) == value) return first_ + *which;
    return reinterpret_cast<cell*>(static_cast<std::uintptr_t>(value));
  }
  [[nodiscard]] number value(cell* pointer) const noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(pointer);
    const auto begin = reinterpret_cast<std::uintptr_t>(first_);
    if (bits < begin || bits >= begin + size_ * sizeof(cell)) return static_cast<number>(bits);
    return address_of((bits - begin) / sizeof(cell));
  }
  [[nodiscard]] number final_value(std::size_t i) const {
    if (const auto* pointers = std::get_if<cell::pointer_atomic>(&first_[i].is))
      return value(pointers->peek());
    if (const auto* values = std::get_if<cell::value_atomic>(&first_[i].is)) return values->peek();
    return std::get<cell::plain>(first_[i].is).peek();
  }

 private:
  std::size_t size_;
  cell* first_;
};

/// What outlives the executions of a search. A fiber that is abandoned unwinds nothing, so threads own nothing.
struct search_state {
  std::vector<std::vector<datum>> registers{};
  std::vector<number> seen{};
  std::set<std::string> satisfying{};
  std::string undefined{};  ///< of this execution
};

class simulated_memory final : public memory {
 public:
  simulated_memory(const cells& of, search_state& state) noexcept : cells_(of), state_(state) {}

  datum load(const access& a) override {
    auto& c = cells_[a.location].is;
    if (auto* values = std::get_if<cell::value_atomic>(&c)) return {values->load(a.order)};
    if (auto* plain = std::get_if<cell::plain>(&c)) return {simulated::get(*plain)};
    auto& pointers = std::get<cell::pointer_atomic>(c);
    return {cells_.value(a.order == std::memory_order_consume ? simulated::load_dependent(pointers)
                                                              : pointers.load(a.order))};
  }
  void store(const access& a, datum value) override {
    auto& c = cells_[a.location].is;
    if (auto* values = std::get_if<cell::value_atomic>(&c)) {
      values->store(value.value, a.order);
    } else if (auto* plain = std::get_if<cell::plain>(&c)) {
      simulated::set(*plain, value.value);
    } else {
      std::get<cell::pointer_atomic>(c).store(cells_.pointer(value.value), a.order);
    }
  }
  datum modify(const access& a, op how, datum by) override {
    auto& c = cells_[a.location].is;
    if (auto* pointers = std::get_if<cell::pointer_atomic>(&c))
      return {cells_.value(pointers->exchange(cells_.pointer(by.value), a.order))};
    auto& values = std::get<cell::value_atomic>(c);
    switch (how) {
      case op::add:
        return {values.fetch_add(by.value, a.order)};
      case op::sub:
        return {values.fetch_sub(by.value, a.order)};
      case op::with_or:
        return {values.fetch_or(by.value, a.order)};
      case op::with_and:
        return {values.fetch_and(by.value, a.order)};
      case op::with_xor:
        return {values.fetch_xor(by.value, a.order)};
      default:
        return {values.exchange(by.value, a.order)};
    }
  }
  exchanged compare_exchange(const access& a, std::memory_order failure, datum expected,
                             datum desired) override {
    auto& c = cells_[a.location].is;
    if (auto* values = std::get_if<cell::value_atomic>(&c)) {
      const bool done = values->compare_exchange_strong(expected.value, desired.value, a.order, failure);
      return {done, {expected.value}};
    }
    auto* old = cells_.pointer(expected.value);
    const bool done = std::get<cell::pointer_atomic>(c).compare_exchange_strong(
        old, cells_.pointer(desired.value), a.order, failure);
    return {done, {cells_.value(old)}};
  }
  void fence(std::memory_order order) override { simulated::fence(order); }
  void undefined(place at, const std::string& what) override {
    if (state_.undefined.empty()) state_.undefined = fmt::format("{} ({}:{})", what, at.line, at.column);
  }

 private:
  const cells& cells_;
  search_state& state_;
};

/// How each location is made, from what the courses of the threads do with it.
std::vector<cell_kind> kinds_of(const program& p, const paths& courses) {
  std::vector<cell_kind> out;
  out.reserve(p.locations.size());
  const auto is_address = [&](number value) { return location_at(value, p.locations.size()).has_value(); };
  for (const auto& l : p.locations)
    out.push_back(!l.atomic               ? cell_kind::plain
                  : is_address(l.initial) ? cell_kind::pointer
                                          : cell_kind::value);
  for (const auto& thread : courses.of_thread) {
    for (const auto& course : thread) {
      for (const auto& e : course.events) {
        if (e.stores() && !e.plain && is_address(e.stored)) out[e.location] = cell_kind::pointer;
      }
    }
  }
  // Arithmetic on an address in its place is not for atomic pointers.
  for (const auto& thread : courses.of_thread) {
    for (const auto& course : thread) {
      for (const auto& e : course.events) {
        if (e.arithmetic && out[e.location] == cell_kind::pointer) out[e.location] = cell_kind::value;
      }
    }
  }
  return out;
}

}  // namespace

answer run(const test& t, memory_model m, const run_limits& limits) {
  answer out{.memory = m};
  const auto& p = *t.code;
  const auto courses = paths_of(p, {});
  out.incomplete = courses.too_many;
  if (!out.complete()) return out;
  const auto kinds = kinds_of(p, courses);

  search_state state;
  state.registers.resize(p.threads.size());
  for (std::size_t i = 0; i < p.threads.size(); ++i)
    state.registers[i].reserve(p.threads[i].registers.size());
  state.seen.reserve(p.observed.size());
  const sim::program program = [&](sim::execution& e) {
    state.undefined.clear();
    const auto& here = e.make<cells>(e, p, kinds);
    for (std::size_t i = 0; i < p.threads.size(); ++i) {
      e.spawn(fmt::format("P{}", i), [&p, &state, &here, i] {
        simulated_memory on(here, state);
        run_thread(p, i, on, state.registers[i]);
      });
    }
    e.at_end([&p, &state, &here] {
      auto& w = sim::world::here();
      if (!state.undefined.empty()) {
        w.fail(state.undefined);
        return;
      }
      state.seen.clear();
      for (const auto& v : p.observed)
        state.seen.push_back(v.thread ? state.registers[*v.thread][v.index].value
                                      : here.final_value(v.index));
      if (p.filter && !holds(*p.filter, state.seen)) return;
      auto text = state_text(p, state.seen);
      w.observe("end", text);
      if (holds(p.condition, state.seen)) state.satisfying.insert(std::move(text));
    });
  };

  sim::options how{
      .memory = m, .executions_max = limits.executions_max, .history = 64, .stop_at_first = false};
  how.keep_going = limits.keep_going;
  const auto r = sim::explore(how, program);
  constexpr std::string_view prefix = "end=";
  for (const auto& [line, times] : r.outcomes) {
    if (!line.starts_with(prefix)) continue;
    auto text = line.substr(prefix.size());
    const bool satisfies = state.satisfying.contains(text);
    out.states.push_back({.text = std::move(text), .satisfies = satisfies, .needs = 0, .witnesses = times});
  }
  std::sort(out.states.begin(), out.states.end(),
            [](const auto& a, const auto& b) { return a.text < b.text; });
  out.looked_at = r.executions;
  if (r.defects != 0)
    out.undefined = hazard{fmt::format("{}: {}", sim::name_of(r.verdict), r.message), no_gaps};
  if (!r.complete && !out.undefined) out.incomplete = r.why_incomplete;
  if (r.overflowed) out.incomplete = "more stores of one location than are kept";
  return out;
}

}  // namespace faultline::scenario::litmus

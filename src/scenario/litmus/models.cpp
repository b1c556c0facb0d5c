// SPDX-License-Identifier: BSD-2-Clause
// The memory models as definitions: what they say of one candidate execution.
#include "scenario/litmus/execution.hpp"

#include <utility>

namespace faultline::scenario::litmus {

namespace {

/// The events of some kind.
template <class F>
event_set events_that(const candidate& c, F&& f) {
  event_set out = 0;
  for (std::size_t i = 0; i < c.events.size(); ++i) {
    if (f(c.events[i])) out |= event_set{1} << i;
  }
  return out;
}

bool is_fence(const event& e) { return e.what == event::kind::fence; }

/// C++20, [intro.races] and [atomics.order].
struct orders {
  relation synchronizes;
  relation simply;   ///< simply happens before
  relation happens;  ///< happens before: more than simply, by dependencies on consume loads
};

orders orders_of(const candidate& c) {
  const auto n = c.events.size();
  const auto atomic_stores = events_that(c, [](const event& e) { return e.stores() && !e.plain; });
  const auto atomic_loads = events_that(c, [](const event& e) { return e.loads() && !e.plain; });
  const auto updates = events_that(c, [](const event& e) { return e.what == event::kind::update; });
  const auto release_stores = events_that(c, [](const event& e) { return e.stores() && e.releases(); });
  const auto acquire_loads = events_that(c, [](const event& e) { return e.loads() && e.acquires(); });
  const auto release_fences = events_that(c, [](const event& e) { return is_fence(e) && e.releases(); });
  const auto acquire_fences = events_that(c, [](const event& e) { return is_fence(e) && e.acquires(); });
  const auto consume_loads = events_that(
      c, [](const event& e) { return e.loads() && !e.plain && e.order == std::memory_order_consume; });
  const auto all = ~event_set{0};

  // A release sequence: the store, and the updates that follow it one upon the other. Of loads, those that read from it.
  const auto sequence = c.rf.between(all, updates).closure().with_itself(atomic_stores);
  const auto reads_sequence = (sequence * c.rf).between(atomic_stores, atomic_loads);

  const auto from_fence = c.sb.between(release_fences, atomic_stores).with_itself(release_stores);
  const auto to_fence = c.sb.between(atomic_loads, acquire_fences).with_itself(acquire_loads);
  auto synchronizes = from_fence * reads_sequence * to_fence;

  auto simply = (c.sb | synchronizes).closure();
  auto happens = simply;
  if (consume_loads != 0) {
    relation carries(n);
    std::size_t begin = 0;  // of the thread's events
    for (std::size_t i = 0; i < n; ++i) {
      if (i != 0 && (c.events[i].thread != c.events[i - 1].thread || c.events[i - 1].initial)) begin = i;
      if (!c.events[i].initial) for_each(c.events[i].from, [&](std::size_t k) { carries.add(begin + k, i); });
    }
    const auto dependency_ordered =
        reads_sequence.between(release_stores, consume_loads) * carries.closure().with_itself(consume_loads);
    const auto step = synchronizes | dependency_ordered | (synchronizes * c.sb);
    happens = c.sb | (step | (c.sb * step)).closure();
  }
  return {synchronizes, simply, happens};
}

/// A must precede B in the order S of the seq_cst operations.
relation order_s(const candidate& c, const orders& o, const relation& eco) {
  const auto all = ~event_set{0};
  const auto sc =
      events_that(c, [](const event& e) { return !e.plain && e.order == std::memory_order_seq_cst; });
  const auto fences =
      events_that(c, [](const event& e) { return is_fence(e) && e.order == std::memory_order_seq_cst; });
  const auto strongly = (c.sb | o.synchronizes.between(sc, sc) | (c.sb * o.simply * c.sb)).closure();
  const auto into = o.happens.between(fences, all).with_itself(sc & ~fences);
  const auto out_of = o.happens.between(all, fences).with_itself(sc & ~fences);
  return strongly.between(sc, sc) | (into * eco * out_of).between(sc, sc);
}

/// Do the two conflict, one of them plain?
bool may_race(const event& a, const event& b) {
  return !a.initial && !b.initial && a.thread != b.thread && !is_fence(a) && !is_fence(b) &&
         a.location == b.location && (a.stores() || b.stores()) && (a.plain || b.plain);
}

std::optional<std::pair<std::size_t, std::size_t>> race_in(const candidate& c, const orders& o) {
  for (std::size_t a = 0; a < c.events.size(); ++a) {
    for (std::size_t b = a + 1; b < c.events.size(); ++b) {
      if (may_race(c.events[a], c.events[b]) && !o.happens.has(a, b) && !o.happens.has(b, a))
        return std::pair{a, b};
    }
  }
  return {};
}

judgement weak(const candidate& c) {
  const auto o = orders_of(c);
  const auto eco = (c.rf | c.mo | c.fr).closure();
  if (!o.happens.irreflexive() || !eco.irreflexive() || !(o.happens * eco).irreflexive()) return {};
  const auto s = order_s(c, o, eco);
  if (!s.acyclic()) return {};
  judgement j{.allowed = true};
  if (!(c.sb | c.rf).acyclic()) {
    j.needs = static_cast<gaps>(gap::load_buffering);
    if (!(c.sb | c.mo).acyclic()) j.needs |= static_cast<gaps>(gap::store_order);
  } else if (!(c.sb | c.rf | c.mo).acyclic()) {
    j.needs = static_cast<gaps>(gap::store_order);
  } else if (!(c.sb | c.rf | c.mo | s).acyclic()) {
    j.needs = static_cast<gaps>(gap::sc_order);
  }
  j.race = race_in(c, o);
  return j;
}

judgement sc(const candidate& c) {
  if (!(c.sb | c.rf | c.mo | c.fr).acyclic()) return {};
  return {.allowed = true, .race = race_in(c, orders_of(c))};
}

/// x86-TSO: a load passes earlier stores of its processor, and sees them; nothing passes a locked instruction.
judgement tso(const candidate& c) {
  const auto n = c.events.size();
  relation kept(n);  // of the program's order
  relation same(n);  // of it, what is of one location
  relation external(n);
  for (std::size_t a = 0; a < n; ++a) {
    const auto& ea = c.events[a];
    for_each(c.sb.after(a), [&](std::size_t b) {
      const auto& eb = c.events[b];
      const bool passes = !ea.initial && ea.what == event::kind::store && !ea.locked &&
                          eb.what == event::kind::load && !eb.locked;
      const bool one_sided =
          (is_fence(ea) && !ea.locked) || (is_fence(eb) && !eb.locked);  // no instruction at all
      if (!passes && !one_sided) kept.add(a, b);
      if (!is_fence(ea) && !is_fence(eb) && ea.location == eb.location) same.add(a, b);
    });
    for_each(c.rf.after(a), [&](std::size_t b) {
      if (ea.initial || ea.thread != c.events[b].thread) external.add(a, b);
    });
  }
  if (!(same | c.rf | c.mo | c.fr).acyclic() || !(kept | external | c.mo | c.fr).acyclic()) return {};
  return {.allowed = true, .race = race_in(c, orders_of(c))};
}

}  // namespace

judgement judged(const candidate& c, memory_model m) {
  switch (m) {
    case memory_model::sc:
      return sc(c);
    case memory_model::tso:
      return tso(c);
    case memory_model::weak:
      break;
  }
  return weak(c);
}

}  // namespace faultline::scenario::litmus

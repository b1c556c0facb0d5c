// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Abstract machines for small programs of atomics, fences and mutexes: every transition from every state, no reduction.
/// What the explorer is held against; it shares nothing with the explorer.
///
/// `sc`    one memory
/// `tso`   one memory, and a first-in first-out store buffer for each task (Sewell et al., x86-TSO, CACM 2010)
/// `weak`  messages with views, as in the promising semantics without promises (Kang et al., POPL 2017): a store takes the
///         newest place of its location, so what needs another order of modification, or load buffering, is not there
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

namespace faultline::test {

enum class act : std::uint8_t { load, store, add, cas, fence, lock, unlock };

struct instruction {
  act what = act::load;
  std::uint32_t where = 0;  ///< location, or mutex
  int value = 0;            ///< stored; added; expected (cas stores one more)
  std::memory_order order = std::memory_order_relaxed;
};
using thread_code = std::vector<instruction>;
using small_program = std::vector<thread_code>;

inline constexpr std::size_t locations = 3;
inline constexpr std::size_t threads_most = 3;

namespace machine {

enum class memory { sc, tso, weak };

using view = std::array<int, locations>;  // by location: the oldest message that may still be seen
inline void join(view& a, const view& b) {
  for (std::size_t i = 0; i < locations; ++i) a[i] = std::max(a[i], b[i]);
}

struct message {
  int value = 0;
  view known{};
};

struct state {
  std::array<std::vector<message>, locations> stores{{{{}}, {{}}, {{}}}};
  std::array<std::size_t, threads_most> at{};
  std::array<std::deque<std::pair<std::uint32_t, int>>, threads_most> buffer;
  std::array<view, threads_most> now{}, acquire{}, release{};
  std::array<int, 2> owner{-1, -1};  // of mutexes
  std::array<view, 2> mutex_view{};
  view fences{}, accesses{};  // what seq_cst fences know; newest message written or seen by a seq_cst access
  std::array<std::string, threads_most> seen;

  [[nodiscard]] std::string key() const {
    std::string k;
    const auto add = [&k](const view& v) {
      for (const int i : v) k += fmt::format("{},", i);
    };
    for (const auto& s : stores) {
      k += '|';
      for (const auto& m : s) {
        k += fmt::format("{}:", m.value);
        add(m.known);
      }
    }
    for (std::size_t t = 0; t < threads_most; ++t) {
      k += fmt::format("/{};{};", at[t], seen[t]);
      for (const auto& [where, value] : buffer[t]) k += fmt::format("{}={} ", where, value);
      add(now[t]);
      add(acquire[t]);
      add(release[t]);
    }
    for (std::size_t m = 0; m < 2; ++m) {
      k += fmt::format("/{};", owner[m]);
      add(mutex_view[m]);
    }
    add(fences);
    add(accesses);
    return k;
  }
};

inline bool acquires(std::memory_order o) {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}
inline bool releases(std::memory_order o) {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

class explorer {
 public:
  explorer(const small_program& p, memory model) : program_(p), model_(model) { go({}); }
  [[nodiscard]] std::set<std::string> take() { return std::move(outcomes_); }

 private:
  void go(const state& s) {
    if (!known_.insert(s.key()).second) return;
    bool moved = false;
    for (std::size_t t = 0; t < program_.size(); ++t) {
      if (!s.buffer[t].empty()) {
        moved = true;
        state n = s;
        const auto [where, value] = n.buffer[t].front();
        n.buffer[t].pop_front();
        n.stores[where].push_back({.value = value});
        go(n);
      }
      if (s.at[t] == program_[t].size()) continue;
      moved |= step(s, t, program_[t][s.at[t]]);
    }
    if (!moved) outcomes_.insert(describe(s));
  }

  std::string describe(const state& s) const {
    std::string text;
    for (std::size_t t = 0; t < program_.size(); ++t) {
      text += fmt::format("{}[{}]", s.at[t] == program_[t].size() ? "" : "blocked", s.seen[t]);
    }
    for (const auto& x : s.stores) text += fmt::format(" {}", x.back().value);
    return text;
  }

  bool step(const state& s, std::size_t t, const instruction& i) {
    const bool sc = i.order == std::memory_order_seq_cst;
    const bool locked = i.what == act::add || i.what == act::cas || i.what == act::lock ||
                        i.what == act::unlock || (sc && (i.what == act::store || i.what == act::fence));
    if (model_ == memory::tso && locked && !s.buffer[t].empty()) return false;
    state n = s;
    ++n.at[t];
    switch (i.what) {
      case act::load:
        for (const int m : readable(s, t, i.where, sc)) {
          state r = n;
          r.seen[t] += fmt::format("{} ", read(r, t, i.where, m, i.order));
          go(r);
        }
        return true;
      case act::store:
        if (model_ == memory::tso && !sc) {
          n.buffer[t].emplace_back(i.where, i.value);
        } else {
          write(n, t, i.where, i.value, i.order, {});
        }
        break;
      case act::add: {
        const auto& old = s.stores[i.where].back();
        const int value = read(n, t, i.where, newest(s, i.where), i.order);
        n.seen[t] += fmt::format("{} ", value);
        write(n, t, i.where, value + i.value, i.order, old.known);
        break;
      }
      case act::cas:
        for (const int m : readable(s, t, i.where, sc)) {
          state r = n;
          const auto old = s.stores[i.where][static_cast<std::size_t>(m)];
          const bool newest_one = m == newest(s, i.where);
          if (old.value == i.value && !newest_one) continue;  // a success is of the newest
          const bool success = old.value == i.value;
          const auto failure = i.order == std::memory_order_acq_rel   ? std::memory_order_acquire
                               : i.order == std::memory_order_release ? std::memory_order_relaxed
                                                                      : i.order;
          r.seen[t] += fmt::format("{} ", read(r, t, i.where, m, success ? i.order : failure));
          if (success) write(r, t, i.where, i.value + 1, i.order, old.known);
          go(r);
        }
        return true;
      case act::fence:
        if (acquires(i.order)) join(n.now[t], n.acquire[t]);
        if (sc) {
          join(n.now[t], n.fences);
          join(n.now[t], n.accesses);
          join(n.fences, n.now[t]);
        }
        if (releases(i.order)) n.release[t] = n.now[t];
        break;
      case act::lock:
        if (s.owner[i.where] != -1) return false;
        n.owner[i.where] = static_cast<int>(t);
        join(n.now[t], n.mutex_view[i.where]);
        break;
      case act::unlock:
        n.owner[i.where] = -1;
        join(n.mutex_view[i.where], n.now[t]);
        break;
    }
    join(n.acquire[t], n.now[t]);
    go(n);
    return true;
  }

  static int newest(const state& s, std::uint32_t where) {
    return static_cast<int>(s.stores[where].size()) - 1;
  }

  /// Numbers of the messages that a load may see; -1: the task's own buffer.
  [[nodiscard]] std::vector<int> readable(const state& s, std::size_t t, std::uint32_t where, bool sc) const {
    if (model_ == memory::tso) {
      const auto own = std::any_of(s.buffer[t].begin(), s.buffer[t].end(),
                                   [&](const auto& b) { return b.first == where; });
      return {own ? -1 : newest(s, where)};
    }
    if (model_ == memory::sc) return {newest(s, where)};
    int from = s.now[t][where];
    if (sc) from = std::max({from, s.fences[where], s.accesses[where]});
    std::vector<int> all;
    for (int m = from; m <= newest(s, where); ++m) all.push_back(m);
    return all;
  }

  static int read(state& s, std::size_t t, std::uint32_t where, int m, std::memory_order order) {
    if (m == -1) {
      int value = 0;
      for (const auto& b : s.buffer[t]) {
        if (b.first == where) value = b.second;
      }
      return value;
    }
    const auto& seen = s.stores[where][static_cast<std::size_t>(m)];
    s.now[t][where] = std::max(s.now[t][where], m);
    if (acquires(order)) join(s.now[t], seen.known);
    join(s.acquire[t], s.now[t]);
    join(s.acquire[t], seen.known);
    if (order == std::memory_order_seq_cst) s.accesses[where] = std::max(s.accesses[where], m);
    return seen.value;
  }

  static void write(state& s, std::size_t t, std::uint32_t where, int value, std::memory_order order,
                    const view& sequence) {
    const int m = newest(s, where) + 1;
    s.now[t][where] = m;
    join(s.acquire[t], s.now[t]);
    view known = releases(order) ? s.now[t] : s.release[t];
    join(known, sequence);
    known[where] = std::max(known[where], m);
    s.stores[where].push_back({value, known});
    if (order == std::memory_order_seq_cst) s.accesses[where] = m;
  }

  const small_program& program_;
  memory model_;
  std::set<std::string> known_;
  std::set<std::string> outcomes_;
};

}  // namespace machine

/// Every end that the program can come to: what each task's loads saw, then the values left ("[1 0 ][] 1 2 0").
[[nodiscard]] inline std::set<std::string> every_outcome(const small_program& p, machine::memory model) {
  return machine::explorer(p, model).take();
}

}  // namespace faultline::test

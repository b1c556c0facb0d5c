// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Validation programs of the explorer: their numbers of Mazurkiewicz traces are known.
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace faultline::programs {

using mutex = simulated::mutex;
using word = simulated::atomic<int>;

/// P01: two locks in opposite order (3 traces, one a deadlock), or in the same (2).
inline sim::program abba(bool ordered = false, bool live = false) {
  return [ordered, live](sim::execution& e) {
    auto& a = e.make<mutex>("a");
    auto& b = e.make<mutex>("b");
    const auto both = [](mutex& first, mutex& second) {
      first.lock();
      second.lock();
      second.unlock();
      first.unlock();
    };
    e.spawn("T0", [&a, &b, both] { both(a, b); });
    e.spawn("T1", [&a, &b, both, ordered] { ordered ? both(a, b) : both(b, a); });
    if (live) {
      auto& x = e.make<word>(0);
      e.spawn_daemon("T2", [&x] {
        for (;;) x.fetch_add(1);
      });
    }
  };
}

/// P02: store buffering. Under sequential consistency not both loads read 0; 3 traces.
inline sim::program store_buffering(std::memory_order order = std::memory_order_seq_cst) {
  return [order](sim::execution& e) {
    struct state {
      word x{0}, y{0};
      int r[2] = {-1, -1};
    };
    auto& s = e.make<state>();
    e.spawn("T0", [&s, order] {
      s.x.store(1, order);
      s.r[0] = s.y.load(order);
    });
    e.spawn("T1", [&s, order] {
      s.y.store(1, order);
      s.r[1] = s.x.load(order);
    });
    e.at_end([&s] { sim::world::here().check(s.r[0] != 0 || s.r[1] != 0, "both loads read 0"); });
  };
}

/// P03: lost updates; (N!)^2 traces.
inline sim::program increments(int n) {
  return [n](sim::execution& e) {
    auto& c = e.make<word>(0);
    for (int t = 0; t < n; ++t) {
      e.spawn("T" + std::to_string(t), [&c] { c.store(c.load() + 1); });
    }
    e.at_end([&c, n] { sim::world::here().check(c.peek() == n, "lost update"); });
  };
}

/// P04: a reference taken from a slot while it is removed. Unlocked: 93 traces, 36 of them wrong. Locked: 22, all right.
inline sim::program refcount(bool locked) {
  return [locked](sim::execution& e) {
    struct state {
      word slot{1}, count{1}, dead{0};
      mutex m{"m"};
      bool bad = false;
      void put() {
        if (count.fetch_sub(1) == 1) dead.store(1);
      }
    };
    auto& s = e.make<state>();
    const auto get = [&s, locked] {
      if (locked) s.m.lock();
      const bool there = s.slot.load() != 0;
      if (there) s.count.fetch_add(1);
      if (locked) s.m.unlock();
      if (!there) return;
      if (s.dead.load() != 0) s.bad = true;
      s.put();
    };
    e.spawn("T0", get);
    e.spawn("T1", get);
    e.spawn("T2", [&s, locked] {
      if (locked) s.m.lock();
      s.slot.store(0);
      if (locked) s.m.unlock();
      s.put();
    });
    e.at_end([&s] { sim::world::here().check(!s.bad, "a dead object was used"); });
  };
}

/// P05: philosophers; 2^N - 1 traces, one of them a deadlock.
inline sim::program philosophers(int n) {
  return [n](sim::execution& e) {
    auto* forks = static_cast<mutex*>(
        e.here().memory().allocate(sizeof(mutex) * static_cast<std::size_t>(n), alignof(mutex)));
    for (int i = 0; i < n; ++i) ::new (forks + i) mutex(e.here().keep(std::to_string(i)));
    for (int t = 0; t < n; ++t) {
      e.spawn("P" + std::to_string(t), [forks, t, n] {
        forks[t].lock();
        forks[(t + 1) % n].lock();
        forks[(t + 1) % n].unlock();
        forks[t].unlock();
      });
    }
  };
}

/// P06: lastzero; 2^(N-2) (N+3) traces.
inline sim::program last_zero(int n) {
  return [n](sim::execution& e) {
    auto* a = static_cast<word*>(
        e.here().memory().allocate(sizeof(word) * static_cast<std::size_t>(n + 1), alignof(word)));
    for (int i = 0; i <= n; ++i) ::new (a + i) word(0);
    e.spawn("T0", [a, n] {
      int i = n;
      while (a[i].load() != 0) --i;
    });
    for (int t = 1; t <= n; ++t) {
      e.spawn("T" + std::to_string(t), [a, t] { a[t].store(a[t - 1].load() + 1); });
    }
  };
}

/// P07: one writer, N readers; 2^N traces.
inline sim::program readers(int n) {
  return [n](sim::execution& e) {
    auto& x = e.make<word>(0);
    e.spawn("T0", [&x] { x.store(1); });
    for (int t = 1; t <= n; ++t) {
      e.spawn("T" + std::to_string(t), [&x] { (void)x.load(); });
    }
  };
}

/// P08: message passing. Under sequential consistency whoever sees the flag sees the data; 3 traces.
/// \param publish, see  orders of the flag's store and load
inline sim::program message_passing(std::memory_order publish = std::memory_order_release,
                                    std::memory_order see = std::memory_order_acquire) {
  return [publish, see](sim::execution& e) {
    struct state {
      word data{0}, flag{0};
      int a = 0, b = 0;
    };
    auto& s = e.make<state>();
    e.spawn("T0", [&s, publish] {
      s.data.store(42, std::memory_order_relaxed);
      s.flag.store(1, publish);
    });
    e.spawn("T1", [&s, see] {
      s.a = s.flag.load(see);
      s.b = s.data.load(std::memory_order_relaxed);
    });
    e.at_end([&s] { sim::world::here().check(s.a != 1 || s.b == 42, "the flag was seen, the data not"); });
  };
}

/// P09: indexer. N threads put four words each into a hash table of 128 slots; they meet from 12 threads on. 1, 8, 64, 4096
/// traces for N = 11, 12, 13, 15.
inline sim::program indexer(int n) {
  return [n](sim::execution& e) {
    constexpr int slots = 128;
    auto* table =
        static_cast<word*>(e.here().memory().allocate(sizeof(word) * std::size_t{slots}, alignof(word)));
    for (int i = 0; i < slots; ++i) ::new (table + i) word(0);
    for (int t = 0; t < n; ++t) {
      e.spawn("T" + std::to_string(t), [table, t] {
        for (int m = 0; m < 4; ++m) {
          const int w = (m + 1) * 11 + t;
          int h = (w * 7) % slots;
          for (int empty = 0; !table[h].compare_exchange_strong(empty, w); empty = 0) h = (h + 1) % slots;
        }
      });
    }
  };
}

/// N tasks with a section of one mutex each; N! traces.
inline sim::program sections(int n) {
  return [n](sim::execution& e) {
    auto& m = e.make<mutex>("m");
    for (int t = 0; t < n; ++t) {
      e.spawn("T" + std::to_string(t), [&m] {
        m.lock();
        m.unlock();
      });
    }
  };
}

/// N tasks with a read-modify-write of one word each; N! traces, as their order can be told from what they return.
inline sim::program exchanges(int n) {
  return [n](sim::execution& e) {
    auto& x = e.make<word>(0);
    for (int t = 0; t < n; ++t) {
      e.spawn("T" + std::to_string(t), [&x] { (void)x.fetch_add(1); });
    }
  };
}

}  // namespace faultline::programs

// SPDX-License-Identifier: BSD-2-Clause
// Small random programs: the exhaustive search must see exactly the ends that plain enumeration sees, with a bound on
// preemptions and without.
#include "support/enumerate.hpp"

#include <faultline/sim/basic_rules.hpp>
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace faultline {
namespace {

/// Readers are held back by queued writers, unless they overtake: announced requests, as a vnode lock has.
class queued_writer_rule final : public sim::lock_rule {
 public:
  [[nodiscard]] bool conflicts(const sim::request& held, const sim::request& wish) const override {
    return held.how == access::exclusive || wish.how == access::exclusive;
  }
  [[nodiscard]] bool yields(const sim::request& queued, bool, const sim::request& wish) const override {
    return queued.how == access::exclusive && wish.how == access::shared && !wish.overtakes;
  }
  [[nodiscard]] bool announces(const sim::request& wish) const override {
    return wish.how == access::exclusive;
  }
};
/// First come, first served, readers and disjoint ranges together: a range lock's queue.
class fifo_rule final : public sim::lock_rule {
 public:
  [[nodiscard]] bool conflicts(const sim::request& held, const sim::request& wish) const override {
    const bool ranged = wish.range.first < wish.range.last;
    if (ranged && !held.range.overlaps(wish.range)) return false;
    return held.how == access::exclusive || wish.how == access::exclusive;
  }
  [[nodiscard]] bool yields(const sim::request&, bool earlier, const sim::request&) const override {
    return earlier;
  }
  [[nodiscard]] bool announces(const sim::request&) const override { return true; }
};
constexpr queued_writer_rule queued_writer;
constexpr fifo_rule fifo;

enum class act { load, store, add, lock, rlock, tryl, try_rlock, unlock, wait, wake, section, yield };
struct line {
  act what;
  int object;
};
using code = std::vector<std::vector<line>>;

class dice {
 public:
  explicit dice(std::uint64_t seed) : z_(seed * 0x9e3779b97f4a7c15U + 12345) {}
  int operator()(int n) {
    z_ ^= z_ << 13U;
    z_ ^= z_ >> 7U;
    z_ ^= z_ << 17U;
    return static_cast<int>(z_ % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t z_;
};

/// `family` picks the operations: 0 atomics; 1 and mutexes; 2 writer-queue locks; 3 FIFO locks; 4 wait queue; 5 spins;
/// 6 ranges of one FIFO lock, some disjoint.
code make(int family, dice& d) {
  code c(static_cast<std::size_t>(family == 0 ? 2 + d(2) : 2 + (d(3) == 0 ? 1 : 0)));
  for (auto& task : c) {
    const int n = c.size() == 3 ? 2 : 2 + d(2);
    int held = -1;
    for (int i = 0; i < n; ++i) {
      const int object = d(2);
      switch (family == 0 ? 0 : d(3)) {
        case 0:
          task.push_back({d(3) == 0 ? act::add : (d(2) == 0 ? act::load : act::store), object});
          break;
        case 1:
          if (family == 4) {
            task.push_back({d(2) == 0 ? act::wait : act::wake, 0});
          } else if (family == 5) {
            task.push_back({act::yield, object});
          } else if (held != object) {
            const int k = d(4);
            task.push_back({k == 0   ? act::tryl
                            : k == 1 ? act::rlock
                            : k == 2 ? act::try_rlock
                                     : act::lock,
                            object});
            held = object;
          }
          break;
        default:
          if (family == 4) {
            task.push_back({act::section, object});
          } else if (held >= 0) {
            task.push_back({act::unlock, held});
            held = -1;
          }
          break;
      }
    }
  }
  return c;
}

/// Each end of the program, defects included, as text.
sim::program program(const code& c, int family, std::set<std::string>& ends) {
  return [&c, family, &ends](sim::execution& e) {
    struct state {
      explicit state(const sim::lock_rule& rule) : locks{{rule, "lock", "0"}, {rule, "lock", "1"}} {}
      simulated::atomic<int> words[2];
      simulated::spec_lock locks[2];
      simulated::interlock inter[2] = {{"inter", "0"}, {"inter", "1"}};
      int counts[2] = {0, 0};
      simulated::mutex m{"m"};
      simulated::waitq q{"q"};
      static std::pmr::string text() { return std::pmr::string(&simulated::memory()); }
      std::pmr::string seen[3] = {text(), text(), text()};
    };
    const sim::lock_rule& rule = family == 2 ? static_cast<const sim::lock_rule&>(queued_writer)
                                 : family == 3 || family == 6
                                     ? static_cast<const sim::lock_rule&>(fifo)
                                     : static_cast<const sim::lock_rule&>(sim::the_shared_rule);
    auto& s = e.make<state>(rule);
    int value = 0;
    for (std::size_t t = 0; t < c.size(); ++t) {
      const int base = 10 * ++value;
      e.spawn("T" + std::to_string(t), [&s, &mine = c[t], t, base, family] {
        int next = base;
        bool held[2] = {false, false};
        auto& seen = s.seen[t];
        for (const auto& l : mine) {
          auto& w = s.words[l.object];
          static constexpr byte_range ranges[] = {{0, 10}, {5, 15}, {20, 30}};
          const bool ranged = family == 6;
          auto& lock = s.locks[ranged ? 0 : l.object];
          const auto range = ranged ? ranges[(t + static_cast<std::size_t>(l.object)) % 3] : byte_range{};
          const bool may_take = ranged ? !held[0] && !held[1] : !held[l.object];
          switch (l.what) {
            case act::load:
              (seen += std::to_string(w.load())) += ",";
              break;
            case act::store:
              w.store(next++);
              break;
            case act::add:
              ((seen += "+") += std::to_string(w.fetch_add(100))) += ",";
              break;
            case act::lock:
              if (may_take) lock.acquire({.how = access::exclusive, .range = range}), held[l.object] = true;
              break;
            case act::rlock:
              if (may_take) lock.acquire({.how = access::shared, .range = range}), held[l.object] = true;
              break;
            case act::tryl:
              if (may_take) {
                held[l.object] = lock.try_acquire({.how = access::exclusive, .range = range});
                seen += held[l.object] ? "y" : "n";
              }
              break;
            case act::try_rlock:
              if (may_take) {
                held[l.object] = lock.try_acquire({.how = access::shared, .range = range});
                seen += held[l.object] ? "y" : "n";
              }
              break;
            case act::unlock:
              if (held[l.object]) lock.release(), held[l.object] = false;
              break;
            case act::wait:
              s.m.lock();
              s.q.wait(s.m);
              s.m.unlock();
              seen += "w";
              break;
            case act::wake:
              s.q.wake_one();
              break;
            case act::section: {
              const section<simulated> in(s.inter[l.object]);
              (seen += "s") += std::to_string(s.counts[l.object]++);
              break;
            }
            case act::yield:
              if (w.load() == 0) simulated::relax();
              (seen += std::to_string(w.load())) += ";";
              break;
          }
        }
        for (int i = 0; i < 2; ++i) {
          if (held[i]) s.locks[family == 6 ? 0 : i].release();
        }
        seen += "!";
      });
    }
    e.at_end([&s, &ends, tasks = c.size()] {
      std::string all;
      // An execution ends when a cycle closes. What a third, unrelated task had done by then is no part of the defect.
      const auto ended = [](const std::pmr::string& seen) { return seen.ends_with('!'); };
      if (tasks == 3 && !(ended(s.seen[0]) && ended(s.seen[1]) && ended(s.seen[2]))) {
        ends.insert("stuck");
        return;
      }
      for (const auto& seen : s.seen) {
        all += seen;
        all += '|';
      }
      for (const auto& w : s.words) all += std::to_string(w.peek()) + " ";
      ends.insert(all);
    });
  };
}

struct setting {
  int family;
  int programs;
};
class Oracle : public testing::TestWithParam<setting> {};

std::string text(const code& c) {
  static constexpr const char* names[] = {"load", "store",  "add",  "lock", "rlock",   "tryl",
                                          "tryr", "unlock", "wait", "wake", "section", "yield"};
  std::string out;
  for (const auto& task : c) {
    for (const auto& l : task)
      out += std::string(names[static_cast<int>(l.what)]) + std::to_string(l.object) + " ";
    out += "\n";
  }
  return out;
}

TEST_P(Oracle, exhaustive_search_sees_the_ends_that_enumeration_sees) {
  std::uint64_t plain = 0;
  std::uint64_t reduced = 0;
  const char* more = std::getenv("FAULTLINE_ORACLE_FACTOR");  // a longer run by hand
  const int programs = GetParam().programs * (more != nullptr ? std::atoi(more) : 1);
  for (int i = 0; i < programs; ++i) {
    dice d(static_cast<std::uint64_t>(i + 1000000 * GetParam().family));
    const code c = make(GetParam().family, d);
    for (int bound = -1; bound <= 2; ++bound) {
      std::optional<std::uint32_t> limit;
      if (bound >= 0) limit = static_cast<std::uint32_t>(bound);
      std::set<std::string> expected;
      const auto all = sim::explore({.executions_max = 3'000'000,
                                     .stop_at_first = false,
                                     .custom = [&] { return std::make_unique<test::enumerate>(limit); }},
                                    program(c, GetParam().family, expected));
      ASSERT_LT(all.executions, 3'000'000U) << text(c);
      std::set<std::string> seen;
      const auto r =
          sim::explore({.preemptions = limit, .stop_at_first = false}, program(c, GetParam().family, seen));
      if (r.complete) {
        ASSERT_EQ(seen, expected) << "program " << i << ", bound " << bound << "\n" << text(c);
      } else {  // a deadlock of two ended executions in which the third could have gone on
        ASSERT_THAT(r.why_incomplete, testing::StartsWith("a defect ended")) << r;
        ASSERT_TRUE(std::includes(expected.begin(), expected.end(), seen.begin(), seen.end())) << text(c);
        ASSERT_EQ(seen.contains("stuck"), expected.contains("stuck")) << text(c);
      }
      if (bound < 0) {
        plain += all.executions;
        reduced += r.executions + r.blocked;
      }
    }
  }
  RecordProperty("executions_plain", std::to_string(plain));
  RecordProperty("executions_reduced", std::to_string(reduced));
}

INSTANTIATE_TEST_SUITE_P(sim, Oracle,
                         testing::Values(setting{0, 150}, setting{1, 150}, setting{2, 150}, setting{3, 150},
                                         setting{4, 100}, setting{5, 100}, setting{6, 150}),
                         [](const auto& i) { return "family" + std::to_string(i.param.family); });

}  // namespace
}  // namespace faultline

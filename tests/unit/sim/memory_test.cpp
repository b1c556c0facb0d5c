// SPDX-License-Identifier: BSD-2-Clause
// What each memory model lets happen, on the programs everybody knows; and what comes beside the values: races, spins, limits.
#include "support/programs.hpp"

#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gtest/gtest.h>

#include <set>

namespace faultline::test {
namespace {

using S = simulated;
using sim::memory_model;
using enum std::memory_order;

std::set<std::string> outcomes(memory_model memory, const sim::program& p) {
  const auto r = sim::explore({.memory = memory, .stop_at_first = false}, p);
  EXPECT_TRUE(r.complete) << r.why_incomplete;
  std::set<std::string> seen;
  for (const auto& [text, n] : r.outcomes) seen.insert(text);
  return seen;
}

sim::program store_buffering(std::memory_order order, bool fenced = false) {
  return [=](sim::execution& e) {
    struct world {
      S::atomic<int> x, y;
      int r0 = -1, r1 = -1;
    };
    auto& w = e.make<world>();
    const auto side = [order, fenced](S::atomic<int>& mine, S::atomic<int>& other, int& r) {
      mine.store(1, order == seq_cst ? seq_cst : relaxed);
      if (fenced) S::fence(seq_cst);
      r = other.load(order);
    };
    e.spawn("T0", [&w, side] { side(w.x, w.y, w.r0); });
    e.spawn("T1", [&w, side] { side(w.y, w.x, w.r1); });
    e.at_end([&w, &e] {
      e.here().observe("r0", w.r0);
      e.here().observe("r1", w.r1);
    });
  };
}

TEST(Memory, StoreBuffering) {
  const std::set<std::string> three{"r0=0 r1=1", "r0=1 r1=0", "r0=1 r1=1"};
  auto four = three;
  four.insert("r0=0 r1=0");
  EXPECT_EQ(outcomes(memory_model::sc, store_buffering(relaxed)), three);
  EXPECT_EQ(outcomes(memory_model::tso, store_buffering(relaxed)), four);
  EXPECT_EQ(outcomes(memory_model::weak, store_buffering(relaxed)), four);
  for (const auto m : {memory_model::sc, memory_model::tso, memory_model::weak}) {
    EXPECT_EQ(outcomes(m, store_buffering(seq_cst)), three);
    EXPECT_EQ(outcomes(m, store_buffering(relaxed, true)), three);
  }
}

/// T0 fills an object and publishes it; T1 takes the pointer and reads the field.
sim::program published(bool dependent, std::memory_order store, bool plain) {
  return [=](sim::execution& e) {
    struct object {
      S::atomic<int> field{0};
      S::var<int> data{0};
    };
    struct world {
      object it;
      S::atomic<object*> pointer{nullptr};
      S::atomic<int> elsewhere{0};
      int field = -1, other = -1;
    };
    auto& w = e.make<world>();
    e.spawn("T0", [&w, store, plain] {
      w.elsewhere.store(1, relaxed);
      if (plain) {
        S::set(w.it.data, 1);
      } else {
        w.it.field.store(1, relaxed);
      }
      w.pointer.store(&w.it, store);
    });
    e.spawn("T1", [&w, dependent, plain] {
      object* o = dependent ? S::load_dependent(w.pointer) : w.pointer.load(relaxed);
      if (o == nullptr) return;
      w.field = plain ? S::get(o->data) : o->field.load(relaxed);
      w.other = w.elsewhere.load(relaxed);
    });
    e.at_end([&w, &e] {
      e.here().observe("field", w.field);
      e.here().observe("other", w.other);
    });
  };
}

TEST(Memory, ADependentLoadOrdersOnlyWhatIsReachedThroughThePointer) {
  const std::set<std::string> ordered{"field=-1 other=-1", "field=1 other=0", "field=1 other=1"};
  EXPECT_EQ(outcomes(memory_model::weak, published(true, release, false)), ordered);
  auto stale = ordered;
  stale.insert({"field=0 other=0", "field=0 other=1"});
  EXPECT_EQ(outcomes(memory_model::weak, published(false, release, false)), stale);
  EXPECT_EQ(outcomes(memory_model::weak, published(true, relaxed, false)), stale);
  // amd64 does not need it.
  EXPECT_EQ(outcomes(memory_model::tso, published(false, relaxed, false)),
            (std::set<std::string>{"field=-1 other=-1", "field=1 other=1"}));
}

TEST(Memory, ADependentLoadMakesPlainDataSafeToRead) {
  for (const auto m : {memory_model::sc, memory_model::weak}) {
    EXPECT_EQ(sim::explore({.memory = m}, published(true, release, true)).verdict, sim::verdict::clean);
    EXPECT_EQ(sim::explore({.memory = m}, published(false, release, true)).verdict, sim::verdict::race);
    EXPECT_EQ(sim::explore({.memory = m}, published(true, relaxed, true)).verdict, sim::verdict::race);
  }
}

TEST(Memory, FencesOrderPlainData) {
  for (const bool fenced : {true, false}) {
    const auto p = [fenced](sim::execution& e) {
      struct world {
        S::var<int> data{0};
        S::atomic<int> flag;
      };
      auto& w = e.make<world>();
      e.spawn("T0", [&w, fenced] {
        S::set(w.data, 1);
        if (fenced) S::fence(release);
        w.flag.store(1, relaxed);
      });
      e.spawn("T1", [&w, fenced] {
        if (w.flag.load(relaxed) == 0) return;
        if (fenced) S::fence(acquire);
        S::check(S::get(w.data) == 1, "old data");
      });
    };
    for (const auto m : {memory_model::sc, memory_model::tso, memory_model::weak}) {
      const auto r = sim::explore({.memory = m}, p);
      EXPECT_EQ(r.verdict, fenced ? sim::verdict::clean : sim::verdict::race);
    }
  }
}

TEST(Memory, ASpinOnAnOldValueEnds) {
  const auto p = [](sim::execution& e) {
    auto& flag = e.make<S::atomic<int>>(0);
    e.spawn("T0", [&flag] { flag.store(1, relaxed); });
    e.spawn("T1", [&flag] {
      while (flag.load(relaxed) == 0) S::relax();
    });
  };
  for (const auto m : {memory_model::sc, memory_model::tso, memory_model::weak}) {
    const auto r = sim::explore({.memory = m, .stop_at_first = false}, p);
    EXPECT_EQ(r.verdict, sim::verdict::clean) << r.message;
    EXPECT_TRUE(r.complete) << r.why_incomplete;
  }
}

TEST(Memory, AForgottenStoreIsNoProof) {
  const auto p = [](sim::execution& e) {
    auto& x = e.make<S::atomic<int>>(0);
    e.spawn("T0", [&x] {
      for (int i = 1; i <= 3; ++i) x.store(i, relaxed);
    });
    e.spawn("T1", [&x, &e] { e.here().observe("r", x.load(relaxed)); });
  };
  auto r = sim::explore({.memory = memory_model::weak, .history = 3}, p);
  EXPECT_TRUE(r.overflowed);
  EXPECT_FALSE(r.complete);
  EXPECT_NE(r.why_incomplete.find("older than the 3"), std::string::npos) << r.why_incomplete;
  r = sim::explore({.memory = memory_model::weak, .history = 4}, p);
  EXPECT_FALSE(r.overflowed);
  EXPECT_TRUE(r.complete);
  EXPECT_EQ(r.outcomes.size(), 4U);
}

TEST(Memory, AReplayTakesTheSameResults) {
  for (const auto m : {memory_model::tso, memory_model::weak}) {
    const auto p = [](sim::execution& e) {
      struct world {
        S::atomic<int> x, y;
        int r0 = -1, r1 = -1;
      };
      auto& w = e.make<world>();
      e.spawn("T0", [&w] {
        w.x.store(1, relaxed);
        w.r0 = w.y.load(relaxed);
      });
      e.spawn("T1", [&w] {
        w.y.store(1, relaxed);
        w.r1 = w.x.load(relaxed);
      });
      e.at_end([&w, &e] { e.here().check(w.r0 + w.r1 != 0, "both read 0"); });
    };
    for (const auto s : {sim::strategy_kind::exhaustive, sim::strategy_kind::random, sim::strategy_kind::pct,
                         sim::strategy_kind::pos, sim::strategy_kind::automatic}) {
      const auto r = sim::explore({.strategy = s, .memory = m}, p);
      ASSERT_EQ(r.verdict, sim::verdict::violation) << r.strategy;
      const auto again = sim::replay(r.schedule, p, {.memory = m});
      EXPECT_EQ(again.verdict, sim::verdict::violation);
      EXPECT_EQ(again.event_hash, r.event_hash);
      EXPECT_EQ(again.diverged, "");
      EXPECT_EQ(again.schedule, r.schedule);
    }
  }
}

TEST(Memory, UserBytesAreNoPartOfAProof) {
  const auto p = [](sim::execution& e) {
    auto& b = e.make<S::racy_bytes>(4U, "page");
    e.spawn("T0", [&b] { S::fill(b, 0, 4, std::byte{1}); });
    e.spawn("T1", [&b] { S::fill(b, 0, 4, std::byte{2}); });
  };
  EXPECT_TRUE(sim::explore({}, p).complete);
  EXPECT_FALSE(sim::explore({.memory = memory_model::tso}, p).complete);
}

}  // namespace
}  // namespace faultline::test

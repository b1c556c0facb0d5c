// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/native.hpp>
#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/treiber_stack.hpp>

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

namespace faultline {
namespace {

using sim::verdict;
using sync::treiber_stack;

template <class S, std::uint32_t Nodes>
struct pool {
  static constexpr auto none = treiber_stack<S>::none;
  std::array<typename treiber_stack<S>::link, Nodes> links;
  treiber_stack<S> free{links};
  std::array<sub::var<S, int>, Nodes> contents{};  // of who owns the node

  pool() {
    for (auto n = Nodes; n-- != 0;) free.push(n);
  }
  /// Takes a node, if there is one, and gives it back. That it is nobody else's meanwhile is for the race detector to see.
  void use(int mark) {
    const auto node = free.pop();
    if (node == none) return;
    S::set(contents.at(node), mark);
    S::check(S::get(contents.at(node)) == mark, "somebody else has the node");
    free.push(node);
  }
  [[nodiscard]] std::vector<std::uint32_t> left() const {
    std::vector<std::uint32_t> nodes;
    free.peek([&](std::uint32_t n) { nodes.push_back(n); });
    return nodes;
  }
};

template <std::uint32_t Nodes>
sim::program borrowers(int tasks, int turns) {
  return [=](sim::execution& e) {
    auto& p = e.make<pool<simulated, Nodes>>();
    for (int t = 0; t < tasks; ++t) {
      e.spawn("T" + std::to_string(t), [&p, t, turns] {
        for (int i = 0; i < turns; ++i) p.use(t);
      });
    }
    e.at_end([&p] {
      auto left = p.left();
      std::sort(left.begin(), left.end());
      for (std::uint32_t n = 0; n < Nodes; ++n)
        simulated::check(left.size() == Nodes && left[n] == n, "a node is lost, or there twice");
    });
  };
}

TEST(TreiberStack, last_pushed_is_first_popped) {
  pool<native, 3> p;
  EXPECT_THAT(p.left(), testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(p.free.pop(), 0U);
  EXPECT_EQ(p.free.pop(), 1U);
  p.free.push(0);
  EXPECT_THAT(p.left(), testing::ElementsAre(0, 2));
  EXPECT_EQ(p.free.pop(), 0U);
  EXPECT_EQ(p.free.pop(), 2U);
  EXPECT_EQ(p.free.pop(), p.none);
}

TEST(TreiberStack, no_node_is_lost_or_has_two_owners) {
  for (const auto& program :
       {borrowers<2>(2, 1), borrowers<1>(2, 1), borrowers<2>(2, 2), borrowers<3>(3, 1)}) {
    const auto r = sim::explore({.preemptions = 3, .stop_at_first = false}, program);
    EXPECT_EQ(r.verdict, verdict::clean) << r;
    EXPECT_TRUE(r.complete) << r;
  }
}

TEST(TreiberStack, popper_who_was_overtaken_loses_a_node_without_the_count_TS1) {
  const auto p = [](sim::execution& e) {
    auto& s = e.make<pool<simulated, 2>>();
    e.spawn("T0", [&s] { s.use(0); });
    e.spawn("T1", [&s] {
      const auto a = s.free.pop();
      const auto b = s.free.pop();
      if (a != s.none) s.free.push(a);
      if (b != s.none) s.free.push(b);
    });
    e.at_end([&s] { simulated::check(s.left().size() == 2, "a node is lost"); });
  };
  const auto kept = sim::explore({.stop_at_first = false}, p);
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.complete) << kept;
  const auto r = sim::explore({.omit = {&sync::count_pushes}}, p);
  ASSERT_EQ(r.verdict, verdict::violation) << r;
  EXPECT_THAT(r.message, testing::HasSubstr("a node is lost"));
  EXPECT_THAT(r.steps_skipped_by_defect, testing::Contains("TS1"));
  const auto again = sim::replay(r.schedule, p, {.omit = {&sync::count_pushes}});
  EXPECT_EQ(again.verdict, verdict::violation);
  EXPECT_EQ(again.event_hash, r.event_hash);
}

TEST(TreiberStackNative, two_threads_never_own_the_same_node) {
  constexpr int turns = 100'000;
  pool<native, 3> p;
  {
    const auto other = native::spawn("other", [&p] {
      for (int i = 0; i < turns; ++i) p.use(2 * i);
    });
    for (int i = 0; i < turns; ++i) p.use(2 * i + 1);
  }
  EXPECT_THAT(p.left(), testing::UnorderedElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace faultline

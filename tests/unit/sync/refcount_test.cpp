// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/native.hpp>
#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/refcount.hpp>

#include <gmock/gmock.h>

#include <deque>

namespace faultline {
namespace {

using sim::verdict;
using sync::refcount;
using testing::Contains;
using testing::HasSubstr;

/// An object of a type-stable zone: after its end the count can still be read.
template <class S>
struct object {
  refcount<S> references{1};
  sub::atomic<S, std::uint32_t> freed{0};
  sub::var<S, int> contents{42};

  void use() {
    S::check(freed.load(std::memory_order_relaxed) == 0, "used after it was freed");
    S::check(S::get(contents) == 42, "another's contents are seen");
  }
  void put() {
    if (!references.release()) return;
    S::check(freed.fetch_add(1U, std::memory_order_relaxed) == 0, "freed twice");
    S::set(contents, 0);  // a race with a use that is not ordered before it
  }
};

/// The owner of the only reference gives it back, while others who found the object without a lock try to get one.
sim::program found_while_it_goes(int finders) {
  return [finders](sim::execution& e) {
    auto& o = e.make<object<simulated>>();
    for (int t = 0; t < finders; ++t) {
      e.spawn("T" + std::to_string(t), [&o] {
        if (!o.references.acquire_if_not_zero()) return;
        o.use();
        o.put();
      });
    }
    e.spawn("owner", [&o] {
      o.use();
      o.put();
    });
    e.at_end([&o] {
      simulated::check(o.references.peek() == 0 && o.freed.peek() == 1, "not freed once");
      sim::world::here().observe("freed", o.freed.peek());
    });
  };
}

class Refcount : public testing::TestWithParam<int> {};

TEST_P(Refcount, object_is_freed_once_after_its_last_use) {
  const auto r = sim::explore({.stop_at_first = false}, found_while_it_goes(GetParam()));
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
  EXPECT_EQ(r.outcomes.size(), 1U);
  EXPECT_THAT(r.outcomes, Contains(testing::Key("freed=1")));
}

TEST_P(Refcount, object_is_used_after_it_was_freed_without_increment_if_not_zero_F4) {
  const auto r = sim::explore({.omit = {&sync::increment_if_not_zero}}, found_while_it_goes(GetParam()));
  ASSERT_EQ(r.verdict, verdict::violation) << r;
  EXPECT_THAT(r.message, HasSubstr("used after it was freed")) << r;
  EXPECT_THAT(r.steps_skipped_by_defect, Contains("F4"));
  const auto again =
      sim::replay(r.schedule, found_while_it_goes(GetParam()), {.omit = {&sync::increment_if_not_zero}});
  EXPECT_EQ(again.verdict, verdict::violation);
  EXPECT_EQ(again.event_hash, r.event_hash);
}

INSTANTIATE_TEST_SUITE_P(explored, Refcount, testing::Values(1, 2),
                         [](const auto& i) { return std::to_string(i.param) + "_finders"; });

/// Takes a reference of a reference: a relaxed increment is enough.
TEST(RefcountAcquire, holder_hands_a_reference_to_another_task) {
  const auto r = sim::explore({.stop_at_first = false}, [](sim::execution& e) {
    auto& o = e.make<object<simulated>>();
    e.spawn("T0", [&o] {
      o.references.acquire();
      simulated::spawn("T1", [&o] {
        o.use();
        o.put();
      });
      o.use();
      o.put();
    });
    e.at_end([&o] { simulated::check(o.freed.peek() == 1, "not freed once"); });
  });
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
}

TEST(RefcountSaturation, count_that_runs_over_never_frees) {
  refcount<native> c{0x7fff'ffff};
  c.acquire();
  c.acquire();
  EXPECT_EQ(c.peek(), 0xc000'0000U);
  EXPECT_TRUE(c.acquire_if_not_zero());
  EXPECT_FALSE(c.release());
  EXPECT_EQ(c.peek(), 0xc000'0000U);
}

TEST(RefcountNative, two_threads_free_each_object_once) {
  constexpr int rounds = 20'000;
  std::deque<object<native>> objects(rounds);
  {
    const auto finder = native::spawn("finder", [&objects] {
      for (auto& o : objects) {
        if (!o.references.acquire_if_not_zero()) continue;
        o.use();
        o.put();
      }
    });
    for (auto& o : objects) {
      o.use();
      o.put();
    }
  }
  for (auto& o : objects) {
    ASSERT_EQ(o.references.peek(), 0U);
    ASSERT_EQ(native::peek(o.freed), 1U);
  }
}

}  // namespace
}  // namespace faultline

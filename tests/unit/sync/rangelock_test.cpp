// SPDX-License-Identifier: BSD-2-Clause
// The queue range lock, in both forms: what holds of one must hold of the other.
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/rangelock/queue.hpp>
#include <faultline/sync/rangelock/queue_rule.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace faultline {
namespace {

using sim::verdict;
using real = sync::rangelock_queue<simulated>;
using spec = sync::rangelock_spec<simulated>;

struct ask {
  byte_range range;
  access how;
};
constexpr ask read(std::uint64_t first, std::uint64_t last) { return {{first, last}, access::shared}; }
constexpr ask write(std::uint64_t first, std::uint64_t last) { return {{first, last}, access::exclusive}; }

/// Each task owns its ranges one after the other, or all at once (`nested`), and writes or reads a datum for each ten
/// bytes: owners that conflict are a race. `most` says how many owned a range at the same time.
template <class Lock>
sim::report run(std::vector<std::vector<ask>> tasks, bool nested = false,
                std::vector<const step*> omit = {}) {
  struct file {
    Lock lock{"f"};
    std::array<sub::var<simulated, int>, 12> data;
    sub::atomic<simulated, std::uint32_t> owners{0U};

    void use(const ask& a) {
      for (auto i = a.range.first / 10; i * 10 < a.range.last; ++i) {
        auto& datum = data.at(static_cast<std::size_t>(i));
        if (a.how == access::shared) {
          (void)simulated::get(datum);
        } else {
          simulated::set(datum, 1);
        }
      }
    }
  };
  sim::options how;
  how.omit = std::move(omit);
  std::uint32_t most = 0;
  auto r = sim::explore(how, [&](sim::execution& e) {
    auto& f = e.make<file>();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      e.spawn(std::string("t") + std::to_string(i), [&tasks, &most, &f, i, nested] {
        std::pmr::vector<typename Lock::held> all(&simulated::memory());  // the task may be abandoned
        for (const auto& a : tasks[i]) {
          auto mine = f.lock.acquire(a.range, a.how);
          most = std::max(most, f.owners.fetch_add(1U, std::memory_order_relaxed) + 1);
          f.use(a);
          f.owners.fetch_sub(1U, std::memory_order_relaxed);
          if (nested) all.push_back(std::move(mine));
        }
      });
    }
    e.at_end([&f, &e] { e.here().check(!f.lock.in_use(), "still in use"); });
  });
  r.observations["most"] = std::to_string(most);
  return r;
}

template <class Lock>
class Rangelock : public testing::Test {};
using forms = testing::Types<real, spec>;
TYPED_TEST_SUITE(Rangelock, forms);

TYPED_TEST(Rangelock, conflicting_owners_exclude_each_other) {
  for (const auto& tasks : std::vector<std::vector<std::vector<ask>>>{
           {{write(0, 10)}, {write(5, 15)}},
           {{write(0, 10)}, {read(5, 15)}},
           {{write(0, 10)}, {read(0, 5)}, {write(2, 3)}},
       }) {
    const auto r = run<TypeParam>(tasks);
    EXPECT_EQ(r.verdict, verdict::clean) << r;
    EXPECT_TRUE(r.complete) << r;
    EXPECT_EQ(r.observations.at("most"), "1");
  }
}

TYPED_TEST(Rangelock, readers_share_and_disjoint_writers_run_side_by_side) {
  for (const auto& tasks : std::vector<std::vector<std::vector<ask>>>{
           {{read(0, 10)}, {read(5, 15)}},
           {{write(0, 10)}, {write(20, 30)}},
           {{write(0, 10)}, {write(10, 20)}},  // adjacent: half open
           {{read(0, 10)}, {write(10, 20)}},
       }) {
    const auto r = run<TypeParam>(tasks);
    EXPECT_EQ(r.verdict, verdict::clean) << r;
    EXPECT_TRUE(r.complete) << r;
    EXPECT_EQ(r.observations.at("most"), "2");
  }
}

TYPED_TEST(Rangelock, a_second_range_of_one_lock_can_wait_for_itself) {
  // t0 owns W[0,10), t1 queues W[0,20), t0 asks for W[100,110): behind t1, though nothing overlaps.
  const auto r = run<TypeParam>({{write(0, 10), write(100, 110)}, {write(0, 20)}}, /*nested=*/true);
  EXPECT_NE(r.verdict, verdict::clean) << r;
  const bool hangs = r.verdict == verdict::deadlock || r.verdict == verdict::lost_wakeup;
  EXPECT_TRUE(hangs) << r;
}

TYPED_TEST(Rangelock, without_a_waiter_a_second_disjoint_range_is_granted) {
  const auto r = run<TypeParam>({{write(0, 10), write(100, 110)}}, /*nested=*/true);
  EXPECT_EQ(r.verdict, verdict::clean) << r;
}

const std::vector<std::vector<ask>> three = {{read(0, 10)}, {write(20, 30)}, {read(20, 30)}};
const std::vector<std::vector<ask>> two = {{write(0, 10)}, {write(5, 15)}};

TEST(RangelockQueue, three_tasks_are_exclusive_in_every_interleaving) {
  const auto r = run<real>(three);
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
}

TEST(RangelockQueue, without_the_settling_of_unlock_a_waiter_hangs) {
  const auto r = run<real>(two, false, {&sync::settle_on_unlock});
  EXPECT_EQ(r.verdict, verdict::lost_wakeup) << r;
  EXPECT_TRUE(r.steps_skipped_by_defect.contains("RL1"));
}

TEST(RangelockQueue, without_move_to_front_a_read_overlooks_a_granted_write) {
  const auto r = run<real>(three, false, {&sync::granted_write_to_front});
  EXPECT_EQ(r.verdict, verdict::race) << r;
  EXPECT_TRUE(r.steps_skipped_by_defect.contains("RL3"));
}

TEST(RangelockQueue, without_the_wakeup_a_granted_request_sleeps_on) {
  const auto r = run<real>(two, false, {&sync::wake_granted});
  EXPECT_EQ(r.verdict, verdict::lost_wakeup) << r;
  EXPECT_TRUE(r.steps_skipped_by_defect.contains("RL5"));
}

}  // namespace
}  // namespace faultline

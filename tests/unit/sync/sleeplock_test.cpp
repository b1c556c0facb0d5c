// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/sleeplock.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace faultline {
namespace {

using sim::verdict;
using sync::lock_account;
using sync::sharing;
using testing::ElementsAre;
using vnode_lock = sync::sleeplock<simulated>;

/// Tasks that share one lock; each has an account of its own.
sim::report run(std::vector<std::function<void(vnode_lock&, lock_account&)>> bodies,
                sharing mode = sharing::share, std::vector<const step*> omit = {},
                const std::function<void(sim::execution&)>& set_up = {}) {
  sim::options how;
  how.omit = std::move(omit);
  return sim::explore(how, [&](sim::execution& e) {
    if (set_up) set_up(e);
    auto& lock = e.make<vnode_lock>("vnode", "f", mode);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      auto& account = e.make<lock_account>();
      e.spawn(std::string("t") + std::to_string(i),
              [&bodies, &lock, &account, i] { bodies[i](lock, account); });
    }
    e.at_end([&lock, &e] { e.here().check(!lock.held(), "still held"); });
  });
}

/// Counts who is inside with it: visibly, so that every order of coming and going is tried.
auto holding(access how, simulated::atomic<std::uint32_t>*& inside, std::uint32_t& most) {
  return [how, &inside, &most](vnode_lock& lock, lock_account& td) {
    lock.acquire(td, how);
    most = std::max(most, inside->fetch_add(1U) + 1);
    inside->fetch_sub(1U);
    lock.release(td);
  };
}

std::uint32_t most_inside(access one, access other, sharing mode) {
  simulated::atomic<std::uint32_t>* inside = nullptr;
  std::uint32_t most = 0;
  const auto r =
      run({holding(one, inside, most), holding(other, inside, most)}, mode, {},
          [&inside](sim::execution& e) { inside = &e.make<simulated::atomic<std::uint32_t>>(0U); });
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
  return most;
}

TEST(Sleeplock, sharers_share_and_an_exclusive_holder_is_alone) {
  EXPECT_EQ(most_inside(access::shared, access::shared, sharing::share), 2U);
  EXPECT_EQ(most_inside(access::shared, access::exclusive, sharing::share), 1U);
  EXPECT_EQ(most_inside(access::exclusive, access::exclusive, sharing::share), 1U);
}

TEST(Sleeplock, noshare_makes_a_shared_request_exclusive) {
  EXPECT_EQ(most_inside(access::shared, access::shared, sharing::noshare), 1U);
}

TEST(Sleeplock, an_exclusive_holder_gets_it_again_only_with_canrecurse) {
  const auto again = [](bool can_recurse) {
    return run({[can_recurse](vnode_lock& lock, lock_account& td) {
      lock.acquire(td, access::exclusive);
      lock.acquire(td, access::exclusive, can_recurse);
      lock.release(td);
      simulated::check(lock.owned_exclusively(), "given back once too often");
      lock.release(td);
    }});
  };
  EXPECT_EQ(again(true).verdict, verdict::clean);
  const auto stuck = again(false);
  EXPECT_EQ(stuck.verdict, verdict::deadlock) << stuck;
  EXPECT_THAT(stuck.cycle, ElementsAre("vnode:f"));
}

TEST(Sleeplock, a_second_shared_hold_waits_behind_a_queued_writer_unless_let_through) {
  const std::vector<std::function<void(vnode_lock&, lock_account&)>> tasks = {
      [](vnode_lock& lock, lock_account& td) {
        lock.acquire(td, access::shared);
        lock.acquire(td, access::shared);
        lock.release(td);
        lock.release(td);
      },
      [](vnode_lock& lock, lock_account& td) {
        lock.acquire(td, access::exclusive);
        lock.release(td);
      }};
  const auto kept = run(tasks);
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.complete);
  EXPECT_TRUE(kept.steps_reached.contains("V11b"));
  const auto omitted = run(tasks, sharing::share, {&sync::let_sharers_through});
  EXPECT_EQ(omitted.verdict, verdict::deadlock) << omitted;
}

/// A sharer that holds no shared lock: `treat` says whether it is inside uiomove.
sim::report newcomer(bool treat) {
  return run({[](vnode_lock& lock, lock_account& td) {
                lock.acquire(td, access::shared);
                simulated::io("inside");
                lock.release(td);
              },
              [](vnode_lock& lock, lock_account& td) {
                lock.acquire(td, access::exclusive);
                lock.release(td);
              },
              [treat](vnode_lock& lock, lock_account& td) {
                td.deadlock_treat = treat;
                const bool got = lock.try_acquire(td, access::shared);
                sim::world::here().observe("got", got ? "yes" : "no");
                if (got) lock.release(td);
              }});
}

TEST(Sleeplock, a_queued_writer_refuses_new_sharers) {
  const auto r = newcomer(false);
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.outcomes.contains("got=no"));
  EXPECT_TRUE(r.outcomes.contains("got=yes"));
}

TEST(Sleeplock, deadlock_treatment_passes_a_queued_writer_but_no_holder) {
  // Refused only while the writer holds: fewer ends than without the treatment, and some.
  const auto without = newcomer(false);
  const auto with = newcomer(true);
  EXPECT_EQ(with.verdict, verdict::clean) << with;
  EXPECT_LT(with.outcomes.at("got=no"), without.outcomes.at("got=no"));
  EXPECT_GT(with.outcomes.at("got=no"), 0U);
}

TEST(Sleeplock, counts_the_shared_locks_of_the_thread) {
  const auto r = run({[](vnode_lock& lock, lock_account& td) {
    lock.acquire(td, access::shared);
    EXPECT_EQ(td.slocks, 1U);
    lock.release(td);
    EXPECT_EQ(td.slocks, 0U);
    lock.acquire(td, access::exclusive);
    EXPECT_EQ(td.slocks, 0U);
    lock.release(td);
  }});
  EXPECT_EQ(r.verdict, verdict::clean) << r;
}

}  // namespace
}  // namespace faultline

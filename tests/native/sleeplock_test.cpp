// SPDX-License-Identifier: BSD-2-Clause
// The vnode lock on real threads.
#include "support/two_threads.hpp"

#include <faultline/sync/sleeplock.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>

namespace faultline {
namespace {

using lock = sync::sleeplock<native>;
using sync::sharing;
constexpr int rounds = 3'000;

TEST(NativeSleeplock, exclusive_holders_exclude_each_other_and_sharers) {
  lock vnode{"vnode", "f", sharing::share};
  std::array<std::uint64_t, 2> pair{};
  std::array<std::uint64_t, 2> torn{};
  test::on_two_threads([&](int which) {
    sync::lock_account td;
    for (int i = 0; i < rounds; ++i) {
      if (i % 3 == 2) {
        vnode.acquire(td, access::shared);
        torn[static_cast<std::size_t>(which)] += pair[0] != pair[1] ? 1U : 0U;
      } else {
        vnode.acquire(td, access::exclusive);
        EXPECT_TRUE(vnode.owned_exclusively());
        ++pair[0];
        ++pair[1];
      }
      vnode.release(td);
      EXPECT_EQ(td.slocks, 0U);
    }
  });
  EXPECT_EQ(pair[0], 2U * rounds / 3 * 2);
  EXPECT_EQ(pair[1], pair[0]);
  EXPECT_EQ(torn[0] + torn[1], 0U);
  EXPECT_FALSE(vnode.held());
}

TEST(NativeSleeplock, sharers_are_inside_together) {
  lock vnode{"vnode", "f", sharing::share};
  std::atomic<int> inside = 0;
  test::on_two_threads([&](int) {
    sync::lock_account td;
    vnode.acquire(td, access::shared);
    ++inside;
    while (inside.load() != 2) native::relax();  // ends only if both are
    EXPECT_EQ(td.slocks, 1U);
    vnode.release(td);
  });
  EXPECT_FALSE(vnode.held());
}

TEST(NativeSleeplock, shared_requests_exclude_each_other_where_the_vnode_does_not_share) {
  lock vnode{"vnode", "f", sharing::noshare};
  std::uint64_t n = 0;
  test::on_two_threads([&](int) {
    sync::lock_account td;
    for (int i = 0; i < rounds; ++i) {
      vnode.acquire(td, access::shared);
      EXPECT_TRUE(vnode.owned_exclusively());
      ++n;
      vnode.release(td);
    }
  });
  EXPECT_EQ(n, 2U * rounds);
}

TEST(NativeSleeplock, recursion_counts) {
  lock vnode{"vnode", "f", sharing::share};
  std::uint64_t n = 0;
  test::on_two_threads([&](int) {
    sync::lock_account td;
    for (int i = 0; i < rounds; ++i) {
      vnode.acquire(td, access::exclusive);
      vnode.acquire(td, access::exclusive, true);
      ++n;
      vnode.release(td);
      ++n;  // still held
      vnode.release(td);
    }
  });
  EXPECT_EQ(n, 4U * rounds);
  EXPECT_FALSE(vnode.held());
}

/// V11b on real threads: a sharer asks once more while a writer is queued. It must not wait for that writer.
TEST(NativeSleeplock, a_sharer_overtakes_the_writer_that_waits_for_it) {
  lock vnode{"vnode", "f", sharing::share};
  sync::lock_account td;
  bool wrote = false;
  for (int i = 0; i < 100; ++i) {
    vnode.acquire(td, access::shared);
    auto writer = native::spawn("writer", [&] {
      sync::lock_account its;
      vnode.acquire(its, access::exclusive);
      wrote = true;
      vnode.release(its);
    });
    const auto newcomer_is_refused = [&vnode] {
      bool refused = false;
      auto t = native::spawn("newcomer", [&] {
        sync::lock_account its;
        refused = !vnode.try_acquire(its, access::shared);
        if (!refused) vnode.release(its);
      });
      native::join(t);
      return refused;
    };
    while (!newcomer_is_refused()) native::relax();  // the writer is queued
    vnode.acquire(td, access::shared);
    EXPECT_EQ(td.slocks, 2U);
    EXPECT_FALSE(wrote);
    vnode.release(td);
    vnode.release(td);
    native::join(writer);
    EXPECT_TRUE(wrote);
    wrote = false;
  }
  EXPECT_FALSE(vnode.held());
}

}  // namespace
}  // namespace faultline

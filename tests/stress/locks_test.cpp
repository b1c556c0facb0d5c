// SPDX-License-Identifier: BSD-2-Clause
// Locks on two real threads, asked for at random. What they guard are plain integers: ThreadSanitizer watches them.
#include "support/two_threads.hpp"

#include <faultline/sync/rangelock/queue.hpp>
#include <faultline/sync/sleeplock.hpp>

#include <gtest/gtest.h>

#include <array>

namespace faultline {
namespace {

constexpr int rounds = 10'000;
constexpr std::size_t cells = 8;

TEST(StressRangelock, random_ranges_and_modes_exclude_as_they_should) {
  const auto seed = test::fresh_seed();
  sync::rangelock_queue<native> lock{"f"};
  std::array<std::uint64_t, cells> cell{};
  std::array<std::array<std::uint64_t, cells>, 2> written{};
  std::array<std::uint64_t, 2> changed{};
  const auto sum = [&cell](byte_range range) {
    std::uint64_t all = 0;
    for (auto c = range.first; c < range.last; ++c) all += cell[static_cast<std::size_t>(c)];
    return all;
  };
  test::on_two_threads([&](int which) {
    test::dice random(seed, which);
    const auto me = static_cast<std::size_t>(which);
    for (int i = 0; i < rounds; ++i) {
      const auto first = random.below(cells);
      const byte_range range{first, first + 1 + random.below(cells - first)};
      if (random.coin()) {
        const auto mine = lock.acquire(range, access::exclusive);
        for (auto c = range.first; c < range.last; ++c) {
          ++cell[static_cast<std::size_t>(c)];
          ++written[me][static_cast<std::size_t>(c)];
        }
      } else {
        const auto mine = lock.acquire(range, access::shared);
        const auto before = sum(range);
        native::relax();
        changed[me] += sum(range) != before ? 1U : 0U;
      }
    }
  });
  for (std::size_t i = 0; i < cells; ++i) EXPECT_EQ(cell[i], written[0][i] + written[1][i]) << i;
  EXPECT_EQ(changed[0] + changed[1], 0U);
  EXPECT_FALSE(lock.in_use());
}

TEST(StressSleeplock, random_requests_exclude_as_they_should) {
  const auto seed = test::fresh_seed();
  std::array<sync::sleeplock<native>, 2> vnode{
      sync::sleeplock<native>{"vnode", "f0", sync::sharing::share},
      sync::sleeplock<native>{"vnode", "f1", sync::sharing::noshare}};
  std::array<std::uint64_t, 2> value{};
  std::array<std::array<std::uint64_t, 2>, 2> written{};
  test::on_two_threads([&](int which) {
    test::dice random(seed, which);
    sync::lock_account td;
    for (int i = 0; i < rounds; ++i) {
      const auto at = static_cast<std::size_t>(random.below(2));
      const auto how = random.coin() ? access::shared : access::exclusive;
      if (random.coin()) {
        vnode[at].acquire(td, how);
      } else if (!vnode[at].try_acquire(td, how)) {
        continue;
      }
      if (how == access::exclusive) {
        ++value[at];
        ++written[static_cast<std::size_t>(which)][at];
      } else {
        const auto before = value[at];
        native::relax();
        EXPECT_EQ(value[at], before);
      }
      vnode[at].release(td);
    }
    EXPECT_EQ(td.slocks, 0U);
  });
  for (std::size_t i = 0; i < value.size(); ++i) {
    EXPECT_EQ(value[i], written[0][i] + written[1][i]);
    EXPECT_FALSE(vnode[i].held());
  }
}

}  // namespace
}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
// The queue range lock's algorithm on real threads. What it guards are plain integers: ThreadSanitizer watches them.
#include "support/two_threads.hpp"

#include <faultline/sync/rangelock/queue.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>

namespace faultline {
namespace {

using lock = sync::rangelock_queue<native>;
constexpr int rounds = 3'000;
constexpr std::size_t cells = 8;

struct guarded {
  lock range{"f"};
  std::array<std::uint64_t, cells> cell{};
};

/// All cells of the range must be equal to what the last writer made of them.
void write(guarded& g, byte_range range) {
  const auto mine = g.range.acquire(range, access::exclusive);
  for (auto i = range.first; i < range.last; ++i) ++g.cell[static_cast<std::size_t>(i)];
}

TEST(NativeRangelock, writers_of_ranges_that_meet_exclude_each_other) {
  guarded g;
  test::on_two_threads([&](int which) {
    for (int i = 0; i < rounds; ++i) {
      write(g, which == 0 ? byte_range{0, 5} : byte_range{3, cells});
    }
  });
  for (std::size_t i = 0; i < cells; ++i) {
    EXPECT_EQ(g.cell[i], i == 3 || i == 4 ? 2U * rounds : 1U * rounds) << i;
  }
  EXPECT_FALSE(g.range.in_use());
}

TEST(NativeRangelock, owners_of_disjoint_ranges_are_inside_together) {
  guarded g;
  std::atomic<int> inside = 0;
  test::on_two_threads([&](int which) {
    const auto at = static_cast<std::uint64_t>(which) * 4;
    const auto mine = g.range.acquire({at, at + 4}, access::exclusive);
    ++inside;
    while (inside.load() != 2) native::relax();  // ends only if both are
  });
  EXPECT_FALSE(g.range.in_use());
}

TEST(NativeRangelock, readers_of_one_range_are_inside_together) {
  guarded g;
  std::atomic<int> inside = 0;
  test::on_two_threads([&](int) {
    const auto mine = g.range.acquire(byte_range::whole(), access::shared);
    ++inside;
    while (inside.load() != 2) native::relax();
  });
  EXPECT_FALSE(g.range.in_use());
}

TEST(NativeRangelock, reader_sees_whole_writes) {
  guarded g;
  std::uint64_t torn = 0;
  test::on_two_threads([&](int which) {
    for (int i = 0; i < rounds; ++i) {
      if (which == 0) {
        write(g, {0, cells});
      } else {
        const auto mine = g.range.acquire({0, cells}, access::shared);
        for (const auto& c : g.cell) torn += c != g.cell.front() ? 1U : 0U;
      }
    }
  });
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(g.cell.back(), 1U * rounds);
  EXPECT_FALSE(g.range.in_use());
}

/// A reader that holds its range, a writer behind it, and a reader behind the writer: the head of the line is not overtaken.
TEST(NativeRangelock, reader_behind_a_waiting_writer_waits) {
  guarded g;
  std::atomic<bool> first_in = false;
  std::atomic<bool> done = false;
  auto first = g.range.acquire({0, 4}, access::shared);
  const auto writer = native::spawn("writer", [&] {
    first_in = true;
    write(g, {0, 4});
    done = true;
  });
  while (!first_in.load()) native::relax();
  EXPECT_FALSE(done.load());
  EXPECT_EQ(g.cell[0], 0U);  // a race if the writer was let in
  first.release();
  while (!done.load()) native::relax();
  const auto mine = g.range.acquire({0, 4}, access::shared);
  EXPECT_EQ(g.cell[0], 1U);
}

}  // namespace
}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
#include "support/two_threads.hpp"

#include <faultline/sim/basic_rules.hpp>

#include <gtest/gtest.h>

#include <memory_resource>
#include <vector>

namespace faultline {
namespace {

/// Under LeakSanitizer this says more than it looks.
TEST(NativeArena, frees_what_was_not_given_back) {
  native::arena memory;
  EXPECT_EQ(&native::memory(), &memory);
  auto* const kept = native::make<std::pmr::vector<int>>(std::size_t{100}, 7, &native::memory());
  EXPECT_EQ(memory.size(), 2U);
  auto* const n = native::make<int>(3);
  EXPECT_EQ(memory.size(), 3U);
  native::destroy(n);
  EXPECT_EQ(memory.size(), 2U);
  EXPECT_EQ(kept->back(), 7);
}

TEST(NativeArena, locks_and_pages_own_nothing_outside_it) {
  native::arena memory;
  auto& lock = *native::make<native::spec_lock>(sim::the_shared_rule, "rw", "l");
  for (int i = 0; i < 10; ++i) lock.acquire({.how = access::shared});
  auto& page = *native::make<native::racy_bytes>(std::size_t{4096}, "page");
  native::fill(page, 0, page.size(), std::byte{1});
  EXPECT_EQ(memory.size(), 4U);
}

TEST(NativeArena, the_one_before_is_current_again_afterwards) {
  auto* const none = &native::memory();
  {
    native::arena outer;
    {
      native::arena inner;
      EXPECT_EQ(&native::memory(), &inner);
    }
    EXPECT_EQ(&native::memory(), &outer);
  }
  EXPECT_EQ(&native::memory(), none);
}

TEST(NativeArena, is_aligned_as_asked) {
  native::arena memory;
  for (std::size_t align = 1; align <= 4096; align *= 2) {
    auto* const at = native::memory().allocate(24, align);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % align, 0U) << align;
    native::memory().deallocate(at, 24, align);
  }
  EXPECT_EQ(memory.size(), 0U);
}

TEST(NativeArena, a_spawned_thread_has_its_spawners_and_may_give_back_what_another_allocated) {
  constexpr int rounds = 1'000;
  native::arena memory;
  native::mutex guard{"guard"};
  std::pmr::vector<int*> shared{&native::memory()};
  test::on_two_threads([&](int which) {
    EXPECT_EQ(&native::memory(), &memory);
    for (int i = 0; i < rounds; ++i) {
      auto* const mine = native::make<int>(which);
      guard.lock();
      shared.push_back(mine);
      auto* const oldest = i % 2 == 0 ? nullptr : shared.front();
      if (oldest != nullptr) shared.erase(shared.begin());
      guard.unlock();
      if (oldest != nullptr) native::destroy(oldest);
    }
  });
  EXPECT_EQ(shared.size(), std::size_t{rounds});
  EXPECT_EQ(memory.size(), shared.size() + 1);
}

}  // namespace
}  // namespace faultline

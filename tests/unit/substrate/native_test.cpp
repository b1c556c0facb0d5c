// SPDX-License-Identifier: BSD-2-Clause
#include "support/two_threads.hpp"

#include <faultline/sim/basic_rules.hpp>
#include <faultline/substrate/native.hpp>
#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/lockmgr_rule.hpp>
#include <faultline/sync/rangelock/queue_rule.hpp>

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

namespace faultline {
namespace {

inline constexpr step kept_step{"native-test.kept", "K", "nothing"};
inline constexpr step omitted_step{"native-test.omitted", "O", "nothing"};
inline constexpr step other_step{"native-test.other", "P", "nothing"};

// The seam costs nothing natively: what a mechanism names is the thing itself.
static_assert(substrate<native> && substrate<simulated> && substrate<native_without<omitted_step>>);
static_assert(std::is_same_v<sub::atomic<native, std::uint64_t>, std::atomic<std::uint64_t>>);
static_assert(std::is_same_v<sub::atomic<native_without<omitted_step>, int*>, std::atomic<int*>>);
static_assert(std::is_same_v<sub::var<native, int>, int> && sizeof(sub::var<native, int>) == sizeof(int));
static_assert(sizeof(native::mutex) == sizeof(std::mutex));
static_assert(race_detector::present || sizeof(native::interlock) == sizeof(std::mutex));
static_assert(std::is_empty_v<native::frame>);

// Steps are kept or not at compile time, by address.
static_assert(native::keeps(kept_step));
static_assert(native_without<omitted_step>::keeps(kept_step));
static_assert(!native_without<omitted_step>::keeps(omitted_step));
static_assert(!native_without<omitted_step, other_step>::keeps(other_step));

constexpr int rounds = 2'000;

using test::on_two_threads;

TEST(NativeSelf, threads_that_live_have_different_small_numbers) {
  std::array<std::uint32_t, 2> seen{};
  std::atomic<int> asked = 0;
  on_two_threads([&](int which) {
    seen[static_cast<std::size_t>(which)] = native::self();
    ++asked;
    while (asked.load() != 2) native::relax();
  });
  EXPECT_NE(seen[0], seen[1]);
  EXPECT_EQ(native::self(), seen[0]);
  EXPECT_LT(seen[1], native::threads_max);
}

TEST(NativeSelf, number_of_a_thread_that_ended_is_used_again) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < 2 * native::threads_max; ++i) {
    auto t = native::spawn("short", [&seen] { seen.insert(native::self()); });
    native::join(t);
  }
  EXPECT_LE(seen.size(), 2U);
}

TEST(NativeMutex, excludes) {
  native::mutex m{"m"};
  int n = 0;
  on_two_threads([&](int) {
    for (int i = 0; i < rounds; ++i) {
      m.lock();
      ++n;
      m.unlock();
    }
  });
  EXPECT_EQ(n, 2 * rounds);
  ASSERT_TRUE(m.try_lock());
  m.unlock();
}

TEST(NativeWaitq, two_threads_take_turns) {
  native::mutex m{"m"};
  native::waitq turn_taken{"turn"};
  int turn = 0;
  int taken = 0;
  on_two_threads([&](int which) {
    for (int i = 0; i < rounds; ++i) {
      m.lock();
      while (turn != which) turn_taken.wait(m);
      ++taken;
      turn = 1 - which;
      m.unlock();
      if ((i & 1) != 0) {
        turn_taken.wake_one();
      } else {
        turn_taken.wake_all();
      }
    }
  });
  EXPECT_EQ(taken, 2 * rounds);
}

TEST(NativeWaitq, wakes_the_oldest_and_nobody_else) {
  native::mutex m{"m"};
  native::waitq q{"q"};
  int asleep = 0;
  std::vector<int> order;
  std::vector<native::task> sleepers;
  const auto until = [&m](auto&& holds) {
    m.lock();
    while (!holds()) {
      m.unlock();
      native::relax();
      m.lock();
    }
    m.unlock();
  };
  for (int i = 0; i < 3; ++i) {
    sleepers.push_back(native::spawn("sleeper", [&, i] {
      m.lock();
      ++asleep;
      q.wait(m);  // no loop: it is woken by a wake only
      order.push_back(i);
      m.unlock();
    }));
    until([&] { return asleep == i + 1; });
  }
  for (std::size_t i = 1; i <= 3; ++i) {
    q.wake_one();
    until([&] { return order.size() == i; });
  }
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2));
  q.wake_all();  // nobody is there
}

TEST(NativeSpecLock, mutex_rule_excludes) {
  native::spec_lock lock{sim::the_mutex_rule, "mutex", "m"};
  int n = 0;
  on_two_threads([&](int) {
    for (int i = 0; i < rounds; ++i) {
      if (i % 4 != 0 || !lock.try_acquire({})) lock.acquire({});
      ++n;
      lock.release();
    }
  });
  EXPECT_EQ(n, 2 * rounds);
  EXPECT_FALSE(lock.held());
}

TEST(NativeSpecLock, shared_rule_lets_readers_in_together_and_keeps_a_writer_out) {
  native::spec_lock lock{sim::the_shared_rule, "rw", "l"};
  std::atomic<int> readers = 0;
  on_two_threads([&](int) {
    lock.acquire({.how = access::shared});
    ++readers;
    while (readers.load() != 2) native::relax();  // ends only if both are inside
    EXPECT_TRUE(lock.held_by_me(access::shared));
    EXPECT_FALSE(lock.held_by_me(access::exclusive));
    EXPECT_FALSE(lock.try_acquire({.how = access::exclusive}));
    lock.release();
  });
  int n = 0;
  int last = 0;
  on_two_threads([&](int which) {
    for (int i = 0; i < rounds; ++i) {
      if (which == 0) {
        lock.acquire({.how = access::exclusive});
        ++n;
      } else {
        lock.acquire({.how = access::shared});
        last = n;
      }
      lock.release();
    }
  });
  EXPECT_EQ(n, rounds);
  EXPECT_LE(last, rounds);
  EXPECT_FALSE(lock.held());
}

TEST(NativeSpecLock, queued_writer_keeps_new_readers_out_under_the_lockmgr_rule) {
  native::spec_lock lock{sync::the_lockmgr_rule, "vnode", "v"};
  lock.acquire({.how = access::shared});
  bool wrote = false;
  const auto writer = native::spawn("writer", [&] {
    lock.acquire({.how = access::exclusive});
    wrote = true;
    lock.release();
  });
  const auto reader_refused = [&lock] {
    bool refused = false;
    auto t = native::spawn("reader", [&] {
      refused = !lock.try_acquire({.how = access::shared});
      if (!refused) lock.release();
    });
    native::join(t);
    return refused;
  };
  while (!reader_refused()) native::relax();
  auto exempt = native::spawn("exempt", [&lock] {
    lock.acquire({.how = access::shared, .overtakes = true});
    EXPECT_TRUE(lock.held_by_me(access::shared));
    lock.release();
  });
  native::join(exempt);
  EXPECT_TRUE(lock.held_by_me(access::shared));
  lock.release();
  lock.acquire({.how = access::exclusive, .may_recurse = true});  // after the writer, or before it
  ASSERT_TRUE(lock.try_acquire({.how = access::exclusive, .may_recurse = true}));
  lock.release();
  EXPECT_TRUE(lock.held());
  lock.release();
}

TEST(NativeSpecLock, every_range_that_may_run_is_woken) {
  native::spec_lock lock{sync::the_rangelock_queue_rule, "range", "f"};
  std::array<std::array<int, 64>, 2> file{};
  on_two_threads([&](int which) {
    const auto mine = static_cast<std::uint64_t>(which);
    for (int i = 0; i < rounds; ++i) {
      const bool both = i % 3 == 0;
      lock.acquire({.range = both ? byte_range::whole() : byte_range{64 * mine, 64 * (mine + 1)}});
      for (auto& half : file) {
        if (both || &half == &file[mine]) std::iota(half.begin(), half.end(), half.back());
      }
      lock.release();
    }
  });
  EXPECT_FALSE(lock.held());
}

TEST(NativeInterlock, who_waits_for_a_busy_lock_goes_on_when_it_is_given_back) {
  native::interlock interlock{"object", "o"};
  native::spec_lock busy{sim::the_shared_rule, "busy", "p"};
  int holder = -1;  // guarded by busy
  on_two_threads([&](int which) {
    for (int i = 0; i < rounds; ++i) {
      for (;;) {
        {
          const section<native> inside(interlock);
          if (busy.try_acquire({.how = access::exclusive})) break;
        }
        interlock.wait_unheld(busy, "pgbusy");
      }
      holder = which;
      {
        const section<native> inside(interlock, access::shared);
        EXPECT_EQ(holder, which);
        busy.release();
      }
    }
  });
  EXPECT_FALSE(busy.held());
}

/// Every offset, length and alignment that takes another path, against memmove.
TEST(NativeRacyBytes, copies_are_those_of_memmove) {
  constexpr std::size_t size = 1024;
  std::array<unsigned char, size> model{};
  std::iota(model.begin(), model.end(), static_cast<unsigned char>(1));
  native::racy_bytes page(size, "page");
  EXPECT_EQ(page.size(), size);
  for (const std::byte b : native::peek(page)) ASSERT_EQ(b, std::byte{0});
  native::write(page, 0, std::as_bytes(std::span(model)));

  const auto same = [&] { return std::memcmp(native::peek(page).data(), model.data(), size) == 0; };
  ASSERT_TRUE(same());
  unsigned char next = 0;
  for (const std::size_t n : {0U, 1U, 5U, 7U, 8U, 9U, 31U, 33U, 100U, 128U, 129U, 130U, 300U}) {
    for (const std::size_t from : {0U, 1U, 8U, 13U, 200U}) {
      for (const std::size_t to : {0U, 3U, 8U, 16U, 210U, 501U}) {
        native::copy(page, to, page, from, n);
        std::memmove(model.data() + to, model.data() + from, n);
        ASSERT_TRUE(same()) << n << " bytes from " << from << " to " << to;
      }
      std::vector<unsigned char> room(n + 1);  // never null
      const auto out = std::span(room).first(n);
      native::read(page, from, std::as_writable_bytes(out));
      ASSERT_EQ(std::memcmp(out.data(), model.data() + from, n), 0) << n << " bytes from " << from;
      for (auto& b : out) b = ++next;
      native::write(page, from, std::as_bytes(out));
      std::memcpy(model.data() + from, out.data(), n);
      ASSERT_TRUE(same()) << n << " bytes to " << from;
      native::fill(page, from + 2, n, std::byte{next});
      std::memset(model.data() + from + 2, next, n);
      ASSERT_TRUE(same()) << n << " bytes filled from " << from + 2;
    }
  }
}

TEST(NativeRacyBytes, a_short_copy_does_not_tear_an_aligned_word) {
  constexpr std::size_t size = racy::string_copy_min / 8 * 8;
  native::racy_bytes page(size, "page");
  on_two_threads([&](int which) {
    for (int i = 0; i < rounds; ++i) {
      if (which == 0) {
        native::fill(page, 0, size, std::byte{static_cast<unsigned char>(i)});
      } else {
        std::array<std::uint64_t, size / 8> seen{};
        native::read(page, 0, std::as_writable_bytes(std::span(seen)));
        for (const std::uint64_t w : seen) ASSERT_EQ(w, (w & 0xffU) * 0x0101'0101'0101'0101U);
      }
    }
  });
}

TEST(NativeRacyBytes, a_shootdown_waits_for_the_access_in_flight_and_stops_those_that_come_later) {
  native::racy_bytes page(64, "page");
  std::atomic<bool> inside = false;
  std::atomic<bool> invalid = false;
  bool written = false;  // plain: the shootdown orders it
  const std::array<std::byte, 8> ones{std::byte{1}};
  const auto access = native::spawn("access", [&] {
    const bool done = native::write_if(
        [&] {
          inside = true;
          while (!invalid.load()) native::relax();
          for (int i = 0; i < 100; ++i)
            std::this_thread::yield();  // time for the shootdown to end, if it does
          written = true;
          return true;
        },
        page, 0, ones);
    EXPECT_TRUE(done);
  });
  while (!inside.load()) native::relax();
  native::end_accesses(page, [&] { invalid = true; });
  EXPECT_TRUE(written);
  EXPECT_EQ(native::peek(page)[0], std::byte{1});
  EXPECT_FALSE(native::write_if([&] { return !invalid.load(); }, page, 8, ones));
  EXPECT_EQ(native::peek(page)[8], std::byte{0});
}

TEST(NativeMemory, make_and_destroy_keep_and_peek) {
  auto* const n = native::make<int>(7);
  EXPECT_EQ(*n, 7);
  native::destroy(n);
  const char* const text = native::keep(std::string("f") + "0");
  EXPECT_STREQ(text, "f0");
  EXPECT_EQ(native::keep("f0"), text);
  const native::atomic<int> a{3};
  EXPECT_EQ(native::peek(a), 3);
  const auto before = native::now();
  EXPECT_LE(before, native::now());
}

TEST(NativeDeathTest, check_that_does_not_hold_ends_the_program) {
  native::check(true, "holds");
#ifdef NDEBUG
  native::check(false, "is dropped");
#else
  EXPECT_DEATH(native::check(false, "page left busy"), "page left busy");
#endif
}

}  // namespace
}  // namespace faultline

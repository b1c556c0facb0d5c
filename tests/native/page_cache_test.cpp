// SPDX-License-Identifier: BSD-2-Clause
// Pages of one file on real threads: read, written, mapped, stored to, cut, evicted and written back at the same time.
#include "native/machine.hpp"

#include <atomic>

namespace faultline {
namespace {

using kern::o_rdwr;
using kern::user_signal;
using test::machine;
using test::native_page;
using vm::protection;

constexpr int rounds = 800;

TEST(NativePageCache, records_over_several_pages_are_read_as_they_were_written) {
  constexpr std::uint64_t at = 10;
  constexpr std::uint64_t size = 3 * native_page;
  machine m;
  auto& f = m.k.make_file("f", std::string(4 * native_page, 'a'));
  const auto fd = m.k.open_file(m.process, "f", o_rdwr);
  std::uint64_t torn = 0;
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    const auto buffer = m.k.mmap(td, {}, size, protection::read_write, {.anonymous = true}, fd_number{-1}, 0);
    ASSERT_TRUE(buffer.ok());
    for (int i = 0; i < rounds; ++i) {
      std::string text(size, static_cast<char>('a' + i % 26));
      if (which == 0) {
        ASSERT_EQ(m.k.store(td, buffer.value(), test::bytes_of(text)), user_signal::none);
        EXPECT_EQ(m.k.pwrite(td, fd, buffer.value(), size, at).value_or(0), size);
      } else {
        EXPECT_EQ(m.k.pread(td, fd, buffer.value(), size, at).value_or(0), size);
        ASSERT_EQ(m.k.load(td, buffer.value(), test::bytes_of(text)), user_signal::none);
        torn += test::of_one_byte(text) ? 0U : 1U;
        if (i % 4 == 0) m.k.evict(td, f, page_index{static_cast<std::uint64_t>(i) / 4 % 4});
      }
    }
  });
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(m.k.file_contents("f"), std::string(at, 'a') +
                                        std::string(size, static_cast<char>('a' + (rounds - 1) % 26)) +
                                        std::string(native_page - at, 'a'));
  m.expect_nothing_left();
}

/// Each thread has every other byte of the same pages. A store must not be lost to the other's store into the same word, nor to
/// a page that is written back and evicted meanwhile: what was stored is what is loaded.
TEST(NativePageCache, stores_to_one_page_are_kept_through_write_back_and_eviction) {
  constexpr std::size_t pages = 2;
  machine m;
  auto& f = m.k.make_file("f", std::string(pages * native_page, '.'));
  const auto fd = m.k.open_file(m.process, "f", o_rdwr);
  const auto map = m.k.map_file(m.process, f, protection::read_write);
  std::array<int, 2> evicted{};
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    std::array<std::byte, pages * native_page> mine{};
    test::dice random(1, which);
    for (int i = 0; i < 4 * rounds; ++i) {
      const auto at = 2 * random.below(pages * native_page / 2) + static_cast<std::uint64_t>(which);
      const auto value = static_cast<std::byte>(1 + i % 255);
      ASSERT_EQ(m.k.store(td, map + at, value).signal, user_signal::none);
      mine[static_cast<std::size_t>(at)] = value;
      const page_index page{random.below(pages)};
      if (random.below(4) == 0) evicted[static_cast<std::size_t>(which)] += m.k.evict(td, f, page) ? 1 : 0;
      const bool syncs = random.below(16) == 0;
      EXPECT_EQ(syncs ? m.k.fsync(td, fd) : errc::ok, errc::ok);
      const auto back = m.k.load(td, map + at);
      ASSERT_EQ(back.signal, user_signal::none);
      ASSERT_EQ(back.value, value) << "a store was lost in round " << i;
    }
    for (auto at = static_cast<std::uint64_t>(which); at < mine.size(); at += 2) {
      const auto value = mine[static_cast<std::size_t>(at)];
      EXPECT_EQ(m.k.load(td, map + at).value, value == std::byte{} ? std::byte{'.'} : value) << at;
    }
  });
  EXPECT_GT(evicted[0] + evicted[1], 0);
  EXPECT_EQ(m.k.fsync(m.thread(0), fd), errc::ok);
  EXPECT_EQ(m.k.disk_contents("f"), m.k.file_contents("f"));
  m.expect_nothing_left();
}

/// One thread stores into the second page and loads it back, the other cuts the file before that page and grows it again.
TEST(NativePageCache, stores_race_truncation) {
  constexpr std::uint64_t end = 3 * native_page;
  machine m;
  auto& f = m.k.make_file("f", std::string(end, 'a'));
  const auto fd = m.k.open_file(m.process, "f", o_rdwr);
  const auto map = m.k.map_file(m.process, f, protection::read_write);
  std::array<int, 2> stored{};  // refused, done
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    for (int i = 0; i < rounds; ++i) {
      if (which == 0) {
        const auto value = static_cast<std::byte>(1 + i % 200);
        const auto at = map + native_page + static_cast<std::uint64_t>(i) % native_page;
        const auto done = m.k.store(td, at, value).signal;
        ASSERT_TRUE(done == user_signal::none || done == user_signal::sigbus);
        ++stored[done == user_signal::none ? 1 : 0];
        const auto back = m.k.load(td, at);
        ASSERT_TRUE(back.signal == user_signal::none || back.signal == user_signal::sigbus);
        if (back.signal == user_signal::none) {
          EXPECT_TRUE(back.value == std::byte{0} || back.value == std::byte{'a'} ||
                      (done == user_signal::none && back.value == value))
              << std::to_integer<int>(back.value);
        }
      } else {
        const auto cut = i % 2 == 0 ? native_page : native_page / 2;
        ASSERT_EQ(m.k.ftruncate(td, fd, static_cast<std::int64_t>(cut)), errc::ok);
        EXPECT_EQ(m.k.fstat_size(td, fd).value_or(0), cut);
        ASSERT_EQ(m.k.ftruncate(td, fd, end), errc::ok);
        EXPECT_EQ(m.k.load(td, map + (end - 1)).value, std::byte{0});  // nobody stores there
      }
    }
  });
  EXPECT_EQ(stored[0] + stored[1], rounds);
  const auto contents = m.k.file_contents("f");
  EXPECT_EQ(contents.size(), end);
  EXPECT_EQ(contents.substr(0, native_page / 2), std::string(native_page / 2, 'a'));
  EXPECT_EQ(contents.substr(2 * native_page), std::string(native_page, '\0'));
  m.expect_nothing_left();
}

/// The file's last page is grown over while it is evicted: what a mapping stored behind the end must not show.
TEST(NativePageCache, growing_races_eviction) {
  constexpr std::uint64_t size = 40;  // inside the first page
  machine m;
  auto& f = m.k.make_file("f", std::string(size, 'a'));
  const auto fd = m.k.open_file(m.process, "f", o_rdwr);
  const auto map = m.k.map_file(m.process, f, protection::read_write);
  std::atomic<bool> done = false;
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    if (which == 1) {
      while (!done.load()) m.k.evict(td, f, page_index{0});
      return;
    }
    for (int i = 0; i < rounds; ++i) {
      ASSERT_EQ(m.k.store(td, map + (size + 5), std::byte{'x'}).signal, user_signal::none);  // behind the end
      ASSERT_EQ(m.k.ftruncate(td, fd, static_cast<std::int64_t>(size + 10)), errc::ok);
      const auto seen = m.k.load(td, map + (size + 5));
      EXPECT_EQ(seen.signal, user_signal::none);
      EXPECT_EQ(seen.value, std::byte{0});
      ASSERT_EQ(m.k.ftruncate(td, fd, static_cast<std::int64_t>(size)), errc::ok);
    }
    done = true;
  });
  EXPECT_EQ(m.k.file_contents("f"), std::string(size, 'a'));
  m.expect_nothing_left();
}

TEST(NativePageCache, appends_follow_each_other) {
  constexpr std::uint64_t size = 50;  // over a page's end more often than not
  machine m;
  m.k.make_file("f", "");
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    const auto fd = m.k.open(td, "f", kern::open_flags{.write = true}.with_append());
    ASSERT_TRUE(fd.ok());
    const auto buffer =
        m.k.mmap(td, {}, native_page, protection::read_write, {.anonymous = true}, fd_number{-1}, 0);
    std::string text(size, which == 0 ? 'a' : 'b');
    ASSERT_EQ(m.k.store(td, buffer.value(), test::bytes_of(text)), user_signal::none);
    for (int i = 0; i < rounds / 4; ++i) {
      EXPECT_EQ(m.k.write(td, fd.value(), buffer.value(), size).value_or(0), size);
    }
  });
  const auto contents = m.k.file_contents("f");
  ASSERT_EQ(contents.size(), 2 * size * (rounds / 4));
  std::array<int, 2> records{};
  for (std::size_t at = 0; at < contents.size(); at += size) {
    const auto record = std::string_view(contents).substr(at, size);
    EXPECT_TRUE(test::of_one_byte(record)) << record;
    ++records[record[0] == 'a' ? 0 : 1];
  }
  EXPECT_EQ(records[0], rounds / 4);
  EXPECT_EQ(records[1], rounds / 4);
  m.expect_nothing_left();
}

/// Both threads map, look, store and unmap; the pages of a private mapping are its own.
TEST(NativePageCache, mappings_come_and_go) {
  constexpr std::size_t pages = 2;
  machine m;
  m.k.make_file("f", std::string(pages * native_page, 'f'));
  const auto fd = m.k.open_file(m.process, "f", o_rdwr);
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    const auto mine = static_cast<std::byte>('0' + which);
    for (int i = 0; i < rounds / 2; ++i) {
      const auto shared = m.k.mmap(td, {}, pages * native_page, protection::read, {}, fd, 0);
      const auto copy = m.k.mmap(td, {}, pages * native_page, protection::read_write,
                                 {.shared = false, .private_copy = true}, fd, 0);
      ASSERT_TRUE(shared.ok() && copy.ok());
      ASSERT_EQ(m.k.store(td, copy.value(), mine).signal, user_signal::none);
      EXPECT_EQ(m.k.load(td, copy.value()).value, mine);
      EXPECT_EQ(m.k.load(td, copy.value() + native_page).value, std::byte{'f'});
      EXPECT_EQ(m.k.load(td, shared.value()).value, std::byte{'f'});
      EXPECT_EQ(m.k.store(td, shared.value(), mine).signal, user_signal::sigsegv);
      EXPECT_EQ(m.k.munmap(td, shared.value(), pages * native_page), errc::ok);
      EXPECT_EQ(m.k.munmap(td, copy.value(), pages * native_page), errc::ok);
    }
  });
  EXPECT_EQ(m.k.file_contents("f"), std::string(pages * native_page, 'f'));
  m.expect_nothing_left();
}

/// mprotect() returns when no store is on its way any more: the page does not change until it may be written again.
TEST(NativePageCache, no_store_lands_after_the_right_was_taken) {
  machine m;
  auto& f = m.k.make_file("f", std::string(native_page, '\0'));
  const auto map = m.k.map_file(m.process, f, protection::read_write);
  std::atomic<bool> done = false;
  std::uint64_t changed = 0;
  std::uint64_t stored = 0;
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    std::string text(native_page, '\0');
    if (which == 0) {
      for (std::uint64_t i = 0; !done.load(); ++i) {
        text.assign(native_page, static_cast<char>('a' + i % 26));
        const auto signal = m.k.store(td, map, test::bytes_of(text));
        ASSERT_TRUE(signal == user_signal::none || signal == user_signal::sigsegv);
        stored += signal == user_signal::none ? 1U : 0U;
      }
      return;
    }
    for (int i = 0; i < rounds; ++i) {
      ASSERT_EQ(m.k.mprotect(td, map, native_page, protection::read), errc::ok);
      ASSERT_EQ(m.k.load(td, map, test::bytes_of(text)), user_signal::none);
      for (int again = 0; again < 5; ++again) {
        std::string later(native_page, '?');
        ASSERT_EQ(m.k.load(td, map, test::bytes_of(later)), user_signal::none);
        changed += later != text ? 1U : 0U;
      }
      ASSERT_EQ(m.k.mprotect(td, map, native_page, protection::read_write), errc::ok);
    }
    done = true;
  });
  EXPECT_EQ(changed, 0U);
  m.expect_nothing_left();
}

}  // namespace
}  // namespace faultline

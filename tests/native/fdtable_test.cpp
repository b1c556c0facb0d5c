// SPDX-License-Identifier: BSD-2-Clause
// Descriptors of one process, opened, duplicated, read through and closed by two real threads.
#include "native/machine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace faultline {
namespace {

using kern::o_rdonly;
using test::machine;

constexpr int rounds = 1'000;
constexpr std::size_t record = 16;

std::size_t index(fd_number fd) { return static_cast<std::size_t>(raw(fd)); }

/// Two threads have one descriptor each at most, so the lowest free number is 0 or 1. Who owns a number stands in a plain integer.
TEST(NativeFdtable, a_number_has_one_owner_and_is_the_lowest) {
  machine m;
  m.k.make_file("f", "contents");
  std::array<int, 2> owner{-1, -1};
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    for (int i = 0; i < rounds; ++i) {
      const auto fd = m.k.open(td, "f", o_rdonly);
      ASSERT_TRUE(fd.ok());
      ASSERT_LT(index(fd.value()), owner.size());
      auto& mine = owner[index(fd.value())];
      EXPECT_EQ(std::exchange(mine, which), -1);
      EXPECT_EQ(std::exchange(mine, -1), which);
      EXPECT_EQ(m.k.close(td, fd.value()), errc::ok);
    }
  });
  m.expect_nothing_left();
}

TEST(NativeFdtable, is_full_at_its_limit_and_no_number_is_given_twice) {
  auto p = test::native_parameters();
  p.descriptors = 5;
  machine m(p);
  m.k.make_file("f", "contents");
  const auto first = m.k.open_file(m.process, "f", o_rdonly);
  std::array<std::vector<fd_number>, 2> mine;
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    auto& all = mine[static_cast<std::size_t>(which)];
    for (;;) {
      const auto fd = m.k.dup(td, first);
      if (!fd.ok()) {
        EXPECT_EQ(fd.error(), errc::emfile);
        break;
      }
      all.push_back(fd.value());
    }
  });
  auto all = mine[0];
  all.insert(all.end(), mine[1].begin(), mine[1].end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector{fd_number{1}, fd_number{2}, fd_number{3}, fd_number{4}}));
}

TEST(NativeFdtable, of_two_closes_of_one_number_one_succeeds) {
  machine m;
  m.k.make_file("f", "contents");
  std::array<int, 2> closed{};
  for (int i = 0; i < 50; ++i) {
    const auto fd = m.k.open_file(m.process, "f", o_rdonly);
    EXPECT_EQ(fd, fd_number{0});
    test::on_two_threads([&](int which) {
      const errc error = m.k.close(m.thread(which), fd);
      EXPECT_TRUE(error == errc::ok || error == errc::ebadf);
      closed[static_cast<std::size_t>(which)] += error == errc::ok ? 1 : 0;
    });
  }
  EXPECT_EQ(closed[0] + closed[1], 50);
}

/// All duplicates share one offset: each record is read once, whole.
TEST(NativeFdtable, reads_through_duplicates_share_the_offset) {
  constexpr std::size_t records = 300;
  machine m;
  std::string contents;
  for (std::size_t i = 0; i < records; ++i) {
    contents += std::string(record - 4, static_cast<char>('a' + i % 26)) + std::to_string(1000 + i);
  }
  m.k.make_file("f", contents);
  const auto fd = m.k.open_file(m.process, "f", o_rdonly);
  std::array<std::vector<std::string>, 2> seen;
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    const auto buffer = m.k.mmap(td, {}, test::native_page, vm::protection::read_write, {.anonymous = true},
                                 fd_number{-1}, 0);
    ASSERT_TRUE(buffer.ok());
    for (;;) {
      const auto mine = m.k.dup(td, fd);
      ASSERT_TRUE(mine.ok());
      const auto n = m.k.read(td, mine.value(), buffer.value(), record);
      EXPECT_EQ(m.k.close(td, mine.value()), errc::ok);
      ASSERT_TRUE(n.ok());
      if (n.value() == 0) break;
      std::string text(record, '?');
      ASSERT_EQ(m.k.load(td, buffer.value(), test::bytes_of(text)), kern::user_signal::none);
      seen[static_cast<std::size_t>(which)].push_back(text);
    }
    EXPECT_TRUE(std::is_sorted(
        seen[static_cast<std::size_t>(which)].begin(), seen[static_cast<std::size_t>(which)].end(),
        [](const auto& a, const auto& b) { return a.substr(record - 4) < b.substr(record - 4); }));
  });
  std::vector<std::string> all = seen[0];
  all.insert(all.end(), seen[1].begin(), seen[1].end());
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.substr(record - 4) < b.substr(record - 4); });
  std::string together;
  for (const auto& r : all) together += r;
  EXPECT_EQ(together, contents);
  m.expect_nothing_left();
}

TEST(NativeFdtable, a_read_of_a_number_that_is_closed_meanwhile_is_whole_or_ebadf) {
  machine m;
  m.k.make_file("f", std::string(3 * record, 'f'));
  m.k.make_file("g", std::string(3 * record, 'g'));
  const auto buffer = m.k.map_buffer(m.process, std::string(4 * record, '.'));
  std::array<int, 2> outcomes{};
  test::on_two_threads([&](int which) {
    auto& td = m.thread(which);
    for (int i = 0; i < rounds; ++i) {
      if (which == 0) {
        const auto fd = m.k.open(td, i % 2 == 0 ? "f" : "g", o_rdonly);
        EXPECT_EQ(fd.value_or(fd_number{-1}), fd_number{0});
        EXPECT_EQ(m.k.close(td, fd_number{0}), errc::ok);
      } else {
        const auto n = m.k.pread(td, fd_number{0}, buffer, 3 * record, 0);
        ++outcomes[n.ok() ? 0 : 1];
        if (!n.ok()) {
          EXPECT_EQ(n.error(), errc::ebadf);
          continue;
        }
        EXPECT_EQ(n.value(), 3 * record);
        std::string text(3 * record, '?');
        ASSERT_EQ(m.k.load(td, buffer, test::bytes_of(text)), kern::user_signal::none);
        EXPECT_TRUE(text[0] == 'f' || text[0] == 'g');
        EXPECT_TRUE(test::of_one_byte(text)) << text;
      }
    }
  });
  EXPECT_EQ(outcomes[0] + outcomes[1], rounds);
  m.expect_nothing_left();
}

}  // namespace
}  // namespace faultline

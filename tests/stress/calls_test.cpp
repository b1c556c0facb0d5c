// SPDX-License-Identifier: BSD-2-Clause
// System calls of two real threads, at random.
#include "native/machine.hpp"

#include <utility>
#include <vector>

namespace faultline {
namespace {

using kern::o_rdonly;
using kern::o_rdwr;
using kern::user_signal;
using test::machine;
using test::native_page;
using vm::protection;

constexpr int rounds = 4'000;

std::size_t index(fd_number fd) { return static_cast<std::size_t>(raw(fd)); }

TEST(StressFdtable, random_opens_and_closes_keep_count) {
  const auto seed = test::fresh_seed();
  auto p = test::native_parameters();
  p.descriptors = 8;
  machine m(p);
  m.k.make_file("f", "contents");
  std::array<int, 8> owner;
  owner.fill(-1);
  test::on_two_threads([&](int which) {
    test::dice random(seed, which);
    auto& td = m.thread(which);
    std::vector<fd_number> mine;
    for (int i = 0; i < rounds; ++i) {
      if (mine.empty() || random.coin()) {
        const auto fd = mine.empty() || random.coin() ? m.k.open(td, "f", o_rdonly)
                                                      : m.k.dup(td, mine[random.below(mine.size())]);
        if (!fd.ok()) {
          EXPECT_EQ(fd.error(), errc::emfile);
          continue;
        }
        EXPECT_EQ(std::exchange(owner.at(index(fd.value())), which), -1);
        mine.push_back(fd.value());
      } else {
        const auto at = mine.begin() + static_cast<std::ptrdiff_t>(random.below(mine.size()));
        EXPECT_EQ(std::exchange(owner.at(index(*at)), -1), which);
        EXPECT_EQ(m.k.close(td, *at), errc::ok);
        mine.erase(at);
      }
    }
    for (const auto fd : mine) {
      EXPECT_EQ(std::exchange(owner.at(index(fd)), -1), which);
      EXPECT_EQ(m.k.close(td, fd), errc::ok);
    }
  });
  EXPECT_EQ(m.k.open_file(m.process, "f", o_rdonly), fd_number{0});
}

/// Any calls in any order. The bytes of a file are what somebody put there, a call ends as it may, and nothing is left.
TEST(StressPageCache, random_calls) {
  constexpr std::uint64_t pages = 4;
  const auto seed = test::fresh_seed();
  machine m;
  std::array<test::native_kernel::vnode*, 2> files{};
  std::array<fd_number, 2> fds{};
  std::array<user_address, 2> maps{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string name = i == 0 ? "f" : "g";
    files[i] = &m.k.make_file(name, std::string(pages * native_page, 'a'));
    fds[i] = m.k.open_file(m.process, name, o_rdwr);
    maps[i] = m.k.map_file(m.process, *files[i], protection::read_write);
  }
  test::on_two_threads([&](int which) {
    test::dice random(seed, which);
    auto& td = m.thread(which);
    const auto buffer =
        m.k.mmap(td, {}, pages * native_page, protection::read_write, {.anonymous = true}, fd_number{-1}, 0);
    std::string fill(pages * native_page, which == 0 ? 'b' : 'c');
    ASSERT_EQ(m.k.store(td, buffer.value(), test::bytes_of(fill)), user_signal::none);
    std::string text;
    for (int i = 0; i < rounds; ++i) {
      const auto f = static_cast<std::size_t>(random.below(2));
      const auto at = random.below(pages * native_page);
      const auto size = 1 + random.below(pages * native_page - at);
      // From the thread's own memory, or from the other file's mapping.
      const auto from = random.coin() ? buffer.value() : maps[1 - f];
      const auto offset = static_cast<std::int64_t>(at);
      const auto transferred = [&](const result<std::uint64_t>& n) {
        if (n.ok()) {
          EXPECT_LE(n.value(), size);
        } else {
          EXPECT_EQ(n.error(), errc::efault);  // the other file was cut
        }
      };
      switch (random.below(9)) {
        case 0:
        case 1:
          transferred(m.k.pwrite(td, fds[f], from, size, offset));
          break;
        case 2:
          transferred(m.k.pread(td, fds[f], from, size, offset));
          break;
        case 3:
          EXPECT_NE(m.k.store(td, maps[f] + at, std::byte{'d'}).signal, user_signal::sigsegv);
          break;
        case 4:
          text.assign(size, '?');
          if (m.k.load(td, maps[f] + at, test::bytes_of(text)) == user_signal::none) {
            for (const char c : text) ASSERT_TRUE(c == '\0' || (c >= 'a' && c <= 'd')) << int{c};
          }
          break;
        case 5:
          EXPECT_EQ(m.k.ftruncate(td, fds[f], static_cast<std::int64_t>(at)), errc::ok);
          break;
        case 6:
          EXPECT_EQ(m.k.ftruncate(td, fds[f], pages * native_page), errc::ok);
          break;
        case 7:
          EXPECT_EQ(m.k.fsync(td, fds[f]), errc::ok);
          break;
        default:
          m.k.evict(td, *files[f], page_index{random.below(pages)});
          break;
      }
    }
  });
  for (const auto fd : fds) EXPECT_EQ(m.k.fsync(m.thread(0), fd), errc::ok);
  for (const auto* name : {"f", "g"}) {
    EXPECT_EQ(m.k.disk_contents(name), m.k.file_contents(name));
    for (const char c : m.k.file_contents(name)) ASSERT_TRUE(c == '\0' || (c >= 'a' && c <= 'd')) << int{c};
  }
  m.expect_nothing_left();
}

}  // namespace
}  // namespace faultline

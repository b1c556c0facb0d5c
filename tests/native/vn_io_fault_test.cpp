// SPDX-License-Identifier: BSD-2-Clause
// vn_io_fault on real threads, where a deadlock is a test that does not end. vnode-locked I/O would be one now and then, so
// it is not run here.
#include "native/machine.hpp"

#include <atomic>

namespace faultline {
namespace {

using kern::o_rdwr;
using test::machine;
using test::native_page;
using vm::protection;

constexpr int rounds = 400;
constexpr std::uint64_t size = 5 * native_page;  // three chunks

/// Two files, each mapped; every round drops the pages of the buffer, so that the copy meets absent ones.
struct crossed {
  machine m;
  std::array<test::native_kernel::vnode*, 2> file;
  std::array<fd_number, 2> fd{};
  std::array<user_address, 2> map{};

  crossed()
      : file{&m.k.make_file("f0", std::string(size, 'a')), &m.k.make_file("f1", std::string(size, 'b'))} {
    for (std::size_t i = 0; i < 2; ++i) {
      fd[i] = m.k.open_file(m.process, i == 0 ? "f0" : "f1", o_rdwr);
      map[i] = m.k.map_file(m.process, *file[i], protection::read_write);
    }
  }
  void drop(int which, std::size_t of) {
    for (std::uint64_t i = 0; i < size / native_page; ++i)
      m.k.evict(m.thread(which), *file[of], page_index{i});
  }
  void expect_bytes_of_both_files_only() {
    for (const auto* name : {"f0", "f1"}) {
      const auto contents = m.k.file_contents(name);
      EXPECT_EQ(contents.size(), size);
      EXPECT_EQ(contents.find_first_not_of("ab"), std::string::npos) << contents;
    }
    EXPECT_GT(m.k.statistics().slow_path, 0U);
    EXPECT_GT(m.k.statistics().chunks, m.k.statistics().slow_path);
    m.expect_nothing_left();
  }
};

TEST(NativeVnIoFault, crossed_writes_end) {
  crossed c;
  test::on_two_threads([&](int which) {
    const auto mine = static_cast<std::size_t>(which);
    for (int i = 0; i < rounds; ++i) {
      c.drop(which, 1 - mine);
      EXPECT_EQ(c.m.k.pwrite(c.m.thread(which), c.fd[mine], c.map[1 - mine], size, 0).value_or(0), size);
    }
  });
  c.expect_bytes_of_both_files_only();
}

TEST(NativeVnIoFault, crossed_reads_end) {
  crossed c;
  test::on_two_threads([&](int which) {
    const auto mine = static_cast<std::size_t>(which);
    for (int i = 0; i < rounds; ++i) {
      c.drop(which, 1 - mine);
      EXPECT_EQ(c.m.k.pread(c.m.thread(which), c.fd[mine], c.map[1 - mine], size, 0).value_or(0), size);
    }
  });
  c.expect_bytes_of_both_files_only();
}

/// From and to a mapping of the very file: the range is held while its own pages are faulted in.
TEST(NativeVnIoFault, a_file_is_copied_onto_itself_while_it_is_read) {
  crossed c;
  test::on_two_threads([&](int which) {
    for (int i = 0; i < rounds; ++i) {
      c.drop(which, 0);
      auto& td = c.m.thread(which);
      if (which == 0) {
        EXPECT_EQ(c.m.k.pwrite(td, c.fd[0], c.map[0], size, 0).value_or(0), size);
      } else {
        EXPECT_EQ(c.m.k.pread(td, c.fd[0], c.map[0], size, 0).value_or(0), size);
      }
    }
  });
  EXPECT_EQ(c.m.k.file_contents("f0"), std::string(size, 'a'));
  EXPECT_EQ(c.m.k.file_contents("f1"), std::string(size, 'b'));
  EXPECT_GT(c.m.k.statistics().slow_path, 0U);
  c.m.expect_nothing_left();
}

/// read(2) stores through held frames: no pte is marked. The pageout daemon must leave the pages alone, and find them dirty
/// afterwards (V6).
TEST(NativeVnIoFault, what_was_read_into_a_mapped_file_stays_there_when_its_pages_are_evicted) {
  crossed c;
  std::atomic<bool> done = false;
  test::on_two_threads([&](int which) {
    if (which == 1) {
      while (!done.load()) c.drop(which, 1);
      return;
    }
    auto& td = c.m.thread(which);
    const auto source =
        c.m.k.mmap(td, {}, size, protection::read_write, {.anonymous = true}, fd_number{-1}, 0);
    for (int i = 0; i < rounds / 2; ++i) {
      std::string text(size, static_cast<char>('a' + i % 2));
      ASSERT_EQ(c.m.k.store(td, source.value(), test::bytes_of(text)), kern::user_signal::none);
      EXPECT_EQ(c.m.k.pwrite(td, c.fd[0], source.value(), size, 0).value_or(0), size);
      // The first page absent, the rest mapped and clean: of the first chunk one page is faulted in, one is not.
      std::string back(size, '?');
      c.drop(which, 1);
      ASSERT_EQ(c.m.k.load(td, c.map[1], test::bytes_of(back)), kern::user_signal::none);
      c.m.k.evict(td, *c.file[1], page_index{0});
      EXPECT_EQ(c.m.k.pread(td, c.fd[0], c.map[1], size, 0).value_or(0), size);
      c.drop(which, 1);
      ASSERT_EQ(c.m.k.load(td, c.map[1], test::bytes_of(back)), kern::user_signal::none);
      EXPECT_EQ(back, text);
    }
    done = true;
  });
  c.expect_bytes_of_both_files_only();
}

/// The buffer's file is cut and grown while its pages are held: the write is whole, or EFAULT and undone.
TEST(NativeVnIoFault, the_buffers_file_is_truncated_meanwhile) {
  crossed c;
  std::array<int, 2> outcomes{};
  test::on_two_threads([&](int which) {
    auto& td = c.m.thread(which);
    for (int i = 0; i < rounds; ++i) {
      if (which == 0) {
        const auto n = c.m.k.pwrite(td, c.fd[0], c.map[1], size, 0);
        ++outcomes[n.ok() ? 0 : 1];
        if (n.ok()) {
          EXPECT_EQ(n.value(), size);
        } else {
          EXPECT_EQ(n.error(), errc::efault);
        }
      } else {
        EXPECT_EQ(c.m.k.ftruncate(td, c.fd[1], i % 2 == 0 ? 0 : 2 * native_page + 3), errc::ok);
        EXPECT_EQ(c.m.k.ftruncate(td, c.fd[1], size), errc::ok);
      }
    }
  });
  EXPECT_EQ(outcomes[0] + outcomes[1], rounds);
  EXPECT_EQ(c.m.k.file_contents("f0").size(), size);
  c.m.expect_nothing_left();
}

}  // namespace
}  // namespace faultline

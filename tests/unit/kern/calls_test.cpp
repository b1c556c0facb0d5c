// SPDX-License-Identifier: BSD-2-Clause
// What the calls return, whatever the I/O policy. Rows are those of POSIX.1-2017 and of the LTP tests for each call.
#include "unit/kern/alone.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace faultline {
namespace {

using kern::o_rdonly;
using kern::o_rdwr;
using kern::o_wronly;
using kern::user_signal;
using kern::whence;
using test::alone;
using test::value_of;
using vm::protection;

class Calls : public testing::TestWithParam<std::string_view> {
 protected:
  void run(const std::function<void(alone&)>& body) {
    test::expect_alone(test::small_pages(), GetParam(), body);
  }
};
constexpr auto policy_name = [](const auto& parameter) {
  std::string name(parameter.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
};
INSTANTIATE_TEST_SUITE_P(Io, Calls, testing::Values("vnode-locked", "prefault", "page-busy", "vn-io-fault"),
                         policy_name);

/// Transfers between a file and a cold mapping of the same page of it: page-busy waits for itself.
class CallsWithinOnePage : public Calls {};
INSTANTIATE_TEST_SUITE_P(Io, CallsWithinOnePage, testing::Values("vnode-locked", "prefault", "vn-io-fault"),
                         policy_name);

const std::string two_pages = "0123456789abcdefGHIJKLMNOPQRSTUV";
const std::string zeros(64, '\0');

TEST_P(Calls, read_advances_the_offset_and_stops_at_the_end) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, zeros);
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 20)), 20U);
    EXPECT_EQ(s.load(buffer, 20), two_pages.substr(0, 20));
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 20)), 12U);
    EXPECT_EQ(s.load(buffer, 12), two_pages.substr(20));
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 20)), 0U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 32U);
  });
}

TEST_P(Calls, pread_does_not_move_the_offset_and_is_short_at_the_end) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, zeros);
    EXPECT_EQ(value_of(s.k.pread(s.td, fd, buffer, 10, 30)), 2U);
    EXPECT_EQ(value_of(s.k.pread(s.td, fd, buffer, 10, 32)), 0U);
    EXPECT_EQ(value_of(s.k.pread(s.td, fd, buffer, 10, 1000)), 0U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 0U);
    EXPECT_EQ(s.k.pread(s.td, fd, buffer, 10, -1).error(), errc::einval);
    EXPECT_EQ(s.k.pread(s.td, fd, buffer, 0, -1).error(), errc::einval);
    EXPECT_EQ(s.k.pread(s.td, fd, buffer, 10, std::numeric_limits<std::int64_t>::max()).error(),
              errc::einval);
  });
}

TEST_P(Calls, write_past_the_end_leaves_a_gap_of_zeros) {
  run([](alone& s) {
    s.k.make_file("f", "abc");
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, "Z");
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 40, whence::set)), 40U);
    EXPECT_EQ(value_of(s.k.fstat_size(s.td, fd)), 3U);
    EXPECT_EQ(value_of(s.k.write(s.td, fd, buffer, 1)), 1U);
    EXPECT_EQ(value_of(s.k.fstat_size(s.td, fd)), 41U);
    EXPECT_EQ(s.k.file_contents("f"), "abc" + std::string(37, '\0') + "Z");
  });
}

TEST_P(Calls, lseek_refuses_what_is_before_the_file) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 5, whence::set)), 5U);
    EXPECT_EQ(s.k.lseek(s.td, fd, -1, whence::set).error(), errc::einval);
    EXPECT_EQ(s.k.lseek(s.td, fd, -6, whence::current).error(), errc::einval);
    EXPECT_EQ(s.k.lseek(s.td, fd, 0, static_cast<whence>(9)).error(), errc::einval);
    EXPECT_EQ(s.k.lseek(s.td, fd, std::numeric_limits<std::int64_t>::max(), whence::current).error(),
              errc::eoverflow);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 5U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 5, whence::end)), 37U);
  });
}

TEST_P(Calls, append_writes_at_the_end_and_pwrite_at_its_offset) {
  run([](alone& s) {
    s.k.make_file("f", "abc");
    const auto fd = s.open("f", o_rdwr.with_append());
    const auto buffer = s.k.map_buffer(s.process, "XY");
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::set)), 0U);
    EXPECT_EQ(value_of(s.k.write(s.td, fd, buffer, 2)), 2U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 5U);
    EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, buffer, 2, 0)), 2U);
    EXPECT_EQ(s.k.file_contents("f"), "XYcXY");
  });
}

TEST_P(Calls, append_moves_pwrite_where_the_system_does_so) {
  auto p = test::small_pages();
  p.append_moves_pwrite = true;
  test::expect_alone(p, GetParam(), [](alone& s) {
    s.k.make_file("f", "abc");
    const auto fd = s.open("f", o_rdwr.with_append());
    EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, s.k.map_buffer(s.process, "XY"), 2, 0)), 2U);
    EXPECT_EQ(s.k.file_contents("f"), "abcXY");
  });
}

TEST_P(Calls, the_descriptor_must_be_open_for_the_call) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto buffer = s.k.map_buffer(s.process, zeros);
    const auto reader = s.open("f", o_rdonly);
    const auto writer = s.open("f", o_wronly);
    EXPECT_EQ(s.k.write(s.td, reader, buffer, 1).error(), errc::ebadf);
    EXPECT_EQ(s.k.write(s.td, reader, buffer, 0).error(), errc::ebadf);
    EXPECT_EQ(s.k.read(s.td, writer, buffer, 1).error(), errc::ebadf);
    EXPECT_EQ(s.k.read(s.td, fd_number{7}, buffer, 1).error(), errc::ebadf);
    EXPECT_EQ(s.k.read(s.td, fd_number{-1}, buffer, 1).error(), errc::ebadf);
    EXPECT_EQ(s.k.read(s.td, fd_number{7}, user_address{0}, 1).error(), errc::ebadf);  // before EFAULT
    EXPECT_EQ(s.k.ftruncate(s.td, reader, 0), errc::einval);
    EXPECT_EQ(s.k.ftruncate(s.td, fd_number{7}, 0), errc::ebadf);
    EXPECT_EQ(s.k.ftruncate(s.td, writer, -1), errc::einval);
  });
}

TEST_P(Calls, open_gives_the_lowest_free_number) {
  auto p = test::small_pages();
  p.descriptors = 3;
  test::expect_alone(p, GetParam(), [](alone& s) {
    s.k.make_file("f", "");
    for (const int expected : {0, 1, 2}) EXPECT_EQ(raw(value_of(s.k.open(s.td, "f", o_rdonly))), expected);
    EXPECT_EQ(s.k.open(s.td, "f", o_rdonly).error(), errc::emfile);
    EXPECT_EQ(s.k.close(s.td, fd_number{1}), errc::ok);
    EXPECT_EQ(s.k.close(s.td, fd_number{1}), errc::ebadf);
    EXPECT_EQ(raw(value_of(s.k.dup(s.td, fd_number{2}))), 1);
    EXPECT_EQ(s.k.dup(s.td, fd_number{0}).error(), errc::emfile);
    EXPECT_EQ(s.k.open(s.td, "g", o_rdonly).error(), errc::enoent);
  });
}

TEST_P(Calls, a_duplicate_shares_the_offset_and_a_second_open_does_not) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto one = s.open("f");
    const auto same = value_of(s.k.dup(s.td, one));
    const auto other = s.open("f");
    EXPECT_EQ(value_of(s.k.read(s.td, one, s.k.map_buffer(s.process, zeros), 5)), 5U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, same, 0, whence::current)), 5U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, other, 0, whence::current)), 0U);
  });
}

TEST_P(Calls, nothing_to_do_touches_nothing) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    EXPECT_EQ(value_of(s.k.read(s.td, fd, user_address{0}, 0)), 0U);
    EXPECT_EQ(value_of(s.k.write(s.td, fd, user_address{0}, 0)), 0U);
    const vfs::iovec empty[] = {{user_address{0}, 0}, {user_address{1}, 0}};
    EXPECT_EQ(value_of(s.k.writev(s.td, fd, empty)), 0U);
    EXPECT_EQ(value_of(s.k.writev(s.td, fd, {})), 0U);
    EXPECT_EQ(s.td.traps, 0U);
  });
}

TEST_P(Calls, lengths_that_make_no_sense_are_refused) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, zeros);
    EXPECT_EQ(s.k.read(s.td, fd, buffer, ~std::uint64_t{0}).error(), errc::einval);
    const vfs::iovec sum[] = {{buffer, byte_range::off_max}, {buffer, 1}};
    EXPECT_EQ(s.k.readv(s.td, fd, sum).error(), errc::einval);
    EXPECT_EQ(s.k.readv(s.td, fd, std::vector<vfs::iovec>(1025, {buffer, 1})).error(), errc::einval);
    EXPECT_EQ(s.k.pwrite(s.td, fd, buffer, 1, std::int64_t{1} << 50).error(), errc::efbig);
    EXPECT_EQ(s.k.ftruncate(s.td, fd, std::int64_t{1} << 50), errc::efbig);
    EXPECT_EQ(value_of(s.k.fstat_size(s.td, fd)), 32U);
  });
}

TEST_P(Calls, a_bad_buffer_changes_nothing) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    for (const auto bad : {user_address{0}, user_address{vm::address_space<simulated>::user_max},
                           user_address{~std::uint64_t{0} - 1}}) {
      EXPECT_EQ(s.k.read(s.td, fd, bad, 10).error(), errc::efault);
      EXPECT_EQ(s.k.write(s.td, fd, bad, 10).error(), errc::efault);
      EXPECT_EQ(s.k.pwrite(s.td, fd, bad, 10, 100).error(), errc::efault);
    }
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 0U);
    EXPECT_EQ(s.k.file_contents("f"), two_pages);
  });
}

TEST_P(Calls, a_read_that_meets_the_end_of_its_buffer_is_short) {
  auto p = test::small_pages();
  p.fault_answer = kern::answer_to_fault::short_count;
  test::expect_alone(p, GetParam(), [](alone& s) {
    s.k.make_file("f", two_pages + two_pages);
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, zeros.substr(0, 32));
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer + 22, 20)), 10U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 10U);
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 40)), 32U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 42U);
  });
}

TEST_P(Calls, the_error_wins_over_a_short_count_where_the_system_says_so) {
  auto p = test::small_pages();
  p.fault_answer = kern::answer_to_fault::error;
  test::expect_alone(p, GetParam(), [](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, zeros.substr(0, 16));
    EXPECT_EQ(s.k.read(s.td, fd, buffer + 6, 20).error(), errc::efault);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 10U);  // the offset moved all the same
  });
}

TEST_P(Calls, a_write_that_meets_a_bad_page_is_undone_where_the_system_says_so) {
  auto p = test::small_pages();
  p.fault_answer = kern::answer_to_fault::error;
  test::expect_alone(p, GetParam(), [](alone& s) {
    s.k.make_file("f", "abc");
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, std::string(16, 'X'));
    EXPECT_EQ(s.k.pwrite(s.td, fd, buffer + 6, 20, 10).error(), errc::efault);  // 10 bytes were good
    EXPECT_EQ(value_of(s.k.fstat_size(s.td, fd)), 3U);
    EXPECT_EQ(s.k.ftruncate(s.td, fd, 32), errc::ok);
    EXPECT_EQ(s.k.file_contents("f"), "abc" + std::string(29, '\0'));  // nothing of it shows later
  });
}

TEST_P(Calls, a_write_that_meets_a_bad_page_keeps_what_it_did_where_the_system_says_so) {
  auto p = test::small_pages();
  p.fault_answer = kern::answer_to_fault::short_count;
  test::expect_alone(p, GetParam(), [](alone& s) {
    s.k.make_file("f", std::string(48, 'o'));
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, std::string(16, 'X'));
    // A page to be overwritten as a whole, of which only the front arrives: the rest is the file's.
    EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, buffer + 6, 32, 16)), 10U);
    EXPECT_EQ(s.k.file_contents("f"), std::string(16, 'o') + std::string(10, 'X') + std::string(22, 'o'));
    // Past the end: the size is what was returned.
    EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, buffer + 6, 20, 64)), 10U);
    EXPECT_EQ(value_of(s.k.fstat_size(s.td, fd)), 74U);
    EXPECT_EQ(s.k.ftruncate(s.td, fd, 90), errc::ok);
    EXPECT_EQ(s.k.file_contents("f").substr(48),
              std::string(16, '\0') + std::string(10, 'X') + std::string(16, '\0'));
    EXPECT_EQ(s.k.pwrite(s.td, fd, user_address{0}, 20, 200).error(), errc::efault);
    EXPECT_EQ(value_of(s.k.fstat_size(s.td, fd)), 90U);
  });
}

TEST_P(Calls, a_write_protected_buffer_cannot_be_read_into) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, zeros.substr(0, 16), {}, protection::read);
    EXPECT_EQ(s.k.read(s.td, fd, buffer, 5).error(), errc::efault);
    EXPECT_EQ(s.load(buffer, 5), zeros.substr(0, 5));
    EXPECT_EQ(value_of(s.k.write(s.td, fd, buffer, 5)), 5U);
  });
}

TEST_P(Calls, a_buffer_past_the_end_of_its_file_is_bad) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    auto& g = s.k.make_file("g", "g");
    const auto fd = s.open("f");
    const auto buffer = s.k.map_file(s.process, g, protection::read_write, 0, 32);
    EXPECT_EQ(s.k.write(s.td, fd, buffer + 16, 5).error(), errc::efault);
    EXPECT_EQ(s.k.read(s.td, fd, buffer + 16, 5).error(), errc::efault);
    EXPECT_EQ(s.k.load(s.td, buffer + 16).signal, user_signal::sigbus);
  });
}

TEST_P(Calls, vectors_go_in_order_and_skip_empty_pieces) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto a = s.k.map_zeros(s.process, 16);
    const auto b = s.k.map_zeros(s.process, 16);
    const vfs::iovec pieces[] = {{user_address{1}, 0}, {b, 3}, {a, 1}, {a + 1, 16}};
    EXPECT_EQ(s.k.store(s.td, b, std::as_bytes(std::span{"xyz", 3})), user_signal::none);
    const vfs::iovec three[] = {{b, 1}, {b + 1, 1}, {b + 2, 1}};
    EXPECT_EQ(value_of(s.k.writev(s.td, fd, three)), 3U);
    EXPECT_EQ(value_of(s.k.readv(s.td, fd, {pieces, 3})), 4U);
    EXPECT_EQ(s.load(b, 3) + s.load(a, 1), "3456");
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 7U);
    EXPECT_EQ(s.k.file_contents("f"), "xyz" + two_pages.substr(3));
  });
}

TEST_P(Calls, readv_is_short_at_a_bad_piece) {
  auto p = test::small_pages();
  p.fault_answer = kern::answer_to_fault::short_count;
  test::expect_alone(p, GetParam(), [](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto good = s.k.map_zeros(s.process, 16);
    const vfs::iovec pieces[] = {{good, 10}, {user_address{0}, 10}, {good, 10}};
    EXPECT_EQ(value_of(s.k.readv(s.td, fd, pieces)), 10U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 10U);
  });
}

TEST_P(CallsWithinOnePage, a_transfer_within_one_file_sees_its_own_cold_pages) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto map = s.k.map_file(s.process, f, protection::read_write);
    EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, map + 2, 1, 3)), 1U);  // one byte of the page that it goes to
    EXPECT_EQ(s.k.file_contents("f"), "0122" + two_pages.substr(4));
    EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, map + 16, 16, 0)), 16U);
    EXPECT_EQ(s.k.file_contents("f"), two_pages.substr(16) + two_pages.substr(16));
    EXPECT_EQ(value_of(s.k.pread(s.td, fd, map, 3, 16)), 3U);
  });
}

TEST_P(CallsWithinOnePage, a_page_overwritten_in_part_from_itself_keeps_what_came_before) {
  run([](alone& s) {
    // Cold, and overwritten as a whole: so it is not read first. The second piece's fault reads it, under the first one's bytes.
    auto& f = s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto other = s.k.map_buffer(s.process, "XXXXXXXX");
    const auto map = s.k.map_file(s.process, f, protection::read_write);
    const vfs::iovec pieces[] = {{other, 8}, {map + 8, 8}};
    EXPECT_EQ(value_of(s.k.pwritev(s.td, fd, pieces, 0)), 16U);
    EXPECT_EQ(s.k.file_contents("f"), "XXXXXXXX" + two_pages.substr(8));
  });
}

TEST_P(CallsWithinOnePage, a_cold_page_written_onto_itself_keeps_its_bytes) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto map = s.k.map_file(s.process, f, protection::read);
    EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, map, 16, 0)), 16U);
    EXPECT_EQ(s.k.file_contents("f"), two_pages);
  });
}

TEST_P(Calls, mmap_refuses_bad_arguments) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto both = s.open("f", o_rdwr);
    const auto reader = s.open("f", o_rdonly);
    const auto writer = s.open("f", o_wronly);
    const auto map = [&](std::uint64_t size, protection rights, kern::map_flags flags, fd_number fd,
                         std::int64_t at, user_address where = {}) {
      return s.k.mmap(s.td, where, size, rights, flags, fd, at).error();
    };
    EXPECT_EQ(map(0, protection::read, {}, both, 0), errc::einval);
    EXPECT_EQ(map(16, protection::read, {}, both, 3), errc::einval);
    EXPECT_EQ(map(16, protection::read, {.shared = false}, both, 0), errc::einval);
    EXPECT_EQ(map(16, protection::read, {.shared = true, .private_copy = true}, both, 0), errc::einval);
    EXPECT_EQ(map(16, protection::read, {.fixed = true}, both, 0, user_address{3}), errc::einval);
    EXPECT_EQ(map(16, protection::read, {}, fd_number{9}, 0), errc::ebadf);
    EXPECT_EQ(map(16, protection::read, {}, writer, 0), errc::eacces);
    EXPECT_EQ(map(16, protection::read_write, {}, reader, 0), errc::eacces);
    EXPECT_EQ(map(byte_range::off_max, protection::read, {}, both, 32), errc::eoverflow);
    EXPECT_EQ(map(std::uint64_t{1} << 62U, protection::read, {}, both, 0), errc::enomem);
    EXPECT_EQ(s.k.munmap(s.td, user_address{16}, 0), errc::einval);
    EXPECT_EQ(s.k.munmap(s.td, user_address{17}, 16), errc::einval);
    EXPECT_EQ(s.k.munmap(s.td, user_address{160}, 32), errc::ok);  // nothing there
  });
}

TEST_P(Calls, touching_a_mapping_gives_bytes_or_the_right_signal) {
  run([](alone& s) {
    s.k.make_file("f", two_pages.substr(0, 20));
    const auto fd = s.open("f", o_rdonly);
    const auto at =
        value_of(s.k.mmap(s.td, {}, 40, protection::read, {}, fd, 0));  // rounded up to three pages
    EXPECT_EQ(s.load(at, 20), two_pages.substr(0, 20));
    EXPECT_EQ(s.load(at + 20, 12), std::string(12, '\0'));  // the tail of the last page
    EXPECT_EQ(s.k.load(s.td, at + 32).signal, user_signal::sigbus);
    EXPECT_EQ(s.k.load(s.td, at + 48).signal, user_signal::sigsegv);
    EXPECT_EQ(s.k.store(s.td, at, std::byte{1}).signal, user_signal::sigsegv);
    EXPECT_EQ(s.load(at, 1), "0");
    EXPECT_EQ(s.k.close(s.td, fd), errc::ok);
    EXPECT_EQ(s.load(at, 1), "0");  // the mapping stays
  });
}

TEST_P(Calls, a_fixed_mapping_replaces_exactly_its_range) {
  run([](alone& s) {
    s.k.make_file("f", two_pages + two_pages);
    s.k.make_file("g", std::string(16, 'g'));
    const auto f = s.open("f");
    const auto g = s.open("g");
    const auto at = value_of(s.k.mmap(s.td, {}, 64, protection::read_write, {}, f, 0));
    EXPECT_EQ(s.load(at, 64), two_pages + two_pages);
    EXPECT_EQ(value_of(s.k.mmap(s.td, at + 16, 16, protection::read_write, {.fixed = true}, g, 0)), at + 16);
    EXPECT_EQ(s.load(at, 48), two_pages.substr(0, 16) + std::string(16, 'g') + two_pages.substr(0, 16));
    EXPECT_EQ(s.load(at + 48, 16), two_pages.substr(16));
  });
}

TEST_P(Calls, munmap_of_a_part_splits_the_mapping) {
  run([](alone& s) {
    s.k.make_file("f", "0000000000000000111111111111111122222222222222223333333333333333");
    const auto f = s.open("f");
    const auto at = value_of(s.k.mmap(s.td, {}, 64, protection::read, {}, f, 0));
    EXPECT_EQ(s.load(at + 16, 1), "1");
    EXPECT_EQ(s.k.munmap(s.td, at + 16, 1), errc::ok);  // a whole page
    EXPECT_EQ(s.load(at, 1) + s.load(at + 32, 1) + s.load(at + 48, 1), "023");
    EXPECT_EQ(s.k.load(s.td, at + 16).signal, user_signal::sigsegv);
    EXPECT_EQ(s.k.munmap(s.td, at, 64), errc::ok);  // across the hole
    EXPECT_EQ(s.k.load(s.td, at + 48).signal, user_signal::sigsegv);
  });
}

TEST_P(Calls, write_and_store_see_each_other_at_once) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto map = s.k.map_file(s.process, f, protection::read_write);
    const auto buffer = s.k.map_buffer(s.process, zeros.substr(0, 16));
    EXPECT_EQ(s.k.store(s.td, map + 1, std::byte{'S'}).signal, user_signal::none);
    EXPECT_EQ(value_of(s.k.pread(s.td, fd, buffer, 3, 0)), 3U);
    EXPECT_EQ(s.load(buffer, 3), "0S2");
    EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, buffer + 1, 1, 2)), 1U);
    EXPECT_EQ(s.load(map, 4), "0SS3");
  });
}

TEST_P(Calls, truncation_takes_pages_away_and_zeros_the_tail) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto map = s.k.map_file(s.process, f, protection::read_write);
    EXPECT_EQ(s.load(map, 32), two_pages);
    EXPECT_EQ(s.k.ftruncate(s.td, fd, 3), errc::ok);
    EXPECT_EQ(s.load(map, 16), "012" + std::string(13, '\0'));
    EXPECT_EQ(s.k.load(s.td, map + 16).signal, user_signal::sigbus);
    EXPECT_EQ(s.k.store(s.td, map + 5, std::byte{'!'}).signal, user_signal::none);  // past the end, same page
    EXPECT_EQ(s.k.ftruncate(s.td, fd, 32), errc::ok);
    EXPECT_EQ(s.load(map, 32), "012" + std::string(29, '\0'));
    EXPECT_EQ(s.k.file_contents("f"), "012" + std::string(29, '\0'));
  });
}

TEST_P(Calls, a_cold_page_cut_by_truncation_keeps_its_head_only) {
  run([](alone& s) {
    s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    EXPECT_EQ(s.k.ftruncate(s.td, fd, 18), errc::ok);
    EXPECT_EQ(s.k.ftruncate(s.td, fd, 32), errc::ok);
    EXPECT_EQ(s.k.file_contents("f"), two_pages.substr(0, 18) + std::string(14, '\0'));
  });
}

TEST_P(Calls, a_device_error_is_reported) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", two_pages);
    const auto fd = s.open("f");
    const auto map = s.k.map_file(s.process, f, protection::read);
    const auto buffer = s.k.map_buffer(s.process, zeros.substr(0, 16));
    s.k.disk().fail({.reads = true});
    EXPECT_EQ(s.k.read(s.td, fd, buffer, 5).error(), errc::eio);
    EXPECT_EQ(s.k.pwrite(s.td, fd, buffer, 5, 0).error(), errc::eio);
    EXPECT_EQ(s.k.load(s.td, map).signal, user_signal::sigbus);
    s.k.disk().fail({});
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 5)), 5U);
  });
}

}  // namespace
}  // namespace faultline

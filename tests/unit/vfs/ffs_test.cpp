// SPDX-License-Identifier: BSD-2-Clause
#include "unit/kern/alone.hpp"

#include <gmock/gmock.h>

namespace faultline {
namespace {

using test::alone;
using vfs::uio_direction;
using vm::protection;

const std::string page_a(16, 'a');
const std::string page_b(16, 'b');

void run(const std::function<void(alone&)>& body) {
  test::expect_alone(test::small_pages(), "vnode-locked", body);
}

vfs::uio transfer(uio_direction direction, std::uint64_t offset, std::vector<vfs::iovec> pieces) {
  vfs::uio u{simulated::memory()};
  u.direction = direction;
  u.offset = offset;
  for (const auto& piece : pieces) {
    u.iov.push_back(piece);
    u.resid += piece.size;
  }
  return u;
}

TEST(Uio, a_clone_is_what_is_left) {
  run([](alone&) {
    auto u = transfer(uio_direction::read, 7,
                      {{user_address{100}, 4}, {user_address{200}, 0}, {user_address{300}, 6}});
    u.advance(5);
    EXPECT_EQ(u.offset, 12U);
    const auto rest = u.clone();
    EXPECT_EQ(rest.resid, 5U);
    ASSERT_EQ(rest.iov.size(), 1U);
    EXPECT_EQ(rest.iov[0].base, user_address{301});
    EXPECT_EQ(rest.iov[0].size, 5U);
  });
}

TEST(Uiomove, copies_to_and_from_a_kernel_buffer) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a + page_b);
    std::string text(20, '?');
    vfs::uio u{simulated::memory()};
    u.segment = vfs::uio_segment::sysspace;
    u.kernel = std::as_writable_bytes(std::span{text});
    u.resid = 20;
    u.offset = 10;
    EXPECT_EQ(kern::vn_read<simulated>(s.td, f, u, {}), errc::ok);
    EXPECT_EQ(text, "aaaaaabbbbbbbbbbbbbb");
    EXPECT_EQ(u.resid, 0U);
  });
}

TEST(Ffs, a_failed_write_rolls_back_offset_resid_and_size_but_not_the_iovec) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", "0123");
    const auto good = s.k.map_buffer(s.process, page_b);
    auto u = transfer(uio_direction::write, 2, {{good, 16}, {user_address{0}, 4}});
    EXPECT_EQ(kern::vn_write<simulated>(s.td, f, u, {}), errc::efault);
    EXPECT_EQ(u.offset, 2U);
    EXPECT_EQ(u.resid, 20U);
    EXPECT_EQ(u.next, 1U);
    EXPECT_EQ(u.iov[0].size, 0U);
    EXPECT_EQ(s.k.file_contents("f"), "01bb");  // what was overwritten below the old end stays
  });
}

TEST(Ffs, without_unit_a_failed_write_keeps_what_it_did) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", "0123");
    const auto good = s.k.map_buffer(s.process, page_b);
    auto u = transfer(uio_direction::write, 2, {{good, 5}, {user_address{0}, 4}});
    EXPECT_EQ(kern::vn_write<simulated>(s.td, f, u, {.unit = false}), errc::efault);
    EXPECT_EQ(u.resid, 4U);
    EXPECT_EQ(s.k.file_contents("f").substr(0, 7), "01bbbbb");
  });
}

TEST(Ffs, a_page_overwritten_as_a_whole_is_not_read_and_stays_invalid_until_it_is_filled) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a);
    s.k.disk().fail({.reads = true});  // so a read would show
    const auto good = s.k.map_buffer(s.process, page_b);
    auto bad = transfer(uio_direction::write, 0, {{good, 8}, {user_address{0}, 8}});
    EXPECT_EQ(kern::vn_write<simulated>(s.td, f, bad, {}), errc::efault);
    EXPECT_FALSE(s.k.is_resident(f, page_index{0}));
    EXPECT_EQ(s.k.file_contents("f"), page_a);
    auto whole = transfer(uio_direction::write, 0, {{good, 16}});
    EXPECT_EQ(kern::vn_write<simulated>(s.td, f, whole, {}), errc::ok);
    EXPECT_EQ(s.k.file_contents("f"), page_b);
  });
}

TEST(Ffs, a_part_of_a_page_that_cannot_be_completed_is_not_counted) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a + page_a);
    const auto good = s.k.map_buffer(s.process, page_b + page_b);
    s.k.disk().fail({.reads = true});
    auto u = transfer(uio_direction::write, 0, {{good, 24}, {user_address{0}, 8}});
    EXPECT_EQ(kern::vn_write<simulated>(s.td, f, u, {.unit = false}), errc::eio);
    EXPECT_EQ(u.offset, 16U);
    EXPECT_EQ(u.resid, 16U);
    s.k.disk().fail({});
    EXPECT_EQ(s.k.file_contents("f"), page_b + page_a);
    const auto map = s.k.map_file(s.process, f, protection::read);
    EXPECT_EQ(s.load(map, 32), page_b + page_a);  // nothing of the lost part shows
  });
}

TEST(Ffs, a_read_sees_each_page_once_and_stops_at_the_end) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a + "bb");
    const auto buffer = s.k.map_zeros(s.process, 64);
    auto u = transfer(uio_direction::read, 8, {{buffer, 3}, {buffer + 3, 50}});
    EXPECT_EQ(kern::vn_read<simulated>(s.td, f, u, {}), errc::ok);
    EXPECT_EQ(u.resid, 43U);
    EXPECT_EQ(u.offset, 18U);
    EXPECT_EQ(s.load(buffer, 11), std::string("aaaaaaaabb") + '\0');
  });
}

TEST(Ffs, holds_the_vnode_lock_and_no_busy_page_while_it_copies) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a);
    const auto map = s.k.map_file(s.process, f, protection::read_write);
    auto u = transfer(uio_direction::write, 3, {{map, 1}});  // faults on the page it writes to
    EXPECT_EQ(kern::vn_write<simulated>(s.td, f, u, {}), errc::ok);
  });
}

}  // namespace
}  // namespace faultline

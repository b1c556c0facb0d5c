// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A kernel on real threads: one process, two threads of it.
#include "support/two_threads.hpp"

#include <faultline/kern/kernel.hpp>
#include <faultline/policy/io/vn_io_fault.hpp>
#include <faultline/sync/rangelock/queue.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace faultline::test {

/// vn_io_fault with the range lock's algorithm, not its rule.
using native_kernel =
    kern::kernel<native, kern::statics<native, policy::io::vn_io_fault, sync::rangelock_queue<native>>>;

inline constexpr std::size_t native_page = 64;  // bytes: many pages, short copies

inline kern::parameters native_parameters() {
  kern::parameters p;
  p.page_size = native_page;
  p.hold_pages = 2;
  p.reclaim = true;
  return p;
}

struct machine {
  native::arena memory;  // first: all below lies in it
  native_kernel& k;
  native_kernel::process& process;
  std::array<native_kernel::thread*, 2> td;

  explicit machine(const kern::parameters& p = native_parameters())
      : k(*native::make<native_kernel>(p, policy::io::vn_io_fault{})),
        process(k.make_process("p")),
        td{&k.make_thread(process), &k.make_thread(process)} {}

  native_kernel::thread& thread(int which) { return *td[static_cast<std::size_t>(which)]; }
  void expect_nothing_left() const {
    const auto left = k.account();
    EXPECT_EQ(left.held_pages, 0U);
    EXPECT_EQ(left.wired_pages, 0U);
    EXPECT_EQ(left.busy_pages, 0U);
    EXPECT_EQ(left.paging_in_progress, 0U);
    EXPECT_EQ(left.vnode_locks, 0U);
    EXPECT_EQ(left.range_locks, 0U);
    EXPECT_EQ(left.map_locks, 0U);
    EXPECT_EQ(left.offset_locks, 0U);
    EXPECT_EQ(left.lost_pages, 0U);
  }
};

/// Are all bytes the same?
inline bool of_one_byte(std::string_view bytes) {
  return bytes.find_first_not_of(bytes.substr(0, 1)) == std::string_view::npos;
}

inline std::span<std::byte> bytes_of(std::string& text) { return std::as_writable_bytes(std::span(text)); }

}  // namespace faultline::test

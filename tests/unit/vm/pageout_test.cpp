// SPDX-License-Identifier: BSD-2-Clause
#include "unit/kern/alone.hpp"

#include <gtest/gtest.h>

namespace faultline {
namespace {

using sim::verdict;
using test::kernel;

/// ftruncate() zeroes the tail of the file's last page, which the pageout daemon may be about to take.
TEST(Pageout, leaves_the_page_whose_tail_a_growing_file_zeroes) {
  const auto r = sim::explore({}, [](sim::execution& e) {
    auto p = test::small_pages();
    p.reclaim = true;
    auto& k = e.make<kernel>(p, test::io_named("vn-io-fault"));
    auto& process = k.make_process("p");
    auto& grows = k.make_thread(process);
    auto& evicts = k.make_thread(process);
    auto& f = k.make_file("f", "aaaaa");
    const auto fd = k.open_file(process, "f", kern::o_rdwr);
    k.make_mapped(process, k.map_file(process, f, vm::protection::read_write), 5);
    e.spawn("grows", [&k, &grows, fd] { EXPECT_EQ(k.ftruncate(grows, fd, 10), errc::ok); });
    e.spawn("evicts", [&k, &evicts, &f] { k.evict(evicts, f, page_index{0}); });
    e.at_end([&k, &f, &e] {
      e.here().check(k.account().none(), "a page or a lock was left held");
      e.here().check(k.file_contents("f") == std::string("aaaaa\0\0\0\0\0", 10), "the file has other bytes");
      e.here().observe("page", k.is_resident(f, page_index{0}) ? "kept" : "evicted");
    });
  });
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete);
  EXPECT_EQ(r.outcomes.size(), 2U);
}

}  // namespace
}  // namespace faultline

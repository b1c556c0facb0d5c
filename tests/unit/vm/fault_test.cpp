// SPDX-License-Identifier: BSD-2-Clause
#include "unit/kern/alone.hpp"

#include <gmock/gmock.h>

#include <array>

namespace faultline {
namespace {

using kern::o_rdwr;
using kern::user_signal;
using sim::verdict;
using test::alone;
using test::value_of;
using testing::UnorderedElementsAre;
using vm::fault_result;
using vm::protection;

const std::string page_a(16, 'a');
const std::string page_b(16, 'b');

void run(const std::function<void(alone&)>& body) {
  test::expect_alone(test::small_pages(), "vn-io-fault", body);
}

TEST(Fault, says_why_it_failed) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a);
    const auto map = s.k.map_file(s.process, f, protection::read, 0, 32);
    const auto fault = [&](user_address at, protection wanted) {
      return vm::vm_fault_hold<simulated>(s.td, at, wanted, nullptr);
    };
    EXPECT_EQ(fault(user_address{0}, protection::read), fault_result::invalid_address);
    EXPECT_EQ(fault(map, protection::write), fault_result::protection_failure);
    EXPECT_EQ(fault(map + 16, protection::read), fault_result::out_of_bounds);
    EXPECT_EQ(fault(map, protection::read), fault_result::success);
    s.td.no_faulting = true;
    EXPECT_EQ(vm::vm_fault(s.td, map, protection::read), fault_result::protection_failure);
    EXPECT_EQ(fault(map, protection::read), fault_result::success);  // the flag is the trap's to look at
    s.td.no_faulting = false;
  });
}

TEST(Fault, a_resident_page_is_mapped_without_the_vnode_lock) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a);
    s.k.make_resident(f, page_index{0}, 1);
    const auto map = s.k.map_file(s.process, f, protection::read);
    sync::lock_account other;
    f.lock.acquire(other, access::exclusive);  // a fault that asked for it would sleep on itself
    EXPECT_EQ(s.load(map, 16), page_a);
    f.lock.release(other);
    EXPECT_EQ(s.td.traps, 1U);
  });
}

TEST(Fault, an_absent_page_costs_two_traps_with_faults_disabled) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a + page_b);
    const auto map = s.k.map_file(s.process, f, protection::read);
    const vm::pagefaults_disabled<simulated> disabled{s.td};
    EXPECT_TRUE(vm::trap_pagefault(s.td, map, protection::read));   // spurious: try again
    EXPECT_FALSE(vm::trap_pagefault(s.td, map, protection::read));  // the same address at once: absent
    EXPECT_TRUE(vm::trap_pagefault(s.td, map + 16, protection::read));
    EXPECT_TRUE(vm::trap_pagefault(s.td, map, protection::read));  // only the most recent one is remembered
    {
      const vm::pagefaults_disabled<simulated> nested{s.td};
      EXPECT_TRUE(vm::trap_pagefault(s.td, map, protection::read));  // a new section forgets it
    }
    EXPECT_TRUE(s.td.no_faulting);
    EXPECT_EQ(s.td.traps, 5U);
    EXPECT_EQ(s.td.faults, 0U);
  });
}

TEST(QuickHold, holds_resident_pages_without_a_fault_and_faults_in_the_others) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a + page_b);
    const auto map = s.k.map_file(s.process, f, protection::read_write);
    s.k.make_mapped(s.process, map, 1);
    std::array<vm::page<simulated>*, 2> pages{};
    EXPECT_EQ(vm::vm_fault_quick_hold_pages<simulated>(s.td, map + 15, 2, protection::write, pages), 2U);
    EXPECT_EQ(s.td.faults, 1U);
    for (const auto* m : pages) {
      EXPECT_EQ(m->holds.peek(), 1U);
      EXPECT_TRUE(m->dirty.is_set());
    }
    vm::vm_page_unhold_pages<simulated>(pages);
  });
}

TEST(QuickHold, holds_none_if_one_cannot_be_had) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a);
    const auto map = s.k.map_file(s.process, f, protection::read, 0, 32);
    std::array<vm::page<simulated>*, 2> pages{};
    EXPECT_EQ(vm::vm_fault_quick_hold_pages<simulated>(s.td, map, 17, protection::read, pages), std::nullopt);
    EXPECT_EQ(s.k.account().held_pages, 0U);
  });
}

TEST(QuickHold, without_the_unhold_on_error_a_page_leaks) {
  const auto r = test::run_alone(
      test::small_pages(), "vn-io-fault",
      [](alone& s) {
        auto& f = s.k.make_file("f", page_a);
        const auto map = s.k.map_file(s.process, f, protection::read, 0, 32);
        std::array<vm::page<simulated>*, 2> pages{};
        EXPECT_FALSE(vm::vm_fault_quick_hold_pages<simulated>(s.td, map, 17, protection::read, pages));
      },
      {&vm::unhold_on_error});
  EXPECT_EQ(r.verdict, verdict::violation) << r;
  EXPECT_TRUE(r.steps_skipped_by_defect.contains("V14a"));
}

TEST(QuickHold, a_held_page_outlives_the_truncation_of_its_file) {
  run([](alone& s) {
    auto& f = s.k.make_file("f", page_a);
    const auto fd = s.open("f");
    const auto map = s.k.map_file(s.process, f, protection::read);
    std::array<vm::page<simulated>*, 1> pages{};
    ASSERT_TRUE(vm::vm_fault_quick_hold_pages<simulated>(s.td, map, 16, protection::read, pages));
    EXPECT_EQ(s.k.ftruncate(s.td, fd, 0), errc::ok);
    EXPECT_EQ(s.k.load(s.td, map).signal, user_signal::sigbus);
    std::string text(16, '?');
    simulated::read(*pages[0]->bytes, 0, std::as_writable_bytes(std::span{text}));
    EXPECT_EQ(text, page_a);
    EXPECT_FALSE(pages[0]->freed);
    vm::vm_page_unhold_pages<simulated>(pages);
    EXPECT_TRUE(pages[0]->freed);
  });
}

/// A touch of a cold mapped page against one other task.
template <class Other>
sim::report touch_against(Other other, std::vector<const step*> omit = {}, bool resident = false,
                          bool mapped = false, const std::function<void(test::kernel&)>& check = {}) {
  sim::options how;
  how.omit = std::move(omit);
  return sim::explore(how, [&other, &check, resident, mapped](sim::execution& e) {
    auto& k = e.make<test::kernel>(test::small_pages(), test::io_named("vn-io-fault"));
    auto& process = k.make_process("p");
    auto& f = k.make_file("f", page_a);
    if (resident) k.make_resident(f, page_index{0}, 1);
    const auto map = k.map_file(process, f, protection::read_write);
    if (mapped) k.make_mapped(process, map, 16);
    auto& first = k.make_thread(process);
    auto& second = k.make_thread(process);
    const auto fd = k.open_file(process, "f", o_rdwr);
    e.spawn("touch", [&k, &first, map] {
      const auto seen = k.load(first, map);
      const char* text = seen.signal == user_signal::sigsegv  ? "sigsegv"
                         : seen.signal == user_signal::sigbus ? "sigbus"
                         : seen.value == std::byte{'a'}       ? "a"
                                                              : "other";
      sim::world::here().observe("touch", text);
    });
    e.spawn("other", [&k, &second, &other, map, fd] { other(k, second, map, fd); });
    e.at_end([&k, &e, &check] {
      e.here().check(k.account().none(), "a page or a lock was left held");
      if (check) check(k);
    });
  });
}

std::vector<std::string> ends(const sim::report& r) {
  std::vector<std::string> all;
  for (const auto& [what, count] : r.outcomes) all.push_back(what);
  return all;
}

const auto truncate = [](test::kernel& k, test::kernel::thread& td, user_address, fd_number fd) {
  simulated::check(k.ftruncate(td, fd, 0) == errc::ok, "ftruncate");
};
const auto unmap = [](test::kernel& k, test::kernel::thread& td, user_address map, fd_number) {
  simulated::check(k.munmap(td, map, 16) == errc::ok, "munmap");
  simulated::check(k.load(td, map).signal == user_signal::sigsegv, "still mapped after munmap");
};

TEST(Fault, against_truncation_it_ends_with_the_byte_or_sigbus) {
  for (const bool resident : {false, true}) {
    for (const bool mapped : {false, true}) {
      const auto r = touch_against(truncate, {}, resident, mapped);
      EXPECT_EQ(r.verdict, verdict::clean) << r;
      EXPECT_TRUE(r.complete) << r;
      EXPECT_THAT(ends(r), UnorderedElementsAre("touch=a", "touch=sigbus"));
    }
  }
}

TEST(Fault, sleeping_for_the_vnode_with_a_busy_page_deadlocks_against_truncation) {
  const auto r = touch_against(truncate, {&vm::try_vnode_lock});
  EXPECT_EQ(r.verdict, verdict::deadlock) << r;
  EXPECT_THAT(r.cycle, UnorderedElementsAre("vnode:f", "vmpage:f.0"));
  EXPECT_TRUE(r.steps_skipped_by_defect.contains("V10"));
}

TEST(Fault, against_munmap_it_ends_with_the_byte_or_sigsegv) {
  for (const bool mapped : {false, true}) {
    const auto r = touch_against(unmap, {}, false, mapped);
    EXPECT_EQ(r.verdict, verdict::clean) << r;
    EXPECT_TRUE(r.complete) << r;
    EXPECT_THAT(ends(r), UnorderedElementsAre("touch=a", "touch=sigsegv"));
  }
}

TEST(Fault, two_faults_on_one_page_read_it_once) {
  const auto r = touch_against([](test::kernel& k, test::kernel::thread& td, user_address map, fd_number) {
    simulated::check(k.load(td, map).value == std::byte{'a'}, "the wrong byte");
  });
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
  EXPECT_THAT(ends(r), UnorderedElementsAre("touch=a"));
}

TEST(Fault, does_not_read_the_device_over_what_a_writer_filled) {
  // The writer overwrites the whole cold page without reading it; the fault finds it invalid, and gets the vnode later.
  const auto overwrite = [](test::kernel& k, test::kernel::thread& td, user_address, fd_number fd) {
    const auto source = k.map_buffer(td.proc, page_b);
    simulated::check(value_of(k.pwrite(td, fd, source, 16, 0)) == 16, "pwrite");
  };
  const auto r = touch_against(overwrite, {}, false, false, [](test::kernel& k) {
    simulated::check(k.file_contents("f") == page_b, "the write is lost");
  });
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
  EXPECT_THAT(ends(r), UnorderedElementsAre("touch=a", "touch=other"));
}

TEST(Fault, a_store_does_not_land_after_munmap_returned) {
  // The other task unmaps and then reads the file twice: what it reads must not change.
  sim::options how;
  const auto r = sim::explore(how, [](sim::execution& e) {
    auto& k = e.make<test::kernel>(test::small_pages(), test::io_named("vn-io-fault"));
    auto& process = k.make_process("p");
    auto& f = k.make_file("f", page_a);
    const auto map = k.map_file(process, f, protection::read_write);
    const auto seen = k.map_buffer(process, "..");
    k.make_mapped(process, map, 16);
    auto& first = k.make_thread(process);
    auto& second = k.make_thread(process);
    const auto fd = k.open_file(process, "f", o_rdwr);
    e.spawn("store", [&k, &first, map] { (void)k.store(first, map, std::byte{'S'}); });
    e.spawn("unmap", [&k, &second, map, seen, fd] {
      simulated::check(k.munmap(second, map, 16) == errc::ok, "munmap");
      (void)k.pread(second, fd, seen, 1, 0);
      (void)k.pread(second, fd, seen + 1, 1, 0);
      const auto one = k.load(second, seen).value;
      simulated::check(one == k.load(second, seen + 1).value, "a store landed after munmap");
      sim::world::here().observe("read", one == std::byte{'S'} ? "new" : "old");
    });
  });
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
  EXPECT_THAT(ends(r), UnorderedElementsAre("read=new", "read=old"));
}

}  // namespace
}  // namespace faultline

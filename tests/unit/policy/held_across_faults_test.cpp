// SPDX-License-Identifier: BSD-2-Clause
// page-busy, prefault, and the order of range and vnode lock: what is held while a user page is faulted in, and what comes of it.
#include "unit/policy/crossed.hpp"

#include <faultline/scenario/scenario.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace faultline {
namespace {

using kern::o_rdwr;
using sim::verdict;
using test::alone;
using test::caller;
using test::cross;
using test::crossed;
using test::explore;
using test::letters;
using test::two_files;
using test::value_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using vm::protection;
namespace io = policy::io;

const kern::parameters with_pageout{.page_size = 4, .hold_pages = 1, .reclaim = true};

/// A task that takes pages from the cache, once each.
auto pageout(std::vector<std::pair<const char*, std::uint64_t>> pages) {
  return [pages = std::move(pages)](caller c) {
    for (const auto& [file, index] : pages) (void)c.k.evict(c.td, c.k.find(file), page_index{index});
  };
}

// --- page-busy ----------------------------------------------------------------------------------------------------------

TEST(PageBusy, a_copy_from_the_page_that_it_goes_to_waits_for_itself) {
  const auto one_byte = [](alone& s) {
    auto& f = s.k.make_file("f", "01234");
    const auto map = s.k.map_file(s.process, f, protection::read);
    (void)s.k.pwrite(s.td, s.open("f"), map + 2, 1, 3);
  };
  const auto whole_page = [](alone& s) {
    auto& f = s.k.make_file("f", letters(1, 16));
    const auto map = s.k.map_file(s.process, f, protection::read);
    (void)s.k.pwrite(s.td, s.open("f"), map, 16, 0);
  };
  const auto into_itself = [](alone& s) {
    auto& f = s.k.make_file("f", letters(1, 16));
    const auto map = s.k.map_file(s.process, f, protection::read_write);
    (void)s.k.pread(s.td, s.open("f"), map + 8, 4, 0);
  };
  for (const auto& body : {std::function<void(alone&)>(one_byte), {whole_page}, {into_itself}}) {
    const auto stuck = test::run_alone(test::small_pages(), "page-busy", body);
    EXPECT_EQ(stuck.verdict, verdict::deadlock) << stuck;
    EXPECT_THAT(stuck.cycle, ElementsAre("vmpage:f.0")) << stuck;
    for (const char* other : {"vnode-locked", "prefault", "vn-io-fault"})
      EXPECT_EQ(test::run_alone(test::small_pages(), other, body).verdict, verdict::clean) << other;
  }
}

TEST(PageBusy, a_copy_that_does_not_fault_may_come_from_the_page_that_it_goes_to) {
  test::expect_alone(test::small_pages(), "page-busy", [](alone& s) {
    auto& f = s.k.make_file("f", letters(1, 4) + letters(1, 12, 'x'));
    const auto map = s.k.map_file(s.process, f, protection::read_write);
    s.k.make_mapped(s.process, map, 16);
    EXPECT_EQ(value_of(s.k.pwrite(s.td, s.open("f"), map, 4, 12)), 4U);
    EXPECT_EQ(s.k.file_contents("f"), "aaaaxxxxxxxxaaaa");
  });
}

TEST(PageBusy, crossed_writes_close_their_cycle_on_the_vnodes_where_the_pages_are_cold) {
  const cross writes{{crossed(true, "f0", "f1"), crossed(true, "f1", "f0")}, two_files};
  const auto cold = explore(writes, {}, "page-busy");
  EXPECT_EQ(cold.verdict, verdict::deadlock) << cold;
  EXPECT_THAT(cold.cycle, UnorderedElementsAre("vnode:f0", "vnode:f1"));
}

/// Writes the first page of `file` from an unmapped page of `buffer`, the very one that the other task writes.
auto from_its_target(const char* file, const char* buffer) {
  return [=](caller c) {
    const auto fd = c.k.open_file(c.process, file, o_rdwr);
    const auto at = c.k.map_file(c.process, c.k.find(buffer), protection::read, 0, 4);
    simulated::check(value_of(c.k.pwrite(c.td, fd, at, 4, 0)) == 4, "short");
  };
}

TEST(PageBusy, crossed_writes_close_their_cycle_on_the_pages_where_those_are_cached) {
  const cross writes{{from_its_target("f0", "f1"), from_its_target("f1", "f0")}, [](test::kernel& k) {
                       two_files(k);
                       for (const char* name : {"f0", "f1"}) k.make_resident(k.find(name), page_index{0}, 1);
                     }};
  const auto busy = explore(writes, {}, "page-busy");
  EXPECT_EQ(busy.verdict, verdict::deadlock) << busy;
  EXPECT_THAT(busy.cycle, UnorderedElementsAre("vmpage:f0.0", "vmpage:f1.0"));
  // The fault finds a page that is cached and only wired: it needs no vnode.
  for (const char* other : {"vnode-locked", "prefault", "vn-io-fault"}) {
    const auto free = explore(writes, {}, other);
    EXPECT_EQ(free.verdict, verdict::clean) << free;
    EXPECT_TRUE(free.complete) << free;
  }
}

TEST(PageBusy, readers_and_touchers_of_a_page_take_turns) {
  const auto reader = [](caller c) {
    const auto fd = c.k.open_file(c.process, "f0", o_rdwr);
    const auto at = c.k.map_zeros(c.process, 4);
    simulated::check(value_of(c.k.pread(c.td, fd, at, 4, 0)) == 4, "short");
    simulated::check(c.k.user_contents(c.process, at, 4) == "aaaa", "other bytes");
  };
  const auto toucher = [](caller c) {
    const auto at = c.k.map_file(c.process, c.k.find("f0"), protection::read, 0, 4);
    simulated::check(c.k.load(c.td, at) == kern::user_access{.value = std::byte{'a'}}, "load");
  };
  const cross all{{reader, reader, toucher}, two_files};
  const auto r = explore(all, {}, "page-busy");
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
}

// --- prefault -----------------------------------------------------------------------------------------------------------

TEST(Prefault, faults_before_the_vnode_is_locked_so_that_the_copy_does_not) {
  const auto transfer = [](std::uint64_t expected_traps) {
    return [=](alone& s) {
      s.k.make_file("f", letters(3, 16));
      auto& g = s.k.make_file("g", letters(3, 16, 'x'));
      const auto fd = s.open("f");
      EXPECT_EQ(value_of(s.k.pread(s.td, fd, s.k.map_zeros(s.process, 48), 48, 0)), 48U);
      const auto from = s.k.map_file(s.process, g, protection::read);
      EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, from, 48, 0)), 48U);
      EXPECT_EQ(s.k.file_contents("f"), letters(3, 16, 'x'));
      EXPECT_EQ(s.td.faults, 6U);
      EXPECT_EQ(s.td.traps, expected_traps);
    };
  };
  test::expect_alone(test::small_pages(), "prefault", transfer(0));
  test::expect_alone(test::small_pages(), "vnode-locked", transfer(6));
}

TEST(Prefault, a_read_touches_for_writing) {
  // Touched for reading, the buffer would be the shared zero page, and the copy would fault again.
  auto p = test::small_pages();
  p.zero_page = true;
  test::expect_alone(p, "prefault", [](alone& s) {
    s.k.make_file("f", letters(1, 16));
    const auto buffer = s.k.map_zeros(s.process, 16);
    EXPECT_EQ(value_of(s.k.pread(s.td, s.open("f"), buffer, 16, 0)), 16U);
    EXPECT_EQ(s.td.traps, 0U);
    EXPECT_EQ(s.load(buffer, 16), letters(1, 16));
  });
}

TEST(Prefault, stops_at_a_bad_page_and_leaves_the_answer_to_the_copy) {
  test::expect_alone(test::small_pages(), "prefault", [](alone& s) {
    s.k.make_file("f", "");
    auto& g = s.k.make_file("g", letters(2, 16));
    const auto after = s.k.map_zeros(s.process, 16);
    const auto map = s.k.map_file(s.process, g, protection::read, 0, 48);
    const vfs::iovec pieces[] = {{map, 48}, {after, 16}};
    EXPECT_EQ(value_of(s.k.writev(s.td, s.open("f"), pieces)), 32U);
    EXPECT_EQ(s.k.file_contents("f"), letters(2, 16));
    EXPECT_EQ(s.td.faults, 4U);  // two pages, the bad one, and the bad one again by the copy
  });
}

TEST(Prefault, crossed_writes_deadlock_only_where_a_touched_page_is_evicted) {
  const cross undisturbed{{crossed(true, "f0", "f1"), crossed(true, "f1", "f0")}, two_files};
  const auto kept = explore(undisturbed, {}, "prefault");
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.complete) << kept;

  auto evicted = undisturbed;
  evicted.tasks.push_back(pageout({{"f0", 1}, {"f1", 1}}));
  const auto gone = explore(evicted, {}, "prefault", with_pageout);
  EXPECT_EQ(gone.verdict, verdict::deadlock) << gone;
  EXPECT_THAT(gone.cycle, UnorderedElementsAre("vnode:f0", "vnode:f1"));
  const auto fixed = explore(evicted, {}, "vn-io-fault", with_pageout, 2);
  EXPECT_EQ(fixed.verdict, verdict::clean) << fixed;
  EXPECT_TRUE(fixed.complete) << fixed;
}

TEST(Prefault, a_page_evicted_before_the_copy_comes_to_it_is_read_again) {
  const cross write{{crossed(true, "f0", "f1"), pageout({{"f1", 1}})}, two_files, [](test::kernel& k) {
                      simulated::check(k.file_contents("f0") == "BBBBAAAA", "other bytes");
                    }};
  const auto r = explore(write, {}, "prefault", with_pageout);
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
}

// --- vn-io-fault: range lock before vnode lock ------------------------------------------------------------------------------

TEST(VnIoFaultSteps, range_before_vnode_prevents_a_deadlock_of_the_two) {
  const auto cold = [](caller c) {
    const auto fd = c.k.open_file(c.process, "f0", o_rdwr);
    simulated::check(value_of(c.k.pwrite(c.td, fd, c.k.map_zeros(c.process, 4), 4, 0)) == 4, "short");
  };
  const auto mapped = [](caller c) {
    const auto fd = c.k.open_file(c.process, "f0", o_rdwr);
    simulated::check(value_of(c.k.pwrite(c.td, fd, c.k.map_buffer(c.process, "cccc"), 4, 0)) == 4, "short");
  };
  const cross writes{{cold, mapped}, two_files};
  const auto kept = explore(writes);
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.complete) << kept;
  EXPECT_TRUE(kept.steps_reached.contains("V12b"));
  const auto omitted = explore(writes, {&io::range_before_vnode});
  EXPECT_EQ(omitted.verdict, verdict::deadlock) << omitted;
  EXPECT_THAT(omitted.cycle, UnorderedElementsAre("range:f0", "vnode:f0"));
  EXPECT_TRUE(omitted.steps_skipped_by_defect.contains("V12b"));
}

// --- mutants ------------------------------------------------------------------------------------------------------------

TEST(Mutants, are_listed_with_an_id_of_their_own_and_the_policy_that_they_are_of) {
  std::set<std::string_view> ids;
  for (const auto* s : scenario::steps()) EXPECT_TRUE(ids.insert(s->id).second) << s->id;
  std::set<std::string_view> listed;
  for (const auto& a : scenario::axes()) {
    for (const auto& v : a.values) {
      const bool mutant = scenario::find_mutant(a.name, v.name) != nullptr;
      EXPECT_EQ(mutant, !v.mutant_of.empty()) << v.name;
      if (!mutant) continue;
      listed.insert(v.name);
      EXPECT_TRUE(ids.insert(v.id).second) << v.id;
      EXPECT_FALSE(v.defect.empty());
      EXPECT_TRUE(std::any_of(a.values.begin(), a.values.end(), [&](const auto& of) {
        return of.name == v.mutant_of && of.mutant_of.empty();
      }));
    }
  }
  EXPECT_THAT(listed, ElementsAre("overwrite-valid-early", "size-decided-early", "vn-io-fault-copyin",
                                  "vn-io-fault-copyin-retry"));
}

TEST(Mutants, a_copy_through_mappings_fails_where_the_touched_page_is_evicted) {
  const cross write{{crossed(true, "f0", "f1"), pageout({{"f1", 1}})}, two_files, [](test::kernel& k) {
                      simulated::check(k.file_contents("f0") == "BBBBAAAA", "other bytes");
                    }};
  const auto right = explore(write, {}, "vn-io-fault", with_pageout);
  EXPECT_EQ(right.verdict, verdict::clean) << right;
  EXPECT_TRUE(right.complete) << right;
  const auto once = explore(write, {}, "vn-io-fault-copyin", with_pageout);
  EXPECT_EQ(once.verdict, verdict::violation) << once;
  EXPECT_THAT(once.message, HasSubstr("short or failed"));
  // Tried again it comes to its end, as long as memory is short but once.
  const auto again = explore(write, {}, "vn-io-fault-copyin-retry", with_pageout);
  EXPECT_EQ(again.verdict, verdict::clean) << again;
  EXPECT_TRUE(again.complete) << again;
}

sim::report under_constant_pressure(std::string_view io_name) {
  sim::options how;
  how.strategy = sim::strategy_kind::random;
  how.executions_max = 2'000;
  return sim::explore(how, [&](sim::execution& e) {
    auto& k = e.make<test::kernel>(with_pageout, test::io_named(io_name));
    two_files(k);
    auto& process = k.make_process("p");
    auto& td = k.make_thread(process);
    auto& daemon = k.make_thread(k.make_process("pageout"));
    const auto fd = k.open_file(process, "f0", o_rdwr);
    const auto at = k.map_file(process, k.find("f1"), protection::read);
    e.spawn("t", [&k, &td, fd, at] { (void)k.pwrite(td, fd, at, 4, 0); });
    e.spawn_daemon("pageout", [&k, &daemon] {
      for (;;) {
        (void)k.evict(daemon, k.find("f1"), page_index{0});
        simulated::relax();
      }
    });
  });
}

TEST(Mutants, a_copy_through_mappings_tried_again_for_ever_is_a_livelock) {
  const auto right = under_constant_pressure("vn-io-fault");
  EXPECT_EQ(right.verdict, verdict::clean) << right;
  const auto mutant = under_constant_pressure("vn-io-fault-copyin-retry");
  EXPECT_EQ(mutant.verdict, verdict::livelock) << mutant;
}

TEST(Mutants, a_page_called_valid_before_it_is_overwritten_becomes_zeros) {
  const auto onto_itself = [](std::string expected) {
    return [expected](alone& s) {
      auto& f = s.k.make_file("f", letters(2, 16));
      const auto map = s.k.map_file(s.process, f, protection::read);
      EXPECT_EQ(value_of(s.k.pwrite(s.td, s.open("f"), map, 16, 0)), 16U);
      EXPECT_EQ(s.k.file_contents("f"), expected + letters(1, 16, 'b'));
    };
  };
  test::expect_alone(test::small_pages(), "vn-io-fault", onto_itself(letters(1, 16)));
  test::expect_alone(test::small_pages(), "overwrite-valid-early", onto_itself(std::string(16, '\0')));
}

TEST(Mutants, the_size_decided_before_the_file_is_locked_goes_backwards) {
  const auto extend = [](std::int64_t at) {
    return [at](caller c) {
      const auto fd = c.k.open_file(c.process, "f", o_rdwr);
      const auto from = c.k.map_buffer(c.process, "abcd");
      simulated::check(value_of(c.k.pwrite(c.td, fd, from, 4, at)) == 4, "short");
    };
  };
  const cross writes{{extend(8), extend(0)},
                     [](test::kernel& k) { k.make_file("f", ""); },
                     [](test::kernel& k) {
                       simulated::check(k.file_contents("f").size() == 12, "the size went backwards");
                     }};
  const auto right = explore(writes);
  EXPECT_EQ(right.verdict, verdict::clean) << right;
  EXPECT_TRUE(right.complete) << right;
  const auto mutant = explore(writes, {}, "size-decided-early");
  EXPECT_EQ(mutant.verdict, verdict::violation) << mutant;
  EXPECT_THAT(mutant.message, HasSubstr("backwards"));
}

}  // namespace
}  // namespace faultline

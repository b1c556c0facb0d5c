// SPDX-License-Identifier: BSD-2-Clause
// vn_io_fault: its paths and their counts, then each of its steps with the bug that it prevents.
#include "unit/policy/crossed.hpp"

#include <gmock/gmock.h>

namespace faultline {
namespace {

using kern::o_rdwr;
using kern::user_signal;
using kern::whence;
using sim::verdict;
using test::alone;
using test::caller;
using test::cross;
using test::crossed;
using test::explore;
using test::letters;
using test::two_files;
using test::value_of;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using vm::protection;
namespace io = policy::io;

void run(const kern::parameters& p, const std::function<void(alone&)>& body) {
  test::expect_alone(p, "vn-io-fault", body);
}

// --- paths and counts -------------------------------------------------------------------------------------------------

TEST(VnIoFault, a_mapped_buffer_takes_the_fast_path) {
  run({}, [](alone& s) {
    s.k.make_file("f", letters(3, 4096));
    const auto fd = s.open("f");
    const auto buffer = s.k.map_buffer(s.process, std::string(3 * 4096, '.'));
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 3 * 4096)), 3U * 4096);
    EXPECT_EQ(value_of(s.k.pwrite(s.td, fd, buffer, 4096, 100)), 4096U);
    EXPECT_EQ(s.k.statistics().fast_path, 2U);
    EXPECT_EQ(s.k.statistics().slow_path, 0U);
    EXPECT_EQ(s.td.traps, 0U);
  });
}

TEST(VnIoFault, an_absent_page_sends_the_transfer_through_held_pages_in_chunks_of_16) {
  run({}, [](alone& s) {
    s.k.make_file("f", letters(40, 4096));
    const auto fd = s.open("f");
    const auto buffer = s.k.map_zeros(s.process, 40 * 4096);
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 40 * 4096)), 40U * 4096);
    EXPECT_EQ(s.k.statistics().slow_path, 1U);
    EXPECT_EQ(s.k.statistics().chunks, 3U);  // 16 + 16 + 8
    EXPECT_EQ(s.td.traps, 2U);               // one miss, tried twice
    EXPECT_EQ(s.td.faults, 40U);
    EXPECT_EQ(s.load(buffer, 40 * 4096), letters(40, 4096));
  });
}

TEST(VnIoFault, a_misaligned_chunk_of_16_pages_holds_17) {
  run({}, [](alone& s) {
    s.k.make_file("f", letters(20, 4096));
    const auto fd = s.open("f");
    const auto buffer = s.k.map_zeros(s.process, 20 * 4096);
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer + 100, 16 * 4096)), 16U * 4096);
    EXPECT_EQ(s.k.statistics().chunks, 1U);
    EXPECT_EQ(s.td.faults, 17U);
    EXPECT_EQ(s.load(buffer + 100, 16 * 4096), letters(16, 4096));
  });
}

TEST(VnIoFault, a_chunk_never_spans_pieces_of_the_vector) {
  run({}, [](alone& s) {
    s.k.make_file("f", letters(4, 4096));
    const auto fd = s.open("f");
    const auto buffer = s.k.map_zeros(s.process, 4 * 4096);
    const vfs::iovec pieces[] = {{buffer, 10}, {buffer + 100, 0}, {buffer + 200, 10}, {buffer + 4096, 10}};
    EXPECT_EQ(value_of(s.k.readv(s.td, fd, pieces)), 30U);
    EXPECT_EQ(s.k.statistics().chunks, 3U);
  });
}

TEST(VnIoFault, what_was_read_before_the_absent_page_is_not_read_again) {
  auto p = test::small_pages();
  p.hold_pages = 1;
  run(p, [](alone& s) {
    s.k.make_file("f", letters(4, 16));
    const auto fd = s.open("f");
    const auto buffer = s.k.map_zeros(s.process, 64);
    s.k.make_mapped(s.process, buffer, 32);
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 64)), 64U);
    EXPECT_EQ(s.k.statistics().chunks, 2U);  // the last two pages
    EXPECT_EQ(s.load(buffer, 64), letters(4, 16));
  });
}

TEST(VnIoFault, is_bypassed_where_the_filesystem_does_not_want_it) {
  run(test::small_pages(), [](alone& s) {
    s.k.make_file("f", letters(2, 16), {.no_iopf = false});
    const auto fd = s.open("f");
    const auto buffer = s.k.map_zeros(s.process, 32);
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 32)), 32U);
    EXPECT_EQ(s.k.statistics().bypassed, 1U);
    EXPECT_EQ(s.k.statistics().slow_path, 0U);
    EXPECT_EQ(s.td.traps, 2U);  // served under the vnode lock, one for each page
  });
}

TEST(VnIoFault, a_later_chunk_that_fails_leaves_the_earlier_ones_done) {
  auto p = test::small_pages();
  p.hold_pages = 1;
  run(p, [](alone& s) {
    s.k.make_file("f", "");
    auto& g = s.k.make_file("g", letters(2, 16));
    const auto fd = s.open("f");
    const auto map = s.k.map_file(s.process, g, protection::read, 0, 48);
    EXPECT_EQ(s.k.write(s.td, fd, map, 48).error(), errc::efault);
    EXPECT_EQ(s.k.file_contents("f"), letters(2, 16));
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::current)), 32U);
  });
}

TEST(VnIoFault, a_read_of_the_last_bytes_stops_at_the_end) {
  run(test::small_pages(), [](alone& s) {
    s.k.make_file("f", "abc");
    const auto fd = s.open("f");
    const auto buffer = s.k.map_zeros(s.process, 64);
    EXPECT_EQ(value_of(s.k.read(s.td, fd, buffer, 64)), 3U);
    EXPECT_EQ(s.load(buffer, 4), std::string("abc") + '\0');
  });
}

// --- steps, one task ---------------------------------------------------------------------------------------------------

/// The omitted step's run fails, says why, and did skip the step; the kept one is clean and came by.
void expect_needed(const kern::parameters& p, const step& s, const std::function<void(alone&)>& body,
                   verdict bad, std::string_view message) {
  const auto kept = test::run_alone(p, "vn-io-fault", body);
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.steps_reached.contains(std::string(s.id)));
  const auto omitted = test::run_alone(p, "vn-io-fault", body, {&s});
  EXPECT_EQ(omitted.verdict, bad) << omitted;
  EXPECT_THAT(omitted.message, HasSubstr(message));
  EXPECT_TRUE(omitted.steps_skipped_by_defect.contains(std::string(s.id)));
}

TEST(VnIoFaultSteps, write_protection_in_hold) {
  expect_needed(
      test::small_pages(), io::write_protection_in_hold,
      [](alone& s) {
        auto& g = s.k.make_file("g", letters(1, 16));
        s.k.make_file("f", "XXXX");
        const auto map = s.k.map_file(s.process, g, protection::read);
        const auto r = s.k.read(s.td, s.open("f"), map, 4);
        simulated::check(r.error() == errc::efault && s.k.file_contents("g") == letters(1, 16),
                         "read(2) stored");
      },
      verdict::violation, "read(2) stored");
}

TEST(VnIoFaultSteps, clone_uio) {
  expect_needed(
      test::small_pages(), io::clone_uio,
      [](alone& s) {
        auto& g = s.k.make_file("g", letters(2, 16));
        s.k.make_file("f", letters(2, 16, 'x'));
        const auto fd = s.open("f");
        const auto map = s.k.map_file(s.process, g, protection::read);
        s.k.make_mapped(s.process, map, 16);  // the first page is copied, and rolled back
        (void)s.k.pwrite(s.td, fd, map, 32, 0);
        simulated::check(s.k.file_contents("f") == letters(2, 16), "duplicated or skipped bytes");
      },
      verdict::violation, "");
}

TEST(VnIoFaultSteps, stop_without_progress) {
  expect_needed(
      test::small_pages(), io::stop_without_progress,
      [](alone& s) {
        s.k.make_file("f", "abc");
        (void)s.k.read(s.td, s.open("f"), s.k.map_zeros(s.process, 64), 64);
      },
      verdict::livelock, "");
}

TEST(VnIoFaultSteps, chunk_cap_and_room_for_partial_ends) {
  const auto long_read = [](std::uint64_t at, std::uint64_t size) {
    return [at, size](alone& s) {
      s.k.make_file("f", letters(8, 16));
      (void)s.k.read(s.td, s.open("f"), s.k.map_zeros(s.process, 128) + at, size);
    };
  };
  expect_needed(test::small_pages(), io::chunk_cap, long_read(0, 128), verdict::violation,
                "count > max_count");
  expect_needed(test::small_pages(), io::room_for_partial_ends, long_read(5, 32), verdict::violation,
                "count > max_count");
}

// --- steps, several tasks -----------------------------------------------------------------------------------------------

TEST(VnIoFaultSteps, disable_faults_prevents_the_deadlock_of_two_crossed_writes) {
  const cross writes{{crossed(true, "f0", "f1"), crossed(true, "f1", "f0")}, two_files};
  const auto kept = explore(writes);
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.complete) << kept;
  EXPECT_TRUE(kept.findings.empty()) << kept;
  const auto omitted = explore(writes, {&io::disable_faults});
  EXPECT_EQ(omitted.verdict, verdict::deadlock) << omitted;
  EXPECT_THAT(omitted.cycle, UnorderedElementsAre("vnode:f0", "vnode:f1"));
  const auto before = explore(writes, {}, "vnode-locked");
  EXPECT_EQ(before.verdict, verdict::deadlock) << before;
  EXPECT_THAT(before.cycle, UnorderedElementsAre("vnode:f0", "vnode:f1"));
}

TEST(VnodeLocked, crossed_reads_deadlock_only_where_vnode_locks_are_not_shared) {
  const cross reads{{crossed(false, "f0", "f1"), crossed(false, "f1", "f0")}, two_files};
  const auto shared = explore(reads, {}, "vnode-locked");
  EXPECT_EQ(shared.verdict, verdict::clean) << shared;
  EXPECT_TRUE(shared.complete) << shared;
  kern::parameters p{.page_size = 4, .hold_pages = 1};
  p.vnode_sharing = sync::sharing::noshare;
  const auto noshare = explore(reads, {}, "vnode-locked", p);
  EXPECT_EQ(noshare.verdict, verdict::deadlock) << noshare;
  EXPECT_THAT(noshare.cycle, UnorderedElementsAre("vnode:f0", "vnode:f1"));
}

TEST(VnodeLocked, a_writer_queued_on_its_own_vnode_does_not_stop_a_reader_that_faults_on_it) {
  const auto reader = [](caller c) {
    const auto fd = c.k.open_file(c.process, "f0", o_rdwr);
    const auto at = c.k.map_file(c.process, c.k.find("f0"), protection::read_write, 4, 4);
    simulated::check(value_of(c.k.pread(c.td, fd, at, 4, 0)) == 4, "short");
  };
  const auto truncator = [](caller c) {
    const auto fd = c.k.open_file(c.process, "f0", o_rdwr);
    simulated::check(c.k.ftruncate(c.td, fd, 12) == errc::ok, "ftruncate");
  };
  const cross both{{reader, truncator}, [](test::kernel& k) { k.make_file("f0", "aaaabbbb"); }};
  const auto kept = explore(both, {}, "vnode-locked");
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.complete) << kept;
  const auto omitted = explore(both, {&sync::let_sharers_through}, "vnode-locked");
  EXPECT_EQ(omitted.verdict, verdict::deadlock) << omitted;
  EXPECT_TRUE(omitted.steps_skipped_by_defect.contains("V11b"));
}

TEST(VnodeLocked, a_writer_that_faults_on_its_own_file_needs_recursion) {
  const cross self{{crossed(true, "f0", "f0")}, two_files};
  EXPECT_EQ(explore(self, {}, "vnode-locked").verdict, verdict::clean);
  const auto omitted = explore(self, {&vm::recurse_on_own_vnode}, "vnode-locked");
  EXPECT_EQ(omitted.verdict, verdict::deadlock) << omitted;
  EXPECT_THAT(omitted.cycle, UnorderedElementsAre("vnode:f0"));
}

/// A write of two pages from a cold buffer, so in two chunks, against a read of both.
cross two_chunks() {
  return {{[](caller c) {
             const auto fd = c.k.open_file(c.process, "f", o_rdwr);
             const auto at = c.k.map_zeros(c.process, 8);
             simulated::check(value_of(c.k.pwrite(c.td, fd, at, 8, 0)) == 8, "short");
           },
           [](caller c) {
             const auto fd = c.k.open_file(c.process, "f", o_rdwr);
             const auto at = c.k.map_buffer(c.process, "........");
             simulated::check(value_of(c.k.pread(c.td, fd, at, 8, 0)) == 8, "short");
             const auto seen = c.k.user_contents(c.process, at, 8);
             simulated::check(seen == "aaaaaaaa" || seen == std::string(8, '\0'), "torn read");
           }},
          [](test::kernel& k) { k.make_file("f", "aaaaaaaa"); }};
}

TEST(VnIoFaultSteps, range_lock_prevents_a_torn_read) {
  const auto kept = explore(two_chunks());
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.complete) << kept;
  for (const step* s : {&io::range_lock, &io::keep_range_between_chunks}) {
    const auto omitted = explore(two_chunks(), {s});
    EXPECT_EQ(omitted.verdict, verdict::violation) << omitted;
    EXPECT_THAT(omitted.message, HasSubstr("torn read"));
    EXPECT_TRUE(omitted.steps_skipped_by_defect.contains(std::string(s->id)));
  }
}

TEST(VnIoFaultSteps, unhold_after_copy_keeps_the_page_from_its_next_owner) {
  const cross cut{{[](caller c) {
                     const auto fd = c.k.open_file(c.process, "f0", o_rdwr);
                     const auto at = c.k.map_file(c.process, c.k.find("f1"), protection::read_write);
                     (void)c.k.pwrite(c.td, fd, at, 4, 0);
                   },
                   [](caller c) {
                     simulated::check(
                         c.k.ftruncate(c.td, c.k.open_file(c.process, "f1", o_rdwr), 0) == errc::ok,
                         "ftruncate");
                   }},
                  two_files};
  const auto kept = explore(cut);
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.complete) << kept;
  const auto omitted = explore(cut, {&io::unhold_after_copy});
  EXPECT_EQ(omitted.verdict, verdict::violation) << omitted;
  EXPECT_THAT(omitted.message, HasSubstr("use after free"));
}

TEST(VnIoFaultSteps, whole_range_for_append_keeps_records_apart) {
  // Records of two pages from cold buffers. With ranges [EOF, EOF + n) of a stale EOF a third appender's range is disjoint
  // from the second's, though both append at the same end.
  const auto append = [](char letter) {
    return [letter](caller c) {
      const auto fd = c.k.open_file(c.process, "f", o_rdwr.with_append());
      const auto source = c.k.map_file(c.process, c.k.find(std::string(1, letter)), protection::read);
      simulated::check(value_of(c.k.write(c.td, fd, source, 8)) == 8, "short");
    };
  };
  const cross appenders{{append('x'), append('y'), append('z')},
                        [](test::kernel& k) {
                          k.make_file("f", "");
                          for (const char* name : {"x", "y", "z"}) k.make_file(name, std::string(8, *name));
                        },
                        [](test::kernel& k) {
                          const auto all = k.file_contents("f");
                          bool whole = all.size() == 24;
                          for (std::size_t i = 0; i < all.size(); ++i)
                            whole = whole && all[i] == all[i / 8 * 8];
                          simulated::check(whole, "records of appenders are mixed");
                        }};
  const auto kept = explore(appenders, {}, "vn-io-fault", {.page_size = 4, .hold_pages = 1}, 1);
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  const auto omitted =
      explore(appenders, {&io::whole_range_for_append}, "vn-io-fault", {.page_size = 4, .hold_pages = 1}, 3);
  EXPECT_EQ(omitted.verdict, verdict::violation) << omitted;
  EXPECT_THAT(omitted.message, HasSubstr("mixed"));
}

TEST(VnIoFaultSteps, offset_lock_keeps_two_writes_apart) {
  // One description, two threads of one process.
  const auto both = [](std::vector<const step*> omit) {
    sim::options how;
    how.omit = std::move(omit);
    return sim::explore(how, [](sim::execution& e) {
      auto& k = e.make<test::kernel>(kern::parameters{.page_size = 4}, test::io_named("vn-io-fault"));
      auto& process = k.make_process("p");
      k.make_file("f", "");
      const auto fd = k.open_file(process, "f", o_rdwr);
      for (const char* text : {"xx", "yy"}) {
        auto& td = k.make_thread(process);
        const auto at = k.map_buffer(process, text);
        e.spawn(text, [&k, &td, fd, at] { (void)k.write(td, fd, at, 2); });
      }
      e.at_end([&k, &e] {
        e.here().check(k.file_contents("f").size() == 4, "two writes landed on the same bytes");
      });
    });
  };
  const auto kept = both({});
  EXPECT_EQ(kept.verdict, verdict::clean) << kept;
  EXPECT_TRUE(kept.complete) << kept;
  const auto omitted = both({&kern::offset_lock});
  EXPECT_EQ(omitted.verdict, verdict::violation) << omitted;
  EXPECT_THAT(omitted.message, HasSubstr("same bytes"));
}

}  // namespace
}  // namespace faultline

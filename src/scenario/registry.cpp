// SPDX-License-Identifier: BSD-2-Clause
// The one table of scenarios, axes and steps.
#include "scenario/lib/steps.hpp"
#include "scenario/lib_scenarios.hpp"
#include "scenario/shipped.hpp"

#include <faultline/kern/kernel.hpp>
#include <faultline/policy/io/page_busy.hpp>
#include <faultline/policy/io/prefault.hpp>
#include <faultline/policy/io/vn_io_fault.hpp>
#include <faultline/policy/io/vnode_locked.hpp>
#include <faultline/scenario/file.hpp>
#include <faultline/scenario/mutants/vn_io_fault_copyin.hpp>
#include <faultline/scenario/mutants/write_mutants.hpp>
#include <faultline/sync/rangelock/queue.hpp>
#include <faultline/sync/refcount.hpp>
#include <faultline/sync/seqcount.hpp>
#include <faultline/sync/treiber_stack.hpp>
#include <faultline/vm/fault.hpp>

#include <algorithm>
#include <array>

namespace faultline::scenario {

std::span<const scenario> all() {
  static const std::vector<scenario> table = [] {
    std::vector<scenario> made{
        both_orders(),      double_checked_init(),    double_checked_lookup(), fifo_self(),
        flag_before_wait(), philosophers_bystander(), priority_inversion(),    seqlock(),
        treiber_aba(),      upgrading_readers(),      writer_starvation()};
    for (const auto& f : shipped_files()) made.push_back(parse(f.text, std::string(f.name)));
    std::sort(made.begin(), made.end(),
              [](const auto& a, const auto& b) { return a.info.name < b.info.name; });
    return made;
  }();
  return table;
}

std::span<const axis> axes() {
  namespace io = policy::io;
  static const std::array table{
      axis{.name = "io",
           .summary =
               "what brackets read(2) and write(2), and what it holds while a user page may be faulted in",
           .values = {{io::page_busy::name,
                       "NetBSD's UBC with the direct map: the vnode lock, and the busy page of the file"},
                      {io::prefault::name,
                       "touches the buffer first; then the vnode lock, where a page is gone again"},
                      {io::vn_io_fault::name,
                       "FreeBSD since 2012: offset and range lock; copies run with page faults disabled"},
                      {io::vnode_locked::name, "FreeBSD before 2012: the vnode lock"},
                      {.name = mutants::overwrite_valid_early::name,
                       .summary = "a page to be overwritten as a whole counts as valid before it is",
                       .mutant_of = io::vn_io_fault::name,
                       .id = "C04",
                       .defect = "a page written onto itself becomes zeros"},
                      {.name = mutants::size_decided_early::name,
                       .summary = "whether the file grows is decided before the write has the file to itself",
                       .mutant_of = io::vn_io_fault::name,
                       .id = "C23",
                       .defect = "the size goes backwards"},
                      {.name = mutants::vn_io_fault_copyin::name,
                       .summary = "the slow path touches the buffer and copies through its mappings",
                       .mutant_of = io::vn_io_fault::name,
                       .id = "V4a",
                       .defect = "EFAULT of a good buffer: a page was evicted between touch and copy"},
                      {.name = mutants::vn_io_fault_copyin_retry::name,
                       .summary = "the same, tried again until it works",
                       .mutant_of = io::vn_io_fault::name,
                       .id = "V4b",
                       .defect = "livelock: the page is always gone again"}}},
      axis{.name = "vnode",
           .summary = "whether the vnode lock can be shared",
           .values = {{"no-share", "LK_NOSHARE: every request is exclusive"},
                      {"shared", "VN_LOCK_ASHARE: reads and faults share it (UFS regular files)"}}},
  };
  return table;
}

std::span<const step* const> steps() {
  static constexpr std::array table{
      &sync::increment_if_not_zero,
      &sync::settle_on_unlock,
      &sync::granted_write_to_front,
      &sync::wake_granted,
      &policy::io::disable_faults,
      &policy::io::range_lock,
      &policy::io::whole_range_for_append,
      &policy::io::write_protection_in_hold,
      &vm::dirty_at_hold,
      &policy::io::clone_uio,
      &policy::io::stop_without_progress,
      &policy::io::chunk_cap,
      &policy::io::room_for_partial_ends,
      &vm::try_vnode_lock,
      &vm::recurse_on_own_vnode,
      &sync::let_sharers_through,
      &policy::io::keep_range_between_chunks,
      &policy::io::range_before_vnode,
      &kern::offset_lock,
      &vm::unhold_on_error,
      &policy::io::unhold_after_copy,
      &sync::count_pushes,
      &sync::seq_read_barrier,
      &sync::seq_write_barrier,
      &sync::seq_end_with_release,
      &sync::seq_begin_with_acquire,
      &sync::seq_odd_while_written,
      &sync::seq_look_again,
      &lib::test_under_the_lock,
      &lib::drop_before_upgrade,
      &lib::look_again_after_retake,
      &lib::yield_to_writers,
      &lib::lend_to_owner,
      &lib::lower_fork_first,
      &lib::recheck_identity,
      &lib::recheck_under_lock,
      &lib::publish_with_release,
  };
  return table;
}

}  // namespace faultline::scenario

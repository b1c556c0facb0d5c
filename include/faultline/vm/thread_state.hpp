// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The part of struct thread that vm and vfs look at. Belongs to one task.
#include <faultline/sync/sleeplock.hpp>
#include <faultline/vm/address_space.hpp>

#include <utility>

namespace faultline::vm {

/// Counters of regular files' I/O, for tests and tuning. Each thread has its own; the kernel adds them up.
struct io_statistics {
  std::uint64_t bypassed = 0;   ///< transfers for which vn_io_fault was not used
  std::uint64_t fast_path = 0;  ///< transfers done with page faults disabled
  std::uint64_t slow_path = 0;  ///< transfers that met an absent page (debug.vn_io_faults)
  std::uint64_t chunks = 0;     ///< pieces done through held pages

  io_statistics& operator+=(const io_statistics& other) noexcept {
    bypassed += other.bypassed;
    fast_path += other.fast_path;
    slow_path += other.slow_path;
    chunks += other.chunks;
    return *this;
  }
};

template <substrate S>
struct thread_state {
  explicit thread_state(address_space<S>& its_map) : map(&its_map) {}
  thread_state(const thread_state&) = delete;
  thread_state& operator=(const thread_state&) = delete;

  address_space<S>* map;
  sync::lock_account locks;     ///< td_lk_slocks, TDP_DEADLKTREAT
  bool no_faulting = false;     ///< TDP_NOFAULTING
  bool reset_spurious = false;  ///< TDP_RESETSPUR
  bool uio_held = false;        ///< TDP_UIOHELD: copies go through `held`
  user_address spurious_at{};   ///< md_spurflt_addr: where the section's most recent trap was
  std::span<page<S>*> held{};   ///< td_ma: pages of the user buffer not yet consumed

  std::uint64_t traps = 0;   ///< page-fault traps taken, spurious ones too
  std::uint64_t faults = 0;  ///< calls of the fault handler
  io_statistics io{};
};

/// vm_fault_disable_pagefaults: until the end of the scope an absent user page fails the copy. Nests.
template <substrate S>
class pagefaults_disabled {
 public:
  explicit pagefaults_disabled(thread_state<S>& td)
      : td_(td),
        no_faulting_(std::exchange(td.no_faulting, true)),
        reset_(std::exchange(td.reset_spurious, true)) {}
  pagefaults_disabled(const pagefaults_disabled&) = delete;
  pagefaults_disabled& operator=(const pagefaults_disabled&) = delete;
  ~pagefaults_disabled() {
    td_.no_faulting = no_faulting_;
    td_.reset_spurious = reset_;
  }

 private:
  thread_state<S>& td_;
  bool no_faulting_;
  bool reset_;
};

}  // namespace faultline::vm

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The sleep lock of a vnode: lockmgr(9) as far as vnodes use it, in specification form.
///
/// May sleep: acquire(), as the lock's kind ("vnode").  Lock order: given by the user; for vnodes after offset and range
/// lock, before the map; from a busy page it may only be tried (vm/fault.hpp).
/// Source: FreeBSD sys/kern/kern_lock.c, sys/sys/lockmgr.h, sys/kern/kern_synch.c (TDP_DEADLKTREAT in sys/sys/proc.h).
#include <faultline/core/step.hpp>
#include <faultline/substrate/concept.hpp>
#include <faultline/sync/lockmgr_rule.hpp>

#include <initializer_list>

namespace faultline::sync {

/// A thread that holds a shared lock, or copies user memory, must not queue behind a writer that waits for it.
inline constexpr step let_sharers_through{
    "lockmgr.share-holder-overtakes", "V11b",
    "self deadlock: the fault of a sharer waits behind a queued writer that waits for the sharer"};

/// What lockmgr keeps in struct thread.
struct lock_account {
  std::uint32_t slocks = 0;     ///< td_lk_slocks: shared lockmgr locks held, of any object
  bool deadlock_treat = false;  ///< TDP_DEADLKTREAT: inside uiomove
};

/// LK_NOSHARE vnodes turn each shared request into an exclusive one.
enum class sharing : std::uint8_t { share, noshare };

template <substrate S>
class sleeplock {
 public:
  /// \param kind  class and wait word, "vnode"; \param name  instance, lives as long as the run
  sleeplock(const char* kind, const char* name, sharing mode)
      : lock_(the_lockmgr_rule, kind, name), mode_(mode) {}

  /// Takes the lock. May sleep.
  /// \param can_recurse  LK_CANRECURSE: an exclusive holder gets it once more
  void acquire(lock_account& td, access how, bool can_recurse = false) {
    lock_.acquire(wish(td, how, can_recurse));
    granted(td, how);
  }

  /// LK_NOWAIT.
  [[nodiscard]] bool try_acquire(lock_account& td, access how, bool can_recurse = false) {
    if (!lock_.try_acquire(wish(td, how, can_recurse))) return false;
    granted(td, how);
    return true;
  }

  /// Declares the blocking acquire that a failed try leads to, after `first` (null: nothing) were given back.
  void might_acquire(const lock_account& td, access how, bool can_recurse,
                     std::initializer_list<const sub::spec_lock<S>*> first) const {
    lock_.might_acquire(wish(td, how, can_recurse), first);
  }

  /// \pre held by the calling task
  void release(lock_account& td) {
    if (lock_.held_by_me(access::shared)) --td.slocks;
    lock_.release();
  }

  /// VOP_ISLOCKED: is the caller the exclusive holder?
  [[nodiscard]] bool owned_exclusively() const { return lock_.held_by_me(access::exclusive); }
  [[nodiscard]] bool owned() const {
    return lock_.held_by_me(access::exclusive) || lock_.held_by_me(access::shared);
  }
  /// Held by anybody: for checks at quiescence.
  [[nodiscard]] bool held() const { return lock_.held(); }

 private:
  [[nodiscard]] access effective(access how) const {
    return mode_ == sharing::noshare ? access::exclusive : how;
  }
  [[nodiscard]] sim::request wish(const lock_account& td, access how, bool can_recurse) const {
    const access mode = effective(how);
    const bool exempt = mode == access::shared && (td.slocks != 0 || td.deadlock_treat);
    return {.how = mode, .may_recurse = can_recurse, .overtakes = exempt && S::keeps(let_sharers_through)};
  }
  void granted(lock_account& td, access how) const {
    if (effective(how) == access::shared) ++td.slocks;
  }

  sub::spec_lock<S> lock_;
  sharing mode_;
};

}  // namespace faultline::sync

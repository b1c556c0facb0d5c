// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What the fault handler needs of a file: its lock and its pages. vfs implements it, so that vm does not know vnodes.
#include <faultline/core/errc.hpp>
#include <faultline/sync/sleeplock.hpp>
#include <faultline/vm/page.hpp>

namespace faultline::vm {

template <substrate S>
class pager {
 public:
  pager(const pager&) = delete;
  pager& operator=(const pager&) = delete;

  /// Does the caller hold the vnode lock exclusively (VOP_ISLOCKED == LK_EXCLUSIVE)? Then the fault asks for the same.
  [[nodiscard]] virtual bool pager_lock_owned_exclusively() const = 0;
  /// vget(LK_NOWAIT).
  [[nodiscard]] virtual bool pager_try_lock(sync::lock_account& td, access how, bool can_recurse) = 0;
  /// vget(LK_RETRY). May sleep, as "vnode".
  virtual void pager_lock(sync::lock_account& td, access how, bool can_recurse) = 0;
  /// Declares pager_lock() after a failed pager_try_lock() and the release of two busy pages (one may be null).
  virtual void pager_might_lock(const sync::lock_account& td, access how, bool can_recurse,
                                const sub::spec_lock<S>& busy, const sub::spec_lock<S>* also) const = 0;
  virtual void pager_unlock(sync::lock_account& td) = 0;
  /// VOP_GETPAGES of one page. May sleep, for the device.
  /// \pre the vnode lock is held, the page is exclusively busy
  /// \errors EINVAL past the end of the file; EIO
  virtual errc getpage(page<S>& m) = 0;
  /// VOP_PUTPAGES of one page: its bytes go to the device, those past the end of the file as zeros. May sleep, for the device.
  /// \pre the vnode lock is held exclusively, the page is exclusively busy and nobody stores into it
  /// \errors EIO, ENOSPC
  virtual errc putpage(page<S>& m) = 0;
  /// VOP_FSYNC: writes the dirty pages of [first, last) back. What is stored through a mapping meanwhile makes the page dirty
  /// again. Goes on after an error. May sleep, as "vpcwai" and for the device.
  /// \pre the vnode lock is held exclusively
  /// \errors EIO, ENOSPC: the first; that page stays dirty
  virtual errc clean(page_index first, page_index last) = 0;
  /// For reports.
  [[nodiscard]] virtual const char* pager_name() const = 0;

 protected:
  pager() = default;
  ~pager() = default;  // never deleted: model objects are the run's
};

}  // namespace faultline::vm

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The vnode lock around VOP_READ, VOP_WRITE and VOP_SETATTR: what every I/O policy ends in.
///
/// May sleep: "vnode", and what the VOPs may sleep for.  Lock order: after offset and range lock.
/// Source: FreeBSD sys/kern/vfs_vnops.c (vn_read, vn_write, vn_truncate). bwillwrite() and vn_start_write(), which come
/// between range lock and vnode lock, throttle and suspend; they are not modelled.
#include <faultline/vfs/ffs.hpp>

namespace faultline::kern {

/// Shared, or as the vnode's kind of lock makes of it. \errors EFAULT, EIO
template <substrate S>
errc vn_read(vm::thread_state<S>& td, vfs::vnode_base<S>& vp, vfs::uio& u, const vfs::io_flags& flags) {
  typename S::frame f{"vn_read", vp.name};
  vp.lock.acquire(td.locks, access::shared);
  const errc error = vfs::ffs_read(td, vp, u, flags);
  vp.lock.release(td.locks);
  return error;
}

/// Exclusive. Stops at the process's limit of file size (vn_rlimit_fsize): short up to it, nothing from it on.
/// \errors EFAULT, EIO, EFBIG
template <substrate S>
errc vn_write(vm::thread_state<S>& td, vfs::vnode_base<S>& vp, vfs::uio& u, const vfs::io_flags& flags) {
  typename S::frame f{"vn_write", vp.name};
  vp.lock.acquire(td.locks, access::exclusive);
  const auto at = flags.append ? S::get(vp.size) : u.offset;
  errc error = errc::efbig;
  if (at < flags.size_limit) {
    const auto room = flags.size_limit - at;
    const auto beyond = u.resid > room ? u.resid - room : 0;
    u.resid -= beyond;
    error = vfs::ffs_write(td, vp, u, flags);
    u.resid += beyond;
  }
  vp.lock.release(td.locks);
  return error;
}

/// Exclusive. \errors EIO, EFBIG
template <substrate S>
errc vn_truncate(vm::thread_state<S>& td, vfs::vnode_base<S>& vp, std::uint64_t size,
                 const vfs::io_flags& flags) {
  typename S::frame f{"vn_truncate", vp.name};
  vp.lock.acquire(td.locks, access::exclusive);
  const errc error = vfs::ffs_truncate(vp, size, flags);
  vp.lock.release(td.locks);
  return error;
}

/// VOP_GETATTR of the size.
template <substrate S>
std::uint64_t vn_size(vm::thread_state<S>& td, vfs::vnode_base<S>& vp) {
  typename S::frame f{"vn_stat", vp.name};
  vp.lock.acquire(td.locks, access::shared);
  const auto size = S::get(vp.size);
  vp.lock.release(td.locks);
  return size;
}

/// fsync(2), msync(2): the exclusive vnode lock around VOP_FSYNC of pages [first, last). No range lock: it is no transfer.
/// \errors EIO, ENOSPC
template <substrate S>
errc vn_fsync(vm::thread_state<S>& td, vm::pager<S>& vp, page_index first = page_index{0},
              page_index last = page_index{~std::uint64_t{0}}) {
  typename S::frame f{"vn_fsync", vp.pager_name()};
  vp.pager_lock(td.locks, access::exclusive, false);
  const errc error = vp.clean(first, last);
  vp.pager_unlock(td.locks);
  return error;
}

}  // namespace faultline::kern

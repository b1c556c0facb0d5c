// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// I/O as it was before vn_io_fault, and as it still is on filesystems without MNTK_NO_IOPF.
///
/// Held while a user page may be faulted in: the vnode lock of the file.
///   call chain            write -> vn_write -> uiomove -> vm_fault -> vget
///   order it takes        vnode of the file -> vnode of the file that the buffer maps
///   who takes the reverse any transfer between the same two files the other way round
/// One hold of the vnode lock covers the whole request, so reads and writes are atomic without a range lock. A transfer that meets
/// a bad page returns what it did, as POSIX kernels mostly do; FreeBSD's EFAULT is parameters::fault_answer.
///
/// May sleep: "vnode", and in the fault handler.
/// Source: FreeBSD sys/kern/vfs_vnops.c before r236321 (2012), and do_vn_io_fault() since.
#include <faultline/kern/io_policy.hpp>

namespace faultline::policy::io {

struct vnode_locked {
  static constexpr std::string_view name = "vnode-locked";
  static constexpr kern::answer_to_fault fault_answer = kern::answer_to_fault::short_count;

  template <substrate S, class V>
  errc read(const kern::io_context&, vm::thread_state<S>& td, V& vp, vfs::uio& u,
            const kern::io_request& how) const {
    ++td.io.bypassed;
    return kern::vn_read(td, vp, u, how.flags);
  }
  template <substrate S, class V>
  errc write(const kern::io_context&, vm::thread_state<S>& td, V& vp, vfs::uio& u,
             const kern::io_request& how) const {
    ++td.io.bypassed;
    return kern::vn_write(td, vp, u, how.flags);
  }
  template <substrate S, class V>
  errc truncate(const kern::io_context&, vm::thread_state<S>& td, V& vp, std::uint64_t size,
                const kern::io_request& how) const {
    return kern::vn_truncate(td, vp, size, how.flags);
  }
};

}  // namespace faultline::policy::io

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// I/O that touches the user buffer before it takes the vnode lock, and then copies with page faults enabled.
///
/// Held while a user page may be faulted in: nothing in the first pass; the vnode lock if the page is gone again when the copy
/// comes to it. So it deadlocks as vnode-locked does, only more rarely: the prefault is no guarantee. read(2) touches for writing, and
/// the whole buffer though less may be read: pages of a private mapping are copied then.
///
/// May sleep: in the fault handler, "vnode".
/// Source: Linux mm/filemap.c (generic_perform_write: fault_in_iov_iter_readable before write_begin), fs/read_write.c before the
/// copy was made with faults disabled; FreeBSD sys/kern/vfs_vnops.c (debug.vn_io_fault_prefault).
#include <faultline/kern/io_policy.hpp>

namespace faultline::policy::io {

struct prefault {
  static constexpr std::string_view name = "prefault";
  static constexpr kern::answer_to_fault fault_answer = kern::answer_to_fault::short_count;

  template <substrate S, class V>
  errc read(const kern::io_context&, vm::thread_state<S>& td, V& vp, vfs::uio& u,
            const kern::io_request& how) const {
    ++td.io.bypassed;
    touch_buffer(td, u, vm::protection::write);
    return kern::vn_read(td, vp, u, how.flags);
  }
  template <substrate S, class V>
  errc write(const kern::io_context&, vm::thread_state<S>& td, V& vp, vfs::uio& u,
             const kern::io_request& how) const {
    ++td.io.bypassed;
    touch_buffer(td, u, vm::protection::read);
    return kern::vn_write(td, vp, u, how.flags);
  }
  template <substrate S, class V>
  errc truncate(const kern::io_context&, vm::thread_state<S>& td, V& vp, std::uint64_t size,
                const kern::io_request& how) const {
    return kern::vn_truncate(td, vp, size, how.flags);
  }

 private:
  /// Stops at the first page that cannot be had: what that means for the call is the copy's to find out.
  template <substrate S>
  static void touch_buffer(vm::thread_state<S>& td, const vfs::uio& u, vm::protection wanted) {
    if (u.segment != vfs::uio_segment::userspace) return;
    for (auto at = u.next; at < u.iov.size(); ++at) {
      if (!vm::vm_fault_in<S>(td, u.iov[at].base, u.iov[at].size, wanted)) return;
    }
  }
};

}  // namespace faultline::policy::io

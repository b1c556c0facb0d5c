// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// I/O that copies straight from and to the pages of the file, each busy while it does: NetBSD's UBC with the direct map as it was
/// tried in 2018, and ZFS on FreeBSD.
///
/// Held while a user page may be faulted in: the vnode lock, and the busy page of the file that is the copy's other side.
///   call chain            write -> ubc_uiomove -> (page busy) -> uiomove -> vm_fault -> busy page of the file that the buffer maps
///   order it takes        vnode -> busy page of the file -> busy page, or vnode, of the file that the buffer maps
///   who takes the reverse any transfer between the same two files the other way round; with one file, the same thread: a page
///                         copied onto itself waits for itself
///
/// May sleep: "vnode", "pgrbwt", and in the fault handler.
/// Source: NetBSD sys/uvm/uvm_bio.c (ubc_uiomove, ubc_uiomove_direct; 2018).
#include <faultline/kern/io_policy.hpp>

namespace faultline::policy::io {

struct page_busy {
  static constexpr std::string_view name = "page-busy";
  static constexpr kern::answer_to_fault fault_answer = kern::answer_to_fault::short_count;

  template <substrate S, class V>
  errc read(const kern::io_context&, vm::thread_state<S>& td, V& vp, vfs::uio& u,
            const kern::io_request& how) const {
    ++td.io.bypassed;
    return kern::vn_read(td, vp, u, busy(how));
  }
  template <substrate S, class V>
  errc write(const kern::io_context&, vm::thread_state<S>& td, V& vp, vfs::uio& u,
             const kern::io_request& how) const {
    ++td.io.bypassed;
    return kern::vn_write(td, vp, u, busy(how));
  }
  template <substrate S, class V>
  errc truncate(const kern::io_context&, vm::thread_state<S>& td, V& vp, std::uint64_t size,
                const kern::io_request& how) const {
    return kern::vn_truncate(td, vp, size, how.flags);
  }

 private:
  static vfs::io_flags busy(const kern::io_request& how) {
    auto flags = how.flags;
    flags.claim = vm::io_claim::busy;
    return flags;
  }
};

}  // namespace faultline::policy::io

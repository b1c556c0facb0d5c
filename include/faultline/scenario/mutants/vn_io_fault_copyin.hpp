// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Mutants of vn_io_fault: the slow path touches the user's pages and copies through the mappings, in place of holding the pages
/// and copying through the frames. Nothing keeps a touched page there until the copy comes to it.
///
///   V4a  a page that went in between is an error of the call: EFAULT though the buffer is good
///   V4b  it is touched and tried again, for ever: where memory is short, no try comes to its end
#include <faultline/policy/io/vn_io_fault.hpp>

namespace faultline::scenario::mutants {

namespace detail {

template <bool Retry>
struct by_copyin {
  template <substrate S, class V>
  static errc chunk(const kern::io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u,
                    const kern::io_request& how, std::span<vm::page<S>*> /*room*/, std::uint64_t& done) {
    namespace io = policy::io::detail;
    const auto piece = io::next_chunk<S>(k, u);
    const auto wanted =
        u.direction == vfs::uio_direction::read ? vm::protection::write : vm::protection::read;
    for (;;) {
      if (!vm::vm_fault_in<S>(td, piece.base, piece.size, wanted)) return errc::efault;
      auto part = io::part_of<S>(u, piece);
      errc error = errc::ok;
      {
        const vm::pagefaults_disabled<S> disabled{td};
        error = io::do_io<S>(td, vp, part, how);
      }
      done = piece.size - part.resid;
      if (!Retry || error != errc::efault) return error;
      S::relax();
    }
  }
};

}  // namespace detail

struct vn_io_fault_copyin : policy::io::detail::vn_io_fault_by<detail::by_copyin<false>> {
  static constexpr std::string_view name = "vn-io-fault-copyin";
};
struct vn_io_fault_copyin_retry : policy::io::detail::vn_io_fault_by<detail::by_copyin<true>> {
  static constexpr std::string_view name = "vn-io-fault-copyin-retry";
};

}  // namespace faultline::scenario::mutants

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Mutants of how a write changes a file.
#include <faultline/policy/io/vn_io_fault.hpp>

namespace faultline::scenario::mutants {

/// C04: a page that the write fills as a whole is not read first, and counts as valid before it is filled. Where the source of the
/// copy is that very page, the write copies zeros onto zeros.
struct overwrite_valid_early : policy::io::vn_io_fault {
  static constexpr std::string_view name = "overwrite-valid-early";

  template <substrate S, class V>
  errc write(const kern::io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u,
             const kern::io_request& how) const {
    if (how.flags.append) return policy::io::vn_io_fault::write(k, td, vp, u, how);  // overwrites nothing
    vp.lock.acquire(td.locks, access::exclusive);
    const auto page_size = vp.page_size();
    const auto end = std::min(u.offset + u.resid, S::get(vp.size));
    for (auto at = (u.offset + page_size - 1) / page_size * page_size; at + page_size <= end;
         at += page_size) {
      const auto m = vp.bread_page(page_index{at / page_size}, true);
      if (!m.ok()) continue;
      vp.object.io_overwritten(*m.value());
      vp.object.io_release(*m.value(), vm::io_claim::wired);
    }
    vp.lock.release(td.locks);
    return policy::io::vn_io_fault::write(k, td, vp, u, how);
  }
};

/// C23: whether the file grows is decided by a look at the size before the write has the file to itself, and the size is set
/// accordingly after it. Of two writes that both saw the old size the one that sets it last wins.
struct size_decided_early : policy::io::vn_io_fault {
  static constexpr std::string_view name = "size-decided-early";

  template <substrate S, class V>
  errc write(const kern::io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u,
             const kern::io_request& how) const {
    const auto size = kern::vn_size(td, vp);
    const errc error = policy::io::vn_io_fault::write(k, td, vp, u, how);
    if (error != errc::ok || u.offset <= size) return error;
    return kern::vn_truncate(td, vp, u.offset, how.flags);
  }
};

}  // namespace faultline::scenario::mutants

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Copies between a page of a file and the memory a uio names.
///
/// Grain: a piece lies in one file page and one user page; it is read, then written, each in one operation.
///
/// May sleep: uiomove() in the fault handler, unless faults are disabled: then it fails with EFAULT instead. What the caller
/// holds meanwhile is the caller's to answer for. vn_io_fault_uiomove() with held pages: never.
/// Source: FreeBSD sys/kern/subr_uio.c (uiomove_faultflag), sys/kern/vfs_vnops.c (vn_io_fault_uiomove),
/// sys/amd64/amd64/uio_machdep.c (uiomove_fromphys).
#include <faultline/core/errc.hpp>
#include <faultline/vfs/uio.hpp>
#include <faultline/vm/fault.hpp>

namespace faultline::vfs {

/// copyin or copyout of a piece inside one user page, with the access done again after a trap that was served.
/// \errors EFAULT
template <substrate S>
errc copy_user_piece(vm::thread_state<S>& td, user_address at, std::uint64_t n, uio_direction direction,
                     sub::racy_bytes<S>& file_bytes, std::size_t file_at) {
  auto& map = *td.map;
  const bool to_user = direction == uio_direction::read;
  const auto wanted = to_user ? vm::protection::write : vm::protection::read;
  const auto page_at = static_cast<std::size_t>(raw(at) % map.page_size());
  for (;;) {
    auto* translation = map.pm.translate(map.page_of(at), wanted);
    if (translation == nullptr) {
      if (!vm::trap_pagefault(td, at, wanted)) return errc::efault;
      continue;
    }
    auto& user = *translation->target;
    const auto live = [translation, wanted] { return translation->use(wanted); };
    const auto bytes = static_cast<std::size_t>(n);
    const bool done = to_user ? S::copy_to_if(live, *user.bytes, page_at, file_bytes, file_at, bytes)
                              : S::copy_from_if(live, file_bytes, file_at, *user.bytes, page_at, bytes);
    vm::page_drop(user);
    if (done) return errc::ok;
  }
}

/// Copies `n` bytes between `m` at `at` and the uio. Advances the uio by what was done, after an error too.
/// \pre the page stays: it is wired, and the caller holds the vnode lock
/// \errors EFAULT
template <substrate S>
errc uiomove(vm::thread_state<S>& td, vm::page<S>& m, std::size_t at, std::uint64_t n, uio& u) {
  typename S::frame f{"uiomove"};
  const bool saved = std::exchange(td.locks.deadlock_treat, true);
  errc error = errc::ok;
  while (n > 0 && error == errc::ok) {
    if (u.segment == uio_segment::sysspace) {
      const auto part = static_cast<std::size_t>(n);
      if (u.direction == uio_direction::read) {
        S::read(*m.bytes, at, u.kernel.first(part));
      } else {
        S::write(*m.bytes, at, u.kernel.first(part));
      }
      u.advance(n);
      break;
    }
    const iovec* piece = u.piece();
    S::check(piece != nullptr, "uiomove: resid is left but no iovec");
    if (raw(piece->base) + piece->size < raw(piece->base) ||
        raw(piece->base) + piece->size > vm::address_space<S>::user_max) {
      error = errc::efault;
      break;
    }
    const auto to_page_end = td.map->page_size() - raw(piece->base) % td.map->page_size();
    const auto part = std::min({n, piece->size, to_page_end});
    error = copy_user_piece(td, piece->base, part, u.direction, *m.bytes, at);
    if (error == errc::ok) {
      u.advance(part);
      at += static_cast<std::size_t>(part);
      n -= part;
      if (u.direction == uio_direction::write && !m.valid)
        m.filled = at;  // a fault on `m` itself may come next
    }
  }
  td.locks.deadlock_treat = saved;
  return error;
}

/// uiomove, or the copy through the held pages of the buffer (TDP_UIOHELD): physical frames, so a mapping revoked meanwhile does
/// not matter, and nothing can fault. Consumes td_ma by whole pages.
/// \errors EFAULT
template <substrate S>
errc vn_io_fault_uiomove(vm::thread_state<S>& td, vm::page<S>& m, std::size_t at, std::uint64_t n, uio& u) {
  if (!td.uio_held || u.segment != uio_segment::userspace) return uiomove(td, m, at, n, u);
  typename S::frame f{"vn_io_fault_uiomove"};
  const std::uint64_t page_size = td.map->page_size();
  while (n > 0) {
    const iovec* piece = u.piece();
    S::check(piece != nullptr && !td.held.empty(), "vn_io_fault_uiomove: more bytes than held pages");
    const auto page_at = raw(piece->base) % page_size;
    const auto part = std::min({n, piece->size, page_size - page_at});
    auto& user = *td.held.front();
    const auto in_page = static_cast<std::size_t>(page_at);
    const auto bytes = static_cast<std::size_t>(part);
    if (u.direction == uio_direction::read) {
      S::copy(*user.bytes, in_page, *m.bytes, at, bytes);
    } else {
      S::copy(*m.bytes, at, *user.bytes, in_page, bytes);
    }
    if (page_at + part == page_size) td.held = td.held.subspan(1);
    u.advance(part);
    at += static_cast<std::size_t>(part);
    n -= part;
  }
  return errc::ok;
}

}  // namespace faultline::vfs

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// I/O that never faults a user page in under the vnode lock: vn_io_fault.
///
/// The transfer is tried with page faults disabled. If it meets an absent page it ends with EFAULT, the vnode lock is dropped,
/// and the rest is done in chunks: hold the buffer's pages, then copy through the held frames. The vnode lock is dropped
/// between chunks; a range lock, taken once for the call, is what keeps reads, writes and truncations atomic.
///
/// Held while a user page may be faulted in: the range lock (and the offset lock). Copies run under the vnode lock with faults
/// disabled.
///   call chain            write -> vn_io_fault -> vm_fault_quick_hold_pages -> vm_fault -> vget
///   order it takes        range lock -> map -> vnode of the file that the buffer maps
///   who takes the reverse nobody: a fault takes no range lock, and no one asks for a range with a vnode lock held
///   how it is avoided     the file's own vnode lock is not held across a fault
///   callers must          call it with the offset lock at most
///
/// May sleep: "range", "vnode", and in the fault handler.  Lock order: offset lock -> range lock -> vnode lock.
/// Source: FreeBSD sys/kern/vfs_vnops.c (vn_io_fault, vn_io_fault1, vn_io_fault_uiomove; r236321, 10.4, 12.1).
/// docs/threads/1-vn-io-fault.md. Faults are disabled around each transfer (12.x), not over the whole slow path (9.x, 10.x).
#include <faultline/core/step.hpp>
#include <faultline/kern/io_policy.hpp>

namespace faultline::policy::io {

inline constexpr step disable_faults{"vn-io-fault.disable-faults", "V1",
                                     "deadlock of two vnode locks: a fault is served under the vnode lock"};
inline constexpr step range_lock{"vn-io-fault.range-lock", "V2", "a torn read or write between two chunks"};
inline constexpr step whole_range_for_append{
    "vn-io-fault.whole-range-for-append", "V3",
    "appenders whose ranges were taken from a stale end of file interleave"};
inline constexpr step write_protection_in_hold{"vn-io-fault.write-protection-in-hold", "V5",
                                               "read(2) stores into a page that the buffer may not write"};
inline constexpr step clone_uio{"vn-io-fault.clone-uio", "V7",
                                "bytes duplicated or skipped after a rolled-back write"};
inline constexpr step stop_without_progress{"vn-io-fault.stop-without-progress", "V8",
                                            "spins at the end of the file"};
inline constexpr step chunk_cap{"vn-io-fault.chunk-cap", "V9a", "more pages than the array holds"};
inline constexpr step room_for_partial_ends{"vn-io-fault.room-for-partial-ends", "V9b",
                                            "a misaligned chunk touches more pages than the array holds"};
inline constexpr step keep_range_between_chunks{"vn-io-fault.keep-range-between-chunks", "V12a",
                                                "a torn read or write between two chunks"};
inline constexpr step range_before_vnode{"vn-io-fault.range-before-vnode", "V12b",
                                         "deadlock of range lock and vnode lock"};
inline constexpr step unhold_after_copy{"vn-io-fault.unhold-after-copy", "V14b",
                                        "copies through a page already given back"};

namespace detail {

template <substrate S, class V>
errc do_io(vm::thread_state<S>& td, V& vp, vfs::uio& u, const kern::io_request& how) {
  return u.direction == vfs::uio_direction::read ? kern::vn_read(td, vp, u, how.flags)
                                                 : kern::vn_write(td, vp, u, how.flags);
}

/// The algorithm, but for how a chunk of the slow path gets at the user's pages.
/// \tparam SlowPath  chunk(k, td, vp, u, how, room, done): one piece; `done`: bytes transferred, after an error too
template <class SlowPath>
struct vn_io_fault_by {
  static constexpr kern::answer_to_fault fault_answer = kern::answer_to_fault::error;

  template <substrate S, class V>
  errc read(const kern::io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u,
            const kern::io_request& how) const {
    return transfer(k, td, vp, u, how);
  }
  template <substrate S, class V>
  errc write(const kern::io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u,
             const kern::io_request& how) const {
    return transfer(k, td, vp, u, how);
  }
  template <substrate S, class V>
  errc truncate(const kern::io_context&, vm::thread_state<S>& td, V& vp, std::uint64_t size,
                const kern::io_request& how) const {
    typename V::rangelock_type::held range;
    if (S::keeps(range_lock)) range = vp.rangelock.acquire(byte_range::whole(), access::exclusive);
    return kern::vn_truncate(td, vp, size, how.flags);
  }

 private:
  /// Chosen once for the whole call. A write at the file's own offset takes the whole file too: plain write(2)s of one file
  /// never run side by side, only pwrite(2)s do.
  template <substrate S, class V>
  static byte_range range_of(vm::thread_state<S>& td, V& vp, const vfs::uio& u, const kern::io_request& how) {
    if (u.direction == vfs::uio_direction::write) {
      if (how.flags.append && !S::keeps(whole_range_for_append)) {
        const auto end = kern::vn_size(td, vp);
        return {end, end + u.resid};
      }
      if (how.flags.append || !how.explicit_offset) return byte_range::whole();
    }
    return {u.offset, u.offset + u.resid};
  }
  template <substrate S, class V>
  static errc transfer(const kern::io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u,
                       const kern::io_request& how);
};

template <class SlowPath>
template <substrate S, class V>
errc vn_io_fault_by<SlowPath>::transfer(const kern::io_context& k, vm::thread_state<S>& td, V& vp,
                                        vfs::uio& u, const kern::io_request& how) {
  if (u.segment != vfs::uio_segment::userspace || !vp.mount.no_iopf) {
    ++td.io.bypassed;
    return do_io<S>(td, vp, u, how);
  }
  typename S::frame f{"vn_io_fault", vp.name};
  const auto mode = u.direction == vfs::uio_direction::read ? access::shared : access::exclusive;
  typename V::rangelock_type::held range;
  const bool locked = S::keeps(range_lock);
  const auto bytes = locked ? range_of(td, vp, u, how) : byte_range{};
  if (locked) {
    // The range lock is before every vnode lock; in the wrong order, the vnode lock is held while it is asked for.
    const bool in_order = S::keeps(range_before_vnode);
    if (!in_order) vp.lock.acquire(td.locks, mode);
    range = vp.rangelock.acquire(bytes, mode);
    if (!in_order) vp.lock.release(td.locks);
  }

  vfs::uio clone = u.clone();
  const auto resid = u.resid;
  errc error = errc::ok;
  {
    std::optional<vm::pagefaults_disabled<S>> disabled;
    if (S::keeps(disable_faults)) disabled.emplace(td);
    error = do_io<S>(td, vp, u, how);
  }
  if (error != errc::efault) {
    ++td.io.fast_path;
    return error;
  }

  // A failed write is rolled back: u's offset and resid are where they were, its iovec is not. So the clone is redone.
  ++td.io.slow_path;
  clone.advance(resid - u.resid);
  vfs::uio* const redo = S::keeps(clone_uio) ? &clone : &u;
  const std::size_t room = k.hold_pages + (S::keeps(room_for_partial_ends) ? 2 : 0);
  std::pmr::vector<vm::page<S>*> pages(room, nullptr, &S::memory());  // on the kernel's stack
  error = errc::ok;
  while (redo->resid > 0) {
    std::uint64_t done = 0;
    error = SlowPath::template chunk<S>(k, td, vp, *redo, how, std::span{pages}, done);
    ++td.io.chunks;
    redo->advance(done);
    if (redo != &u) {
      u.offset += done;
      u.resid -= done;
    }
    if (error != errc::ok) break;
    if (done == 0) {  // end of file
      if (S::keeps(stop_without_progress)) break;
      S::relax();
    }
    if (locked && redo->resid > 0 && !S::keeps(keep_range_between_chunks)) {
      range.release();
      range = vp.rangelock.acquire(bytes, mode);
    }
  }
  return error;
}

/// The next piece of the slow path: inside one iovec, and at most io_hold_cnt pages long.
template <substrate S>
vfs::iovec next_chunk(const kern::io_context& k, vfs::uio& u) {
  const vfs::iovec* piece = u.piece();
  S::check(piece != nullptr, "vn_io_fault: resid is left but no iovec");
  auto size = std::min(piece->size, u.resid);
  if (S::keeps(chunk_cap)) size = std::min<std::uint64_t>(size, k.hold_pages * k.page_size);
  return {piece->base, size};
}

/// That piece of the transfer as one of its own.
template <substrate S>
vfs::uio part_of(const vfs::uio& u, const vfs::iovec& piece) {
  vfs::uio part{S::memory()};
  part.iov.push_back(piece);
  part.offset = u.offset;
  part.resid = piece.size;
  part.direction = u.direction;
  return part;
}

/// Copies through pages held beforehand: what happens to the mappings meanwhile does not matter.
struct through_held_pages {
  template <substrate S, class V>
  static errc chunk(const kern::io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u,
                    const kern::io_request& how, std::span<vm::page<S>*> room, std::uint64_t& done) {
    const auto piece = next_chunk<S>(k, u);
    const bool to_user = u.direction == vfs::uio_direction::read;
    const auto wanted =
        to_user && S::keeps(write_protection_in_hold) ? vm::protection::write : vm::protection::read;

    const auto count = vm::vm_fault_quick_hold_pages(td, piece.base, piece.size, wanted, room);
    if (!count) return errc::efault;
    const auto held = room.first(*count);

    auto part = part_of<S>(u, piece);
    errc error = errc::ok;
    const auto copy = [&] {
      const vm::pagefaults_disabled<S> disabled{td};
      const bool saved = std::exchange(td.uio_held, true);
      const auto saved_pages = std::exchange(td.held, held);
      error = do_io<S>(td, vp, part, how);
      td.held = saved_pages;
      td.uio_held = saved;
    };
    in_order<S>(unhold_after_copy, copy, [&] { vm::vm_page_unhold_pages<S>(held); });
    done = piece.size - part.resid;
    return error;
  }
};

}  // namespace detail

struct vn_io_fault : detail::vn_io_fault_by<detail::through_held_pages> {
  static constexpr std::string_view name = "vn-io-fault";
};

}  // namespace faultline::policy::io

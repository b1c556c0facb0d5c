// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// VOP_READ and VOP_WRITE of a filesystem like UFS: a loop over buffers of some pages, each wired (or busy) and copied.
///
/// The caller's vnode lock is held across the copies: with page faults enabled, across faults. No page is busy meanwhile, unless
/// io_flags::claim asks for it.
///
/// May sleep: "pgrbwt", "vmopar", the device; the fault handler, if faults are enabled.
/// Source: FreeBSD sys/ufs/ffs/ffs_vnops.c (ffs_read, ffs_write), sys/ufs/ffs/ffs_inode.c (ffs_truncate).
#include <faultline/core/errc.hpp>
#include <faultline/vfs/uiomove.hpp>
#include <faultline/vfs/vnode.hpp>

#include <algorithm>
#include <vector>

namespace faultline::vfs {

/// IO_* flags of a VOP, and what else its caller decides.
struct io_flags {
  bool append = false;                       ///< IO_APPEND: write at the end, wherever the uio points
  bool unit = true;                          ///< IO_UNIT: undo a write that fails; else what was done stays
  vm::io_claim claim = vm::io_claim::wired;  ///< how each page is kept while it is copied
  std::uint64_t size_max = std::uint64_t{1} << 42U;  ///< of a file, bytes (fs_maxfilesize)
  std::uint64_t size_limit =
      byte_range::off_max;  ///< of the process, bytes (RLIMIT_FSIZE); vn_write looks at it
};

namespace detail {

/// The pages of one buffer, each wired or busy.
template <substrate S>
class buffer_pages {
 public:
  buffer_pages(vnode_base<S>& vp, vm::io_claim claim) : vp_(vp), claim_(claim), pages_(&S::memory()) {}
  buffer_pages(const buffer_pages&) = delete;
  buffer_pages& operator=(const buffer_pages&) = delete;
  ~buffer_pages() {
    for (auto* m : pages_) vp_.object.io_release(*m, claim_);
  }
  /// bread or getblk: page `index`, read in unless the caller is going to fill all of it. \errors EIO
  errc add(std::uint64_t index, bool overwrite) {
    const auto m = vp_.bread_page(page_index{index}, overwrite, claim_);
    if (!m.ok()) return m.error();
    pages_.push_back(m.value());
    return errc::ok;
  }
  [[nodiscard]] vm::page<S>& find(std::uint64_t index) const {
    return **std::find_if(pages_.begin(), pages_.end(),
                          [index](const auto* m) { return raw(m->index) == index; });
  }
  [[nodiscard]] const std::pmr::vector<vm::page<S>*>& all() const noexcept { return pages_; }

 private:
  vnode_base<S>& vp_;
  vm::io_claim claim_;
  std::pmr::vector<vm::page<S>*> pages_;
};

/// Copies `n` bytes at the uio's offset through the pages of a buffer. Stops at the first error.
template <substrate S>
errc copy_buffer(vm::thread_state<S>& td, const buffer_pages<S>& buffer, std::uint64_t page_size,
                 std::uint64_t n, uio& u) {
  while (n > 0) {
    const auto at = u.offset % page_size;
    const auto part = std::min(n, page_size - at);
    auto& m = buffer.find(u.offset / page_size);
    if (const errc e = vn_io_fault_uiomove(td, m, static_cast<std::size_t>(at), part, u); e != errc::ok)
      return e;
    n -= part;
  }
  return errc::ok;
}

/// What a copy that reached the uio's offset means for the pages of its buffer.
/// \param keep_part  a page of which only the front was filled is completed from the device; else it stays as it was
/// \errors EIO: a page was not completed, so what was stored in it is lost
template <substrate S>
errc settle_pages(vnode_base<S>& vp, const buffer_pages<S>& buffer, std::uint64_t reached, bool keep_part) {
  const std::uint64_t page_size = vp.page_size();
  errc error = errc::ok;
  for (auto* m : buffer.all()) {
    const auto begin = raw(m->index) * page_size;
    if (begin >= reached) break;  // nothing reached it
    m->dirty.set();
    if (!m->valid && begin + page_size <= reached) {
      vp.object.io_overwritten(*m);
    } else if (!m->valid && keep_part) {
      error = vp.complete_page(*m);
    }
    m->filled = 0;
  }
  return error;
}

}  // namespace detail

/// \pre the vnode lock is held
/// \errors EFAULT, EIO; the uio says how far it got
template <substrate S>
errc ffs_read(vm::thread_state<S>& td, vnode_base<S>& vp, uio& u, const io_flags& flags) {
  typename S::frame f{"ffs_read", vp.name};
  const std::uint64_t page_size = vp.page_size();
  const std::uint64_t block_size = page_size * vp.mount.block_pages;
  while (u.resid > 0) {
    const auto size = S::get(vp.size);
    if (u.offset >= size) break;
    const auto block = u.offset / block_size * block_size;
    const auto n = std::min({u.resid, size - u.offset, block + block_size - u.offset});
    detail::buffer_pages<S> buffer(vp, flags.claim);
    for (auto at = block; at < std::min(size, block + block_size); at += page_size) {
      if (const errc e = buffer.add(at / page_size, false); e != errc::ok) return e;
    }
    if (const errc e = detail::copy_buffer(td, buffer, page_size, n, u); e != errc::ok) return e;
  }
  return errc::ok;
}

/// A failed write is undone if IO_UNIT asks for it: the file is cut to its old size, and the uio's offset and resid (not its
/// iovec) point to the start again. Bytes below the old end that were overwritten stay so. Without IO_UNIT what was done stays:
/// the file ends where the uio's offset is, or at its old end; a page of which only a part was stored is read in behind it, and if
/// that fails, the buffer that it belongs to counts as not done.
/// \pre the vnode lock is held exclusively
/// \errors EFAULT, EIO, EFBIG
template <substrate S>
errc ffs_write(vm::thread_state<S>& td, vnode_base<S>& vp, uio& u, const io_flags& flags) {
  typename S::frame f{"ffs_write", vp.name};
  const std::uint64_t page_size = vp.page_size();
  const std::uint64_t block_size = page_size * vp.mount.block_pages;
  const auto old_size = S::get(vp.size);
  if (flags.append) u.offset = old_size;
  if (u.offset > flags.size_max || u.resid > flags.size_max - u.offset) return errc::efbig;
  const auto resid = u.resid;
  errc error = errc::ok;
  while (u.resid > 0 && error == errc::ok) {
    const auto n = std::min(u.resid, block_size - u.offset % block_size);
    const auto first = u.offset;
    const auto last = first + n;
    if (last > S::get(vp.size)) {
      error = vp.set_size(last);
      if (error != errc::ok) break;
    }
    detail::buffer_pages<S> buffer(vp, flags.claim);
    for (auto index = first / page_size; error == errc::ok && index * page_size < last; ++index) {
      const bool overwrite = index * page_size >= first && (index + 1) * page_size <= last;
      error = buffer.add(index, overwrite);
    }
    if (error != errc::ok) break;
    error = detail::copy_buffer(td, buffer, page_size, n, u);
    const errc settled = detail::settle_pages(vp, buffer, u.offset, error != errc::ok && !flags.unit);
    if (settled != errc::ok) {
      error = settled;
      u.resid += u.offset - first;
      u.offset = first;
    }
  }
  if (error != errc::ok) {
    const bool nothing = flags.unit || u.resid == resid;
    const errc cut = vp.set_size(nothing ? old_size : std::max(old_size, u.offset));
    if (cut != errc::ok) error = cut;
  }
  if (error != errc::ok && flags.unit) {
    u.offset -= resid - u.resid;
    u.resid = resid;
  }
  return error;
}

/// \pre the vnode lock is held exclusively
/// \errors EFBIG, EIO
template <substrate S>
errc ffs_truncate(vnode_base<S>& vp, std::uint64_t size, const io_flags& flags) {
  typename S::frame f{"ffs_truncate", vp.name};
  if (size > flags.size_max) return errc::efbig;
  return vp.set_size(size);
}

}  // namespace faultline::vfs

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A regular file: the vnode lock, the size, the pages, and the blocks behind them.
///
/// May sleep: the lock, as "vnode"; bread_page(), as "pgrbwt" and for the device; set_size(), as "vmopar".
/// Lock order: offset lock -> range lock -> vnode lock -> map -> object -> page busy.
/// Source: FreeBSD sys/sys/vnode.h, sys/vm/vnode_pager.c (vnode_pager_setsize, vnode_pager_getpages), sys/kern/vfs_bio.c
/// (bread, getblk). A filesystem's metadata, buffers and write-back are not modelled: buffer I/O goes to the pages directly.
#include <faultline/device/block_device.hpp>
#include <faultline/sync/rangelock/queue_rule.hpp>
#include <faultline/vm/thread_state.hpp>

#include <optional>

namespace faultline::vfs {

/// Flags of a vnode's mount.
struct mount_flags {
  /// MNTK_NO_IOPF: this filesystem's I/O wants no page faults, so vn_io_fault is in charge.
  bool no_iopf = true;
  /// Pages of a buffer (f_iosize; UFS: 32 KiB, 8 pages). A read has all of a block read in before it copies; what a write
  /// overwrites as a whole becomes valid when its part of the block is copied.
  std::uint32_t block_pages = 1;
};

/// What vm and a filesystem know of a vnode.
template <substrate S>
class vnode_base : public vm::pager<S> {
 public:
  /// \param shown  the file's name, lives as long as the run
  vnode_base(std::size_t page_size_bytes, device::block_device<S>& disk, const char* shown,
             sync::sharing mode, mount_flags flags, std::uint64_t bytes)
      : lock("vnode", shown, mode),
        size(bytes),
        object(page_size_bytes, shown, pages_for(bytes, page_size_bytes), this),
        blocks(&S::memory()),
        mount(flags),
        name(shown),
        disk_(disk) {}

  sync::sleeplock<S> lock;
  sub::var<S, std::uint64_t> size;  ///< i_size, bytes; written with the lock exclusive, read with it
  vm::vm_object<S> object;
  std::pmr::vector<std::optional<device::block_number>>
      blocks;  ///< one for each page; none, or past the end: a hole. As `size`
  const mount_flags mount;
  const char* const name;

  [[nodiscard]] std::size_t page_size() const noexcept { return object.page_size(); }

  /// A page for buffer I/O: wired, valid unless `overwrite`. May sleep.
  /// \param overwrite  the caller fills all of it
  /// \pre the vnode lock is held
  /// \errors EIO
  [[nodiscard]] result<vm::page<S>*> bread_page(page_index index, bool overwrite);

  /// VOP_SETATTR of the size, with the cached pages (vnode_pager_setsize). A page that the new end cuts keeps its head; its
  /// tail reads zero from now on, as do bytes between the old end and a later one. May sleep.
  /// \pre the vnode lock is held exclusively
  /// \errors EIO
  errc set_size(std::uint64_t bytes);

  // vm::pager
  [[nodiscard]] bool pager_lock_owned_exclusively() const override { return lock.owned_exclusively(); }
  [[nodiscard]] bool pager_try_lock(sync::lock_account& td, access how, bool can_recurse) override {
    return lock.try_acquire(td, how, can_recurse);
  }
  void pager_lock(sync::lock_account& td, access how, bool can_recurse) override {
    lock.acquire(td, how, can_recurse);
  }
  void pager_might_lock(const sync::lock_account& td, access how, bool can_recurse,
                        const sub::spec_lock<S>& busy) const override {
    lock.might_acquire(td, how, can_recurse, &busy);
  }
  void pager_unlock(sync::lock_account& td) override { lock.release(td); }
  errc getpage(vm::page<S>& m) override;
  [[nodiscard]] const char* pager_name() const override { return name; }

 protected:
  ~vnode_base() = default;  // never deleted: model objects are the run's

 private:
  static constexpr std::uint64_t pages_for(std::uint64_t bytes, std::uint64_t page_size) noexcept {
    return bytes / page_size + (bytes % page_size != 0 ? 1 : 0);
  }
  [[nodiscard]] std::optional<device::block_number> block_of(page_index index) const {
    return raw(index) < blocks.size() ? blocks[static_cast<std::size_t>(raw(index))] : std::nullopt;
  }
  void zero_tail(vm::page<S>& m, std::uint64_t end) {
    const auto at = static_cast<std::size_t>(end % page_size());
    S::fill(*m.bytes, at, page_size() - at, std::byte{0});
    m.dirty.set();
  }

  device::block_device<S>& disk_;
};

/// A vnode with its range lock. Which range lock is the kernel's choice; only I/O policies take it.
template <substrate S, class Rangelock = sync::rangelock_spec<S>>
class vnode final : public vnode_base<S> {
 public:
  vnode(std::size_t page_size_bytes, device::block_device<S>& disk, const char* shown, sync::sharing mode,
        mount_flags flags, std::uint64_t bytes)
      : vnode_base<S>(page_size_bytes, disk, shown, mode, flags, bytes), rangelock(shown) {}

  using rangelock_type = Rangelock;
  Rangelock rangelock;  ///< v_rl
};

template <substrate S>
result<vm::page<S>*> vnode_base<S>::bread_page(page_index index, bool overwrite) {
  for (;;) {
    const auto block = block_of(index);
    const auto grabbed = object.io_grab(index, block.has_value(), overwrite);
    auto* const m = grabbed.m;
    if (grabbed.how == vm::vm_object<S>::found::ready) return m;
    if (grabbed.how == vm::vm_object<S>::found::busy) {
      object.sleep_if_busy(*m, "pgrbwt");
      continue;
    }
    const errc e = disk_.read(*block, *m->bytes);
    object.io_read_done(*m, e == errc::ok);
    if (e != errc::ok) return e;
    return m;
  }
}

template <substrate S>
errc vnode_base<S>::getpage(vm::page<S>& m) {
  typename S::frame f{"vnode_pager_getpages", name};
  S::check(lock.owned(), "VOP_GETPAGES without the vnode lock");
  if (m.valid) return errc::ok;  // a writer filled it before we had the lock
  if (raw(m.index) >= pages_for(S::get(size), page_size())) return errc::einval;
  const auto block = block_of(m.index);
  return block ? disk_.read(*block, *m.bytes) : errc::ok;  // a hole: the page is zero already
}

template <substrate S>
errc vnode_base<S>::set_size(std::uint64_t bytes) {
  S::check(lock.owned_exclusively(), "vnode_pager_setsize without the exclusive vnode lock");
  const auto old = S::get(size);
  if (bytes == old) return errc::ok;
  const auto pages = pages_for(bytes, page_size());
  if (bytes > old) {
    auto* tail = object.grow(pages, page_index{old / page_size()});
    if (tail != nullptr && old % page_size() != 0)
      zero_tail(*tail, old);  // a store through a mapping may lie there
    S::set(size, bytes);
    return errc::ok;
  }
  if (bytes % page_size() != 0) {
    const auto last = bread_page(page_index{bytes / page_size()}, false);
    if (!last.ok()) return last.error();
    zero_tail(*last.value(), bytes);
    vm::page_unwire(*last.value());
  }
  if (blocks.size() > pages) blocks.resize(static_cast<std::size_t>(pages));
  S::set(size, bytes);
  object.shrink(pages);
  return errc::ok;
}

}  // namespace faultline::vfs

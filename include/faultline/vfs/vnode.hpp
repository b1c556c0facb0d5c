// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A regular file: the vnode lock, the size, the pages, and the blocks behind them.
///
/// May sleep: the lock, as "vnode"; bread_page(), as "pgrbwt" and for the device; set_size(), as "vmopar"; clean(), as "vpcwai" and
/// for the device.
/// Lock order: offset lock -> range lock -> vnode lock -> map -> object -> page busy.
/// Source: FreeBSD sys/sys/vnode.h, sys/vm/vnode_pager.c (vnode_pager_setsize, vnode_pager_getpages), sys/kern/vfs_bio.c
/// (bread, getblk), sys/vm/vm_object.c (vm_object_page_clean). A filesystem's metadata and buffers are not modelled: buffer I/O
/// goes to the pages directly, and a block is allocated when a page is first written back.
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

/// What is the same for all files of a kernel.
struct file_environment {
  std::size_t page_size = 4096;  ///< bytes
  sync::sharing lock_mode = sync::sharing::share;
  bool reclaim = false;  ///< pages may be taken away (vm/pageout.hpp)
  bool truncation_keeps_private_copies =
      false;  ///< BSD; else a cut takes the copies of private mappings too (Linux)
};

/// What vm and a filesystem know of a vnode.
template <substrate S>
class vnode_base : public vm::pager<S> {
 public:
  /// \param shown  the file's name, lives as long as the run
  vnode_base(const file_environment& around, device::block_device<S>& disk, const char* shown,
             mount_flags flags, std::uint64_t bytes)
      : lock("vnode", shown, around.lock_mode),
        size(bytes),
        object(around.page_size, shown, pages_for(bytes, around.page_size), this, around.reclaim),
        blocks(&S::memory()),
        mount(flags),
        name(shown),
        disk_(disk),
        keeps_private_copies_(around.truncation_keeps_private_copies) {
    S::name(size, "size");
  }

  sync::sleeplock<S> lock;
  sub::var<S, std::uint64_t> size;  ///< i_size, bytes; written with the lock exclusive, read with it
  vm::vm_object<S> object;
  std::pmr::vector<std::optional<device::block_number>>
      blocks;  ///< one for each page; none, or past the end: a hole. As `size`
  const mount_flags mount;
  const char* const name;

  [[nodiscard]] std::size_t page_size() const noexcept { return object.page_size(); }

  /// A page for buffer I/O, valid unless `overwrite`; to be given back by object.io_release(). May sleep.
  /// \param overwrite  the caller fills all of it
  /// \pre the vnode lock is held
  /// \errors EIO
  [[nodiscard]] result<vm::page<S>*> bread_page(page_index index, bool overwrite,
                                                vm::io_claim keep = vm::io_claim::wired);
  /// An overwrite of the whole page ended before its end: what lies behind the stored bytes is read, and the page is valid. May sleep.
  /// \pre the page is bread_page(..., true)'s, and the vnode lock is held exclusively
  /// \errors EIO
  errc complete_page(vm::page<S>& m);

  /// VOP_SETATTR of the size, with the cached pages (vnode_pager_setsize). A page that the new end cuts keeps its head; its
  /// tail reads zero from now on, as do bytes between the old end and a later one. May sleep.
  /// \pre the vnode lock is held exclusively
  /// \errors EIO
  errc set_size(std::uint64_t bytes);

  /// The first byte from `from` on that is data, or in a hole (SEEK_DATA, SEEK_HOLE), in whole pages; the end of the file is a hole.
  /// \pre the vnode lock is held
  /// \returns the size where there is none
  [[nodiscard]] std::uint64_t seek(std::uint64_t from, bool data);

  // vm::pager
  [[nodiscard]] bool pager_lock_owned_exclusively() const override { return lock.owned_exclusively(); }
  [[nodiscard]] bool pager_try_lock(sync::lock_account& td, access how, bool can_recurse) override {
    return lock.try_acquire(td, how, can_recurse);
  }
  void pager_lock(sync::lock_account& td, access how, bool can_recurse) override {
    lock.acquire(td, how, can_recurse);
  }
  void pager_might_lock(const sync::lock_account& td, access how, bool can_recurse,
                        const sub::spec_lock<S>& busy, const sub::spec_lock<S>* also) const override {
    lock.might_acquire(td, how, can_recurse, {&busy, also});
  }
  void pager_unlock(sync::lock_account& td) override { lock.release(td); }
  errc getpage(vm::page<S>& m) override;
  errc putpage(vm::page<S>& m) override;
  errc clean(page_index first, page_index last) override;
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
  /// A clean page of a hole has nothing to zero, and stays a hole: SEEK_DATA must not depend on what is cached.
  void zero_tail(vm::page<S>& m, std::uint64_t end) {
    const auto at = static_cast<std::size_t>(end % page_size());
    S::fill(*m.bytes, at, page_size() - at, std::byte{0});
    if (block_of(m.index) || object.has_dirty(m.index)) m.dirty.set();
  }

  /// After a read: what the block has past the end of the file is not the file's (vnode_pager_input).
  void zero_past_end(vm::page<S>& m) {
    const auto first = raw(m.index) * page_size();
    const auto end = S::get(size);
    if (end <= first || end - first >= page_size()) return;
    const auto at = static_cast<std::size_t>(end - first);
    S::fill(*m.bytes, at, page_size() - at, std::byte{0});
  }

  /// Into a page that is not valid. What a write in progress has stored there stays: its own copy may fault on the page that it fills.
  errc read_block(device::block_number block, vm::page<S>& m);

  device::block_device<S>& disk_;
  bool keeps_private_copies_;
};

/// A vnode with its range lock. Which range lock is the kernel's choice; only I/O policies take it.
template <substrate S, class Rangelock = sync::rangelock_spec<S>>
class vnode final : public vnode_base<S> {
 public:
  vnode(const file_environment& around, device::block_device<S>& disk, const char* shown, mount_flags flags,
        std::uint64_t bytes)
      : vnode_base<S>(around, disk, shown, flags, bytes), rangelock(shown) {}

  using rangelock_type = Rangelock;
  Rangelock rangelock;  ///< v_rl
};

template <substrate S>
errc vnode_base<S>::read_block(device::block_number block, vm::page<S>& m) {
  std::pmr::vector<std::byte> stored(m.filled, &S::memory());
  if (!stored.empty()) S::read(*m.bytes, 0, stored);
  if (const errc e = disk_.read(block, *m.bytes); e != errc::ok) return e;
  zero_past_end(m);
  if (!stored.empty()) S::write(*m.bytes, 0, stored);
  return errc::ok;
}

template <substrate S>
result<vm::page<S>*> vnode_base<S>::bread_page(page_index index, bool overwrite, vm::io_claim keep) {
  for (;;) {
    const auto block = block_of(index);
    const auto grabbed = object.io_grab(index, block.has_value(), overwrite, keep);
    auto* const m = grabbed.m;
    if (grabbed.how == vm::vm_object<S>::found::ready) return m;
    if (grabbed.how == vm::vm_object<S>::found::busy) {
      object.sleep_if_busy(*m, "pgrbwt");
      continue;
    }
    const errc e = read_block(*block, *m);
    object.io_read_done(*m, e == errc::ok, keep);
    if (e != errc::ok) return e;
    return m;
  }
}

template <substrate S>
errc vnode_base<S>::complete_page(vm::page<S>& m) {
  const auto block = block_of(m.index);
  S::check(block.has_value(), "a page without a block is valid from the start");
  if (const errc e = read_block(*block, m); e != errc::ok) return e;
  object.io_overwritten(m);
  return errc::ok;
}

template <substrate S>
errc vnode_base<S>::getpage(vm::page<S>& m) {
  typename S::frame f{"vnode_pager_getpages", name};
  S::check(lock.owned(), "VOP_GETPAGES without the vnode lock");
  if (m.valid) return errc::ok;  // a writer filled it before we had the lock
  if (raw(m.index) >= pages_for(S::get(size), page_size())) return errc::einval;
  const auto block = block_of(m.index);
  if (!block) return errc::ok;  // a hole: the page is zero already
  return read_block(*block, m);
}

template <substrate S>
errc vnode_base<S>::set_size(std::uint64_t bytes) {
  S::check(lock.owned_exclusively(), "vnode_pager_setsize without the exclusive vnode lock");
  const auto old = S::get(size);
  if (bytes == old) return errc::ok;
  const auto pages = pages_for(bytes, page_size());
  if (bytes > old) {
    auto* tail = object.grow(pages, page_index{old / page_size()});
    if (tail != nullptr) {
      if (old % page_size() != 0) zero_tail(*tail, old);  // a store through a mapping may lie there
      vm::page_unwire(*tail);
    }
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
  object.shrink(pages, !keeps_private_copies_);
  return errc::ok;
}

template <substrate S>
errc vnode_base<S>::putpage(vm::page<S>& m) {
  typename S::frame f{"vnode_pager_putpages", name};
  S::check(lock.owned_exclusively(), "VOP_PUTPAGES without the exclusive vnode lock");
  const auto index = static_cast<std::size_t>(raw(m.index));
  if (raw(m.index) >= pages_for(S::get(size), page_size())) return errc::ok;  // being cut off
  if (blocks.size() <= index) blocks.resize(index + 1);
  if (!blocks[index]) {
    const auto block = disk_.allocate();
    if (!block.ok()) return block.error();
    blocks[index] = block.value();
  }
  zero_past_end(m);
  return disk_.write(*blocks[index], *m.bytes);
}

template <substrate S>
errc vnode_base<S>::clean(page_index first, page_index last) {
  errc error = errc::ok;
  for (;;) {
    const auto [how, m, valid] = object.clean_grab(first, last);
    if (how == vm::vm_object<S>::found::beyond_end) return error;
    if (how == vm::vm_object<S>::found::busy) {
      object.sleep_if_busy(*m, "vpcwai");
      continue;
    }
    first = page_index{raw(m->index) + 1};
    vm::pmap<S>::remove_write(*m);  // stores before it have set the mark; those after it fault, and wait
    if (m->dirty.is_set()) {
      m->dirty.clear();
      if (const errc e = putpage(*m); e != errc::ok) {
        m->dirty.set();
        if (error == errc::ok) error = e;
      }
    }
    object.reclaim_done(*m, false);
  }
}

template <substrate S>
std::uint64_t vnode_base<S>::seek(std::uint64_t from, bool data) {
  const auto end = S::get(size);
  for (auto at = from; at < end; at = (at / page_size() + 1) * page_size()) {
    const page_index index{at / page_size()};
    if ((block_of(index).has_value() || object.has_dirty(index)) == data) return at;
  }
  return end;
}

}  // namespace faultline::vfs

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The page-fault handler, and holding a user buffer's pages.
///
/// Lock order: vnode -> map -> object -> page busy. From a busy page a vnode is only *tried*: truncation sleeps on busy pages
/// with the vnode lock held (vnode_pager_setsize -> vm_object_page_remove), so whoever slept for the vnode with a busy page
/// would close a cycle with it. Where the try fails:
///   call chain            vm_fault -> vget
///   order it takes        page busy -> vnode (try)
///   who takes the reverse ftruncate -> vnode -> vmopar
///   how it is avoided     page busy and paging in progress are given back, then vget sleeps, then the fault starts again with
///                         the vnode held; the next pass finds it locked and does not ask
///   callers must          be able to bear a fault with any vnode lock; hold no busy page
///
/// A write to a page of a private mapping copies the page into the mapping's shadow first; a read maps the page behind it, without
/// write rights.
///
/// May sleep: "vmmap", "vmpfw" (page busy by somebody else), "vnode", the device.
/// Source: FreeBSD sys/vm/vm_fault.c (vm_fault_hold, vm_fault_quick_hold_pages; 10.1, 12.1), sys/amd64/amd64/trap.c.
#include <faultline/core/step.hpp>
#include <faultline/substrate/concept.hpp>
#include <faultline/vm/thread_state.hpp>

#include <optional>
#include <span>

namespace faultline::vm {

inline constexpr step try_vnode_lock{"vm.fault.try-vnode-lock", "V10",
                                     "deadlock of page busy and vnode lock, against truncation"};
inline constexpr step recurse_on_own_vnode{
    "vm.fault.recurse-on-own-vnode", "V11a",
    "self deadlock: the exclusive holder of the vnode faults on its file"};
inline constexpr step dirty_at_hold{"vm.hold.dirty-at-hold", "V6",
                                    "the page is reclaimed as clean and the data read into it are lost"};
inline constexpr step unhold_on_error{"vm.hold.unhold-on-error", "V14a", "held pages leak"};

/// Brings the page of `at` in and maps it. May sleep.
/// \param held  not null: the page, held for the caller (vm_page_hold). Does not look at TDP_NOFAULTING
template <substrate S>
fault_result vm_fault_hold(thread_state<S>& td, user_address at, protection wanted, page<S>** held);

/// As a trap does. \param td  TDP_NOFAULTING: protection_failure at once
template <substrate S>
fault_result vm_fault(thread_state<S>& td, user_address at, protection wanted) {
  if (td.no_faulting) return fault_result::protection_failure;
  return vm_fault_hold<S>(td, at, wanted, nullptr);
}

/// A trap of the kernel's own access to user memory (copyin, copyout).
///
/// Inside a section with faults disabled a trap counts as spurious, a stale TLB entry, unless it is at the address of the most
/// recent one: the access is simply done again. So each page that is really absent costs two traps.
/// \returns whether to try the access again; otherwise EFAULT
template <substrate S>
[[nodiscard]] bool trap_pagefault(thread_state<S>& td, user_address at, protection wanted) {
  ++td.traps;
  if (td.no_faulting && (td.reset_spurious || td.spurious_at != at)) {
    td.spurious_at = at;
    td.reset_spurious = false;
    return true;
  }
  return vm_fault(td, at, wanted) == fault_result::success;
}

/// fault_in_readable, fault_in_writeable: touches each page of [at, at + size), so that a copy soon after probably meets no absent
/// page. Holds nothing: a page may go again at once.
/// \returns false: at the first page that cannot be had, it stopped
template <substrate S>
[[nodiscard]] bool vm_fault_in(thread_state<S>& td, user_address at, std::uint64_t size, protection wanted) {
  typename S::frame f{"fault_in"};
  auto& map = *td.map;
  if (size == 0) return true;
  if (raw(at) + size < raw(at) || raw(at) + size > address_space<S>::user_max) return false;
  const auto last = map.page_of(at + (size - 1));
  for (auto page = map.page_of(at); page <= last; ++page) {
    if (auto* there = map.pm.translate(page, wanted)) {
      page_drop(*there->target);
    } else if (vm_fault_hold<S>(td, user_address{page * map.page_size()}, wanted, nullptr) !=
               fault_result::success) {
      return false;
    }
  }
  return true;
}

/// vm_fault_quick_hold_pages: holds the pages of [at, at + size), faulting in those that are not mapped. Takes no lock across
/// pages, so a page held early may be unmapped or even leave its file before the last one is held: copies through the held
/// pages do not mind.
/// \param wanted  write for read(2). Marks the pages dirty now: later stores go past the ptes, and would be lost
/// \param pages  room for all of them (asserted; the kernel panics)
/// \returns how many; nothing if a page cannot be had: then none is held
template <substrate S>
[[nodiscard]] std::optional<std::size_t> vm_fault_quick_hold_pages(thread_state<S>& td, user_address at,
                                                                   std::uint64_t size, protection wanted,
                                                                   std::span<page<S>*> pages);

template <substrate S>
void vm_page_unhold_pages(std::span<page<S>* const> pages) {
  for (auto* m : pages) page_unhold(*m);
}

namespace detail {

/// struct faultstate: what a fault has taken, so that each way out gives it back.
template <substrate S>
class fault_state {
 public:
  explicit fault_state(thread_state<S>& td) : td_(td) {}

  vm_object<S>* first_object = nullptr;  ///< of the map entry
  page<S>* first_m = nullptr;      ///< busy: where a copy would go; null where `m` is the entry's own page
  vm_object<S>* object = nullptr;  ///< that has the page: the first one, or what is behind it
  page<S>* m = nullptr;            ///< busy

  /// unlock_and_deallocate, without the map: pages and paging in progress are given back.
  void give_back() {
    if (m != nullptr) object->fault_release(*m);
    m = nullptr;
    if (first_m != nullptr) first_object->fault_abandon(*first_m);
    first_m = nullptr;
    first_object->deallocate();
  }
  void unlock_vp() {
    if (vp_ != nullptr) vp_->pager_unlock(td_.locks);
    vp_ = nullptr;
  }

  /// vm_fault_lock_vnode. \returns false: all was given back, the vnode is locked now, the fault starts again
  [[nodiscard]] bool lock_vnode() {
    pager<S>& file = *object->file();
    if (vp_ == &file) return true;
    unlock_vp();
    const access how = file.pager_lock_owned_exclusively() ? access::exclusive : access::shared;
    const bool recurse = S::keeps(recurse_on_own_vnode);
    typename S::frame f{"vget", file.pager_name()};
    bool keeps_page = true;
    if (S::keeps(try_vnode_lock)) {
      file.pager_might_lock(td_.locks, how, recurse, m->busy, first_m != nullptr ? &first_m->busy : nullptr);
      if (!file.pager_try_lock(td_.locks, how, recurse)) {
        give_back();
        keeps_page = false;
        file.pager_lock(td_.locks, how, recurse);
      }
    } else {
      file.pager_lock(td_.locks, how, recurse);
    }
    vp_ = &file;
    return keeps_page;
  }

 private:
  thread_state<S>& td_;
  pager<S>* vp_ = nullptr;  // fs.vp: locked by this fault
};

enum class look_up : std::uint8_t { found, busy, beyond_end };

/// The page of the first object, or the one behind it, exclusively busy; a reference to the first object. In a shadow the page
/// that a copy would go to is allocated first: other faults of the mapping wait for it.
/// \param valid  whether the page has its contents already
template <substrate S>
look_up fault_look_up(fault_state<S>& fs, page_index index, bool& valid, page<S>*& in_the_way) {
  using found = typename vm_object<S>::found;
  fs.object = fs.first_object;
  auto got = fs.object->fault_grab(index);
  if (got.how == found::owned && !got.valid && fs.first_object->backing() != nullptr) {
    fs.first_m = got.m;
    fs.object = fs.first_object->backing();
    got = fs.object->fault_grab(fs.first_object->in_backing(index));
  }
  if (got.how == found::owned) {
    fs.m = got.m;
    valid = got.valid;
    return look_up::found;
  }
  in_the_way = got.m;
  return got.how == found::busy ? look_up::busy : look_up::beyond_end;
}

/// Maps the page, or a copy of it in the first object, and ends the fault.
/// \returns the page that is mapped
template <substrate S>
page<S>* fault_enter(fault_state<S>& fs, address_space<S>& map, std::uint64_t virtual_page, protection rights,
                     protection wanted, bool hold) {
  page<S>* shown = fs.m;
  if (fs.first_m == nullptr) {
    map.pm.enter(virtual_page, *fs.m, rights);
    fs.object->fault_done(*fs.m, wanted, hold);
  } else if (allows(wanted, protection::write)) {
    shown = fs.first_m;
    S::copy(*shown->bytes, 0, *fs.m->bytes, 0, map.page_size());
    shown->valid = true;
    map.pm.enter(virtual_page, *shown, rights);
    fs.object->fault_release(*fs.m);
    fs.first_object->fault_done(*shown, wanted, hold);
  } else {
    map.pm.enter(virtual_page, *fs.m, without_write(rights));
    fs.object->fault_done(*fs.m, wanted, hold);
    fs.first_object->fault_abandon(*fs.first_m);
  }
  fs.first_object->dereference();  // the map is locked: its entry has one
  return shown;
}

}  // namespace detail

template <substrate S>
fault_result vm_fault_hold(thread_state<S>& td, user_address at, protection wanted, page<S>** held) {
  using detail::look_up;
  typename S::frame f{"vm_fault"};
  ++td.faults;
  auto& map = *td.map;
  detail::fault_state<S> fs{td};
  for (;;) {  // RetryFault
    map.read_lock();
    const auto entry = map.lookup(at);
    const bool allowed = entry && allows(entry->rights, wanted);
    if (!allowed) {
      map.read_unlock();
      fs.unlock_vp();
      return entry ? fault_result::protection_failure : fault_result::invalid_address;
    }
    const auto generation = map.timestamp();
    fs.first_object = entry->object;
    fs.first_object->reference();
    bool valid = false;
    page<S>* in_the_way = nullptr;
    const auto how =
        detail::fault_look_up(fs, page_index{entry->offset_of(raw(at)) / map.page_size()}, valid, in_the_way);
    if (how != look_up::found) {
      map.read_unlock();
      if (how == look_up::busy) {
        // a vnode locked by an earlier pass stays: vnode -> busy is the legal order
        auto& object = *fs.object;
        fs.first_object->reference();
        fs.give_back();
        object.sleep_if_busy(*in_the_way, "vmpfw");
        fs.first_object->deallocate();
        continue;
      }
      fs.give_back();
      fs.unlock_vp();
      return fault_result::out_of_bounds;
    }

    bool lookup_still_valid = true;
    auto rights = entry->rights;
    if (!valid && fs.object->file() != nullptr) {
      map.read_unlock();
      lookup_still_valid = false;
      if (!fs.lock_vnode()) continue;
      if (const errc e = fs.object->file()->getpage(*fs.m); e != errc::ok) {
        fs.give_back();
        fs.unlock_vp();
        return e == errc::einval ? fault_result::out_of_bounds : fault_result::pager_error;
      }
    } else if (!valid && map.zero_page() != nullptr && !allows(wanted, protection::write)) {
      // Nothing was ever stored there: every reader may look at the same zeros.
      map.pm.enter(map.page_of(at), *map.zero_page(), without_write(entry->rights));
      fs.object->fault_abandon(*fs.m);  // not before: somebody's first store waits for it
      fs.m = nullptr;
      if (held != nullptr) {
        page_hold(*map.zero_page());
        *held = map.zero_page();
      }
      fs.first_object->dereference();
      map.read_unlock();
      return fault_result::success;
    }
    if (!valid) fs.m->valid = true;  // read, or zero-filled: it is busy, nobody looks

    if (!lookup_still_valid) {
      // The page is busy and the vnode locked: the map may only be tried.
      bool same = map.try_read_lock();
      if (same && map.timestamp() != generation) {
        const auto now = map.lookup(at);
        same = now && allows(now->rights, wanted) && now->object == entry->object &&
               now->offset_of(raw(at)) == entry->offset_of(raw(at));
        if (same) rights = now->rights;
        if (!same) map.read_unlock();
      }
      if (!same) {
        fs.give_back();
        fs.unlock_vp();
        continue;
      }
    }

    auto* shown = detail::fault_enter(fs, map, map.page_of(at), rights, wanted, held != nullptr);
    if (held != nullptr) *held = shown;
    map.read_unlock();
    fs.unlock_vp();
    return fault_result::success;
  }
}

template <substrate S>
std::optional<std::size_t> vm_fault_quick_hold_pages(thread_state<S>& td, user_address at, std::uint64_t size,
                                                     protection wanted, std::span<page<S>*> pages) {
  typename S::frame f{"vm_fault_quick_hold_pages"};
  auto& map = *td.map;
  if (size == 0) return 0;
  if (raw(at) + size < raw(at) || raw(at) + size > address_space<S>::user_max) return std::nullopt;
  const auto first = map.page_of(at);
  const auto count = static_cast<std::size_t>(map.page_of(at + (size - 1)) - first + 1);
  S::check(count <= pages.size(), "vm_fault_quick_hold_pages: count > max_count");

  bool all_mapped = true;
  for (std::size_t i = 0; i < count; ++i) {
    pages[i] = map.pm.extract_and_hold(first + i, wanted);
    if (pages[i] == nullptr) {
      all_mapped = false;
    } else if (allows(wanted, protection::write) && S::keeps(dirty_at_hold)) {
      pages[i]->dirty.set();
    }
  }
  if (all_mapped) return count;

  for (std::size_t i = 0; i < count; ++i) {
    if (pages[i] != nullptr) continue;
    const user_address va{(first + i) * map.page_size()};
    if (vm_fault_hold(td, va, wanted, &pages[i]) == fault_result::success) continue;
    if (S::keeps(unhold_on_error)) {
      for (std::size_t k = 0; k < count; ++k) {
        if (pages[k] != nullptr) page_unhold(*pages[k]);
      }
    }
    return std::nullopt;
  }
  return count;
}

}  // namespace faultline::vm

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The pages of a file (with a pager), or of anonymous memory (without).
///
/// Each member function that says "one section" is one critical section of the object's interlock: look-up, allocation and
/// the page's busy state change together, as they do under VM_OBJECT_WLOCK. Nothing sleeps inside.
///
/// A private mapping of a file has an object of its own before the file's: the *shadow*, which holds the pages that were copied
/// when they were first written. What the shadow has not is looked for in its backing object.
///
/// May sleep: sleep_if_busy(), shrink(), terminate().  Lock order: after vnode and map; the interlock is a leaf.
/// Source: FreeBSD sys/vm/vm_object.c (vm_object_shadow, vm_object_deallocate, vm_object_page_remove, vm_object_page_clean),
/// vm_fault.c, vm_page.c (vm_page_grab, vm_page_sleep_if_busy), vnode_pager.c (vnode_pager_setsize).
#include <faultline/substrate/concept.hpp>
#include <faultline/vm/page.hpp>
#include <faultline/vm/pager.hpp>
#include <faultline/vm/pmap.hpp>

#include <cstdio>
#include <map>

namespace faultline::vm {

/// How buffer I/O has a page while it copies from or to it.
enum class io_claim : std::uint8_t {
  wired,  ///< the frame stays; the page may be faulted on meanwhile (UFS buffers)
  busy,  ///< nobody else gets at the page, the copying thread's own fault included (NetBSD's UBC with the direct map)
};

template <substrate S>
class vm_object {
 public:
  enum class found : std::uint8_t {
    ready,  ///< wired or busy, and valid unless it is to be overwritten as a whole (buffer I/O)
    owned,  ///< exclusively busy by the caller
    busy,   ///< busy by somebody else: sleep_if_busy() and look again
    beyond_end,
  };
  struct grabbed {
    found how;
    page<S>* m = nullptr;
    bool valid = false;  ///< `owned`
  };

  /// \param name  of the file, lives as long as the run
  /// \param file  null: anonymous memory
  /// \param reclaimable  its pages may be taken away (vm/pageout.hpp)
  vm_object(std::size_t page_size, const char* name, std::uint64_t size_pages, pager<S>* file,
            bool reclaimable)
      : page_size_(page_size),
        name_(name),
        pager_(file),
        reclaimable_(reclaimable),
        interlock_("vmobject", name),
        pages_(std::pmr::map<std::uint64_t, page<S>*>(&S::memory())),
        size_pages_(size_pages),
        shadows_(&S::memory()),
        every_page_(&S::memory()) {}
  vm_object(const vm_object&) = delete;
  vm_object& operator=(const vm_object&) = delete;

  [[nodiscard]] pager<S>* file() const noexcept { return pager_; }
  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] std::size_t page_size() const noexcept { return page_size_; }

  /// vm_object_shadow: from now on a page that is not here is looked for in `backing`, `first` pages further on.
  /// \pre nobody uses this object yet
  void shadow(vm_object& backing, page_index first);
  /// Null: a page that is not here is a page of zeros, or a file's.
  [[nodiscard]] vm_object* backing() const noexcept { return backing_; }
  [[nodiscard]] page_index in_backing(page_index index) const noexcept {
    return page_index{raw(index) + raw(backing_first_)};
  }

  /// \name References
  /// Map entries and faults in progress. A file's object is the vnode's as well and never goes.
  /// \{
  void reference() { references_.add(); }
  /// vm_object_deallocate. The last one frees the pages, unless the object is a file's. May sleep, as "vmopar".
  void deallocate() {
    if (references_.drop() && pager_ == nullptr) terminate();
  }
  /// \}

  /// The fault handler's look-up, one section: the page, allocated if absent, exclusively busy, and one paging in progress
  /// more. `busy` and `beyond_end` take nothing.
  [[nodiscard]] grabbed fault_grab(page_index index);
  /// Ends a fault that failed or starts again, one section: gives back the busy page and the paging in progress.
  void fault_release(page<S>& m);
  /// The same for a page that was allocated for a copy that is not made: it is freed.
  void fault_abandon(page<S>& m);
  /// Ends a fault that entered the page, one section.
  /// \param hold  vm_page_hold() it, for the caller
  void fault_done(page<S>& m, protection wanted, bool hold);

  /// Buffer I/O's look-up, one section: `ready`, `owned` (busy by the caller: must be read from the device first), or `busy`.
  /// \param backed  the device has bytes for the page; else it starts as zeros
  /// \param overwrite  the caller fills the whole page: no need to read it. Until it is filled it stays invalid, so that a
  ///                   fault on it, by the very copy that fills it for instance, reads it
  /// \param keep  how the caller has the page while it copies
  [[nodiscard]] grabbed io_grab(page_index index, bool backed, bool overwrite,
                                io_claim keep = io_claim::wired);
  /// After the device read, one section: if `ok`, valid and kept as io_grab() was asked for; else no longer busy.
  void io_read_done(page<S>& m, bool ok, io_claim keep = io_claim::wired);
  /// One section: as io_grab() left it, given back.
  void io_release(page<S>& m, io_claim kept);
  /// After an overwrite that succeeded, one section: valid.
  void io_overwritten(page<S>& m);

  /// vm_page_sleep_if_busy: waits until nobody has the page busy. Takes nothing; look again.
  void sleep_if_busy(page<S>& m, const char* wait_name) { interlock_.wait_unheld(m.busy, wait_name); }

  /// Sets the size to a larger number of pages, one section.
  /// \returns the page at `tail`, wired, if it is there, valid, and may be mapped: its bytes past the old end may be a user's
  [[nodiscard]] page<S>* grow(std::uint64_t size_pages, page_index tail);
  /// Sets the size, then vm_object_page_remove of all pages beyond it: unmaps them, and frees those that nobody holds.
  /// May sleep on busy pages, as "vmopar": \pre no page of this object is busy by the caller.
  /// \param copies_too  copies in shadows of this object go as well (Linux); else they stay (BSD)
  void shrink(std::uint64_t size_pages, bool copies_too);

  /// \name Pageout and cleaning
  /// \{

  /// One section: the page, exclusively busy; null if it is not here or somebody has it busy.
  [[nodiscard]] page<S>* reclaim_grab(page_index index);
  /// One section: no longer busy; `gone`: off the object, and freed unless somebody still uses it.
  void reclaim_done(page<S>& m, bool gone);
  /// vm_object_page_clean's look-up, one section: the first dirty page of [first, last), exclusively busy by the caller (`owned`),
  /// or `busy`: sleep_if_busy() and look again; `beyond_end`: there is none.
  [[nodiscard]] grabbed clean_grab(page_index first, page_index last);
  /// Is the page here, and would be written back? One section.
  [[nodiscard]] bool has_dirty(page_index index);
  /// \}

  /// At quiescence: the page if it is here.
  [[nodiscard]] const page<S>* peek(page_index index) const {
    const auto& pages = S::peek(pages_);
    const auto at = pages.find(raw(index));
    return at == pages.end() ? nullptr : at->second;
  }
  [[nodiscard]] std::uint32_t paging_in_progress() const noexcept { return paging_in_progress_; }
  /// At quiescence: the pages that are or were here.
  [[nodiscard]] const std::pmr::vector<page<S>*>& every_page() const noexcept { return every_page_; }

 private:
  void terminate();
  template <class Also>
  void remove_pages(std::uint64_t from, Also&& also);
  page<S>& find_or_allocate(page_index index) {  // caller is in a section
    auto& slot = S::change(pages_)[raw(index)];
    if (slot == nullptr) {
      char shown[96];
      std::snprintf(shown, sizeof shown, "%s.%llu", name_, static_cast<unsigned long long>(raw(index)));
      slot = S::template make<page<S>>(page_size_, index, S::keep(shown), reclaimable_);
      every_page_.push_back(slot);
    }
    return *slot;
  }

  std::size_t page_size_;
  const char* name_;
  pager<S>* pager_;
  bool reclaimable_;
  vm_object* backing_ = nullptr;
  page_index backing_first_{};
  sub::use_count<S> references_{0};
  sub::interlock<S> interlock_;
  sub::var<S, std::pmr::map<std::uint64_t, page<S>*>> pages_;  // guarded by interlock_, as all below
  sub::var<S, std::uint64_t> size_pages_;
  std::uint32_t paging_in_progress_ = 0;
  std::pmr::vector<vm_object*> shadows_;   // of this object
  std::pmr::vector<page<S>*> every_page_;  // that was ever here
};

template <substrate S>
auto vm_object<S>::fault_grab(page_index index) -> grabbed {
  const section<S> guard{interlock_};
  if (raw(index) >= S::get(size_pages_)) return {found::beyond_end};
  auto& m = find_or_allocate(index);
  if (!m.busy.try_acquire({.how = access::exclusive})) return {found::busy, &m};
  m.faulted_on = true;
  ++paging_in_progress_;
  return {found::owned, &m, m.valid};
}

template <substrate S>
void vm_object<S>::fault_release(page<S>& m) {
  const section<S> guard{interlock_};
  --paging_in_progress_;
  m.busy.release();
}

template <substrate S>
void vm_object<S>::fault_abandon(page<S>& m) {
  {
    const section<S> guard{interlock_};
    --paging_in_progress_;
    S::change(pages_).erase(raw(m.index));
    m.busy.release();
  }
  page_drop(m);
}

template <substrate S>
void vm_object<S>::fault_done(page<S>& m, protection wanted, bool hold) {
  const section<S> guard{interlock_};
  if (allows(wanted, protection::write)) m.dirty.set();
  if (hold) page_hold(m);
  --paging_in_progress_;
  m.busy.release();
}

template <substrate S>
auto vm_object<S>::io_grab(page_index index, bool backed, bool overwrite, io_claim keep) -> grabbed {
  const section<S> guard{interlock_};
  auto& m = find_or_allocate(index);
  if (m.busy.held()) return {found::busy, &m};
  if (!m.valid && !backed) m.valid = true;
  const bool ready = m.valid || overwrite;
  if (ready && keep == io_claim::wired) {
    page_wire(m);
  } else {
    S::check(m.busy.try_acquire({.how = access::exclusive}), "vm_page_grab: busy after all");
  }
  return {ready ? found::ready : found::owned, &m};
}

template <substrate S>
void vm_object<S>::io_read_done(page<S>& m, bool ok, io_claim keep) {
  const section<S> guard{interlock_};
  if (ok) m.valid = true;
  if (ok && keep == io_claim::busy) return;
  if (ok) page_wire(m);
  m.busy.release();
}

template <substrate S>
void vm_object<S>::io_release(page<S>& m, io_claim kept) {
  if (kept == io_claim::wired) {
    page_unwire(m);
    return;
  }
  const section<S> guard{interlock_};
  m.busy.release();
}

template <substrate S>
void vm_object<S>::io_overwritten(page<S>& m) {
  const section<S> guard{interlock_};
  m.valid = true;
}

template <substrate S>
page<S>* vm_object<S>::grow(std::uint64_t size_pages, page_index tail) {
  const section<S> guard{interlock_};
  if (size_pages > S::get(size_pages_)) S::set(size_pages_, size_pages);
  const auto& pages = S::get(pages_);
  const auto at = pages.find(raw(tail));
  if (at == pages.end() || !at->second->valid || !at->second->faulted_on) return nullptr;
  page_wire(*at->second);
  return at->second;
}

template <substrate S>
void vm_object<S>::shadow(vm_object& backing, page_index first) {
  backing_ = &backing;
  backing_first_ = first;
  backing.reference();
  const section<S> guard{backing.interlock_};
  backing.shadows_.push_back(this);
}

template <substrate S>
void vm_object<S>::shrink(std::uint64_t size_pages, bool copies_too) {
  std::pmr::vector<vm_object*> shadows(&S::memory());
  remove_pages(size_pages, [&] {
    S::set(size_pages_, size_pages);
    if (!copies_too || !shadows.empty()) return;
    shadows = shadows_;
    for (auto* copy : shadows) copy->reference();
  });
  for (auto* copy : shadows) {
    const auto first = raw(copy->backing_first_);
    copy->remove_pages(size_pages > first ? size_pages - first : 0, [] {});
    copy->deallocate();
  }
}

/// vm_object_page_remove. `also` is done in each section that looks for the pages.
template <substrate S>
template <class Also>
void vm_object<S>::remove_pages(std::uint64_t from, Also&& also) {
  std::pmr::vector<page<S>*> gone(&S::memory());
  for (bool again = true; again;) {
    page<S>* in_the_way = nullptr;
    gone.clear();
    {
      const section<S> guard{interlock_};
      also();
      auto& pages = S::change(pages_);
      for (auto at = pages.lower_bound(from); at != pages.end() && in_the_way == nullptr;) {
        if (at->second->busy.held()) {
          in_the_way = at->second;
        } else {
          gone.push_back(at->second);
          at = pages.erase(at);
        }
      }
    }
    for (auto* m : gone) {
      pmap<S>::remove_all(*m);
      page_drop(*m);  // the object's use
    }
    again = in_the_way != nullptr;
    if (again) sleep_if_busy(*in_the_way, "vmopar");
  }
}

template <substrate S>
void vm_object<S>::terminate() {
  if (backing_ != nullptr) {
    {
      const section<S> guard{backing_->interlock_};
      std::erase(backing_->shadows_, this);
    }
    backing_->deallocate();
  }
  remove_pages(0, [] {});
}

template <substrate S>
page<S>* vm_object<S>::reclaim_grab(page_index index) {
  const section<S> guard{interlock_};
  const auto& pages = S::get(pages_);
  const auto at = pages.find(raw(index));
  if (at == pages.end() || !at->second->busy.try_acquire({.how = access::exclusive})) return nullptr;
  return at->second;
}

template <substrate S>
void vm_object<S>::reclaim_done(page<S>& m, bool gone) {
  {
    const section<S> guard{interlock_};
    if (gone) S::change(pages_).erase(raw(m.index));
    m.busy.release();
  }
  if (gone) page_drop(m);  // the object's use
}

template <substrate S>
auto vm_object<S>::clean_grab(page_index first, page_index last) -> grabbed {
  const section<S> guard{interlock_};
  const auto& pages = S::get(pages_);
  for (auto at = pages.lower_bound(raw(first)); at != pages.end() && at->first < raw(last); ++at) {
    auto& m = *at->second;
    if (m.busy.held()) return {found::busy, &m};
    if (!m.valid || !m.dirty.is_set()) continue;
    S::check(m.busy.try_acquire({.how = access::exclusive}), "vm_object_page_clean: busy after all");
    return {found::owned, &m, true};
  }
  return {found::beyond_end};
}

template <substrate S>
bool vm_object<S>::has_dirty(page_index index) {
  const section<S> guard{interlock_, access::shared};
  const auto& pages = S::get(pages_);
  const auto at = pages.find(raw(index));
  return at != pages.end() && at->second->valid && at->second->dirty.is_set();
}

}  // namespace faultline::vm

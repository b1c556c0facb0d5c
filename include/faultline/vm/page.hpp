// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A page of physical memory.
///
/// Held, wired, busy and mapped are four things:
///  - *busy* (a lock, guarded by the object's interlock): the page's identity and validity are in flux; a fault reads it in.
///    Waiters sleep as "vmpfw" (fault), "vmopar" (truncation) or "pgrbwt" (buffer I/O);
///  - *held* (vm_page_hold): the frame is not given to anybody else. The page may be unmapped, and removed from its object;
///  - *wired*: buffer I/O copies to or from it, under the vnode lock;
///  - *mapped*: a pte leads to it (vm/pmap.hpp).
///
/// Its users are counted: the object it belongs to, each hold, each wiring, each access between translation and copy. The last
/// one to go gives the frame back, and an access after that is a use after free. The structure itself stays (as in vm_page_array),
/// so sleeping on the busy lock of a page that goes away is safe.
///
/// Lock order: the page lock is a leaf.
/// Source: FreeBSD sys/vm/vm_page.c, vm_page.h (10.x: hold_count, wire_count, busy_lock, vm_page_lock;
/// 13: ref_count with VPRC_OBJREF).
#include <faultline/core/units.hpp>
#include <faultline/sim/basic_rules.hpp>
#include <faultline/substrate/concept.hpp>
#include <faultline/vm/protection.hpp>

#include <vector>

namespace faultline::vm {

template <substrate S>
struct mapping;

/// A flag that many set and one clears, each ordered with the look at it by other means: setting it commutes with everything but
/// that, so it is no scheduling point. vm_page_aflag_set, vm_page_dirty.
template <substrate S>
class page_flag {
 public:
  void set() {
    if (!is_set()) times_.add();
  }
  /// \pre nobody sets it meanwhile
  void clear() {
    while (is_set()) (void)times_.drop();
  }
  [[nodiscard]] bool is_set() const noexcept { return times_.peek() != 0; }

 private:
  sub::use_count<S> times_{0};
};

template <substrate S>
struct page {
  /// \param size  bytes
  /// \param shown  lives as long as the run
  /// \param reclaimable  somebody may ask whether the page is held: then giving a hold back is a scheduling point
  page(std::size_t size, page_index at, const char* shown, bool reclaimable)
      : bytes(S::template make<sub::racy_bytes<S>>(size, shown)),
        busy(sim::the_shared_rule, "vmpage", shown),
        index(at),
        name(shown),
        mappings(&S::memory()) {
    if (reclaimable) lock = S::template make<sub::interlock<S>>("vmpagelock", shown);
  }

  sub::racy_bytes<S>* bytes;   ///< an access after the last user went is a use after free
  sub::use_count<S> users{1};  ///< the object first of all
  sub::use_count<S> holds{0};  ///< of the users
  sub::use_count<S> wires{0};  ///< of the users
  sub::interlock<S>* lock =
      nullptr;             ///< vm_page_lock: orders a hold's end with in_use(). Null where nobody asks that
  sub::spec_lock<S> busy;  ///< taken and given back in sections of the object's interlock
  const page_index index;
  const char* const name;  ///< "f0.2"
  bool valid = false;  ///< holds the file's bytes. Changed by who has it busy, or in a section of the object
  std::size_t filled =
      0;  ///< not valid: bytes at the front that the write in progress has stored. Guarded by the vnode lock
  bool faulted_on = false;  ///< a fault found it: ptes may lead here. Guarded by the object's interlock
  bool unmanaged = false;   ///< never unmapped as a page: no pv entries (the zero page)
  bool freed = false;
  page_flag<S> dirty;  ///< cleared by who has the page busy and unmapped, and the vnode locked
  std::pmr::vector<mapping<S>*>
      mappings;  ///< pv entries, shot down ones too; changed by who has the page busy
};

/// One user less; the last one gives the frame back.
template <substrate S>
void page_drop(page<S>& m) {
  if (!m.users.drop()) return;
  m.freed = true;
  S::destroy(m.bytes);
}

/// vm_page_hold. \pre the page has a user that cannot go meanwhile
template <substrate S>
void page_hold(page<S>& m) {
  m.users.add();
  m.holds.add();
}
/// vm_page_wire. \pre as page_hold()
template <substrate S>
void page_wire(page<S>& m) {
  m.users.add();
  m.wires.add();
}

namespace detail {

template <substrate S>
void page_give_back(page<S>& m, sub::use_count<S>& count) {
  if (m.lock != nullptr) {
    const section<S> guard{*m.lock, access::shared};  // commutes with other users' going
    (void)count.drop();
  } else {
    (void)count.drop();
  }
  page_drop(m);
}

}  // namespace detail

/// \pre the caller holds the page once
template <substrate S>
void page_unhold(page<S>& m) {
  detail::page_give_back(m, m.holds);
}
/// \pre the caller has the page wired once
template <substrate S>
void page_unwire(page<S>& m) {
  detail::page_give_back(m, m.wires);
}

/// Held or wired? \pre the page is reclaimable, busy by the caller and mapped nowhere: uses end, but none begins
template <substrate S>
[[nodiscard]] bool page_in_use(page<S>& m) {
  S::check(m.lock != nullptr, "page_in_use: the kernel was made without reclaim");
  const section<S> guard{*m.lock};
  return m.holds.peek() != 0 || m.wires.peek() != 0;
}

}  // namespace faultline::vm

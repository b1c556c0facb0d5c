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
/// Source: FreeBSD sys/vm/vm_page.c, vm_page.h (10.x: hold_count, wire_count, busy_lock;
/// 13: ref_count with VPRC_OBJREF).
#include <faultline/core/units.hpp>
#include <faultline/sim/basic_rules.hpp>
#include <faultline/substrate/concept.hpp>
#include <faultline/vm/protection.hpp>

#include <vector>

namespace faultline::vm {

template <substrate S>
struct mapping;

/// A flag that anybody may set at any time and nobody clears: vm_page_aflag_set. Setting it commutes with everything but a look
/// at it, so it is no scheduling point; whoever looks at it is ordered after by other means.
template <substrate S>
class sticky_flag {
 public:
  void set() {
    if (!is_set()) times_.add();
  }
  [[nodiscard]] bool is_set() const noexcept { return times_.peek() != 0; }

 private:
  sub::use_count<S> times_{0};
};

template <substrate S>
struct page {
  page(std::size_t size, page_index at, const char* shown)
      : bytes(S::template make<sub::racy_bytes<S>>(size, shown)),
        busy(sim::the_shared_rule, "vmpage", shown),
        index(at),
        name(shown),
        mappings(&S::memory()) {}

  sub::racy_bytes<S>* bytes;   ///< an access after the last user went is a use after free
  sub::use_count<S> users{1};  ///< the object first of all
  sub::use_count<S> holds{0};  ///< of the users; as `wires`, for checks at quiescence
  sub::use_count<S> wires{0};
  sub::spec_lock<S> busy;  ///< taken and given back in sections of the object's interlock
  const page_index index;
  const char* const name;  ///< "f0.2"
  bool valid = false;  ///< holds the file's bytes. Changed by who has it busy, or in a section of the object
  bool faulted_on = false;  ///< a fault found it: ptes may lead here. Guarded by the object's interlock
  bool freed = false;
  sticky_flag<S> dirty;  ///< until laundering exists
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
/// \pre the caller holds the page once
template <substrate S>
void page_unhold(page<S>& m) {
  (void)m.holds.drop();
  page_drop(m);
}

/// vm_page_wire. \pre as page_hold()
template <substrate S>
void page_wire(page<S>& m) {
  m.users.add();
  m.wires.add();
}
/// \pre the caller has the page wired once
template <substrate S>
void page_unwire(page<S>& m) {
  (void)m.wires.drop();
  page_drop(m);
}

}  // namespace faultline::vm

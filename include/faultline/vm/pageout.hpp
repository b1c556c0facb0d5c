// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Reclaim: what the pageout daemon does with one page.
///
/// A page that is busy, held or wired is left alone. A dirty page is written back first, for which the vnode lock is *tried*, as
/// from any busy page (vm/fault.hpp). Then the page leaves its object, and its frame is free once nobody uses it.
///   unmap before test       once the page is busy and mapped nowhere, uses of it end but none begins: the answer stays true
///   write back before free  otherwise what was stored is lost
///
/// May sleep: for the device.  Lock order: page busy -> vnode (try) -> page lock.
/// Source: FreeBSD sys/vm/vm_pageout.c (vm_pageout_scan, vm_pageout_clean, vm_pageout_flush; 10.x). There, a page is tested
/// before it is unmapped as well; the queues and when the daemon runs are not modelled. Swap is not modelled: a dirty anonymous
/// page stays.
#include <faultline/vm/thread_state.hpp>

namespace faultline::vm {

/// \pre the kernel was made with reclaim
/// \returns whether the page is gone; false too where there was none
template <substrate S>
bool pageout_page(thread_state<S>& td, vm_object<S>& object, page_index index) {
  typename S::frame f{"vm_pageout", object.name()};
  auto* const m = object.reclaim_grab(index);
  if (m == nullptr) return false;
  bool gone = m->valid;
  if (gone) {
    pmap<S>::remove_all(*m);
    gone = !page_in_use(*m);
  }
  if (gone && m->dirty.is_set()) {
    auto* const file = object.file();
    gone = file != nullptr && file->pager_try_lock(td.locks, access::exclusive, false);
    if (gone) {
      m->dirty.clear();
      if (file->putpage(*m) != errc::ok) {
        m->dirty.set();
        gone = false;
      }
      file->pager_unlock(td.locks);
    }
  }
  object.reclaim_done(*m, gone);
  return gone;
}

}  // namespace faultline::vm

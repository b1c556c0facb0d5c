// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The hardware's view of an address space: one level of ptes, with reverse mappings and shootdown.
///
/// A translation outlives its pte until the shootdown: the pte goes in a section of the pmap, then the shootdown, an operation
/// on the page, ends every access in flight. So an access is two operations, translate() and the copy, and the copy finds out
/// whether its translation still is one (S::copy_from_if): what a TLB and an IPI do, without a TLB per CPU.
///
/// Does not sleep.  Lock order: the pmap's interlock is a leaf.
/// Source: FreeBSD sys/amd64/amd64/pmap.c (pmap_enter, pmap_extract_and_hold, pmap_remove, pmap_protect,
/// pmap_remove_all, pmap_remove_write).
#include <faultline/substrate/concept.hpp>
#include <faultline/vm/page.hpp>

#include <algorithm>
#include <map>

namespace faultline::vm {

/// A pte and its pv entry.
template <substrate S>
struct mapping {
  mapping(page<S>& to, protection allowed) : target(&to), rights(allowed) {}

  page<S>* target;
  protection rights;  ///< guarded by the pmap's interlock
  /// Set in operations on the target's bytes: no access of that kind goes through any more.
  page_flag<S> shot_down{};
  page_flag<S> write_shot_down{};  ///< cleared when the page is entered with write rights again
  bool write_protected = false;    ///< pmap_remove_write took the right away. Guarded by the pmap's interlock

  [[nodiscard]] bool live() const noexcept { return !shot_down.is_set(); }
  /// Does a translation for `wanted` still hold?
  [[nodiscard]] bool live(protection wanted) const noexcept {
    return live() && !(allows(wanted, protection::write) && write_shot_down.is_set());
  }
  /// live(), asked by the access itself: sets the pte's modified bit before a store, so that who has waited for the
  /// shootdown finds the page dirty.
  [[nodiscard]] bool use(protection wanted) const {
    if (!live(wanted)) return false;
    if (allows(wanted, protection::write)) target->dirty.set();
    return true;
  }
};

template <substrate S>
class pmap {
 public:
  /// \param name  of the process
  explicit pmap(const char* name)
      : interlock_("pmap", name), ptes_(std::pmr::map<std::uint64_t, mapping<S>*>(&S::memory())) {}
  pmap(const pmap&) = delete;
  pmap& operator=(const pmap&) = delete;

  /// Maps a page, in place of what is mapped there: a translation to another page is shot down.
  /// \pre the page is exclusively busy, or unmanaged
  void enter(std::uint64_t virtual_page, page<S>& m, protection rights);

  /// The translation of a page for an access, or null: a page fault. The frame stays what it is until page_drop().
  [[nodiscard]] mapping<S>* translate(std::uint64_t virtual_page, protection wanted);

  /// pmap_extract_and_hold: the mapped page, held; null if the access would fault.
  [[nodiscard]] page<S>* extract_and_hold(std::uint64_t virtual_page, protection wanted);

  /// Removes the ptes of pages [first, last) and waits for the shootdown.
  void remove(std::uint64_t first, std::uint64_t last);

  /// pmap_protect: takes rights away from the ptes of pages [first, last) and waits for the shootdown. Gives none.
  void protect(std::uint64_t first, std::uint64_t last, protection rights);

  /// pmap_remove_write: no pte of any pmap allows a store afterwards, and none is in flight.
  /// \pre the page is busy by the caller
  static void remove_write(page<S>& m);

  /// pmap_remove_all: no pte of any pmap leads to the page afterwards, and no access is in flight.
  /// \pre nobody can enter the page meanwhile: it is busy, or off its object
  static void remove_all(page<S>& m);

  /// Without a scheduling point: for checks at quiescence.
  [[nodiscard]] const page<S>* peek(std::uint64_t virtual_page) const {
    const auto& ptes = S::peek(ptes_);
    const auto at = ptes.find(virtual_page);
    return at == ptes.end() ? nullptr : at->second->target;
  }

 private:
  static void shoot_down(page<S>& m, std::span<mapping<S>* const> gone, bool writes_only = false);
  [[nodiscard]] mapping<S>* find(std::uint64_t virtual_page,
                                 protection wanted) const;  // caller is in a section
  void remove_translation(mapping<S>& which);
  void write_protect(mapping<S>& which);
  // Caller is in a section.
  void add_leaving(std::uint64_t first, std::uint64_t last, std::pmr::vector<mapping<S>*>& to);

  sub::interlock<S> interlock_;
  sub::var<S, std::pmr::map<std::uint64_t, mapping<S>*>> ptes_;  // guarded by interlock_
  /// Taken out by pmap_remove_all, which shoots them down next: who removes or protects their addresses waits for that too.
  std::pmr::vector<mapping<S>*> leaving_{&S::memory()};  // guarded by interlock_
};

/// A pv entry knows its pmap, for pmap_remove_all.
template <substrate S>
struct pv_entry final : mapping<S> {
  pv_entry(page<S>& to, protection allowed, pmap<S>& its_pmap, std::uint64_t at)
      : mapping<S>(to, allowed), owner(its_pmap), virtual_page(at) {}

  pmap<S>& owner;
  std::uint64_t virtual_page;
};

template <substrate S>
mapping<S>* pmap<S>::find(std::uint64_t virtual_page, protection wanted) const {
  const auto& ptes = S::get(ptes_);
  const auto at = ptes.find(virtual_page);
  return at != ptes.end() && allows(at->second->rights, wanted) ? at->second : nullptr;
}

template <substrate S>
void pmap<S>::enter(std::uint64_t virtual_page, page<S>& m, protection rights) {
  mapping<S>* replaced = nullptr;
  {
    const section<S> guard{interlock_};
    auto& pte = S::change(ptes_)[virtual_page];
    if (pte != nullptr && pte->target == &m) {
      pte->rights = rights;
      if (allows(rights, protection::write)) {
        pte->write_protected = false;
        pte->write_shot_down.clear();
      }
      return;
    }
    replaced = pte;
    if (replaced != nullptr) replaced->target->users.add();  // until the shootdown is complete
    pte = S::template make<pv_entry<S>>(m, rights, *this, virtual_page);
    if (!m.unmanaged) {
      std::erase_if(m.mappings, [](const mapping<S>* old) { return !old->live(); });
      m.mappings.push_back(pte);
    }
  }
  if (replaced == nullptr) return;
  shoot_down(*replaced->target, {&replaced, 1});
  page_drop(*replaced->target);
}

template <substrate S>
mapping<S>* pmap<S>::translate(std::uint64_t virtual_page, protection wanted) {
  const section<S> guard{interlock_, access::shared};
  auto* found = find(virtual_page, wanted);
  if (found != nullptr) found->target->users.add();
  return found;
}

template <substrate S>
page<S>* pmap<S>::extract_and_hold(std::uint64_t virtual_page, protection wanted) {
  const section<S> guard{interlock_, access::shared};
  auto* found = find(virtual_page, wanted);
  if (found == nullptr) return nullptr;
  page_hold(*found->target);
  return found->target;
}

template <substrate S>
void pmap<S>::shoot_down(page<S>& m, std::span<mapping<S>* const> gone, bool writes_only) {
  S::end_accesses(*m.bytes, [&] {  // the IPI: ordered with every access to the page
    for (auto* entry : gone) (writes_only ? entry->write_shot_down : entry->shot_down).set();
  });
}

template <substrate S>
void pmap<S>::remove(std::uint64_t first, std::uint64_t last) {
  std::pmr::vector<mapping<S>*> gone(&S::memory());
  {
    const section<S> guard{interlock_};
    auto& ptes = S::change(ptes_);
    const auto begin = ptes.lower_bound(first);
    const auto end = ptes.lower_bound(last);
    for (auto at = begin; at != end; ++at) {
      at->second->target->users.add();  // the frame is not reused before the shootdown is complete
      gone.push_back(at->second);
    }
    ptes.erase(begin, end);
    add_leaving(first, last, gone);
  }
  for (auto* entry : gone) {
    shoot_down(*entry->target, {&entry, 1});
    page_drop(*entry->target);
  }
}

template <substrate S>
void pmap<S>::protect(std::uint64_t first, std::uint64_t last, protection rights) {
  if (!allows(rights, protection::read)) {
    remove(first, last);
    return;
  }
  if (allows(rights, protection::write)) return;
  std::pmr::vector<mapping<S>*> reduced(&S::memory());
  {
    const section<S> guard{interlock_};
    auto& ptes = S::change(ptes_);
    const auto end = ptes.lower_bound(last);
    for (auto at = ptes.lower_bound(first); at != end; ++at) {
      auto& entry = *at->second;
      const bool shootdown_to_come = entry.write_protected && !entry.write_shot_down.is_set();
      if (!allows(entry.rights, protection::write) && !shootdown_to_come) continue;
      entry.rights = protection::read;
      entry.target->users.add();
      reduced.push_back(&entry);
    }
    add_leaving(first, last, reduced);
  }
  for (auto* entry : reduced) {
    shoot_down(*entry->target, {&entry, 1}, true);
    page_drop(*entry->target);
  }
}

template <substrate S>
void pmap<S>::remove_write(page<S>& m) {
  if (!m.faulted_on) return;
  for (auto* entry : m.mappings) {
    if (entry->live()) static_cast<pv_entry<S>*>(entry)->owner.write_protect(*entry);
  }
  shoot_down(m, m.mappings, true);
}

template <substrate S>
void pmap<S>::write_protect(mapping<S>& which) {
  const section<S> guard{interlock_};
  if (!allows(which.rights, protection::write)) return;
  which.rights = protection::read;
  which.write_protected = true;
}

template <substrate S>
void pmap<S>::add_leaving(std::uint64_t first, std::uint64_t last, std::pmr::vector<mapping<S>*>& to) {
  for (auto* entry : leaving_) {
    const auto at = static_cast<pv_entry<S>*>(entry)->virtual_page;
    if (at < first || last <= at || !entry->live()) continue;
    entry->target->users.add();
    to.push_back(entry);
  }
}

template <substrate S>
void pmap<S>::remove_translation(mapping<S>& which) {
  const section<S> guard{interlock_};
  auto& ptes = S::change(ptes_);
  const auto at = ptes.find(static_cast<pv_entry<S>&>(which).virtual_page);
  if (at == ptes.end() || at->second != &which) return;
  ptes.erase(at);
  std::erase_if(leaving_, [](const mapping<S>* entry) { return !entry->live(); });
  leaving_.push_back(&which);
}

template <substrate S>
void pmap<S>::remove_all(page<S>& m) {
  if (!m.faulted_on) return;
  bool any = false;
  S::end_accesses(*m.bytes,
                  [&] {  // the pv list lock: ordered with a removal elsewhere that ends in a shootdown
                    any = std::any_of(m.mappings.begin(), m.mappings.end(),
                                      [](const auto* entry) { return entry->live(); });
                  });
  if (!any) return;
  for (auto* entry : m.mappings) {
    if (entry->live()) static_cast<pv_entry<S>*>(entry)->owner.remove_translation(*entry);
  }
  shoot_down(m, m.mappings);
}

}  // namespace faultline::vm

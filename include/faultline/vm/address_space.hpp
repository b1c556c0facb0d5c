// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What a process has mapped: vm_map. Entries do not overlap, and lie in address order.
///
/// May sleep: read_lock(), map(), unmap(), protect(), as "vmmap"; map() and unmap() also as "vmopar", without the lock, when an
/// object goes with its last mapping.  Lock order: after the vnode lock, before object and pmap. The fault handler drops it
/// before it asks for a vnode, and only tries it afterwards.
/// Source: FreeBSD sys/vm/vm_map.c (vm_map_lookup, vm_map_fixed, vm_map_delete, vm_map_process_deferred, vm_map_protect;
/// vm_map_lock increments the timestamp). An object's shadow is made with the mapping, not at the first write.
#include <faultline/core/errc.hpp>
#include <faultline/sim/basic_rules.hpp>
#include <faultline/substrate/concept.hpp>
#include <faultline/vm/object.hpp>
#include <faultline/vm/pmap.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace faultline::vm {

/// vm_map_entry: addresses [first, last) show bytes of `object` from `offset`. It has a reference to the object.
template <substrate S>
struct map_entry {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  vm_object<S>* object = nullptr;
  std::uint64_t offset = 0;
  protection rights = protection::none;
  protection rights_max = protection::read_write;  ///< what protect() may give

  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const noexcept {
    return offset + (address - first);
  }
};

/// What to map, and where.
template <substrate S>
struct map_request {
  std::optional<user_address> where{};  ///< a multiple of the page size; none: the first free address
  bool replace = true;                  ///< MAP_FIXED; else MAP_FIXED_NOREPLACE (MAP_EXCL)
  std::uint64_t size = 0;               ///< bytes; rounded up to pages
  vm_object<S>* object = nullptr;       ///< null: anonymous memory, of zeros
  std::uint64_t offset = 0;             ///< into the object, bytes, a multiple of the page size
  protection rights = protection::read_write;
  protection rights_max = protection::read_write;
  bool private_copy = false;  ///< MAP_PRIVATE: pages are copied when they are first written
};

/// What is the same for all address spaces of a kernel.
template <substrate S>
struct map_environment {
  std::size_t page_size = 4096;  ///< bytes; a power of two
  std::size_t entries_max = 65530;
  bool reclaim = false;  ///< pages may be taken away (vm/pageout.hpp)
  page<S>* zero_page =
      nullptr;  ///< shown to reads of untouched anonymous memory; null: they get pages of their own
};

template <substrate S>
class address_space {
 public:
  static constexpr std::uint64_t user_max = std::uint64_t{1} << 47U;

  /// \param name  of the process, lives as long as the run
  address_space(const char* name, const map_environment<S>& around)
      : pm(name),
        name_(name),
        around_(around),
        lock_(sim::the_shared_rule, "vmmap", name),
        entries_(std::pmr::vector<map_entry<S>>(&S::memory())),
        every_object_(&S::memory()) {}
  address_space(const address_space&) = delete;
  address_space& operator=(const address_space&) = delete;

  void read_lock() { lock_.acquire({.how = access::shared}); }
  [[nodiscard]] bool try_read_lock() { return lock_.try_acquire({.how = access::shared}); }
  void read_unlock() { lock_.release(); }

  /// \pre the map is locked
  [[nodiscard]] std::optional<map_entry<S>> lookup(user_address at) const;
  /// Changes whenever entries may have. \pre the map is locked
  [[nodiscard]] std::uint32_t timestamp() const { return S::get(timestamp_); }

  /// Neighbours picked by the kernel leave one page unmapped between them.
  /// \errors ENOMEM (no room, or too many entries), EEXIST (something is mapped there and may not be replaced)
  [[nodiscard]] result<user_address> map(const map_request<S>& wanted);
  /// Unmaps [first, last): splits entries that lie partly in it. Nothing mapped there is no error.
  /// \errors ENOMEM: a split would be an entry too many; nothing changed
  errc unmap(user_address first, user_address last);
  /// Gives [first, last) other rights. All or nothing.
  /// \errors ENOMEM (a part is not mapped, or too many entries), EACCES (more than the mapping was made for)
  errc protect(user_address first, user_address last, protection rights);

  [[nodiscard]] std::size_t page_size() const noexcept { return around_.page_size; }
  [[nodiscard]] page<S>* zero_page() const noexcept { return around_.zero_page; }
  [[nodiscard]] std::uint64_t page_of(user_address at) const noexcept { return raw(at) / page_size(); }
  [[nodiscard]] std::uint64_t round_page(std::uint64_t bytes) const noexcept {
    return (bytes + page_size() - 1) / page_size() * page_size();
  }
  /// Held by anybody: for checks at quiescence.
  [[nodiscard]] bool locked() const { return lock_.held(); }
  /// As lookup(), at quiescence.
  [[nodiscard]] std::optional<map_entry<S>> peek(user_address at) const {
    return search(S::peek(entries_), raw(at));
  }
  /// At quiescence: the anonymous objects that are or were mapped here.
  [[nodiscard]] const std::pmr::vector<vm_object<S>*>& every_object() const noexcept { return every_object_; }

  pmap<S> pm;

 private:
  using entries = std::pmr::vector<map_entry<S>>;
  static std::optional<map_entry<S>> search(const entries& in, std::uint64_t address) {
    for (const auto& e : in) {
      if (e.first <= address && address < e.last) return e;
    }
    return std::nullopt;
  }
  // The caller of all of these holds the lock exclusively.
  [[nodiscard]] bool entry_limit_bears(const entries& all, std::uint64_t first, std::uint64_t last,
                                       std::size_t more) const;
  [[nodiscard]] std::uint64_t find_space(const entries& all, std::uint64_t size) const;
  [[nodiscard]] vm_object<S>& make_object(const map_request<S>& wanted, std::uint64_t size);
  void clip(entries& all, std::uint64_t at);
  void carve(entries& all, std::uint64_t first, std::uint64_t last);
  void lock() {
    lock_.acquire({.how = access::exclusive});
    S::set(timestamp_, S::get(timestamp_) + 1);
  }
  void unlock();

  const char* name_;
  map_environment<S> around_;
  sub::spec_lock<S> lock_;        // sx(9): readers are not held back by waiting writers
  sub::var<S, entries> entries_;  // guarded by lock_, as all below
  sub::var<S, std::uint32_t> timestamp_{0U};
  std::pmr::vector<vm_object<S>*> deferred_{
      &S::memory()};  // td_map_def_user: to be deallocated without the lock
  std::pmr::vector<vm_object<S>*> every_object_;
};

template <substrate S>
std::optional<map_entry<S>> address_space<S>::lookup(user_address at) const {
  return search(S::get(entries_), raw(at));
}

template <substrate S>
void address_space<S>::unlock() {
  if (deferred_.empty()) {
    lock_.release();
    return;
  }
  std::pmr::vector<vm_object<S>*> gone(std::move(deferred_), &S::memory());
  deferred_.clear();
  lock_.release();
  for (auto* object : gone) object->deallocate();
}

template <substrate S>
result<user_address> address_space<S>::map(const map_request<S>& wanted) {
  const auto size = round_page(wanted.size);
  lock();
  auto& all = S::change(entries_);
  const auto first = wanted.where ? raw(*wanted.where) : find_space(all, size);
  const bool room = size <= user_max && first <= user_max - size;
  const bool taken = room && wanted.where && !wanted.replace &&
                     std::any_of(all.begin(), all.end(),
                                 [&](const auto& e) { return e.first < first + size && first < e.last; });
  errc error = errc::ok;
  if (taken) {
    error = errc::eexist;
  } else if (!room || !entry_limit_bears(all, first, first + size, 1)) {
    error = errc::enomem;
  }
  if (error == errc::ok) {
    carve(all, first, first + size);
    auto& object = make_object(wanted, size);
    object.reference();
    const auto after = std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.first > first; });
    all.insert(after, {.first = first,
                       .last = first + size,
                       .object = &object,
                       .offset = &object == wanted.object ? wanted.offset : 0,
                       .rights = wanted.rights,
                       .rights_max = wanted.rights_max});
  }
  unlock();
  if (error != errc::ok) return error;
  return user_address{first};
}

template <substrate S>
std::uint64_t address_space<S>::find_space(const entries& all, std::uint64_t size) const {
  std::uint64_t first = 16 * page_size();
  for (const auto& e : all) {
    if (e.first >= first && e.first - first >= size + page_size()) break;
    first = std::max(first, e.last + page_size());
  }
  return first;
}

/// The object that is mapped: the file's, a shadow before it, or new anonymous memory.
template <substrate S>
vm_object<S>& address_space<S>::make_object(const map_request<S>& wanted, std::uint64_t size) {
  if (wanted.object != nullptr && !wanted.private_copy) return *wanted.object;
  char shown[96];
  std::snprintf(shown, sizeof shown, "%s.%s%zu", name_, wanted.object != nullptr ? "copy" : "anon",
                every_object_.size());
  auto* object = S::template make<vm_object<S>>(page_size(), S::keep(shown), size / page_size(),
                                                static_cast<pager<S>*>(nullptr), around_.reclaim);
  if (wanted.object != nullptr) object->shadow(*wanted.object, page_index{wanted.offset / page_size()});
  every_object_.push_back(object);
  return *object;
}

template <substrate S>
errc address_space<S>::unmap(user_address first, user_address last) {
  lock();
  auto& all = S::change(entries_);
  const bool fits = entry_limit_bears(all, raw(first), raw(last), 0);
  if (fits) carve(all, raw(first), raw(last));
  unlock();
  return fits ? errc::ok : errc::enomem;
}

template <substrate S>
errc address_space<S>::protect(user_address first, user_address last, protection rights) {
  lock();
  auto& all = S::change(entries_);
  auto reached = raw(first);
  std::size_t pieces = 0;
  errc error = errc::ok;
  for (const auto& e : all) {
    if (e.last <= reached || e.first >= raw(last)) continue;
    if (e.first > reached) break;
    reached = e.last;
    ++pieces;
    if (!allows(e.rights_max, rights)) error = errc::eacces;
  }
  const bool mapped = reached >= raw(last);
  if (!mapped || (error == errc::ok && !entry_limit_bears(all, raw(first), raw(last), pieces)))
    error = errc::enomem;
  if (error == errc::ok && first < last) {
    clip(all, raw(first));
    clip(all, raw(last));
    for (auto& e : all) {
      if (raw(first) <= e.first && e.last <= raw(last)) e.rights = rights;
    }
    pm.protect(page_of(first), page_of(last), rights);
  }
  unlock();
  return error;
}

/// Would there be few enough entries if [first, last) were cut out, and `more` put in?
template <substrate S>
bool address_space<S>::entry_limit_bears(const entries& all, std::uint64_t first, std::uint64_t last,
                                         std::size_t more) const {
  if (all.size() + more + 1 <= around_.entries_max) return true;
  std::size_t after = more;
  for (const auto& e : all) {
    const bool apart = e.last <= first || last <= e.first;
    after += apart ? 1U : (e.first < first ? 1U : 0U) + (last < e.last ? 1U : 0U);
  }
  return after <= around_.entries_max || after <= all.size();
}

/// vm_map_clip_start: afterwards no entry has `at` inside.
template <substrate S>
void address_space<S>::clip(entries& all, std::uint64_t at) {
  const auto split =
      std::find_if(all.begin(), all.end(), [at](const auto& e) { return e.first < at && at < e.last; });
  if (split == all.end()) return;
  auto rest = *split;
  rest.first = at;
  rest.offset = split->offset_of(at);
  rest.object->reference();
  split->last = at;
  all.insert(std::next(split), rest);
}

template <substrate S>
void address_space<S>::carve(entries& all, std::uint64_t first, std::uint64_t last) {
  clip(all, first);
  clip(all, last);
  const auto inside = [&](const auto& e) { return first <= e.first && e.last <= last; };
  const auto begin = std::find_if(all.begin(), all.end(), inside);
  const auto end = std::find_if_not(begin, all.end(), inside);
  if (begin == end) return;
  for (auto e = begin; e != end; ++e) deferred_.push_back(e->object);
  all.erase(begin, end);
  pm.remove(first / page_size(), last / page_size());
}

}  // namespace faultline::vm

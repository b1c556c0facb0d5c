// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What a process has mapped: vm_map. Entries do not overlap, and lie in address order.
///
/// May sleep: read_lock(), map(), unmap(), as "vmmap".  Lock order: after the vnode lock, before object and pmap. The fault
/// handler drops it before it asks for a vnode, and only tries it afterwards.
/// Source: FreeBSD sys/vm/vm_map.c (vm_map_lookup, vm_map_fixed, vm_map_delete; vm_map_lock increments the timestamp).
#include <faultline/core/errc.hpp>
#include <faultline/sim/basic_rules.hpp>
#include <faultline/substrate/concept.hpp>
#include <faultline/vm/object.hpp>
#include <faultline/vm/pmap.hpp>

#include <optional>

namespace faultline::vm {

/// vm_map_entry: addresses [first, last) show bytes of `object` from `offset`.
template <substrate S>
struct map_entry {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  vm_object<S>* object = nullptr;
  std::uint64_t offset = 0;
  protection rights = protection::none;

  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const noexcept {
    return offset + (address - first);
  }
};

template <substrate S>
class address_space {
 public:
  static constexpr std::uint64_t user_max = std::uint64_t{1} << 47U;

  /// \param name  of the process, lives as long as the run
  /// \param page_size  bytes; a power of two
  address_space(const char* name, std::size_t page_size)
      : pm(name),
        page_size_(page_size),
        lock_(sim::the_shared_rule, "vmmap", name),
        entries_(std::pmr::vector<map_entry<S>>(&S::memory())) {}
  address_space(const address_space&) = delete;
  address_space& operator=(const address_space&) = delete;

  void read_lock() { lock_.acquire({.how = access::shared}); }
  [[nodiscard]] bool try_read_lock() { return lock_.try_acquire({.how = access::shared}); }
  void read_unlock() { lock_.release(); }

  /// \pre the map is locked
  [[nodiscard]] std::optional<map_entry<S>> lookup(user_address at) const;
  /// Changes whenever entries may have. \pre the map is locked
  [[nodiscard]] std::uint32_t timestamp() const { return S::get(timestamp_); }

  /// Maps `size` bytes of an object. Neighbours picked by the kernel leave one page unmapped between them.
  /// \param where  replaces what is mapped there (MAP_FIXED); nothing: the first free address
  /// \errors ENOMEM
  [[nodiscard]] result<user_address> map(std::optional<user_address> where, std::uint64_t size,
                                         vm_object<S>& object, std::uint64_t offset, protection rights);
  /// Unmaps [first, last): splits entries that lie partly in it. Nothing mapped there is no error.
  void unmap(user_address first, user_address last);

  [[nodiscard]] std::size_t page_size() const noexcept { return page_size_; }
  [[nodiscard]] std::uint64_t page_of(user_address at) const noexcept { return raw(at) / page_size_; }
  [[nodiscard]] std::uint64_t round_page(std::uint64_t bytes) const noexcept {
    return (bytes + page_size_ - 1) / page_size_ * page_size_;
  }
  /// Held by anybody: for checks at quiescence.
  [[nodiscard]] bool locked() const { return lock_.held(); }
  /// As lookup(), at quiescence.
  [[nodiscard]] std::optional<map_entry<S>> peek(user_address at) const {
    return search(S::peek(entries_), raw(at));
  }

  pmap<S> pm;

 private:
  using entries = std::pmr::vector<map_entry<S>>;
  static std::optional<map_entry<S>> search(const entries& in, std::uint64_t address) {
    for (const auto& e : in) {
      if (e.first <= address && address < e.last) return e;
    }
    return std::nullopt;
  }
  void carve(entries& all, std::uint64_t first, std::uint64_t last);  // caller holds the lock exclusively

  std::size_t page_size_;
  sub::spec_lock<S> lock_;                    // sx(9): readers are not held back by waiting writers
  sub::var<S, entries> entries_;              // guarded by lock_
  sub::var<S, std::uint32_t> timestamp_{0U};  // guarded by lock_
};

template <substrate S>
std::optional<map_entry<S>> address_space<S>::lookup(user_address at) const {
  return search(S::get(entries_), raw(at));
}

template <substrate S>
result<user_address> address_space<S>::map(std::optional<user_address> where, std::uint64_t size,
                                           vm_object<S>& object, std::uint64_t offset, protection rights) {
  size = round_page(size);
  lock_.acquire({.how = access::exclusive});
  S::set(timestamp_, S::get(timestamp_) + 1);
  auto& all = S::change(entries_);
  std::uint64_t first = 16 * page_size_;
  if (where) {
    first = raw(*where);
  } else {
    for (const auto& e : all) {
      if (e.first >= first && e.first - first >= size + page_size_) break;
      first = std::max(first, e.last + page_size_);
    }
  }
  const bool fits = size <= user_max && first <= user_max - size;
  if (fits) {
    if (where) carve(all, first, first + size);
    const auto after = std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.first > first; });
    all.insert(after,
               {.first = first, .last = first + size, .object = &object, .offset = offset, .rights = rights});
  }
  lock_.release();
  if (!fits) return errc::enomem;
  return user_address{first};
}

template <substrate S>
void address_space<S>::unmap(user_address first, user_address last) {
  lock_.acquire({.how = access::exclusive});
  S::set(timestamp_, S::get(timestamp_) + 1);
  carve(S::change(entries_), raw(first), raw(last));
  lock_.release();
}

template <substrate S>
void address_space<S>::carve(entries& all, std::uint64_t first, std::uint64_t last) {
  bool any = false;
  for (std::size_t i = 0; i < all.size();) {
    auto& e = all[i];
    if (e.last <= first || last <= e.first) {
      ++i;
      continue;
    }
    any = true;
    const auto whole = e;
    auto next = all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    if (last < whole.last) {
      next = all.insert(next, {last, whole.last, whole.object, whole.offset_of(last), whole.rights});
    }
    if (whole.first < first) {
      all.insert(next, {whole.first, first, whole.object, whole.offset, whole.rights});
      ++i;
    }
    if (last < whole.last) break;
  }
  if (any) pm.remove(first / page_size_, last / page_size_);
}

}  // namespace faultline::vm

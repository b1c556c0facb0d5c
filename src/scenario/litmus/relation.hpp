// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Relations and sets of at most 64 events, as bits.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace faultline::scenario::litmus {

inline constexpr std::size_t events_max = 64;

using event_set = std::uint64_t;

template <class F>
void for_each(event_set set, F&& f) {
  for (; set != 0; set &= set - 1) f(static_cast<std::size_t>(std::countr_zero(set)));
}

class relation {
 public:
  explicit relation(std::size_t events) noexcept : size_(events) {}

  void add(std::size_t from, std::size_t to) noexcept { rows_[from] |= event_set{1} << to; }
  [[nodiscard]] bool has(std::size_t from, std::size_t to) const noexcept {
    return ((rows_[from] >> to) & 1U) != 0;
  }
  [[nodiscard]] event_set after(std::size_t event) const noexcept { return rows_[event]; }

  friend relation operator|(relation a, const relation& b) noexcept {
    for (std::size_t i = 0; i < a.size_; ++i) a.rows_[i] |= b.rows_[i];
    return a;
  }
  /// a, then b.
  friend relation operator*(const relation& a, const relation& b) noexcept {
    relation out(a.size_);
    for (std::size_t i = 0; i < a.size_; ++i)
      for_each(a.rows_[i], [&](std::size_t k) { out.rows_[i] |= b.rows_[k]; });
    return out;
  }
  /// Only the pairs that begin in `from` and end in `to`.
  [[nodiscard]] relation between(event_set from, event_set to) const noexcept {
    relation out(size_);
    for_each(from, [&](std::size_t i) { out.rows_[i] = rows_[i] & to; });
    return out;
  }
  [[nodiscard]] relation inverse() const noexcept {
    relation out(size_);
    for (std::size_t i = 0; i < size_; ++i) for_each(rows_[i], [&](std::size_t k) { out.add(k, i); });
    return out;
  }
  /// Transitive.
  [[nodiscard]] relation closure() const noexcept {
    relation out = *this;
    for (std::size_t k = 0; k < size_; ++k) {
      for (std::size_t i = 0; i < size_; ++i) {
        if (out.has(i, k)) out.rows_[i] |= out.rows_[k];
      }
    }
    return out;
  }
  /// This, and every event of `set` related to itself.
  [[nodiscard]] relation with_itself(event_set set) const noexcept {
    relation out = *this;
    for_each(set, [&](std::size_t i) { out.add(i, i); });
    return out;
  }
  [[nodiscard]] bool irreflexive() const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if (has(i, i)) return false;
    }
    return true;
  }
  [[nodiscard]] bool acyclic() const noexcept { return closure().irreflexive(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::size_t size_;
  std::array<event_set, events_max> rows_{};
};

}  // namespace faultline::scenario::litmus

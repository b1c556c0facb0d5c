// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Quantities that must not be mixed up.
#include <compare>
#include <cstdint>
#include <limits>

namespace faultline {

/// Bytes [first, last) of a file: half open, so adjacent ranges do not meet.
struct byte_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  static constexpr std::uint64_t off_max =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  /// The range of a truncation, an append, or a write with implicit offset: [0, OFF_MAX).
  static constexpr byte_range whole() noexcept { return {0, off_max}; }

  [[nodiscard]] constexpr bool overlaps(const byte_range& other) const noexcept {
    return first < other.last && other.first < last;
  }
  friend constexpr bool operator==(const byte_range&, const byte_range&) = default;
};

/// How a lock, a range or a page is taken.
enum class access : std::uint8_t { shared, exclusive };

/// Number of a page in its object, from 0.
enum class page_index : std::uint64_t {};
[[nodiscard]] constexpr std::uint64_t raw(page_index i) noexcept { return static_cast<std::uint64_t>(i); }

/// Number of a descriptor, from 0.
enum class fd_number : int {};
[[nodiscard]] constexpr int raw(fd_number fd) noexcept { return static_cast<int>(fd); }

/// A virtual address of a modelled process.
enum class user_address : std::uint64_t {};
[[nodiscard]] constexpr std::uint64_t raw(user_address a) noexcept { return static_cast<std::uint64_t>(a); }
[[nodiscard]] constexpr user_address operator+(user_address a, std::uint64_t n) noexcept {
  return user_address{raw(a) + n};
}

}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What a mapping allows, and how a fault went.
#include <cstdint>

namespace faultline::vm {

/// VM_PROT_*: a set of rights.
enum class protection : std::uint8_t { none = 0, read = 1, write = 2, read_write = 3 };

/// Does `have` contain every right of `wanted`? A writable page is readable (as on amd64).
[[nodiscard]] constexpr bool allows(protection have, protection wanted) noexcept {
  const auto bits = static_cast<unsigned>(have) | ((static_cast<unsigned>(have) & 2U) >> 1U);
  return (static_cast<unsigned>(wanted) & ~bits) == 0;
}

/// The same rights but to store.
[[nodiscard]] constexpr protection without_write(protection have) noexcept {
  return allows(have, protection::read) ? protection::read : protection::none;
}

/// KERN_* results of a page fault.
enum class [[nodiscard]] fault_result : std::uint8_t{
    success,
    invalid_address,     ///< nothing is mapped there: SIGSEGV
    protection_failure,  ///< the mapping does not allow it: SIGSEGV
    out_of_bounds,       ///< mapped, but past the end of the object: SIGBUS
    pager_error,         ///< the device failed: SIGBUS
};

}  // namespace faultline::vm

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A transfer between a file and memory, and how far it got.
///
/// Source: FreeBSD sys/sys/uio.h, sys/kern/subr_uio.c (cloneuio), sys/kern/vfs_vnops.c.
#include <faultline/core/units.hpp>

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <span>
#include <vector>

namespace faultline::vfs {

/// A piece of a buffer in user memory.
struct iovec {
  user_address base{};
  std::uint64_t size = 0;
};

enum class uio_direction : std::uint8_t { read, write };  ///< read: from the file to memory
enum class uio_segment : std::uint8_t { userspace, sysspace };

struct uio {
  explicit uio(std::pmr::memory_resource& memory) : iov(&memory) {}

  std::pmr::vector<iovec> iov;  ///< pieces not yet consumed begin at `next`
  std::size_t next = 0;
  std::uint64_t offset = 0;
  std::uint64_t resid = 0;  ///< bytes still to do
  uio_direction direction = uio_direction::read;
  uio_segment segment = uio_segment::userspace;
  std::span<std::byte> kernel{};  ///< sysspace: the rest of the kernel's buffer

  /// Skips empty pieces. \returns the present piece, or null where there is none: resid and iovec disagree
  [[nodiscard]] iovec* piece() noexcept {
    while (next < iov.size() && iov[next].size == 0) ++next;
    return next < iov.size() ? &iov[next] : nullptr;
  }

  /// `n` bytes were done: a uiomove without a copy. \pre n <= resid
  void advance(std::uint64_t n) noexcept {
    offset += n;
    resid -= n;
    if (segment == uio_segment::sysspace) {
      kernel = kernel.subspan(static_cast<std::size_t>(n));
      return;
    }
    while (n > 0) {
      iovec* at = piece();
      if (at == nullptr) return;
      const auto part = std::min(n, at->size);
      at->base = at->base + part;
      at->size -= part;
      n -= part;
    }
  }

  /// cloneuio: the same transfer, to be redone from here.
  [[nodiscard]] uio clone() const {
    uio copy{*iov.get_allocator().resource()};
    copy.iov.assign(iov.begin() + static_cast<std::ptrdiff_t>(next), iov.end());
    copy.offset = offset;
    copy.resid = resid;
    copy.direction = direction;
    copy.segment = segment;
    copy.kernel = kernel;
    return copy;
  }
};

}  // namespace faultline::vfs

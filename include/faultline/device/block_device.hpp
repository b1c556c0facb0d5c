// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A disk: blocks of one page each, read and written whole.
#include <faultline/core/errc.hpp>
#include <faultline/substrate/concept.hpp>

namespace faultline::device {

/// Number of a block, from 0.
enum class block_number : std::uint64_t {};
[[nodiscard]] constexpr std::uint64_t raw(block_number b) noexcept { return static_cast<std::uint64_t>(b); }

template <substrate S>
class block_device {
 public:
  block_device(const block_device&) = delete;
  block_device& operator=(const block_device&) = delete;

  /// Fills a page from a block. May sleep, for the device.
  /// \errors EIO
  virtual errc read(block_number from, sub::racy_bytes<S>& page) = 0;
  /// Writes a page to a block. May sleep, for the device.
  /// \errors EIO
  virtual errc write(block_number to, const sub::racy_bytes<S>& page) = 0;
  /// What the block holds: for set-up and checks at quiescence.
  [[nodiscard]] virtual std::span<const std::byte> peek(block_number at) const = 0;
  /// Takes an unused block, of zeros. Does not sleep.
  /// \errors ENOSPC
  virtual result<block_number> allocate() = 0;
  /// Takes an unused block and fills it; bytes beyond `contents` are zero. For set-up. \pre there is one
  virtual block_number add(std::span<const std::byte> contents) = 0;

 protected:
  block_device() = default;
  ~block_device() = default;  // never deleted: model objects are the run's
};

}  // namespace faultline::device

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A disk in memory, without latency under the explorer: time is only order.
#include <faultline/device/block_device.hpp>

#include <cstdio>
#include <vector>

namespace faultline::device {

template <substrate S>
class ram_disk final : public block_device<S> {
 public:
  /// \param block_size  bytes of a block, one page
  explicit ram_disk(std::size_t block_size) : block_size_(block_size), blocks_(&S::memory()) {}

  errc read(block_number from, sub::racy_bytes<S>& page) override {
    S::io("bread");
    if (fail_reads_) return errc::eio;
    S::copy(page, 0, *blocks_.at(raw(from)), 0, block_size_);
    return errc::ok;
  }
  errc write(block_number to, const sub::racy_bytes<S>& page) override {
    S::io("bwrite");
    if (fail_writes_) return errc::eio;
    S::copy(*blocks_.at(raw(to)), 0, page, 0, block_size_);
    return errc::ok;
  }
  [[nodiscard]] std::span<const std::byte> peek(block_number at) const override {
    return S::peek(*blocks_.at(raw(at)));
  }

  block_number add(std::span<const std::byte> contents) override {
    char name[32];
    std::snprintf(name, sizeof name, "blk%zu", blocks_.size());
    auto* block = S::template make<sub::racy_bytes<S>>(block_size_, S::keep(name));
    S::write(*block, 0, contents);
    blocks_.push_back(block);
    return block_number{blocks_.size() - 1};
  }

  /// From now on each request of that kind ends with EIO, or no longer does. Set before the tasks run.
  void fail_reads(bool yes) noexcept { fail_reads_ = yes; }
  void fail_writes(bool yes) noexcept { fail_writes_ = yes; }

 private:
  std::size_t block_size_;
  std::pmr::vector<sub::racy_bytes<S>*> blocks_;
  bool fail_reads_ = false;
  bool fail_writes_ = false;
};

}  // namespace faultline::device

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A disk in memory, without latency under the explorer: time is only order.
#include <faultline/device/block_device.hpp>

#include <cstdio>
#include <vector>

namespace faultline::device {

/// Which requests end with EIO.
struct device_error {
  bool reads = false;
  bool writes = false;
};

template <substrate S>
class ram_disk final : public block_device<S> {
 public:
  /// \param block_size  bytes of a block, one page
  /// \param blocks_max  more: ENOSPC
  /// \param injectable  tasks may call fail(): then each request is ordered with it
  ram_disk(std::size_t block_size, std::size_t blocks_max, bool injectable)
      : block_size_(block_size), blocks_max_(blocks_max), blocks_(&S::memory()) {
    blocks_.reserve(blocks_max);  // never moves: requests read it without a lock
    if (injectable) error_lock_ = S::template make<sub::interlock<S>>("diskerror", "disk");
  }

  errc read(block_number from, sub::racy_bytes<S>& page) override {
    S::io("bread");
    if (fails().reads) return errc::eio;
    S::copy(page, 0, *blocks_[index(from)], 0, block_size_);
    return errc::ok;
  }
  errc write(block_number to, const sub::racy_bytes<S>& page) override {
    S::io("bwrite");
    if (fails().writes) return errc::eio;
    S::copy(*blocks_[index(to)], 0, page, 0, block_size_);
    return errc::ok;
  }
  [[nodiscard]] std::span<const std::byte> peek(block_number at) const override {
    return S::peek(*blocks_[index(at)]);
  }

  result<block_number> allocate() override {
    const section<S> guard{bitmap_};
    if (blocks_.size() == blocks_max_) return errc::enospc;
    char name[32];
    std::snprintf(name, sizeof name, "blk%zu", blocks_.size());
    blocks_.push_back(S::template make<sub::racy_bytes<S>>(block_size_, S::keep(name)));
    return block_number{blocks_.size() - 1};
  }
  block_number add(std::span<const std::byte> contents) override {
    const auto block = allocate();
    S::check(block.ok(), "the disk is full");
    S::write(*blocks_[index(block.value())], 0, contents);
    return block.value();
  }

  /// From now on requests of that kind end with EIO, or no longer do.
  /// \pre set-up, or the disk is injectable
  void fail(device_error which) {
    if (error_lock_ != nullptr) {
      const section<S> guard{*error_lock_};
      error_ = which;
    } else {
      error_ = which;
    }
  }

 private:
  static std::size_t index(block_number at) noexcept { return static_cast<std::size_t>(raw(at)); }
  [[nodiscard]] device_error fails() {
    if (error_lock_ == nullptr) return error_;
    const section<S> guard{*error_lock_, access::shared};
    return error_;
  }

  std::size_t block_size_;
  std::size_t blocks_max_;
  sub::interlock<S> bitmap_{"diskmap", "disk"};
  std::pmr::vector<sub::racy_bytes<S>*> blocks_;  // grows under bitmap_
  sub::interlock<S>* error_lock_ = nullptr;       // null: error_ is fixed once the tasks run
  device_error error_{};
};

}  // namespace faultline::device

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The memory of an execution: given out piece by piece, and given up as a whole.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <vector>

namespace faultline::sim {

/// What is given back is not used again before release(), so that a use after free can be told.
/// (std::pmr::monotonic_buffer_resource would do; here the usual case is inline, which short executions live by.)
class arena final : public std::pmr::memory_resource {
 public:
  arena() { more(chunk_bytes); }
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Hides the base's, which goes through a virtual function.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) {
    const auto at = (next_ + alignment - 1) & ~(std::uintptr_t{alignment} - 1);
    if (at + bytes > end_) [[unlikely]]
      return in_another_chunk(bytes, alignment);
    next_ = at + bytes;
    return reinterpret_cast<void*>(at);
  }
  [[nodiscard]] bool owns(const void* what) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(what);
    return std::any_of(chunks_.begin(), chunks_.end(), [at](const chunk& c) {
      return at - reinterpret_cast<std::uintptr_t>(c.bytes.get()) < c.size;
    });
  }
  /// All that was given out is nobody's now.
  void release() noexcept {
    if (chunks_.size() > 1) chunks_.resize(1);
    begin(chunks_.front());
  }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20U;
  struct chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };

  void* do_allocate(std::size_t bytes, std::size_t alignment) override { return allocate(bytes, alignment); }
  void do_deallocate(void*, std::size_t, std::size_t) noexcept override {}
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
  void* in_another_chunk(std::size_t bytes, std::size_t alignment) {
    more(std::max(2 * chunks_.back().size, bytes + alignment));
    return allocate(bytes, alignment);
  }
  void more(std::size_t bytes) {
    chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(bytes), bytes});
    begin(chunks_.back());
  }
  void begin(const chunk& c) noexcept {
    next_ = reinterpret_cast<std::uintptr_t>(c.bytes.get());
    end_ = next_ + c.size;
  }

  std::vector<chunk> chunks_;
  std::uintptr_t next_ = 0;
  std::uintptr_t end_ = 0;
};

}  // namespace faultline::sim

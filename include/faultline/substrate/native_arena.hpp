// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The memory of a native run: native::arena.
#include <faultline/substrate/race_detector.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <mutex>
#include <new>
#include <utility>

namespace faultline {

/// While it lives it is native::memory() of the thread that made it, and of the threads that one who has it spawns. What
/// was allocated and not given back is freed with it, and no destructor is run: all that such objects own must come from
/// native::memory() too, as what the explorer's tasks own comes from its arena. So a kernel, which nobody takes apart, leaks
/// nothing.
///
/// Each allocation is one of operator new, so that sanitizers see the use of what was given back. For ThreadSanitizer
/// allocations do not order the threads that make them.
/// \pre destroyed by its maker, the last made first, when the other threads that had it have ended
class native_arena final : public std::pmr::memory_resource {
 public:
  native_arena() noexcept : before_(std::exchange(current_, this)) { all_.next = all_.previous = &all_; }
  native_arena(const native_arena&) = delete;
  native_arena& operator=(const native_arena&) = delete;
  ~native_arena() {
    if (current_ != this) {
      std::fputs("faultline: an arena is destroyed that is not the thread's latest one\n", stderr);
      std::abort();
    }
    current_ = before_;
    while (all_.next != &all_) {
      block& b = *all_.next;
      take_out(b);
      free(b);
    }
  }

  /// Allocations that were not given back.
  [[nodiscard]] std::size_t size() const {
    const race_detector::unseen insides;
    const std::scoped_lock guard(guard_);
    return size_;
  }

  /// The thread's latest one, or null.
  [[nodiscard]] static native_arena* current() noexcept { return current_; }
  /// For a thread's start. \param of_spawner  may be null
  static void inherit(native_arena* of_spawner) noexcept { current_ = of_spawner; }

 private:
  /// Ends where the allocation begins.
  struct block {
    block* next = nullptr;
    block* previous = nullptr;
    std::size_t room = 0;  // bytes from what operator new gave to the end of this
    std::align_val_t alignment{1};
  };
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const auto align = std::max(alignment, alignof(block));
    const auto room = (sizeof(block) + align - 1) / align * align;
    auto* const start = static_cast<std::byte*>(::operator new (room + bytes, std::align_val_t{align}));
    const race_detector::unseen insides;
    auto* const b =
        ::new (start + (room - sizeof(block))) block{.room = room, .alignment = std::align_val_t{align}};
    const std::scoped_lock guard(guard_);
    b->next = all_.next;
    b->previous = &all_;
    all_.next->previous = b;
    all_.next = b;
    ++size_;
    return start + room;
  }
  void do_deallocate(void* at, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
    block& b = *(static_cast<block*>(at) - 1);
    {
      const race_detector::unseen insides;
      const std::scoped_lock guard(guard_);
      take_out(b);
    }
    free(b);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
  void take_out(block& b) noexcept {
    b.next->previous = b.previous;
    b.previous->next = b.next;
    --size_;
  }
  static void free(block& b) noexcept {
    std::align_val_t alignment{};
    std::byte* start = nullptr;
    {
      const race_detector::unseen insides;
      alignment = b.alignment;
      start = reinterpret_cast<std::byte*>(&b + 1) - b.room;
    }
    ::operator delete(start, alignment);
  }

  static constinit inline thread_local native_arena* current_ = nullptr;

  native_arena* before_;
  mutable std::mutex guard_;  // leaf; guards what follows
  block all_;                 // a ring
  std::size_t size_ = 0;
};

}  // namespace faultline

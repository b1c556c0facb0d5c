// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Fibers on pooled stacks. The only place that sees Boost.Context.
///
/// An unfinished fiber is abandoned, never unwound: its handle is forgotten and its stack is used again. So nothing
/// here may own a resource that only a task's destructors give back.
#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define FAULTLINE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAULTLINE_ASAN 1
#endif
#endif
#ifdef FAULTLINE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace faultline::sim {

/// A suspended flow of control: a task's, or the host thread's own.
class fiber {
 public:
#ifdef FAULTLINE_ASAN
  static constexpr std::size_t stack_bytes = std::size_t{1} << 20U;
#else
  static constexpr std::size_t stack_bytes = std::size_t{1} << 17U;
#endif

  fiber() noexcept { forget(); }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber() {
    if (stack_.sp != nullptr) boost::context::protected_fixedsize_stack(stack_bytes).deallocate(stack_);
  }

  /// Makes the fiber ready to run `entry(argument)` from the start. `entry` must never return. What the fiber was doing is
  /// abandoned; but one that set_idle() before it last left simply goes on from there, with the entry it had.
  void start(void (*entry)(void*), void* argument) {
    if (std::exchange(idle_, false)) return;
    if (stack_.sp == nullptr) stack_ = boost::context::protected_fixedsize_stack(stack_bytes).allocate();
    forget();
#ifdef FAULTLINE_ASAN
    __asan_unpoison_memory_region(static_cast<char*>(stack_.sp) - stack_.size, stack_.size);
    fake_stack_ = nullptr;
#endif
    ::new (handle_) boost::context::fiber(
        std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_), keep_stack{},
        [this, entry, argument](boost::context::fiber&& caller) {
          store(std::move(caller));
          arrived(*this);
          entry(argument);
          return boost::context::fiber{};
        });
  }

  void set_idle() noexcept { idle_ = true; }

  /// Suspends the present flow of control as `from` and goes on with `to`. Returns when somebody switches to `from`.
  [[gnu::always_inline]] static void transfer(fiber& from, fiber& to) {
    boost::context::fiber target = std::move(to.handle());
    leaving(from, to);
    last_left_ = &from;
    store(std::move(target).resume());
    arrived(from);
  }

 private:
  struct keep_stack {
    using traits_type = boost::context::stack_traits;
    boost::context::stack_context allocate() { return {}; }
    void deallocate(boost::context::stack_context&) noexcept {}
  };

  /// Who arrives gets the handle of who left, and keeps it for them.
  static void store(boost::context::fiber&& left) noexcept {
    ::new (last_left_->handle_) boost::context::fiber(std::move(left));
  }
  boost::context::fiber& handle() noexcept {
    return *std::launder(reinterpret_cast<boost::context::fiber*>(handle_));
  }
  /// Drops the handle without running its destructor, which would unwind the fiber.
  void forget() noexcept { ::new (handle_) boost::context::fiber; }

#ifdef FAULTLINE_ASAN
  static void leaving(fiber& from, fiber& to) {
    const void* bottom =
        to.stack_.sp != nullptr ? static_cast<char*>(to.stack_.sp) - to.stack_.size : to.bottom_;
    const std::size_t size = to.stack_.sp != nullptr ? to.stack_.size : to.size_;
    __sanitizer_start_switch_fiber(&from.fake_stack_, bottom, size);
  }
  static void arrived(fiber& here) {
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(here.fake_stack_, &bottom, &size);
    if (fiber* left = last_left_;
        left->stack_.sp == nullptr) {  // the host thread's own stack: learnt on the way
      left->bottom_ = bottom;
      left->size_ = size;
    }
  }
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
#else
  static void leaving(fiber&, fiber&) noexcept {}
  static void arrived(fiber&) noexcept {}
#endif

  alignas(boost::context::fiber) std::byte handle_[sizeof(boost::context::fiber)];
  boost::context::stack_context stack_{};
  static inline constinit thread_local fiber* last_left_ = nullptr;
  bool idle_ = false;
};

}  // namespace faultline::sim

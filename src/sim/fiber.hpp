// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Fibers on pooled stacks. The only place that sees Boost.Context.
///
/// An unfinished fiber is abandoned, never unwound: its handle is forgotten and its stack is used again. So nothing
/// here may own a resource that only a task's destructors give back.
#include <boost/context/detail/fcontext.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <cstddef>
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
/// (The switch itself, without boost::context::fiber around it, whose handles want to be unwound, and cost as much again.)
class fiber {
 public:
#ifdef FAULTLINE_ASAN
  static constexpr std::size_t stack_bytes = std::size_t{1} << 20U;
#else
  static constexpr std::size_t stack_bytes = std::size_t{1} << 17U;
#endif

  fiber() = default;
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber() {
    if (stack_.sp != nullptr) boost::context::protected_fixedsize_stack(stack_bytes).deallocate(stack_);
  }

  /// Makes the fiber ready to run `entry(argument)` from the start. `entry` must never return. What the fiber was doing is
  /// abandoned; but one that set_idle() before it last left simply goes on from there, with the entry it had.
  /// \param colour  bytes of the stack that are left free at its beginning, a multiple of 64: fibers that stand at the same
  ///                place of their stacks would share few sets of the first-level cache
  void start(void (*entry)(void*), void* argument, std::size_t colour) {
    if (std::exchange(idle_, false)) return;
    if (stack_.sp == nullptr) stack_ = boost::context::protected_fixedsize_stack(stack_bytes).allocate();
#ifdef FAULTLINE_ASAN
    __asan_unpoison_memory_region(static_cast<char*>(stack_.sp) - stack_.size, stack_.size);
    fake_stack_ = nullptr;
#endif
    entry_ = entry;
    argument_ = argument;
    stopped_at_ = boost::context::detail::make_fcontext(static_cast<char*>(stack_.sp) - colour,
                                                        stack_.size - colour, &begin);
  }

  void set_idle() noexcept { idle_ = true; }

  /// Suspends the present flow of control as `from` and goes on with `to`. Returns when somebody switches to `from`.
  [[gnu::always_inline]] static void transfer(fiber& from, fiber& to) {
    leaving(from, to);
    from.goes_to_ = &to;
    arrive(from, boost::context::detail::jump_fcontext(to.stopped_at_, &from));
  }

 private:
  using transfer_t = boost::context::detail::transfer_t;

  static void begin(transfer_t t) {
    fiber& me = *static_cast<fiber*>(t.data)->goes_to_;
    arrive(me, t);
    me.entry_(me.argument_);
  }
  /// Who arrives notes where the one who left stopped.
  [[gnu::always_inline]] static void arrive(fiber& here, const transfer_t& t) {
    auto& left = *static_cast<fiber*>(t.data);
    left.stopped_at_ = t.fctx;
    arrived(here, left);
  }

#ifdef FAULTLINE_ASAN
  static void leaving(fiber& from, fiber& to) {
    const void* bottom =
        to.stack_.sp != nullptr ? static_cast<char*>(to.stack_.sp) - to.stack_.size : to.bottom_;
    const std::size_t size = to.stack_.sp != nullptr ? to.stack_.size : to.size_;
    __sanitizer_start_switch_fiber(&from.fake_stack_, bottom, size);
  }
  static void arrived(fiber& here, fiber& left) {
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(here.fake_stack_, &bottom, &size);
    if (left.stack_.sp == nullptr) {  // the host thread's own stack: learnt on the way
      left.bottom_ = bottom;
      left.size_ = size;
    }
  }
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
#else
  static void leaving(fiber&, fiber&) noexcept {}
  static void arrived(fiber&, fiber&) noexcept {}
#endif

  boost::context::detail::fcontext_t stopped_at_ = nullptr;
  boost::context::stack_context stack_{};
  fiber* goes_to_ = nullptr;  ///< while it stands still
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool idle_ = false;
};

}  // namespace faultline::sim

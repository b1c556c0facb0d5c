// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What ThreadSanitizer is told about the native substrate. Nothing at all in other builds.
///
/// A lock that is built of a mutex and more state orders its users more than it promises: two readers that never wait for
/// each other come after each other in that mutex. ThreadSanitizer would take this for an order of what the readers do,
/// and not see them race. So the insides of such a lock are `unseen`, and a `lock_order` says which of its users come after
/// which. docs/contributing.md lists what remains unseen.
#include <faultline/core/units.hpp>

#include <cstdint>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAULTLINE_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FAULTLINE_THREAD_SANITIZER 1
#endif

#ifdef FAULTLINE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>

// Of its runtime, without a header.
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void AnnotateIgnoreSyncBegin(const char* file, int line);
void AnnotateIgnoreSyncEnd(const char* file, int line);
}
#endif

namespace faultline::race_detector {

#ifdef FAULTLINE_THREAD_SANITIZER

inline constexpr bool present = true;

/// Until its end the thread's accesses are not looked at, and what it locks orders nothing.
class unseen {
 public:
  unseen() noexcept {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
  }
  unseen(const unseen&) = delete;
  unseen& operator=(const unseen&) = delete;
  ~unseen() {
    AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
};

/// What a lock promises: a sharer comes after the exclusive holders before it, an exclusive holder after all.
class lock_order {
 public:
  void acquired(access how) const noexcept {
    __tsan_acquire(&exclusive_);
    if (how == access::exclusive) __tsan_acquire(&shared_);
  }
  void releasing(access how) const noexcept {
    __tsan_release(how == access::exclusive ? &exclusive_ : &shared_);
  }

 private:
  mutable std::uint64_t exclusive_ = 0, shared_ = 0;  // only their addresses count
};

#else

inline constexpr bool present = false;

class [[maybe_unused]] unseen {
 public:
  constexpr unseen() noexcept {}  // NOLINT(modernize-use-equals-default): an unused variable else
  unseen(const unseen&) = delete;
  unseen& operator=(const unseen&) = delete;
};
class lock_order {
 public:
  constexpr void acquired(access /*how*/) const noexcept {}
  constexpr void releasing(access /*how*/) const noexcept {}
};

#endif

}  // namespace faultline::race_detector

#undef FAULTLINE_THREAD_SANITIZER

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Byte-range lock of a vnode in specification form: the queue of FreeBSD's kern_rangelock.c since 2013.
///
/// Requests queue in arrival order. One is granted when no owner's range conflicts with it and no earlier request still
/// waits: head-of-line blocking. Once one request waits every later one waits, on a disjoint range too, and a read behind a
/// read. So a stream of readers cannot starve a writer; and a thread that holds one range and asks for a second one of the
/// same lock can wait for itself behind somebody else's request, even if its ranges are disjoint.
///
/// May sleep: acquire(), as "range".  Lock order: before every vnode lock; nobody asks with a vnode lock or a busy page held.
/// Source: FreeBSD sys/kern/kern_rangelock.c (r254380). The algorithm itself is sync/rangelock/queue.hpp.
#include <faultline/core/units.hpp>
#include <faultline/substrate/concept.hpp>

#include <utility>

namespace faultline::sync {

class rangelock_queue_rule final : public sim::lock_rule {
 public:
  [[nodiscard]] bool conflicts(const sim::request& held, const sim::request& wish) const override {
    return held.range.overlaps(wish.range) &&
           (held.how == access::exclusive || wish.how == access::exclusive);
  }
  [[nodiscard]] bool yields(const sim::request& queued, bool earlier,
                            const sim::request& wish) const override {
    return earlier && queued.task != wish.task;
  }
  [[nodiscard]] bool announces(const sim::request&) const override { return true; }
};
inline constexpr rangelock_queue_rule the_rangelock_queue_rule{};

/// A task may own several ranges of one lock that do not meet; it then waits for itself behind whoever waits for one of them.
template <substrate S>
class rangelock_spec {
 public:
  /// \param name  instance, e.g. "f0"; lives as long as the run
  explicit rangelock_spec(const char* name) : lock_(the_rangelock_queue_rule, "range", name) {}

  /// Move-only. Gives the range back when destroyed.
  class [[nodiscard]] held {
   public:
    held() = default;
    held(rangelock_spec& owner, byte_range range) : owner_(&owner), range_(range) {}
    held(held&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), range_(other.range_) {}
    held& operator=(held&& other) noexcept {
      if (this != &other) {
        release();
        owner_ = std::exchange(other.owner_, nullptr);
        range_ = other.range_;
      }
      return *this;
    }
    ~held() { release(); }
    void release() {
      if (auto* owner = std::exchange(owner_, nullptr)) owner->lock_.release(range_);
    }

   private:
    rangelock_spec* owner_ = nullptr;
    byte_range range_{};
  };

  /// Waits until no owner conflicts and no earlier request waits, then owns `range`.
  /// \param range  bytes [first, last) of the file, first < last
  held acquire(byte_range range, access how) {
    lock_.acquire({.how = how, .range = range});
    return held{*this, range};
  }

  /// Owned by anybody: for checks at quiescence.
  [[nodiscard]] bool in_use() const { return lock_.held(); }

 private:
  sub::spec_lock<S> lock_;
};

}  // namespace faultline::sync

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Byte-range lock of a vnode: the queue of FreeBSD's kern_rangelock.c as rewritten in 2013.
///
/// One list holds owners and waiters: granted writes, granted reads, then the waiters in arrival order. `first_waiting_`
/// (rl_currdep) is the first entry that is not granted. settle() walks on from there, grants every entry that is compatible
/// with the owners, and stops at the first that is not, so that nobody overtakes. Why the order of the list matters: a read
/// is tested against the granted writes only, and its scan ends at the first read in the list. A granted write that stood
/// behind a granted read would be overlooked.
///
/// May sleep: acquire(), as "range".  Lock order: before every vnode lock; its interlock is a leaf.
/// Source: FreeBSD sys/kern/kern_rangelock.c (r254380, August 2013).
#include <faultline/core/step.hpp>
#include <faultline/core/units.hpp>
#include <faultline/substrate/concept.hpp>

#include <boost/intrusive/list.hpp>

#include <iterator>
#include <utility>

namespace faultline::sync {

inline constexpr step settle_on_unlock{"rangelock-queue.settle-on-unlock", "RL1",
                                       "a waiter is never granted: hang"};
inline constexpr step granted_write_to_front{"rangelock-queue.granted-write-to-front", "RL3",
                                             "a read's scan ends before a granted write: exclusion violated"};
inline constexpr step wake_granted{"rangelock-queue.wake-granted", "RL5",
                                   "a granted request sleeps on: hang"};

template <substrate S>
class rangelock_queue {
  struct entry
      : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>> {
    entry(byte_range bytes, access mode) : range(bytes), how(mode) {}
    const byte_range range;
    const access how;
    bool granted = false;
    sub::waitq<S> wakeup{"range"};  // the kernel sleeps on the entry's address
  };

 public:
  explicit rangelock_queue(const char* name) : interlock_(name) {}
  rangelock_queue(const rangelock_queue&) = delete;
  rangelock_queue& operator=(const rangelock_queue&) = delete;

  /// Move-only. Gives the range back when destroyed.
  class [[nodiscard]] held {
   public:
    held() = default;
    held(held&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), entry_(std::exchange(other.entry_, nullptr)) {}
    held& operator=(held&& other) noexcept {
      if (this != &other) {
        release();
        owner_ = std::exchange(other.owner_, nullptr);
        entry_ = std::exchange(other.entry_, nullptr);
      }
      return *this;
    }
    ~held() { release(); }
    void release() {
      if (auto* owner = std::exchange(owner_, nullptr)) owner->unlock(*entry_);
    }

   private:
    friend class rangelock_queue;
    held(rangelock_queue& owner, entry& mine) : owner_(&owner), entry_(&mine) {}
    rangelock_queue* owner_ = nullptr;
    entry* entry_ = nullptr;
  };

  /// Waits until no owner conflicts and no earlier request waits, then owns `range`. Not interruptible.
  /// \param range  bytes [first, last) of the file, first < last
  held acquire(byte_range range, access how);

  /// Owned or waited for by anybody: for checks at quiescence.
  [[nodiscard]] bool in_use() const { return !list_.empty(); }

 private:
  using list = boost::intrusive::list<entry, boost::intrusive::constant_time_size<false>>;

  void unlock(entry& mine);
  void settle();                               // caller holds interlock_
  [[nodiscard]] bool compatible(entry& wish);  // caller holds interlock_

  sub::mutex<S> interlock_;         // leaf: nothing is taken under it (the vnode interlock in the kernel)
  list list_;                       // guarded by interlock_
  entry* first_waiting_ = nullptr;  // rl_currdep; guarded by interlock_
};

template <substrate S>
auto rangelock_queue<S>::acquire(byte_range range, access how) -> held {
  S::check(range.first < range.last, "range lock: empty range");
  entry& mine = *S::template make<entry>(range, how);  // the kernel caches one free entry per thread
  interlock_.lock();
  list_.push_back(mine);
  if (first_waiting_ == nullptr) first_waiting_ = &mine;
  settle();
  while (!mine.granted) mine.wakeup.wait(interlock_);
  interlock_.unlock();
  return held{*this, mine};
}

template <substrate S>
void rangelock_queue<S>::unlock(entry& mine) {
  interlock_.lock();
  S::check(mine.granted && &mine != first_waiting_, "range lock: a waiting entry is unlocked");
  list_.erase(list_.iterator_to(mine));
  if (S::keeps(settle_on_unlock)) settle();
  interlock_.unlock();
  S::destroy(&mine);
}

template <substrate S>
bool rangelock_queue<S>::compatible(entry& wish) {
  for (auto& other : list_) {
    if (&other == &wish) return true;
    if (wish.how == access::shared && other.how == access::shared) return true;  // only reads follow
    if (other.range.overlaps(wish.range)) return false;
  }
  return true;
}

template <substrate S>
void rangelock_queue<S>::settle() {
  while (first_waiting_ != nullptr && compatible(*first_waiting_)) {
    entry& next = *first_waiting_;
    const auto at = list_.iterator_to(next);
    const auto after = std::next(at);
    first_waiting_ = after == list_.end() ? nullptr : &*after;
    if (next.how == access::exclusive && S::keeps(granted_write_to_front)) {
      list_.erase(at);
      list_.push_front(next);
    }
    next.granted = true;
    if (S::keeps(wake_granted)) next.wakeup.wake_all();
  }
}

}  // namespace faultline::sync

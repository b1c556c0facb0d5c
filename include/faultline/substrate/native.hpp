// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The substrate on real threads. What a mechanism asks for is the plain thing: `atomic` is std::atomic, `var<T>` is a T,
/// and names, frames, steps and progress marks are nothing at all.
///
/// Memory is that of std::pmr::get_default_resource(), or of the thread's `native::arena`: a kernel, whose objects nobody
/// destroys, is made in one.
///
/// Two things are not meant to be fast: spec_lock, the specification of a lock (a benchmark takes the lock itself), and
/// sleeping, which costs a system call anyway.
#include <faultline/sim/grant.hpp>
#include <faultline/substrate/concept.hpp>
#include <faultline/substrate/native_arena.hpp>
#include <faultline/substrate/race_detector.hpp>
#include <faultline/substrate/racy_copy.hpp>

#include <boost/assert/source_location.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace faultline {

struct native {
  /// Threads that may have asked for self() and live at the same time.
  static constexpr std::uint32_t threads_max = 1024;

  template <class T>
  using atomic = std::atomic<T>;
  /// \note A bare T: `var<int> n;` is not initialised, as `int n;` is not.
  template <class T>
  using var = T;

  using arena = native_arena;

  /// A page's contents, all zero at first.
  class racy_bytes {
   public:
    racy_bytes(std::size_t size, const char* /*name*/)
        : size_(size), words_(static_cast<racy::word*>(memory().allocate(allocated(), line_bytes))) {
      std::uninitialized_fill_n(words_, allocated() / racy::grain, racy::word{0});
    }
    racy_bytes(const racy_bytes&) = delete;
    racy_bytes& operator=(const racy_bytes&) = delete;
    ~racy_bytes() { memory().deallocate(words_, allocated(), line_bytes); }
    /// For checks while nobody else is there.
    [[nodiscard]] std::span<const std::byte> peek() const noexcept {
      return {reinterpret_cast<const std::byte*>(words_), size_};
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

   private:
    friend struct native;
    static constexpr std::size_t line_bytes = 64;
    [[nodiscard]] std::size_t allocated() const noexcept {
      return (size_ + line_bytes) / line_bytes * line_bytes;
    }
    template <std::predicate Valid, std::invocable Access>
    bool access_if(Valid&& valid, Access&& access) const {
      // (3) acquire, pairs with (4): was counted before end_accesses() looked, or finds the translation invalid
      accesses_.fetch_add(1, std::memory_order_acquire);
      const bool holds = valid();
      if (holds) access();
      accesses_.fetch_sub(1, std::memory_order_release);  // (5) release, pairs with (4): the access is done
      return holds;
    }

    std::size_t size_;
    racy::word* words_;
    mutable std::atomic<std::uint32_t> accesses_{0};  // through translations, in flight
  };

  /// A count of users: the last one to drop its use sees all that the others did.
  class use_count {
   public:
    explicit use_count(std::uint32_t users) noexcept : users_(users) {}
    void add() noexcept { users_.fetch_add(1, std::memory_order_relaxed); }
    /// \returns whether that was the last user. \pre there is one
    [[nodiscard]] bool drop() noexcept { return users_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
    [[nodiscard]] std::uint32_t peek() const noexcept { return users_.load(std::memory_order_relaxed); }

   private:
    std::atomic<std::uint32_t> users_;
  };

  class mutex {
   public:
    explicit mutex(const char* /*name*/) noexcept {}
    void lock() { impl_.lock(); }
    [[nodiscard]] bool try_lock() { return impl_.try_lock(); }
    void unlock() { impl_.unlock(); }

   private:
    std::mutex impl_;
  };

  /// Wakes the oldest first, and nobody without a wake: what holds when explored holds here. (std::condition_variable
  /// alone promises neither.)
  class waitq {
   public:
    explicit waitq(const char* /*name*/) noexcept {}
    waitq(const waitq&) = delete;
    waitq& operator=(const waitq&) = delete;
    /// Gives `m` back, sleeps, takes `m` again. \pre the caller holds `m`
    void wait(mutex& m) {
      sleeper me;
      {
        std::unique_lock guard(guard_);
        *last_ = &me;
        last_ = &me.next;
        asleep_.store(true, std::memory_order_relaxed);
        m.unlock();
        me.woken.wait(guard, [&me] { return me.signalled; });
      }
      m.lock();
    }
    /// The same for so long at most. \returns whether it was woken; false: the time was over
    bool wait_for(mutex& m, std::chrono::nanoseconds most) {
      sleeper me;
      {
        std::unique_lock guard(guard_);
        *last_ = &me;
        last_ = &me.next;
        asleep_.store(true, std::memory_order_relaxed);
        m.unlock();
        if (!me.woken.wait_for(guard, most, [&me] { return me.signalled; })) forget(me);
      }
      m.lock();
      return me.signalled;
    }
    void wake_one() { wake(1); }
    void wake_all() { wake(~std::size_t{0}); }

   private:
    struct sleeper {
      std::condition_variable woken;
      sleeper* next = nullptr;
      bool signalled = false;
    };
    /// \pre guard_ is held, and nobody woke it
    void forget(const sleeper& gone) {
      sleeper** at = &first_;
      while (*at != &gone) at = &(*at)->next;
      *at = gone.next;
      if (last_ == &gone.next) last_ = at;
      if (first_ == nullptr) asleep_.store(false, std::memory_order_relaxed);
    }
    void wake(std::size_t most) {
      // Relaxed: who changed the condition held the mutex, so it sees everybody who went to sleep before that.
      if (!asleep_.load(std::memory_order_relaxed)) return;
      const std::scoped_lock guard(guard_);
      while (first_ != nullptr && most-- != 0) {
        sleeper& s = *std::exchange(first_, first_->next);
        s.signalled = true;
        s.woken.notify_one();  // under guard_: until it is given back the sleeper does not go away
      }
      if (first_ == nullptr) {
        last_ = &first_;
        asleep_.store(false, std::memory_order_relaxed);
      }
    }
    std::mutex guard_;          // taken with the caller's mutex held, or without; nothing is taken under it
    sleeper* first_ = nullptr;  // oldest; guarded by guard_, as the rest
    sleeper** last_ = &first_;
    std::atomic<bool> asleep_ = false;  // written under guard_
  };

  /// A lock given by its grant rule: the explorer's rule, asked under a mutex.
  class spec_lock {
   public:
    spec_lock(const sim::lock_rule& rule, const char* /*kind*/, const char* /*name*/) : rule_(rule) {}
    spec_lock(const spec_lock&) = delete;
    spec_lock& operator=(const spec_lock&) = delete;

    void acquire(sim::request wish) {
      wish.task = self();
      {
        const race_detector::unseen insides;
        std::unique_lock guard(guard_);
        if (!grants(wish)) {
          if (rule_.announces(wish)) queue_.push_back(wish);
          wait_for(guard, wish);
          std::erase_if(queue_, [&wish](const sim::request& q) { return q.task == wish.task; });
          changed();  // those who yielded to it need not any longer
        }
        take(wish);
      }
      order_.acquired(wish.how);
    }
    [[nodiscard]] bool try_acquire(sim::request wish) {
      wish.task = self();
      {
        const race_detector::unseen insides;
        const std::scoped_lock guard(guard_);
        if (!grants(wish)) return false;
        take(wish);
      }
      order_.acquired(wish.how);
      return true;
    }
    /// \pre the calling thread holds it
    void release() {
      give_back([me = self()](const hold& h) { return h.granted.task == me; });
    }
    /// The hold of that range, of several that the thread has.
    void release(byte_range which) {
      give_back(
          [me = self(), which](const hold& h) { return h.granted.task == me && h.granted.range == which; });
    }
    void might_acquire(const sim::request&,
                       std::initializer_list<const spec_lock*> /*first*/) const noexcept {}
    [[nodiscard]] bool held_by_me(access how) const {
      const race_detector::unseen insides;
      const std::scoped_lock guard(guard_);
      return std::ranges::any_of(
          holds_, [me = self(), how](const hold& h) { return h.granted.task == me && h.granted.how == how; });
    }
    [[nodiscard]] bool held() const {
      const race_detector::unseen insides;
      const std::scoped_lock guard(guard_);
      return !holds_.empty();
    }

   private:
    friend struct native;
    struct hold {
      sim::request granted;
      std::uint32_t count = 1;
    };
    /// The latest hold that `is_it` picks.
    template <class IsIt>
    void give_back(IsIt&& is_it) {
      if constexpr (race_detector::present) order_.releasing(mode_of(is_it));
      const race_detector::unseen insides;
      const std::scoped_lock guard(guard_);
      const auto mine = std::find_if(holds_.rbegin(), holds_.rend(), is_it);
      check(mine != holds_.rend(), "a lock is given back by a thread that does not hold it");
      if (--mine->count != 0) return;
      holds_.erase(std::next(mine).base());
      changed();
    }
    template <class IsIt>
    [[nodiscard]] access mode_of(IsIt&& is_it) const {
      const race_detector::unseen insides;
      const std::scoped_lock guard(guard_);
      const auto mine = std::find_if(holds_.rbegin(), holds_.rend(), is_it);
      return mine != holds_.rend() ? mine->granted.how : access::exclusive;
    }
    [[nodiscard]] bool grants(const sim::request& wish) const {
      return sim::grants(rule_, holds_, queue_, wish);
    }
    void take(const sim::request& wish) {
      if (const auto mine = sim::hold_of(holds_, wish); mine != holds_.end()) {
        ++mine->count;
      } else {
        holds_.push_back({.granted = wish});
      }
    }
    void wait_for(std::unique_lock<std::mutex>& guard, const sim::request& wish) const {
      ++asleep_;
      changed_.wait(guard, [&] { return grants(wish); });
      --asleep_;
    }
    void changed() const {
      if (asleep_ != 0) changed_.notify_all();
    }

    const sim::lock_rule& rule_;
    mutable std::mutex guard_;  // leaf; guards what follows
    mutable std::condition_variable changed_;
    mutable std::uint32_t asleep_ = 0;
    std::pmr::vector<hold> holds_{&memory()};
    std::pmr::vector<sim::request> queue_{&memory()};        // announced, not granted; oldest first
    [[no_unique_address]] race_detector::lock_order order_;  // of disjoint ranges it says too much
  };

  /// A plain mutex in both modes: std::shared_mutex costs as much for one thread (7.0 against 7.3 ns a pair) and more for
  /// two readers (42 against 24 ns), since they write its one word all the same; a section is too short to make up for it.
  class interlock {
   public:
    interlock(const char* /*kind*/, const char* /*name*/) noexcept {}
    void enter(access how) {
      {
        const race_detector::unseen insides;
        impl_.lock();
      }
      order_.acquired(how);
    }
    void leave(access how) {
      order_.releasing(how);
      const race_detector::unseen insides;
      impl_.unlock();
    }
    /// Sleeps until `lock`, whose state this interlock guards, is held by nobody. \pre not inside the section
    void wait_unheld(const spec_lock& lock, const char* /*wait_name*/) {
      const race_detector::unseen insides;
      std::unique_lock guard(lock.guard_);
      const sim::request wish{.task = self()};
      if (!lock.grants(wish)) lock.wait_for(guard, wish);
    }

   private:
    std::mutex impl_;
    [[no_unique_address]] race_detector::lock_order order_;
  };

  class [[maybe_unused]] frame {
   public:
    constexpr explicit frame(const char* /*function*/, const char* /*object*/ = "") noexcept {}
    frame(const frame&) = delete;
    frame& operator=(const frame&) = delete;
  };

  static void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }
  static void sleep_for(std::chrono::nanoseconds length) { std::this_thread::sleep_for(length); }
  [[nodiscard]] static std::chrono::nanoseconds uptime() noexcept {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  /// An acquire load. On x86-64 it is the plain `mov` that a relaxed load would be; on arm64 `ldapr` or `ldar` in place of
  /// `ldr`. Relaxed would do for the machine (both order a load after the load that gave its address), but not for the
  /// compiler, which may replace a pointer that it has compared by what it compared it with, and so lose the dependency.
  /// memory_order_consume was to prevent that; compilers treat it as acquire.
  template <class T>
  [[nodiscard]] static T load_dependent(const std::atomic<T>& a) noexcept {
    return a.load(std::memory_order_acquire);
  }
  template <class T>
  static constexpr void name(T& /*object*/, std::string_view) noexcept {}

  template <class T>
  [[nodiscard]] static constexpr const T& get(const T& v) noexcept {
    return v;
  }
  template <class T, class U>
  static constexpr void set(T& v, U&& value) {
    v = std::forward<U>(value);
  }
  template <class T>
  [[nodiscard]] static constexpr T& change(T& v) noexcept {
    return v;
  }

  /// For checks while nobody else is there.
  template <class T>
  [[nodiscard]] static constexpr const T& peek(const T& v) noexcept {
    return v;
  }
  template <class T>
  [[nodiscard]] static T peek(const std::atomic<T>& a) noexcept {
    return a.load(std::memory_order_relaxed);
  }
  [[nodiscard]] static std::span<const std::byte> peek(const racy_bytes& bytes) noexcept {
    return bytes.peek();
  }

  static void copy(racy_bytes& to, std::size_t to_at, const racy_bytes& from, std::size_t from_at,
                   std::size_t n) {
    check(to_at + n <= to.size() && from_at + n <= from.size(), "copy past the end of a page");
    racy::copy(to.words_, to_at, from.words_, from_at, n);
  }
  static void read(const racy_bytes& from, std::size_t at, std::span<std::byte> to) {
    check(at + to.size() <= from.size(), "read past the end of a page");
    racy::read(reinterpret_cast<unsigned char*>(to.data()), from.words_, at, to.size());
  }
  static void write(racy_bytes& to, std::size_t at, std::span<const std::byte> from) {
    check(at + from.size() <= to.size(), "write past the end of a page");
    racy::write(to.words_, at, reinterpret_cast<const unsigned char*>(from.data()), from.size());
  }
  static void fill(racy_bytes& to, std::size_t at, std::size_t n, std::byte value) {
    check(at + n <= to.size(), "fill past the end of a page");
    racy::fill(to.words_, at, n, std::to_integer<unsigned char>(value));
  }

  /// As copy(), read() and write(), if `valid` says so just before. The translation may end while the access goes on;
  /// end_accesses() waits for it.
  template <std::predicate Valid>
  static bool copy_from_if(Valid&& valid, racy_bytes& to, std::size_t to_at, const racy_bytes& from,
                           std::size_t from_at, std::size_t n) {
    return from.access_if(valid, [&] { copy(to, to_at, from, from_at, n); });
  }
  template <std::predicate Valid>
  static bool copy_to_if(Valid&& valid, racy_bytes& to, std::size_t to_at, const racy_bytes& from,
                         std::size_t from_at, std::size_t n) {
    return to.access_if(valid, [&] { copy(to, to_at, from, from_at, n); });
  }
  template <std::predicate Valid>
  static bool read_if(Valid&& valid, const racy_bytes& from, std::size_t at, std::span<std::byte> to) {
    return from.access_if(valid, [&] { read(from, at, to); });
  }
  template <std::predicate Valid>
  static bool write_if(Valid&& valid, racy_bytes& to, std::size_t at, std::span<const std::byte> from) {
    return to.access_if(valid, [&] { write(to, at, from); });
  }
  /// A TLB shootdown: spins, then yields. What it waits for is a copy of one page at most.
  template <std::invocable Invalidate>
  static void end_accesses(racy_bytes& bytes, Invalidate&& invalidate) {
    invalidate();
    // (4) acquire, pairs with (5); release, pairs with (3). A write: whoever counts itself in later comes after it
    auto in_flight = bytes.accesses_.fetch_add(0, std::memory_order_acq_rel);
    for (int spins = 0; in_flight != 0; in_flight = bytes.accesses_.load(std::memory_order_acquire)) {
      if (++spins < 100) {
        relax();
      } else {
        std::this_thread::yield();
      }
    }
  }

  static constexpr bool keeps(const step&) noexcept { return true; }
  /// Ends the program if it does not hold; nothing at all where NDEBUG is defined.
  static void check([[maybe_unused]] bool holds, [[maybe_unused]] std::string_view what,
                    [[maybe_unused]] boost::source_location at = BOOST_CURRENT_LOCATION) {
#ifndef NDEBUG
    if (!holds) [[unlikely]] {
      std::fprintf(stderr, "faultline: %.*s (%s:%u)\n", static_cast<int>(what.size()), what.data(),
                   at.file_name(), static_cast<unsigned>(at.line()));
      std::abort();
    }
#endif
  }
  /// One `pause` or `yield` instruction. Whoever spins for longer than a hand-off sleeps on a waitq in the end.
  static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" : : : "memory");
#else
    std::this_thread::yield();
#endif
  }
  static constexpr void progress() noexcept {}
  static constexpr void io(const char* /*what*/) noexcept {}

  /// A small number that no other live thread has: the lowest that was free when the thread first asked.
  [[nodiscard]] static std::uint32_t self() {
    if (slot_ == no_slot) [[unlikely]]
      claim_slot();
    return slot_;
  }
  [[nodiscard]] static std::pmr::memory_resource& memory() noexcept {
    auto* const mine = arena::current();
    return mine != nullptr ? *mine : *std::pmr::get_default_resource();
  }

  /// Waits for its end when it is dropped. Has the arena of who spawned it.
  using task = std::jthread;
  /// \param daemon  nobody waits for it: it may use only what lives as long as the program. join() is not for it
  template <std::invocable F>
  [[nodiscard]] static task spawn(std::string_view /*name*/, F&& body, bool daemon = false) {
    task t([kept = std::forward<F>(body), its_arena = arena::current()]() mutable {
      arena::inherit(its_arena);
      kept();
    });
    if (daemon) t.detach();
    return t;
  }
  static void join(task& t) { t.join(); }
  static void join(task&& t) { t.join(); }

  /// Nanoseconds of the monotonic clock.
  [[nodiscard]] static std::uint64_t now() noexcept {
    using namespace std::chrono;
    return static_cast<std::uint64_t>(nanoseconds(steady_clock::now().time_since_epoch()).count());
  }
  /// Text that lives as long as the program; the same text is kept once.
  [[nodiscard]] static const char* keep(std::string_view text) {
    struct texts {
      std::mutex guard;
      std::set<std::string, std::less<>> kept;
    };
    static auto& all = *new texts;  // never destroyed: threads may outlive static objects
    const std::scoped_lock guard(all.guard);
    const auto at = all.kept.find(text);
    return (at != all.kept.end() ? at : all.kept.emplace(text).first)->c_str();
  }
  /// \pre for make() and destroy(): the thread's arena is the same at both
  template <class T, class... Args>
  [[nodiscard]] static T* make(Args&&... args) {
    return ::new (memory().allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  template <class T>
  static void destroy(T* object) {
    object->~T();
    memory().deallocate(object, sizeof(T), alignof(T));
  }

 private:
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  static constinit inline thread_local std::uint32_t slot_ = no_slot;  // no destructor: read without a guard
  using slot_word = std::atomic<std::uint64_t>;
  static constinit inline slot_word slots_used_[threads_max / 64]{};  // bit n % 64 of word n / 64: slot n

  [[gnu::cold, gnu::noinline]] static void claim_slot() {
    struct giver_back {
      ~giver_back() {
        // (1) release, pairs with acquire (2): what the slot's next owner finds in its name was left by us
        slots_used_[slot_ / 64].fetch_and(~(std::uint64_t{1} << (slot_ % 64)), std::memory_order_release);
        slot_ = no_slot;
      }
    };
    for (std::uint32_t w = 0; w < threads_max / 64; ++w) {
      auto used = slots_used_[w].load(std::memory_order_relaxed);
      while (used != ~std::uint64_t{0}) {
        const auto bit = static_cast<std::uint32_t>(std::countr_one(used));
        // (2) acquire, pairs with release (1)
        if (slots_used_[w].compare_exchange_weak(used, used | (std::uint64_t{1} << bit),
                                                 std::memory_order_acquire, std::memory_order_relaxed)) {
          slot_ = w * 64 + bit;
          static thread_local const giver_back at_exit;
          return;
        }
      }
    }
    std::fprintf(stderr, "faultline: more than %u threads\n", static_cast<unsigned>(threads_max));
    std::abort();
  }
};

/// `native` without some steps: a benchmark of it beside `native` says what they cost.
template <const step&... Omitted>
struct native_without : native {
  static constexpr bool keeps(const step& s) noexcept { return ((&s != &Omitted) && ...); }
};

static_assert(std::is_same_v<native::atomic<int*>, std::atomic<int*>>);
static_assert(std::is_same_v<native::var<int>, int>);
static_assert(substrate<native>);

}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The substrate under the explorer: every access announces itself to the current world, then happens.
#include <faultline/sim/basic_rules.hpp>
#include <faultline/sim/world.hpp>
#include <faultline/substrate/concept.hpp>

#include <array>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <utility>

namespace faultline {

struct simulated {
  /// std::atomic's interface as far as mechanisms use it. What a load may see, the memory model says.
  template <class T>
  class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sim::value_ref::bytes_max);

   public:
    atomic() noexcept : atomic(T{}) {}
    atomic(T value) noexcept  // NOLINT(google-explicit-constructor): as std::atomic
        : value_(value), id_(sim::world::here().enroll(this, "atomic", "")) {
      auto& w = sim::world::here();
      if (w.history() == 0) return;
      w.keep_history(id_);
      stores_ = static_cast<T*>(w.memory().allocate(w.history() * sizeof(T), alignof(T)));
      ::new (stores_) T(value);
    }
    atomic(const atomic&) = delete;
    atomic& operator=(const atomic&) = delete;
    ~atomic() {
      if (auto* w = sim::world::current()) w->retire(id_, this);
    }

    T load(std::memory_order order = std::memory_order_seq_cst) const {
      return seen(sim::world::here().atomic_load(id_, this, order));
    }
    void store(T value, std::memory_order order = std::memory_order_seq_cst) {
      const bool now = sim::world::here().atomic_store(
          id_, this, order, {.value = &value, .bytes = sizeof(T), .apply = [](void* where, const void* v) {
                               std::memcpy(&static_cast<atomic*>(where)->value_, v, sizeof(T));
                             }});
      if (now) put(value);
    }
    T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {
      return update(order, [value](T) { return value; });
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) {
      auto& w = sim::world::here();
      const auto age = failing_age(w.atomic_cas(id_, this, success, failure), expected);
      const bool succeeds = age == 0 && value_ == expected;
      w.atomic_cas_done(id_, succeeds, succeeds ? success : failure, age);
      if (succeeds) {
        put(desired);
      } else {
        expected = value_of(age);
      }
      return succeeds;
    }
    bool compare_exchange_strong(T& expected, T desired,
                                 std::memory_order order = std::memory_order_seq_cst) {
      return compare_exchange_strong(expected, desired, order, on_failure(order));
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) {
      return compare_exchange_strong(expected, desired, success, failure);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order order = std::memory_order_seq_cst) {
      return compare_exchange_strong(expected, desired, order, on_failure(order));
    }
    /// The failure order that std::atomic takes where only one order is given.
    static constexpr std::memory_order on_failure(std::memory_order order) noexcept {
      if (order == std::memory_order_acq_rel) return std::memory_order_acquire;
      if (order == std::memory_order_release) return std::memory_order_relaxed;
      return order;
    }
    T fetch_add(T n, std::memory_order order = std::memory_order_seq_cst) requires std::integral<T> {
      return update(order, [n](T v) { return static_cast<T>(v + n); });
    }
    T fetch_sub(T n, std::memory_order order = std::memory_order_seq_cst) requires std::integral<T> {
      return update(order, [n](T v) { return static_cast<T>(v - n); });
    }
    T fetch_or(T n, std::memory_order order = std::memory_order_seq_cst) requires std::integral<T> {
      return update(order, [n](T v) { return static_cast<T>(v | n); });
    }
    T fetch_and(T n, std::memory_order order = std::memory_order_seq_cst) requires std::integral<T> {
      return update(order, [n](T v) { return static_cast<T>(v & n); });
    }
    T fetch_xor(T n, std::memory_order order = std::memory_order_seq_cst) requires std::integral<T> {
      return update(order, [n](T v) { return static_cast<T>(v ^ n); });
    }
    /// The value without a scheduling point: for checks at quiescence.
    [[nodiscard]] T peek() const noexcept { return value_; }

   private:
    friend struct simulated;
    template <class F>
    T update(std::memory_order order, F&& f) {
      sim::world::here().atomic_rmw(id_, this, order);
      const T before = value_;
      put(f(before));
      return before;
    }
    void put(T value) {
      value_ = value;
      if (stores_ == nullptr) return;
      newest_ = (newest_ + 1) % sim::world::here().history();
      ::new (stores_ + newest_) T(value);
    }
    [[nodiscard]] T value_of(std::uint32_t age) const {
      if (age == 0) return value_;
      const auto kept = sim::world::here().history();
      return stores_[(newest_ + kept - age) % kept];
    }
    [[nodiscard]] T seen(const sim::value_seen& which) const {
      if (which.own == nullptr) return value_of(which.age);
      T value;
      std::memcpy(&value, which.own, sizeof(T));
      return value;
    }
    /// A compare-exchange that fails is a load: it may see any of the `window` newest stores that make it fail. 0: it looks at
    /// the newest, and that decides.
    [[nodiscard]] std::uint32_t failing_age(std::uint32_t window, T expected) const {
      std::uint32_t fails = 0;
      for (std::uint32_t age = 1; age < window; ++age) fails += value_of(age) != expected ? 1U : 0U;
      if (fails == 0) return 0;
      auto which = sim::world::here().pick(fails + 1);
      std::uint32_t age = 0;
      while (which != 0) which -= value_of(++age) != expected ? 1U : 0U;
      return age;
    }

    T value_;
    sim::object_id id_;
    T* stores_ = nullptr;  ///< where the memory model keeps them: a ring, the newest at `newest_`
    std::uint32_t newest_ = 0;
  };

  /// Plain shared data. Two unordered accesses, one of them a write, are a race.
  template <class T>
  class var {
   public:
    var() : var(T{}) {}
    var(T value) : value_(std::move(value)), id_(sim::world::here().enroll(this, "var", "")) {}  // NOLINT
    var(const var&) = delete;
    var& operator=(const var&) = delete;
    ~var() {
      if (auto* w = sim::world::current()) w->retire(id_, this);
    }
    [[nodiscard]] const T& peek() const noexcept { return value_; }

   private:
    friend struct simulated;
    T value_;
    sim::object_id id_;
  };

  /// User-visible bytes: a page's contents. May race legally; a read or a write of any
  /// number of bytes of one object is one operation.
  class racy_bytes {
   public:
    racy_bytes(std::size_t size, const char* name)
        : data_(size, std::byte{0}, &sim::world::here().memory()),
          id_(sim::world::here().enroll(this, "bytes", name)) {}
    racy_bytes(const racy_bytes&) = delete;
    racy_bytes& operator=(const racy_bytes&) = delete;
    ~racy_bytes() {
      if (auto* w = sim::world::current()) w->retire(id_, this);
    }
    [[nodiscard]] std::span<const std::byte> peek() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return data_.size(); }

   private:
    friend struct simulated;
    std::pmr::vector<std::byte> data_;
    sim::object_id id_;
  };

  /// A count of users. Its updates commute, and nothing of it is looked at but "was that the last": so an update is no
  /// scheduling point. It orders as an acquire-release atomic does, which is what makes the last user's free safe.
  class use_count {
   public:
    explicit use_count(std::uint32_t users)
        : users_(users), id_(sim::world::here().enroll(this, "uses", "")) {}
    use_count(const use_count&) = delete;
    use_count& operator=(const use_count&) = delete;
    ~use_count() {
      if (auto* w = sim::world::current()) w->retire(id_, this);
    }
    void add() {
      sim::world::here().count(id_, this);
      ++users_;
    }
    /// \returns whether that was the last user. \pre there is one
    [[nodiscard]] bool drop() {
      sim::world::here().count(id_, this);
      sim::world::here().check(users_ != 0, "a use is given back that nobody has");
      return --users_ == 0;
    }
    [[nodiscard]] std::uint32_t peek() const noexcept { return users_; }

   private:
    std::uint32_t users_;
    sim::object_id id_;
  };

  class mutex {
   public:
    explicit mutex(const char* name) : state_(sim::the_mutex_rule, "mutex", name) {}
    void lock() { sim::world::here().acquire(state_, wish()); }
    [[nodiscard]] bool try_lock() { return sim::world::here().try_acquire(state_, wish()); }
    void unlock() { sim::world::here().release(state_); }

   private:
    friend struct simulated;
    static sim::request wish() { return {.task = sim::world::here().self()}; }
    sim::lock_state state_;
  };

  class waitq {
   public:
    explicit waitq(const char* name) : state_(name) {}
    /// Gives `m` back, sleeps, takes `m` again. \pre the caller holds `m`
    void wait(mutex& m) { sim::world::here().wait(state_, m.state_, mutex::wish()); }
    /// The same for so long at most. \returns whether it was woken; false: the time was over
    bool wait_for(mutex& m, std::chrono::nanoseconds most) {
      return sim::world::here().wait_for(state_, m.state_, mutex::wish(), most);
    }
    void wake_one() { sim::world::here().wake(state_, 1); }
    void wake_all() { sim::world::here().wake(state_, ~std::size_t{0}); }

   private:
    sim::wait_queue_state state_;
  };

  /// A lock given by its grant rule.
  class spec_lock {
   public:
    /// \param kind  lock class and wait word; \param name  instance, e.g. "f0"
    spec_lock(const sim::lock_rule& rule, const char* kind, const char* name) : state_(rule, kind, name) {}
    void acquire(sim::request wish) { sim::world::here().acquire(state_, mine(wish)); }
    [[nodiscard]] bool try_acquire(sim::request wish) {
      return sim::world::here().try_acquire(state_, mine(wish));
    }
    void release() { sim::world::here().release(state_); }
    /// The hold of that range, of several that the task has.
    void release(byte_range which) { sim::world::here().release(state_, which); }
    /// Declares the blocking acquire that a failed try leads to, after `first` (null: nothing) were given back.
    void might_acquire(sim::request wish, std::initializer_list<const spec_lock*> first) const {
      std::array<const sim::lock_state*, 4> given_back{};
      std::size_t n = 0;
      for (const auto* l : first) {
        if (l != nullptr) given_back.at(n++) = &l->state_;
      }
      sim::world::here().might_acquire(state_, mine(wish), std::span{given_back.data(), n});
    }
    /// Does the calling task hold it in that mode?
    [[nodiscard]] bool held_by_me(access how) const {
      const auto* h = state_.held_by(sim::world::here().self());
      return h != nullptr && h->granted.how == how;
    }
    /// Held at all. For sections of the interlock that guards it.
    [[nodiscard]] bool held() const noexcept { return !state_.holds().empty(); }

   private:
    friend struct simulated;
    static sim::request mine(sim::request wish) {
      wish.task = sim::world::here().self();
      return wish;
    }
    sim::lock_state state_;
  };

  /// A leaf lock around sections that do not sleep.
  class interlock {
   public:
    interlock(const char* kind, const char* name) : state_(sim::the_shared_rule, kind, name) {}
    void enter(access how) { sim::world::here().enter_section(state_, how); }
    void leave(access how) { sim::world::here().leave_section(state_, how); }
    /// Sleeps until `lock`, whose state this interlock guards, is held by nobody. \pre not inside the section
    void wait_unheld(const spec_lock& lock, const char* wait_name) {
      sim::world::here().wait_grantable(lock.state_, {.task = sim::world::here().self()}, state_, wait_name);
    }

   private:
    sim::lock_state state_;
  };

  /// Marks a call for reports while it lives.
  class frame : public sim::frame {
   public:
    explicit frame(const char* function, const char* object = "") noexcept
        : sim::frame(sim::world::here(), function, object) {}
  };

  static void fence(std::memory_order order) { sim::world::here().fence(order); }
  /// What was stored before the pointer is known in accesses to what it points to, and nowhere else.
  template <class T>
  static T* load_dependent(const atomic<T*>& a) {
    auto& w = sim::world::here();
    T* const pointer = a.seen(w.atomic_load_dependent(a.id_, &a));
    w.reaches(pointer, sizeof(T));
    return pointer;
  }
  template <class T>
  static void name(atomic<T>& a, std::string_view text) {
    sim::world::here().rename(a.id_, text);
  }
  template <class T>
  static void name(var<T>& v, std::string_view text) {
    sim::world::here().rename(v.id_, text);
  }
  template <class T>
  static const T& get(const var<T>& v) {
    sim::world::here().plain_read(v.id_, &v);
    return v.value_;
  }
  template <class T, class U>
  static void set(var<T>& v, U&& value) {
    sim::world::here().plain_write(v.id_, &v);
    v.value_ = std::forward<U>(value);
  }
  /// Write access to the value in place; counts as one write.
  template <class T>
  static T& change(var<T>& v) {
    sim::world::here().plain_write(v.id_, &v);
    return v.value_;
  }

  /// Copies `n` bytes: a read of all of them, then a write of all of them; two operations. \pre both ranges lie inside
  static void copy(racy_bytes& to, std::size_t to_at, const racy_bytes& from, std::size_t from_at,
                   std::size_t n) {
    std::pmr::vector<std::byte> between(n, &memory());
    read(from, from_at, between);
    write(to, to_at, between);
  }
  /// Copies out of `from` into memory of the caller alone.
  static void read(const racy_bytes& from, std::size_t at, std::span<std::byte> to) {
    auto& w = sim::world::here();
    w.check(at + to.size() <= from.size(), "read past the end of a page");
    w.racy_read(from.id_);
    if (!to.empty()) std::memcpy(to.data(), from.data_.data() + at, to.size());
  }
  static void write(racy_bytes& to, std::size_t at, std::span<const std::byte> from) {
    auto& w = sim::world::here();
    w.check(at + from.size() <= to.size(), "write past the end of a page");
    w.racy_write(to.id_);
    if (!from.empty()) std::memcpy(to.data_.data() + at, from.data(), from.size());
  }
  static void fill(racy_bytes& to, std::size_t at, std::size_t n, std::byte value) {
    auto& w = sim::world::here();
    w.check(at + n <= to.size(), "fill past the end of a page");
    w.racy_write(to.id_);
    if (n != 0) std::memset(to.data_.data() + at, std::to_integer<int>(value), n);
  }

  /// read(), write() and copies through an address translation: `valid` is asked at the moment of the access to the translated
  /// side, and that access is not done if it says no. It may look only at what operations that write the translated bytes
  /// change (a shootdown is one): so whatever makes a translation invalid is ordered with every access through it.
  /// \returns whether the access was done
  template <std::predicate Valid>
  static bool copy_from_if(Valid&& valid, racy_bytes& to, std::size_t to_at, const racy_bytes& from,
                           std::size_t from_at, std::size_t n) {
    std::pmr::vector<std::byte> between(n, &memory());
    if (!read_if(valid, from, from_at, between)) return false;
    write(to, to_at, between);
    return true;
  }
  template <std::predicate Valid>
  static bool copy_to_if(Valid&& valid, racy_bytes& to, std::size_t to_at, const racy_bytes& from,
                         std::size_t from_at, std::size_t n) {
    std::pmr::vector<std::byte> between(n, &memory());
    read(from, from_at, between);
    return write_if(valid, to, to_at, between);
  }
  template <std::predicate Valid>
  static bool read_if(Valid&& valid, const racy_bytes& from, std::size_t at, std::span<std::byte> to) {
    auto& w = sim::world::here();
    w.check(at + to.size() <= from.size(), "read past the end of a page");
    w.racy_read(from.id_);
    if (!valid()) return false;
    if (!to.empty()) std::memcpy(to.data(), from.data_.data() + at, to.size());
    return true;
  }
  template <std::predicate Valid>
  static bool write_if(Valid&& valid, racy_bytes& to, std::size_t at, std::span<const std::byte> from) {
    auto& w = sim::world::here();
    w.check(at + from.size() <= to.size(), "write past the end of a page");
    w.racy_write(to.id_);
    if (!valid()) return false;
    if (!from.empty()) std::memcpy(to.data_.data() + at, from.data(), from.size());
    return true;
  }

  /// A TLB shootdown, one operation on the bytes: afterwards no access whose `valid` was made to say no by `invalidate` goes on.
  template <std::invocable Invalidate>
  static void end_accesses(racy_bytes& bytes, Invalidate&& invalidate) {
    fill(bytes, 0, 0, std::byte{});
    invalidate();
  }

  /// A value without a scheduling point and without a race check: set-up, checks at quiescence, reports.
  template <class T>
  static const T& peek(const var<T>& v) noexcept {
    return v.peek();
  }
  template <class T>
  static T peek(const atomic<T>& a) noexcept {
    return a.peek();
  }
  static std::span<const std::byte> peek(const racy_bytes& bytes) noexcept { return bytes.peek(); }

  static bool keeps(const step& s) { return sim::world::here().keeps(s); }
  static void check(bool holds, std::string_view what, boost::source_location at = BOOST_CURRENT_LOCATION) {
    sim::world::here().check(holds, what, at);
  }
  static void relax() { sim::world::here().relax(); }
  static void progress() { sim::world::here().progress(); }
  static void io(const char* what) { sim::world::here().io(what); }
  static std::uint32_t self() { return sim::world::here().self(); }
  static std::pmr::memory_resource& memory() { return sim::world::here().memory(); }
  using task = sim::task_id;
  template <class F>
  static task spawn(std::string_view name, F&& body, bool daemon = false) {
    return sim::world::here().spawn(name, std::forward<F>(body), daemon);
  }
  static void join(task t) { sim::world::here().join(t); }
  static void sleep_for(std::chrono::nanoseconds length) { sim::world::here().sleep_for(length); }
  /// Virtual time since the start of the run.
  static std::chrono::nanoseconds uptime() { return sim::world::here().time(); }
  static std::uint64_t now() { return sim::world::here().now(); }
  /// Text that lives as long as the run.
  static const char* keep(std::string_view text) { return sim::world::here().keep(text); }
  /// Makes a model object; destroy() ends its life, and later accesses to it are use after free.
  template <class T, class... Args>
  static T* make(Args&&... args) {
    return ::new (memory().allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  template <class T>
  static void destroy(T* object) {
    object->~T();
    memory().deallocate(object, sizeof(T), alignof(T));
  }
};

static_assert(substrate<simulated>);

}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The seam: all that a mechanism may use which makes a run non-deterministic.
///
/// A mechanism is a template over a substrate `S`, written once. `native` runs it on std::atomic and std::thread;
/// `simulated` runs it under the explorer. It never asks which one it runs on.
///
///   atomics      S::atomic<T>, named by S::name(object, "text"); orders are those of C++, and S::load_dependent(a) for a
///                load that orders only what is reached through the loaded pointer; S::fence
///   plain data   S::var<T> by S::get / S::set: a race is a defect. Natively it is a bare T, so give it a value;
///                S::racy_bytes: user memory, may race; unshared members need nothing
///   counts       S::use_count: a count of users whose updates commute; no scheduling point
///   blocking     S::mutex and S::waitq; S::spec_lock for a lock given by its rule; S::interlock for a leaf lock
///                around a short section that does not sleep
///   time         queue.wait_for, S::sleep_for, S::uptime
///   tasks        S::spawn, S::join (keep the S::task until then), S::self, S::relax, S::progress, S::now, S::io
///   memory       S::memory, S::make, S::destroy; S::keep for text
///   reports      S::frame (call chain), S::keeps (a load-bearing step), S::check (an assertion), S::peek (a value, for
///                checks while nobody else is there)
#include <faultline/core/step.hpp>
#include <faultline/core/units.hpp>
#include <faultline/sim/lock_state.hpp>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>
#include <type_traits>

namespace faultline {

template <class S>
concept substrate = requires(typename S::template atomic<std::uint32_t>& word,
                             typename S::template atomic<int*>& pointer, typename S::template var<int>& data,
                             typename S::racy_bytes& bytes, typename S::use_count& uses,
                             typename S::mutex& mutex, typename S::waitq& queue, typename S::spec_lock& lock,
                             typename S::interlock& inter, const step& s, const sim::request& wish,
                             std::span<std::byte> span, void (*body)(), typename S::task& task) {
  { word.load(std::memory_order_acquire) } -> std::same_as<std::uint32_t>;
  word.store(1U, std::memory_order_release);
  { word.fetch_add(1U, std::memory_order_relaxed) } -> std::same_as<std::uint32_t>;
  { S::load_dependent(pointer) } -> std::same_as<int*>;
  { S::peek(word) } -> std::same_as<std::uint32_t>;
  {S::name(word, "text")};
  {S::name(data, "text")};
  { S::get(data) } -> std::convertible_to<int>;
  {S::set(data, 1)};
  { S::change(data) } -> std::same_as<int&>;
  { S::peek(data) } -> std::convertible_to<int>;
  {S::copy(bytes, std::size_t{}, bytes, std::size_t{}, std::size_t{})};
  {S::read(bytes, std::size_t{}, span)};
  {S::write(bytes, std::size_t{}, span)};
  {S::fill(bytes, std::size_t{}, std::size_t{}, std::byte{})};
  {S::end_accesses(bytes, body)};
  { S::peek(bytes) } -> std::same_as<std::span<const std::byte>>;
  uses.add();
  { uses.drop() } -> std::same_as<bool>;
  mutex.lock();
  {mutex.unlock()};
  {queue.wait(mutex)};
  { queue.wait_for(mutex, std::chrono::nanoseconds{}) } -> std::same_as<bool>;
  {queue.wake_one()};
  {queue.wake_all()};
  {lock.acquire(wish)};
  { lock.try_acquire(wish) } -> std::same_as<bool>;
  {lock.release()};
  {lock.release(byte_range{})};
  {lock.might_acquire(wish, {&lock, nullptr})};
  { lock.held_by_me(access::shared) } -> std::same_as<bool>;
  { lock.held() } -> std::same_as<bool>;
  {inter.enter(access::exclusive)};
  {inter.leave(access::exclusive)};
  {inter.wait_unheld(lock, "text")};
  requires std::constructible_from<typename S::frame, const char*, const char*>;
  { S::keeps(s) } -> std::same_as<bool>;
  {S::fence(std::memory_order_seq_cst)};
  {S::sleep_for(std::chrono::nanoseconds{})};
  { S::uptime() } -> std::same_as<std::chrono::nanoseconds>;
  {S::check(true, "text")};
  {S::relax()};
  {S::progress()};
  { S::self() } -> std::same_as<std::uint32_t>;
  { S::memory() } -> std::same_as<std::pmr::memory_resource&>;
  { S::template make<int>(1) } -> std::same_as<int*>;
  {S::destroy(span.data())};
  { S::keep(std::string_view{}) } -> std::same_as<const char*>;
  { S::now() } -> std::same_as<std::uint64_t>;
  {S::io("text")};
  { S::spawn("text", body) } -> std::same_as<typename S::task>;
  {S::join(task)};
};

/// Runs `first` then `second`; the other way round where the step is left out.
template <class S, class First, class Second>
void in_order(const step& s, First&& first, Second&& second) {
  if (S::keeps(s)) {
    first();
    second();
  } else {
    second();
    first();
  }
}

/// The order of an access that is a load-bearing step: relaxed where the step is left out.
template <class S>
[[nodiscard]] constexpr std::memory_order order(const step& s, std::memory_order kept) {
  return S::keeps(s) ? kept : std::memory_order_relaxed;
}

/// Takes an S::interlock for a scope.
template <class S>
class section {
 public:
  explicit section(typename S::interlock& lock, access how = access::exclusive) : lock_(lock), how_(how) {
    lock_.enter(how_);
  }
  section(const section&) = delete;
  section& operator=(const section&) = delete;
  ~section() { lock_.leave(how_); }

 private:
  typename S::interlock& lock_;
  access how_;
};

namespace sub {
template <class S, class T>
using atomic = typename S::template atomic<T>;
template <class S, class T>
using var = typename S::template var<T>;
template <class S>
using mutex = typename S::mutex;
template <class S>
using waitq = typename S::waitq;
template <class S>
using spec_lock = typename S::spec_lock;
template <class S>
using interlock = typename S::interlock;
template <class S>
using use_count = typename S::use_count;
template <class S>
using racy_bytes = typename S::racy_bytes;
}  // namespace sub

}  // namespace faultline

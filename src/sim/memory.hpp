// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What memory models keep beside the values: store buffers (tso) and store histories (weak).
#include <faultline/sim/clock.hpp>

#include <faultline/sim/world.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace faultline::sim {

constexpr bool acquires(std::memory_order o) {
  return o == std::memory_order_acquire || o == std::memory_order_consume || o == std::memory_order_acq_rel ||
         o == std::memory_order_seq_cst;
}
constexpr bool releases(std::memory_order o) {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

/// A store that waits in a task's store buffer.
struct buffered_store {
  object_id object;
  void* where;
  std::memory_order order;
  void (*apply)(void*, const void*);
  std::array<std::byte, value_ref::bytes_max> value;
  vector_clock release;   ///< what an acquiring load of it learns
  std::uint32_t follows;  ///< the task's step before it
};

/// One store of an atomic, under `weak`.
struct store_record {
  task_id by = no_task;     ///< no_task: everybody knows it
  std::uint32_t epoch = 0;  ///< the task's clock
  std::uint32_t step = 0;
  std::uint32_t order =
      0;  ///< place in the order of seq_cst operations: its own, or that of the first such load of it; 0: none
  vector_clock release;
  vector_clock first_seen;  ///< by task: its clock when it first loaded this; 0: never

  /// Was the store done, or seen, by something that `known` covers?
  [[nodiscard]] bool within(const vector_clock& known, std::uint32_t tasks) const noexcept {
    if (by == no_task || known[by] >= epoch) return true;
    for (task_id t = 0; t < tasks; ++t) {
      if (first_seen[t] != 0 && known[t] >= first_seen[t]) return true;
    }
    return false;
  }
};

/// The latest stores of one atomic, in modification order, which here is the order of execution.
class store_history {
 public:
  /// Ready for another object: the initial value alone, which whoever reaches the atomic knows. \param tasks  of all clocks
  void begin(std::uint32_t capacity, std::uint32_t tasks) {
    if (capacity_ != capacity) {
      ring_ = std::make_unique<store_record[]>(capacity);
      capacity_ = capacity;
    }
    kept_ = 1;
    newest_ = 0;
    auto& s = ring_[0];
    s.by = no_task;
    s.epoch = s.step = s.order = 0;
    s.release.clear(tasks);
    s.first_seen.clear(tasks);
  }
  /// The record of the store that is now the newest. What it was before is to be overwritten.
  store_record& add() noexcept {
    newest_ = newest_ + 1 == capacity_ ? 0 : newest_ + 1;
    if (!full()) ++kept_;
    return ring_[newest_];
  }
  [[nodiscard]] bool full() const noexcept { return kept_ == capacity_; }
  [[nodiscard]] std::uint32_t kept() const noexcept { return kept_; }
  [[nodiscard]] store_record& at(std::uint32_t age) const noexcept {
    return ring_[age <= newest_ ? newest_ - age : newest_ + capacity_ - age];
  }

 private:
  std::unique_ptr<store_record[]> ring_;
  std::uint32_t capacity_ = 0;
  std::uint32_t kept_ = 0;
  std::uint32_t newest_ = 0;
};

/// A seq_cst fence, under `weak`.
struct fence_record {
  std::uint32_t order;   ///< place in the order of seq_cst operations
  vector_clock through;  ///< what this fence and those before it know
};

}  // namespace faultline::sim

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Runs one thread of a litmus test on a memory of the caller's.
#include "scenario/litmus/ast.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace faultline::scenario::litmus {

/// A value, and the loads that it carries a dependency from, as a set of numbers that the memory gives.
struct datum {
  number value = 0;
  std::uint64_t from = 0;
};

struct access {
  std::size_t location = 0;
  bool plain = false;
  std::memory_order order = std::memory_order_seq_cst;
  std::uint64_t address_from = 0;  ///< loads that the address carries a dependency from
};

struct exchanged {
  bool done = false;
  datum old{};
};

class memory {
 public:
  memory() = default;
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;
  virtual ~memory() = default;

  virtual datum load(const access& a) = 0;
  virtual void store(const access& a, datum value) = 0;
  /// \param how  op::exchange, add, sub, with_...: applied() tells the new value
  virtual datum modify(const access& a, op how, datum by) = 0;
  /// A failure is a load of order `failure`. Never fails without a reason: weak is as strong.
  virtual exchanged compare_exchange(const access& a, std::memory_order failure, datum expected,
                                     datum desired) = 0;
  virtual void fence(std::memory_order order) = 0;
  /// The thread does what has no meaning, and ends here.
  virtual void undefined(place at, const std::string& what) = 0;
};

/// The value that a read-modify-write leaves.
[[nodiscard]] number applied(op how, number old, number by) noexcept;

/// \param registers  as they are at the end; set to the initial values first
void run_thread(const program& p, std::size_t thread, memory& on, std::vector<datum>& registers);

}  // namespace faultline::scenario::litmus

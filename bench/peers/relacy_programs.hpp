// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The validation programs for Relacy, behind plain functions: its headers replace the global operator new and are kept
/// to one source.
#include <cstdint>

namespace faultline::bench::relacy {

enum class program : std::uint8_t {
  abba,     ///< two mutexes in opposite order: a deadlock
  abba_ok,  ///< two mutexes in the same order
  sb,       ///< store buffering, relaxed: both may read 0
  sb_ok,    ///< store buffering, sequentially consistent
  rc,       ///< a reference taken from a slot while it is removed: a dead object is used
  rc_ok,    ///< the same under a mutex
};

enum class search : std::uint8_t {
  random,
  full,  ///< sched_full: every choice in turn, without partial-order reduction
};

struct outcome {
  bool defect = false;           ///< it ended at one: an assertion or a deadlock
  std::uint64_t executions = 0;  ///< the defective one included
  std::uint64_t steps =
      0;  ///< operations on atomics and mutexes begun, over all of them; not counted after a defect
};

/// \param from  random only: number of the first execution, which seeds it; 1 otherwise
/// \param executions_max  random only
[[nodiscard]] outcome run(program what, search how, std::uint64_t from = 1, std::uint64_t executions_max = 0);

}  // namespace faultline::bench::relacy

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Rows of the table for calls of two or three threads at a time: all the ends that there may be.
#include "posix/rows.hpp"

#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace faultline::posix {

/// What the set-up of a row leaves to its tasks.
struct place {
  std::array<std::int64_t, 3> fd{};
  std::array<std::uint64_t, 3> at{};
};

/// One call. Owns no memory across it: a task may be abandoned there.
using shared_task = outcome (*)(system& s, const place& p);

struct shared_row {
  std::string_view id;
  std::string_view situation;
  place (*set_up)(system& s);
  std::array<shared_task, 3> tasks;  ///< null: none
  void (*end)(system& s, const place& p, std::span<const outcome> gave, notes& n);
  std::string_view
      right;  ///< "this | that": the ends of the model, each of which comes up; the host's are among them
  std::string_view host_too{};     ///< further ends of the host
  std::string_view vn_io_fault{};  ///< that policy's ends, where they differ
  bool on_host = true;
};

[[nodiscard]] std::span<const shared_row> shared_rows();

/// The byte at an address as a value; -1: SIGSEGV, -2: SIGBUS.
[[nodiscard]] outcome touched(system& s, std::uint64_t at);
/// "Q", "SIGSEGV" or "SIGBUS".
[[nodiscard]] std::string text_of_touch(const outcome& o);

struct shared_ends {
  std::set<std::string> ends;
  std::string defect;  ///< empty, or the explorer's report
};

/// Under every interleaving.
[[nodiscard]] shared_ends on_model(std::string_view io, kern::parameters p, const shared_row& row);

}  // namespace faultline::posix

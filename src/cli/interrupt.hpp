// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// SIGINT ends a search with what there is; a second one ends the program.
#include <chrono>
#include <cstdint>
#include <string>

namespace faultline::cli {

/// From here on, SIGINT only sets a flag, once.
void catch_interrupt();
[[nodiscard]] bool interrupted() noexcept;

/// For sim::options::keep_going: stops at an interrupt, and shows on a terminal how far the search is.
class progress {
 public:
  explicit progress(std::string what);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress() { clear(); }

  [[nodiscard]] bool keep_going(std::uint64_t executions);
  /// Shows a text of the caller's in place of a count.
  void show(const std::string& text);
  void clear();

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace faultline::cli

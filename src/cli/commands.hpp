// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The subcommands, as the command line asks for them. Parsing is main.cpp's.
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace faultline::cli {

/// Exit statuses, for scripts.
enum exit_status : int {
  exit_clean = 0,       ///< no defect; findings alone are no defect
  exit_defect = 1,      ///< a defect, or an expectation missed
  exit_usage = 2,       ///< usage or input: one line on stderr
  exit_incomplete = 3,  ///< an exhaustive search ended early and had found nothing
};

/// What the user asked for cannot be done. The text is one line: what is wrong, and what would be right.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct explore_request {
  std::string scenario;
  std::vector<std::string> policies;  ///< "P" or "AXIS=P"
  std::vector<std::string> omit;
  std::string strategy = "exhaustive";
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> executions;
  std::optional<std::uint64_t> steps;
  std::optional<std::string> preemptions;  ///< "N", or "0..N"
  std::optional<std::string> granularity;
  std::optional<std::string> memory;
  std::optional<std::string> processors;
  std::optional<std::string> timers;
  std::optional<std::uint32_t> jobs;
  std::optional<std::string> shard;  ///< "I/N"
  bool as_found = false;             ///< the schedule is not shortened
  bool all = false;
  bool checkers = false;
  bool json = false;
  std::optional<std::string> save;
  std::optional<std::string> dot;
  std::optional<std::string> trace;
};
struct replay_request {
  std::string source;  ///< a file, or the schedule itself
  bool json = false;
  std::optional<std::string> trace;
};
struct merge_request {
  std::vector<std::string> files;
  bool json = false;
};
struct verify_request {
  std::vector<std::string> scenarios;
  bool full = false;
  bool json = false;
};
struct litmus_request {
  std::vector<std::string> tests;  ///< none: the shipped table
  std::optional<std::string> memory;
  bool json = false;
};

/// \param program  how the program was called: printed in commands to copy
[[nodiscard]] exit_status explore(const explore_request& wanted, const std::string& program);
[[nodiscard]] exit_status replay(const replay_request& wanted);
[[nodiscard]] exit_status merge(const merge_request& wanted, const std::string& program);
[[nodiscard]] exit_status verify(const verify_request& wanted);
[[nodiscard]] exit_status litmus(const litmus_request& wanted);
[[nodiscard]] exit_status list(bool json);
[[nodiscard]] exit_status demo(const std::string& program);

}  // namespace faultline::cli

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// From lines to a model: every name is looked up, every bound is checked.
#include "scenario/file/cursor.hpp"
#include "scenario/file/model.hpp"

#include <string>
#include <string_view>

namespace faultline::scenario::file {

/// \name Bounds of a file
/// So that a file that is accepted can be run, whatever it says.
/// \{
inline constexpr std::uint64_t page_size_max = 65536;
inline constexpr std::uint64_t file_size_max = std::uint64_t{1}
                                               << 20U;  ///< of contents, and what a file may grow to
inline constexpr std::uint64_t file_size_most = std::uint64_t{1}
                                                << 24U;  ///< the same, where the kernel line says so
inline constexpr std::uint64_t memory_size_max = std::uint64_t{1} << 24U;
inline constexpr std::uint64_t transfer_max = std::uint64_t{1} << 40U;
inline constexpr std::uint64_t access_max = 65536;  ///< of one load or store
inline constexpr std::size_t tasks_max = 31;
inline constexpr std::size_t calls_max = 1000;
inline constexpr std::size_t names_max = 1000;  ///< of files, and of one process's names
/// \}

class resolver {
 public:
  explicit resolver(const std::string& origin) : origin_(origin) {}
  [[nodiscard]] resolved run(const std::vector<line>& lines);

 private:
  enum class block : std::uint8_t { none, process, task };

  // resolve.cpp: the file as a whole, the kernel, files and processes
  void header(cursor c);
  void statement(cursor& c);
  void settings(cursor& c);
  void a_file(cursor& c);
  void cached(cursor& c);
  void process(cursor& c);
  void process_line(cursor& c);
  void descriptor_line(cursor& c, process_made& p);
  void memory_line(cursor& c, process_made& p, memory_kind kind);
  void task(cursor& c, bool adversary);
  void complete(place end);
  void policies_of_scenario(cursor& c, bool stock);

  // resolve_calls.cpp
  void call_line(cursor& c);
  void operands(cursor& c, call& what);
  void accepted(cursor& c, call& what) const;
  void transfer_operands(cursor& c, call& what);
  void mmap_operands(cursor& c, call& what);
  void system_operands(cursor& c, call& what);
  void own(const cursor& c, place at, const std::string& name, std::optional<std::size_t> made_by) const;
  [[nodiscard]] std::size_t descriptor(cursor& c);
  [[nodiscard]] std::size_t new_descriptor(cursor& c);
  /// NAME or NAME+N.
  [[nodiscard]] user_range address(cursor& c, process_made& p);
  [[nodiscard]] user_range range(cursor& c, std::uint64_t most);

  // resolve_expect.cpp
  void invariant_line(cursor& c);
  void observe(cursor& c);
  void expect(cursor& c);
  [[nodiscard]] static sim::memory_model memory_model(cursor& c);
  void search_of(cursor& c, expectation& row) const;
  void outcome(cursor& c, expectation& row) const;
  static void checker(cursor& c, expectation& row);
  [[nodiscard]] subject a_subject(cursor& c) const;
  void policy(cursor& c, policies& into, bool once) const;

  // resolve_linearizable.cpp
  void check_linearizable() const;

  // all
  [[nodiscard]] std::size_t file_named(cursor& c) const;
  [[nodiscard]] vm::protection rights(cursor& c) const;
  [[nodiscard]] kern::open_flags open_flags(cursor& c) const;
  void fresh(const cursor& c, place at, const std::string& name) const;
  [[nodiscard]] process_made& its_process() {
    return out_.program.processes[out_.program.tasks.back().process];
  }

  const std::string& origin_;
  resolved out_{};
  block in_ = block::none;
  bool adversary_ = false;
  bool kernel_fixed_ = false;  // a size in pages was used
  place linearizable_;         // the line, if there is one
  std::string seen_;           // the once-only statements so far, each with a space behind
};

}  // namespace faultline::scenario::file

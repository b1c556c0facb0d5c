// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A failing schedule made short enough to read: fewer preemptions, then fewer tasks, then fewer switches and steps.
#include <faultline/sim/explore.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace faultline::sim {

/// How long a schedule is to a reader; compared in this order.
struct schedule_size {
  std::uint32_t preemptions = 0;  ///< switches away from a task that could have gone on
  std::uint32_t tasks = 0;        ///< that ran at all
  std::uint32_t switches = 0;
  std::uint32_t steps = 0;
  friend auto operator<=>(const schedule_size&, const schedule_size&) = default;
};

struct shortened {
  /// The report given, with what describes its defect (message, cycle, waits, schedule, observations) of the short schedule.
  sim::report report;
  schedule_size before;
  schedule_size after;
  /// No schedule with fewer preemptions has this defect: searched to the end.
  bool fewest_preemptions = false;
  std::uint64_t steps = 0;          ///< executed to find it
  std::vector<trace_event> events;  ///< of the short schedule
  std::vector<std::string> tasks;   ///< of the program, by number
};

/// Shortens the schedule of the defect that `found` reports. Keeps the kind of defect: a deadlock's cycle is of the same
/// objects, another defect's message differs in numbers only.
/// \param how  as the search was run: memory, granularity, omitted steps; bounds and strategy do not matter
/// \param steps_max  about so many steps are executed at most
/// \pre found.verdict is a defect, and found.schedule replays it
/// \errors  throws std::invalid_argument if the schedule does not show the defect (another program, other options)
[[nodiscard]] shortened shorten(const report& found, const program& p, options how,
                                std::uint64_t steps_max = 2'000'000);

/// The execution as a table, a column for each task, one line a step; steps that nobody waits for are left out of long runs.
/// \param rows_max  at most about so many lines; the middle is left out
[[nodiscard]] std::string schedule_table(const shortened& s, std::size_t rows_max = 40);

}  // namespace faultline::sim

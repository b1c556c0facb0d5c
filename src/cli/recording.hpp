// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// One execution with all that is needed to have it again, as a line of text:
///
///     fl1:SCENARIO;policy=AXIS=P,AXIS=P;omit=ID,ID;granularity=coarse;memory=sc;schedule=0*7.1*9@HASH
///
/// `fl1` is the version of the format. `policy` and `omit` may be absent; `processors=shared` and `timers=maximal-progress`
/// follow `memory` where the run was so. In place of SCENARIO, `file:PATH;text=HASH` names a
/// scenario file and what it was; PATH is as it was given, so relative to the directory of that time. In a file, empty lines and
/// lines that begin with # are skipped.
#include <faultline/scenario/scenario.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace faultline::cli {

struct recording {
  const scenario::scenario* what = nullptr;
  std::string path{};             ///< of a scenario file; empty: a shipped scenario
  std::string fingerprint{};      ///< of that file when it was explored
  bool changed = false;           ///< the file is another one now
  scenario::policies policies{};  ///< one for each axis
  std::vector<const step*> omit{};
  sim::granularity grain = sim::granularity::coarse;
  sim::memory_model memory = sim::memory_model::sc;
  sim::processors processors = sim::processors::own;
  sim::timers timers = sim::timers::may_fire;
  std::string schedule{};
  std::string origin{};  ///< "FILE:LINE: ", for errors; empty if it was given as text
};

[[nodiscard]] std::string text_of(const recording& r);
/// How it is run, as far as the recording says.
[[nodiscard]] sim::options options_of(const recording& r);
/// The settings that the scenario is usually run with.
void take_usual_settings(recording& r);
/// Does it look like a recording rather than like the name of a file?
[[nodiscard]] bool is_recording(std::string_view text) noexcept;
/// \errors usage_error, beginning with `origin`
[[nodiscard]] recording recording_from(std::string_view line, const std::string& origin);
/// \errors usage_error: cannot be read, or "FILE:LINE: what is wrong"
[[nodiscard]] recording recording_from_file(const std::string& path);

/// `text` as one word of a POSIX shell.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace faultline::cli

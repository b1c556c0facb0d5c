// SPDX-License-Identifier: BSD-2-Clause
#include "commands.hpp"
#include "recording.hpp"
#include "select.hpp"
#include "sim/report_text.hpp"
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>

namespace faultline::cli {

namespace {

/// One part of the tour. A further thread is a further row.
struct part {
  int thread;
  std::string_view title;
  std::array<std::string_view, 3> problem;
  std::string_view scenario;
  std::string_view old_way;  ///< policy of the scenario's own axis, and what it does
  std::string_view old_does;
  std::string_view new_way;
  std::string_view new_does;
  std::string_view step;  ///< of the new way; without it, the defect is back
  sim::verdict defect;
};

constexpr part parts[] = {
    {.thread = 1,
     .title = "write(2) from a buffer that is a mapping of another file (FreeBSD, 2012)",
     .problem = {"write(2) locks the vnode, then copies from the user's buffer. If the buffer is a mapping "
                 "of a file and its",
                 "page is not resident, the copy faults, and the fault wants the lock of that file's vnode. "
                 "Two processes",
                 "that write their files from mappings of each other's take the two vnode locks in opposite "
                 "orders."},
     .scenario = "vn-io-fault/crossed-write",
     .old_way = "vnode-locked",
     .old_does = "the vnode stays locked while the copy faults",
     .new_way = "vn-io-fault",
     .new_does = "copies with page faults disabled; what faults is held first, with no vnode locked",
     .step = "V1",
     .defect = sim::verdict::deadlock},
};

constexpr std::uint64_t steps_max = 50'000'000;  // far more than any part needs

/// Prints, and remembers what was not as it should be.
class guide {
 public:
  explicit guide(std::string program) : program_(std::move(program)) {}

  void show(const part& p);
  [[nodiscard]] std::size_t missed() const noexcept { return missed_; }

 private:
  sim::report run(const recording& what);
  void expect(bool holds, std::string_view said, const sim::report& r);
  void old_way(const part& p, recording what);
  void new_way(const recording& what);
  void without(const part& p, const recording& what);

  std::string program_;
  std::size_t missed_ = 0;
};

sim::report guide::run(const recording& what) {
  auto how = options_of(what);
  how.steps_max = steps_max;
  return sim::explore(how, what.what->program(what.policies));
}

void guide::expect(bool holds, std::string_view said, const sim::report& r) {
  if (holds) {
    fmt::print("   {}\n\n", said);
    return;
  }
  ++missed_;
  fmt::print("   NOT AS EXPECTED: {}; got {}, {}\n{}{}\n", said, sim::name_of(r.verdict),
             r.complete ? "complete" : r.why_incomplete, indented(sim::defect_text(r), 3),
             r.diverged.empty() ? "" : fmt::format("   diverged: {}\n", r.diverged));
}

void guide::old_way(const part& p, recording what) {
  const auto found = run(what);
  if (found.verdict != p.defect) return expect(false, fmt::format("a {}", sim::name_of(p.defect)), found);
  what.schedule = found.schedule;
  fmt::print("{}\n", indented(sim::defect_text(found), 3));

  const auto again = sim::replay(found.schedule, what.what->program(what.policies), options_of(what));
  expect(again.diverged.empty() && again.verdict == found.verdict && again.event_hash == found.event_hash,
         fmt::format("Replayed from its schedule: the same {} steps to the same {}. Step by step:",
                     again.steps, sim::name_of(again.verdict)),
         again);
  fmt::print("     {}\n\n", replay_command(program_, text_of(what)));
}

void guide::new_way(const recording& what) {
  const auto r = run(what);
  expect(r.verdict == sim::verdict::clean && r.complete,
         fmt::format("clean, in every interleaving: {} executions cover them all", r.executions), r);
}

void guide::without(const part& p, const recording& what) {
  const auto r = run(what);
  const auto* step = what.omit.front();
  const bool came_by = r.steps_skipped_by_defect.contains(std::string(step->id));
  expect(r.verdict == p.defect && came_by,
         came_by ? fmt::format("{} again: {}", sim::name_of(p.defect), step->defect)
                 : fmt::format("a {} in an execution that came by the step", sim::name_of(p.defect)),
         r);
}

void guide::show(const part& p) {
  fmt::print("Thread {}: {}\n\n", p.thread, p.title);
  for (const auto line : p.problem) fmt::print("  {}\n", line);
  recording what;
  what.what = &scenario_named(p.scenario);
  take_usual_settings(what);
  const auto with = [&](std::string_view policy) {
    const std::string own[] = {std::string(policy)};
    auto chosen = what;
    chosen.policies = scenario::complete(*what.what, policies_named(*what.what, own));
    return chosen;
  };

  fmt::print("\n1. The old way, {}: {}.\n\n", p.old_way, p.old_does);
  old_way(p, with(p.old_way));

  fmt::print("2. The fix, {}: {}.\n\n", p.new_way, p.new_does);
  const auto fixed = with(p.new_way);
  new_way(fixed);

  auto broken = fixed;
  const std::string left_out[] = {std::string(p.step)};
  broken.omit = steps_named(left_out);
  fmt::print("3. The fix without its step {} ({}).\n\n", broken.omit.front()->id, broken.omit.front()->name);
  without(p, broken);
}

}  // namespace

exit_status demo(const std::string& program) {
  guide g(program);
  for (const auto& p : parts) g.show(p);
  fmt::print(
      "{} list  shows all scenarios, policies and steps; {} verify  checks all that is expected of them.\n",
      shell_word(program), shell_word(program));
  return g.missed() == 0 ? exit_clean : exit_defect;
}

}  // namespace faultline::cli

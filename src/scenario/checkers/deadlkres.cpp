// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/scenario/checkers/deadlkres.hpp>

#include "scenario/checkers/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace faultline::scenario::checkers {

namespace {

constexpr std::array<std::string_view, 3> blessed{"getblk", "so_snd_sx", "so_rcv_sx"};

struct wait {
  const sim::sleep_event* sleeper;
  bool turnstile;
  std::uint64_t threshold;
};

}  // namespace

void deadlkres::ends(const sim::end_event& e) {
  if (found_.fired || e.pruned) return;
  std::vector<wait> waits;
  for (const auto& s : e.sleepers) {
    if (!s.for_ever) continue;
    const auto row = table_.find(s.lock.kind, s.lock.name);
    const bool for_lock = s.takes && s.lock.id != sim::no_object && row.freebsd != freebsd_primitive::none;
    const bool is_blessed = std::find(blessed.begin(), blessed.end(), s.wait_name) != blessed.end();
    const bool turnstile = for_lock && !sleepable(row.freebsd);
    if (turnstile || (for_lock && !is_blessed)) {
      waits.push_back({&s, turnstile, turnstile ? thresholds_.blocked : thresholds_.asleep});
    } else if (const auto word = fmt::format("\"{}\"", s.wait_name);
               not_looked_at_.find(word) == std::string::npos) {
      not_looked_at_ += (not_looked_at_.empty() ? "" : ", ") + word;
    }
  }
  const std::uint64_t scan = std::max<std::uint64_t>(thresholds_.scan, 1);
  const auto last = std::max(thresholds_.blocked, thresholds_.asleep) + scan;
  for (std::uint64_t now = scan; now <= last && !waits.empty(); now += scan) {
    const auto hung =
        std::find_if(waits.begin(), waits.end(), [now](const wait& w) { return now > w.threshold; });
    if (hung == waits.end()) continue;
    const auto& s = *hung->sleeper;
    found_ = {.name = std::string(name()),
              .fired = true,
              .text = fmt::format("panic: {}: possible deadlock detected for {}, blocked for {} ticks\n",
                                  hung->turnstile ? "deadlres_td_on_lock" : "deadlres_td_sleep_q",
                                  s.task_name, now * thresholds_.hz),
              .execution = execution_,
              .virtual_seconds = now};
    return;
  }
}

checker_result deadlkres::result() const {
  if (found_.fired) return found_;
  checker_result r{.name = std::string(name())};
  r.why_silent =
      not_looked_at_.empty()
          ? "no thread was left asleep for ever"
          : fmt::format("sleeps on {} are neither on a turnstile nor on an sx or lockmgr lock, or blessed",
                        not_looked_at_);
  return r;
}

}  // namespace faultline::scenario::checkers

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What a lock rule says of holders and queue. Pure functions: the explorer's locks and the native ones ask the same.
#include <faultline/sim/lock_state.hpp>

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <span>

namespace faultline::sim {

/// Calls `stop(request)` for each hold and each queued request that `wish` must wait for, until it returns true.
/// \param holds  a range of objects with a member `granted`
/// \param queue  announced, not granted; oldest first. A request of `wish`'s own task is `wish` itself
/// \returns whether it was stopped
template <std::ranges::forward_range Holds, class Stop>
bool visit_blockers(const lock_rule& rule, const Holds& holds, std::span<const request> queue,
                    const request& wish, Stop&& stop) {
  for (const auto& h : holds) {
    if (rule.conflicts(h.granted, wish) && stop(h.granted)) return true;
  }
  // Not announced: everybody in the queue was there before.
  const auto mine = std::ranges::find(queue, wish.task, &request::task);
  for (auto q = queue.begin(); q != queue.end(); ++q) {
    if (q->task != wish.task && rule.yields(*q, q < mine, wish) && stop(*q)) return true;
  }
  return false;
}

/// May `wish` be granted now?
template <std::ranges::forward_range Holds>
[[nodiscard]] bool grants(const lock_rule& rule, const Holds& holds, std::span<const request> queue,
                          const request& wish) {
  return !visit_blockers(rule, holds, queue, wish, [](const request&) { return true; });
}

/// The hold that a grant of `wish` makes one deeper, or the end.
template <std::ranges::forward_range Holds>
[[nodiscard]] auto hold_of(Holds& holds, const request& wish) {
  return std::ranges::find_if(
      holds, [&](const auto& h) { return h.granted.task == wish.task && h.granted.range == wish.range; });
}

}  // namespace faultline::sim

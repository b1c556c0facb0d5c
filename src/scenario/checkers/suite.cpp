// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/scenario/checkers/suite.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace faultline::scenario::checkers {

sim::report suite::explore(sim::options how, const sim::program& p) {
  auto told = how;
  told.observers.insert(told.observers.end(), {&witness_, &lockdep_});
  auto r = sim::explore(told, p);
  if (r.verdict != sim::verdict::clean && r.verdict != sim::verdict::budget) {
    how.custom = {};
    how.iterate_bounds = false;
    how.shard = {};
    how.on_event = {};
    how.observers = {&deadlkres_, &khungtaskd_};
    how.continue_after_deadlock = true;
    (void)sim::replay(r.schedule, p, how);
  }
  return r;
}

std::vector<checker_result> suite::results(const sim::report& r) const {
  std::vector<checker_result> out{witness_.result(), lockdep_.result(), deadlkres_.result(),
                                  khungtaskd_.result()};
  for (auto& result : out) {
    // Time was measured in the one execution that was run again.
    if (result.fired && result.virtual_seconds) result.execution = r.defect_execution;
  }
  checker_result own{.name = "wait-for-graph"};
  if (r.verdict == sim::verdict::deadlock) {
    own.fired = true;
    own.text = r.message + '\n';
    own.execution = r.defect_execution;
    own.virtual_seconds = 0;
  } else {
    own.why_silent = r.complete ? "no interleaving closes a cycle of waits"
                                : "no execution that was looked at closed a cycle of waits";
  }
  out.push_back(std::move(own));
  return out;
}

void confirm_all(sim::report& r, std::vector<checker_result>& results, const sim::options& how,
                 const sim::program& p, const std::function<std::string(const std::string&)>& shown) {
  std::map<std::set<std::string>, std::string> known;
  if (!r.cycle.empty())
    known[{r.cycle.begin(), r.cycle.end()}] =
        fmt::format("confirmed: execution {} hangs on it", r.defect_execution);
  const auto outcome = [&](const std::vector<std::string>& objects) {
    const std::set<std::string> key(objects.begin(), objects.end());
    if (const auto at = known.find(key); at != known.end()) return at->second;
    std::string text;
    if (r.complete && r.preemptions < 0 && r.defects == 0) {
      text = "unconfirmed: the search covered every interleaving";
    } else {
      auto c = sim::confirm(objects, how, p);
      if (c.confirmed) c.schedule = shown(c.schedule);
      text = sim::text_of(c);
    }
    return known[key] = text;
  };
  for (auto& f : r.findings) {
    if (f.kind == "order-reversal") f.text += "; " + outcome(f.objects);
  }
  for (auto& result : results) {
    if (result.fired && !result.objects.empty()) result.confirmation = outcome(result.objects);
  }
}

}  // namespace faultline::scenario::checkers

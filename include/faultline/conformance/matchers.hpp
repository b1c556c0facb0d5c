// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// GoogleMock matchers of what an exploration found: EXPECT_THAT(sim::explore({}, program), IsCompleteAndClean()).
///
/// A mismatch is explained by the report's verdict, message, cycle, and the schedule that replays it.
#include <faultline/sim/report.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace faultline::conformance {

namespace detail {

inline std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

/// What a reader of a failed test needs of a report.
inline std::string summary(const sim::report& r) {
  std::string out = std::string("whose verdict is ") + sim::name_of(r.verdict);
  if (!r.message.empty()) out += ": " + r.message;
  if (!r.cycle.empty()) out += "\ncycle: " + listed(r.cycle);
  for (const auto& f : r.findings) out += "\nfound besides: " + f.kind + " of " + listed(f.objects);
  out += r.complete ? "\ncomplete" : "\nnot complete: " + r.why_incomplete;
  out += ", " + std::to_string(r.executions) + (r.executions == 1 ? " execution" : " executions");
  if (r.verdict != sim::verdict::clean) out += "\nschedule: " + r.schedule;
  return out;
}

/// \param what  after "is a report that", and after "is a report that does not: " in the negative
class report_matcher final : public testing::MatcherInterface<const sim::report&> {
 public:
  report_matcher(std::string what, std::function<bool(const sim::report&)> holds)
      : what_(std::move(what)), holds_(std::move(holds)) {}
  bool MatchAndExplain(const sim::report& r, testing::MatchResultListener* listener) const override {
    *listener << summary(r);
    return holds_(r);
  }
  void DescribeTo(std::ostream* out) const override { *out << "is a report that " << what_; }
  void DescribeNegationTo(std::ostream* out) const override {
    *out << "is a report of which it is not true that it " << what_;
  }

 private:
  std::string what_;
  std::function<bool(const sim::report&)> holds_;
};

template <class Holds>
testing::Matcher<const sim::report&> matcher(std::string what, Holds holds) {
  return testing::MakeMatcher(new report_matcher(std::move(what), std::move(holds)));
}

inline std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace detail

/// The search found that verdict.
inline testing::Matcher<const sim::report&> HasVerdict(sim::verdict v) {
  return detail::matcher(std::string("has the verdict ") + sim::name_of(v),
                         [v](const sim::report& r) { return r.verdict == v; });
}

/// No defect in what was looked at. It may be no proof: IsCompleteAndClean() wants one.
inline testing::Matcher<const sim::report&> IsClean() {
  return detail::matcher("is clean", [](const sim::report& r) { return r.verdict == sim::verdict::clean; });
}

/// A proof, for the granularity and the bound that the report states.
inline testing::Matcher<const sim::report&> IsCompleteAndClean() {
  return detail::matcher("is clean and complete",
                         [](const sim::report& r) { return r.verdict == sim::verdict::clean && r.complete; });
}

/// A deadlock whose cycle has exactly these objects ("mutex:a", as often as they are waited for), in any order; without any:
/// some deadlock.
template <class... Objects>
testing::Matcher<const sim::report&> Deadlocks(Objects&&... objects) {
  auto wanted = detail::sorted({std::string(std::forward<Objects>(objects))...});
  auto what = wanted.empty() ? std::string("deadlocks") : "deadlocks on exactly " + detail::listed(wanted);
  return detail::matcher(std::move(what), [wanted = std::move(wanted)](const sim::report& r) {
    return r.verdict == sim::verdict::deadlock && (wanted.empty() || detail::sorted(r.cycle) == wanted);
  });
}

/// A wait that nobody is left to end.
inline testing::Matcher<const sim::report&> LosesWakeup() {
  return detail::matcher("loses a wake-up",
                         [](const sim::report& r) { return r.verdict == sim::verdict::lost_wakeup; });
}

/// Rounds without a progress mark, or a spin on what nobody is left to change.
inline testing::Matcher<const sim::report&> Livelocks() {
  return detail::matcher("livelocks",
                         [](const sim::report& r) { return r.verdict == sim::verdict::livelock; });
}

/// \param object  as reports name it: "var:count"
inline testing::Matcher<const sim::report&> Races(std::string_view object) {
  std::string wanted(object);
  auto what = "races on " + wanted;
  return detail::matcher(std::move(what), [text = "race on " + wanted + ":"](const sim::report& r) {
    return r.verdict == sim::verdict::race && r.message.find(text) != std::string::npos;
  });
}

/// A violation, with that in its message.
inline testing::Matcher<const sim::report&> Violates(std::string_view substring) {
  std::string wanted(substring);
  auto what = "has a violation that says \"" + wanted + '"';
  return detail::matcher(std::move(what), [wanted = std::move(wanted)](const sim::report& r) {
    return r.verdict == sim::verdict::violation && r.message.find(wanted) != std::string::npos;
  });
}

/// The order graph has a cycle of exactly these two, whatever the verdict.
inline testing::Matcher<const sim::report&> FindsReversal(std::string_view a, std::string_view b) {
  auto wanted = detail::sorted({std::string(a), std::string(b)});
  auto what = "finds the order reversal of " + detail::listed(wanted);
  return detail::matcher(std::move(what), [wanted = std::move(wanted)](const sim::report& r) {
    return std::any_of(r.findings.begin(), r.findings.end(), [&wanted](const sim::finding& f) {
      return f.kind == "order-reversal" && detail::sorted(f.objects) == wanted;
    });
  });
}

}  // namespace faultline::conformance

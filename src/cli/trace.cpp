// SPDX-License-Identifier: BSD-2-Clause
#include "trace.hpp"

#include "json.hpp"

#include <algorithm>
#include <map>

namespace faultline::cli {

namespace {

namespace json = boost::json;

class writer {
 public:
  explicit writer(const std::vector<std::string>& tasks) : tasks_(tasks), open_(tasks.size()) {
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      events_.push_back(json::object{{"name", "thread_name"},
                                     {"ph", "M"},
                                     {"pid", 1},
                                     {"tid", t + 1},
                                     {"args", json::object{{"name", tasks[t]}}}});
    }
  }

  void step(const sim::trace_event& e) {
    const auto t = track(e.task);
    now_ = e.step;
    // The calls that the task is in: those it left end here, new ones begin.
    auto& open = open_[t];
    std::size_t same = 0;
    while (same < open.size() && same < e.chain.size() && open[same].call == e.chain[same]) ++same;
    close(t, same);
    for (std::size_t i = same; i < e.chain.size(); ++i) open.push_back({e.chain[i], now_});
    for (auto& call : open) call.last = now_ + 1;
    events_.push_back(json::object{{"name", e.what},
                                   {"cat", "step"},
                                   {"ph", "X"},
                                   {"pid", 1},
                                   {"tid", t + 1},
                                   {"ts", now_},
                                   {"dur", 1},
                                   {"args", json::object{{"step", e.step}}}});
  }

  [[nodiscard]] std::string end() {
    for (std::size_t t = 0; t < open_.size(); ++t) close(t, 0);
    return json::serialize(json::object{{"traceEvents", std::move(events_)}, {"displayTimeUnit", "ns"}}) +
           '\n';
  }

 private:
  struct call_open {
    std::string call;
    std::uint64_t since;
    std::uint64_t last = 0;
  };

  std::size_t track(const std::string& task) const {
    return static_cast<std::size_t>(std::find(tasks_.begin(), tasks_.end(), task) - tasks_.begin());
  }
  void close(std::size_t t, std::size_t keep) {
    auto& open = open_[t];
    while (open.size() > keep) {
      const auto& c = open.back();
      events_.push_back(json::object{{"name", c.call},
                                     {"cat", "call"},
                                     {"ph", "X"},
                                     {"pid", 1},
                                     {"tid", t + 1},
                                     {"ts", c.since},
                                     {"dur", c.last - c.since}});
      open.pop_back();
    }
  }

  const std::vector<std::string>& tasks_;
  std::vector<std::vector<call_open>> open_;  ///< by task, outermost first
  json::array events_;
  std::uint64_t now_ = 0;
};

}  // namespace

std::string chrome_trace(const std::vector<std::string>& tasks, const std::vector<sim::trace_event>& steps) {
  // Tasks made on the way are met in the steps only.
  auto all = tasks;
  for (const auto& e : steps) {
    if (std::find(all.begin(), all.end(), e.task) == all.end()) all.push_back(e.task);
  }
  writer w(all);
  for (const auto& e : steps) w.step(e);
  return w.end();
}

}  // namespace faultline::cli

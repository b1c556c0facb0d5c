// SPDX-License-Identifier: BSD-2-Clause
#include "shards.hpp"

#include "interrupt.hpp"
#include "json.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>

namespace faultline::cli {

namespace json = boost::json;

namespace {

std::vector<std::string> texts(const json::value& v) { return json::value_to<std::vector<std::string>>(v); }

std::set<std::string> text_set(const json::value& v) {
  const auto all = texts(v);
  return {all.begin(), all.end()};
}

sim::verdict verdict_named(std::string_view name) {
  for (std::size_t v = 0; v <= static_cast<std::size_t>(sim::verdict::budget); ++v) {
    if (name == sim::name_of(static_cast<sim::verdict>(v))) return static_cast<sim::verdict>(v);
  }
  throw std::invalid_argument(fmt::format("\"{}\" is no verdict", name));
}

json::array order_of(const sim::report& r) {
  json::array out;
  for (const auto& e : r.order) {
    out.push_back(json::object{{"held", e.held},
                               {"wanted", e.wanted},
                               {"blocking", e.blocking},
                               {"tasks", e.tasks},
                               {"guards", array_of(e.guards)},
                               {"example", e.example}});
  }
  return out;
}

std::vector<sim::wait_record> waits_from(const json::array& all) {
  std::vector<sim::wait_record> out;
  for (const auto& v : all) {
    const auto& w = v.as_object();
    auto& record = out.emplace_back();
    record.task = json::value_to<std::string>(w.at("task"));
    record.object = json::value_to<std::string>(w.at("object"));
    record.mode = json::value_to<std::string>(w.at("mode"));
    record.wait_name = json::value_to<std::string>(w.at("wait_name"));
    record.chain = texts(w.at("chain"));
    for (const auto& holder : w.at("held_by").as_array()) {
      const auto& h = holder.as_object();
      record.held_by.push_back({.task = json::value_to<std::string>(h.at("task")),
                                .mode = json::value_to<std::string>(h.at("mode")),
                                .since_step = json::value_to<std::uint32_t>(h.at("since_step")),
                                .since = texts(h.at("since")),
                                .queued = h.at("queued").as_bool()});
    }
  }
  return out;
}

}  // namespace

json::object shard_of(const sim::report& r) {
  json::object outcomes;
  for (const auto& [text, n] : r.outcomes) outcomes.emplace(text, n);
  json::object by_verdict;
  for (const auto& [v, n] : r.by_verdict) by_verdict.emplace(sim::name_of(v), n);
  return {{"index", r.shard},
          {"count", r.shards},
          {"covered", r.covers_shard},
          {"verdict", sim::name_of(r.verdict)},
          {"message", r.message},
          {"why_incomplete", r.why_incomplete},
          {"fair_only", r.fair_only},
          {"overflowed", r.overflowed},
          {"interrupted", r.interrupted},
          {"strategy", r.strategy},
          {"granularity", r.grain},
          {"memory", r.memory},
          {"processors", r.processors},
          {"timers", r.timers},
          {"preemptions", r.preemptions},
          {"seed", r.seed},
          {"executions", r.executions},
          {"blocked", r.blocked},
          {"truncated", r.truncated},
          {"steps", r.steps},
          {"defects", r.defects},
          {"by_verdict", std::move(by_verdict)},
          {"seconds", r.seconds},
          {"cycle", array_of(r.cycle)},
          {"waits", waits_of(r)},
          {"still_running", array_of(r.still_running)},
          {"schedule", r.schedule},
          {"event_hash", r.event_hash},
          {"defect_execution", r.defect_execution},
          {"steps_reached_by_defect", array_of(r.steps_reached_by_defect)},
          {"steps_skipped_by_defect", array_of(r.steps_skipped_by_defect)},
          {"findings", findings_of(r)},
          {"order", order_of(r)},
          {"observations", observations_of(r)},
          {"outcomes", std::move(outcomes)},
          {"steps_reached", array_of(r.steps_reached)},
          {"steps_skipped", array_of(r.steps_skipped)}};
}

sim::report report_from(const json::object& s) {
  sim::report r;
  const auto number = [&s](const char* key) { return json::value_to<std::uint64_t>(s.at(key)); };
  const auto text = [&s](const char* key) { return json::value_to<std::string>(s.at(key)); };
  r.shard = json::value_to<std::uint32_t>(s.at("index"));
  r.shards = json::value_to<std::uint32_t>(s.at("count"));
  r.covers_shard = s.at("covered").as_bool();
  r.verdict = verdict_named(text("verdict"));
  r.message = text("message");
  r.why_incomplete = text("why_incomplete");
  r.fair_only = s.at("fair_only").as_bool();
  r.overflowed = s.at("overflowed").as_bool();
  r.interrupted = s.at("interrupted").as_bool();
  r.strategy = text("strategy");
  r.grain = text("granularity");
  r.memory = text("memory");
  r.processors = text("processors");
  r.timers = text("timers");
  r.preemptions = json::value_to<std::int64_t>(s.at("preemptions"));
  r.seed = number("seed");
  r.executions = number("executions");
  r.blocked = number("blocked");
  r.truncated = number("truncated");
  r.steps = number("steps");
  r.defects = number("defects");
  for (const auto& [name, n] : s.at("by_verdict").as_object())
    r.by_verdict[verdict_named(name)] = json::value_to<std::uint64_t>(n);
  r.seconds = json::value_to<double>(s.at("seconds"));
  r.cycle = texts(s.at("cycle"));
  r.waits = waits_from(s.at("waits").as_array());
  r.still_running = texts(s.at("still_running"));
  r.schedule = text("schedule");
  r.event_hash = number("event_hash");
  r.defect_execution = number("defect_execution");
  r.steps_reached_by_defect = text_set(s.at("steps_reached_by_defect"));
  r.steps_skipped_by_defect = text_set(s.at("steps_skipped_by_defect"));
  for (const auto& v : s.at("findings").as_array()) {
    const auto& f = v.as_object();
    r.findings.push_back({.kind = json::value_to<std::string>(f.at("kind")),
                          .objects = texts(f.at("objects")),
                          .text = json::value_to<std::string>(f.at("text"))});
  }
  for (const auto& v : s.at("order").as_array()) {
    const auto& e = v.as_object();
    r.order.push_back({.held = json::value_to<std::string>(e.at("held")),
                       .wanted = json::value_to<std::string>(e.at("wanted")),
                       .blocking = e.at("blocking").as_bool(),
                       .tasks = json::value_to<sim::task_set>(e.at("tasks")),
                       .guards = texts(e.at("guards")),
                       .example = json::value_to<std::string>(e.at("example"))});
  }
  for (const auto& [name, value] : s.at("observations").as_object())
    r.observations[name] = json::value_to<std::string>(value);
  for (const auto& [line, n] : s.at("outcomes").as_object())
    r.outcomes[line] = json::value_to<std::uint64_t>(n);
  r.steps_reached = text_set(s.at("steps_reached"));
  r.steps_skipped = text_set(s.at("steps_skipped"));
  return r;
}

namespace {

/// A child process that runs one shard and writes its report, as JSON, into a pipe.
class worker {
 public:
  worker(const sim::options& how, const sim::program& p) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error(fmt::format("no pipe: {}", std::strerror(errno)));
    pid_ = ::fork();
    if (pid_ < 0) {
      ::close(ends[0]);
      ::close(ends[1]);
      throw std::runtime_error(fmt::format("no process: {}", std::strerror(errno)));
    }
    if (pid_ == 0) {
      ::close(ends[0]);
      serve(how, p, ends[1]);
    }
    ::close(ends[1]);
    from_ = ends[0];
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker() {
    if (from_ >= 0) ::close(from_);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }

  [[nodiscard]] int fd() const noexcept { return from_; }
  [[nodiscard]] bool ended() const noexcept { return from_ < 0; }
  void end_early() const noexcept { ::kill(pid_, SIGINT); }
  /// Takes what there is. \returns whether that was all
  bool read() {
    std::array<char, 65536> part{};
    const auto n = ::read(from_, part.data(), part.size());
    if (n > 0) {
      text_.append(part.data(), static_cast<std::size_t>(n));
      return false;
    }
    if (n < 0 && errno == EINTR) return false;
    ::close(from_);
    from_ = -1;
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    return true;
  }
  [[nodiscard]] sim::report report() const {
    if (text_.empty()) throw std::runtime_error("a process of the search ended without a report");
    if (text_.front() != '{') throw std::runtime_error(text_);
    return report_from(json::parse(text_).as_object());
  }

 private:
  [[noreturn]] static void serve(sim::options how, const sim::program& p, int to) {
    std::string text;
    catch_interrupt();
    how.keep_going = [](std::uint64_t) { return !interrupted(); };
    try {
      text = json::serialize(shard_of(sim::explore(how, p)));
    } catch (const std::exception& error) {
      text = error.what();
    }
    for (std::size_t at = 0; at < text.size();) {
      const auto n = ::write(to, text.data() + at, text.size() - at);
      if (n <= 0 && errno != EINTR) break;
      if (n > 0) at += static_cast<std::size_t>(n);
    }
    ::close(to);
    ::_exit(0);
  }

  pid_t pid_ = -1;
  int from_ = -1;
  std::string text_;
};

std::uint64_t share(std::uint64_t all, std::uint32_t jobs) {
  return all == 0 ? 0 : std::max<std::uint64_t>(all / jobs, 1);
}

}  // namespace

sim::report explore_in_parallel(const sim::options& how, const sim::program& p, std::uint32_t jobs,
                                const std::function<bool(std::uint64_t)>& keep_going) {
  std::fflush(nullptr);  // what is buffered now is not to be written by every process
  std::vector<std::unique_ptr<worker>> workers;
  for (std::uint32_t i = 0; i < jobs; ++i) {
    auto part = how;
    part.shard = {.index = i, .count = jobs};
    part.executions_max = share(how.executions_max, jobs);
    part.steps_max = share(how.steps_max, jobs);
    workers.push_back(std::make_unique<worker>(part, p));
  }
  std::vector<sim::report> reports;
  bool told = false;
  while (reports.size() < jobs) {
    std::vector<pollfd> waits;
    for (const auto& w : workers) {
      if (!w->ended()) waits.push_back({.fd = w->fd(), .events = POLLIN, .revents = 0});
    }
    (void)::poll(waits.data(), waits.size(), 100);
    bool enough = !keep_going(0);
    for (const auto& w : workers) {
      const auto at =
          std::find_if(waits.begin(), waits.end(), [&](const pollfd& f) { return f.fd == w->fd(); });
      if (w->ended() || at == waits.end() || at->revents == 0 || !w->read()) continue;
      reports.push_back(w->report());
      enough |= how.stop_at_first && reports.back().defects != 0;
    }
    if (enough && !std::exchange(told, true)) {
      for (const auto& w : workers) {
        if (!w->ended()) w->end_early();
      }
    }
  }
  const bool by_user = !keep_going(0);
  auto all = sim::merge(std::move(reports));
  all.interrupted = by_user;
  if (!by_user && told) all.why_incomplete = "it stopped at the first defect";
  return all;
}

}  // namespace faultline::cli

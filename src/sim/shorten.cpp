// SPDX-License-Identifier: BSD-2-Clause
#include "dpor.hpp"
#include "engine.hpp"
#include "strategies.hpp"

#include <faultline/sim/shorten.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <stdexcept>

namespace faultline::sim {

namespace {

/// Choices as far as they can be made: one that cannot is left out. After the last, steady. Counts what the execution costs.
class guided_strategy final : public strategy {
 public:
  explicit guided_strategy(std::vector<choice> wanted) : wanted_(std::move(wanted)) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "guided"; }
  void begin(std::uint64_t) override {}
  [[nodiscard]] task_id choose(const choice_point& at) override {
    while (next_ < wanted_.size() && (at.enabled & only(wanted_[next_].task)) == 0) ++next_;
    const bool guided = next_ < wanted_.size();
    pick_ = guided ? wanted_[next_].pick : 0;
    const task_id t = guided ? wanted_[next_++].task : steady(at);
    const bool agent = (at.agents & only(t)) != 0;
    const task_set could_go_on = at.enabled & ~at.daemons & ~at.agents;
    if (!agent && at.last != no_task && at.last != t && (could_go_on & only(at.last)) != 0)
      ++size_.preemptions;
    if (previous_ != no_task && previous_ != t) ++size_.switches;
    if (!agent) ran_ |= only(t);
    previous_ = t;
    ++size_.steps;
    return t;
  }
  [[nodiscard]] std::uint32_t pick(std::uint32_t results) override { return std::min(pick_, results - 1); }
  [[nodiscard]] bool end(const execution_end&) override { return false; }
  [[nodiscard]] schedule_size size() const {
    auto s = size_;
    s.tasks = static_cast<std::uint32_t>(std::popcount(ran_));
    return s;
  }

 private:
  std::vector<choice> wanted_;
  std::size_t next_ = 0;
  std::uint32_t pick_ = 0;
  task_id previous_ = no_task;
  task_set ran_ = 0;
  schedule_size size_;
};

/// What must stay the same.
std::string kind_of(const engine& e) {
  const auto& last = e.last();
  if (last.verdict == verdict::clean || last.truncated || last.pruned) return {};
  std::string kind = name_of(last.verdict);
  if (last.verdict == verdict::deadlock) {
    report r;
    e.describe(r);
    std::sort(r.cycle.begin(), r.cycle.end());
    for (const auto& object : r.cycle) kind += " " + object;
    return kind;
  }
  for (const char c : last.message) kind += std::isdigit(static_cast<unsigned char>(c)) != 0 ? '#' : c;
  return kind;
}

/// One task's steps in a row: [begin, end) of the choices.
struct block {
  std::size_t begin, end;
};

std::vector<block> blocks_of(const std::vector<choice>& choices) {
  std::vector<block> blocks;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i == 0 || choices[i].task != choices[i - 1].task) blocks.push_back({i, i});
    blocks.back().end = i + 1;
  }
  return blocks;
}

std::vector<choice> without(const std::vector<choice>& from, std::size_t begin, std::size_t end) {
  auto out = std::vector<choice>(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(begin));
  out.insert(out.end(), from.begin() + static_cast<std::ptrdiff_t>(end), from.end());
  return out;
}

/// The choices [begin, end) moved to before `to`, which lies outside of them.
std::vector<choice> moved(std::vector<choice> all, std::size_t begin, std::size_t end, std::size_t to) {
  const auto at = [&all](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
  if (to >= end) {
    std::rotate(at(begin), at(end), at(to));
  } else {
    std::rotate(at(to), at(begin), at(end));
  }
  return all;
}

/// The choices [begin, end) with each task's together, in its own order: first those of the task that runs before, last those
/// of the one that runs after.
std::vector<choice> gathered(std::vector<choice> all, std::size_t begin, std::size_t end) {
  const task_id before = begin > 0 ? all[begin - 1].task : no_task;
  const task_id after = end < all.size() ? all[end].task : no_task;
  const auto rank = [&](const choice& c) {
    if (c.task == before) return 0U;
    return c.task == after ? tasks_max + 1 : c.task + 1;
  };
  std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(begin),
                   all.begin() + static_cast<std::ptrdiff_t>(end),
                   [&](const choice& a, const choice& b) { return rank(a) < rank(b); });
  return all;
}

class shortener {
 public:
  shortener(const program& p, const options& how, std::uint64_t steps_max)
      : how_(how), engine_(how_, p), steps_max_(steps_max) {}

  /// \returns whether the schedule shows a defect
  bool start(const std::vector<choice>& choices) {
    guided_strategy s(choices);
    (void)engine_.run(s);
    count();
    kind_ = kind_of(engine_);
    if (kind_.empty()) return false;
    best_ = engine_.choices();
    size_ = s.size();
    return true;
  }

  void shorten() {
    for (bool better = true; better && !spent();) {
      better = gather_chunks();
      better |= join_blocks();
      better |= extend_blocks();
      better |= drop_chunks();
      better |= drop_tasks();
    }
    search_with_fewer_preemptions();
    for (bool better = true; better && !spent();) {
      better = join_blocks();
      better |= drop_tasks();
    }
  }

  [[nodiscard]] const std::vector<choice>& best() const noexcept { return best_; }
  [[nodiscard]] task_set agents() const noexcept { return engine_.agents(); }
  [[nodiscard]] schedule_size size() const noexcept { return size_; }
  [[nodiscard]] bool fewest() const noexcept { return fewest_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] std::vector<std::string> tasks() const {
    std::vector<std::string> names;
    for (task_id t = 0; t < engine_.task_count(); ++t) names.emplace_back(engine_.task_name(t));
    return names;
  }

 private:
  [[nodiscard]] bool spent() const noexcept { return steps_ >= steps_max_; }
  void count() { steps_ += engine_.steps() + 1; }

  bool try_it(std::vector<choice> choices) {
    if (spent()) return false;
    guided_strategy s(std::move(choices));
    (void)engine_.run(s);
    count();
    return take(s.size());
  }
  bool take(const schedule_size& size) {
    if (size >= size_ || kind_of(engine_) != kind_) return false;
    best_ = engine_.choices();
    size_ = size;
    return true;
  }

  /// Steps of a stretch are put together by task, in ever shorter stretches: where they are independent nothing changes.
  bool gather_chunks() {
    bool better = false;
    for (std::size_t chunk = std::max<std::size_t>(blocks_of(best_).size() / 2, 2);; chunk /= 2) {
      for (std::size_t i = 0; !spent();) {
        const auto blocks = blocks_of(best_);
        if (i >= blocks.size()) break;
        const auto last = std::min(i + chunk, blocks.size()) - 1;
        better |= try_it(gathered(best_, blocks[i].begin, blocks[last].end));
        i += std::max<std::size_t>(chunk / 2, 1);
      }
      if (chunk <= 2) return better;
    }
  }

  /// Delta debugging over blocks: ever smaller chunks of them are left to come when nobody else can go on.
  bool drop_chunks() {
    bool better = false;
    for (std::size_t chunk = std::max<std::size_t>(blocks_of(best_).size() / 2, 1);; chunk /= 2) {
      for (std::size_t i = 0; !spent();) {
        const auto blocks = blocks_of(best_);
        if (i >= blocks.size()) break;
        const auto last = std::min(i + chunk, blocks.size()) - 1;
        if (try_it(without(best_, blocks[i].begin, blocks[last].end))) {
          better = true;  // what is at `i` now is new
        } else {
          i += chunk;
        }
      }
      if (chunk <= 1) return better;
    }
  }

  /// A block moves to its task's next one, or to the one before: the steps that it passes were mostly independent.
  bool join_blocks() {
    bool better = false;
    for (std::size_t i = 0; !spent(); ++i) {
      const auto blocks = blocks_of(best_);
      if (i >= blocks.size()) return better;
      const auto mine = best_[blocks[i].begin].task;
      const auto same = [&](const block& b) { return best_[b.begin].task == mine; };
      const auto here = blocks.begin() + static_cast<std::ptrdiff_t>(i);
      const auto later = std::find_if(here + 1, blocks.end(), same);
      const auto before = std::find_if(std::make_reverse_iterator(here), blocks.rend(), same);
      const bool joined =
          (later != blocks.end() && try_it(moved(best_, here->begin, here->end, later->begin))) ||
          (before != blocks.rend() && try_it(moved(best_, here->begin, here->end, before->end)));
      better = better || joined;
    }
    return better;
  }

  /// Who was interrupted goes on instead, until it has to wait.
  bool extend_blocks() {
    bool better = false;
    for (std::size_t i = 0; !spent(); ++i) {
      const auto blocks = blocks_of(best_);
      if (i >= blocks.size()) return better;
      auto longer = best_;
      longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(blocks[i].end), 64,
                    choice{.task = best_[blocks[i].begin].task});
      better |= try_it(std::move(longer));
    }
    return better;
  }

  bool drop_tasks() {
    bool better = false;
    for (task_id t = 0; t < engine_.task_count() && !spent(); ++t) {
      auto others = best_;
      std::erase_if(others, [t](const choice& c) { return c.task == t || c.task == agent_of(t); });
      better |= try_it(std::move(others));
    }
    return better;
  }

  /// Everything with no preemption, with one, ...: what is found first has the fewest.
  void search_with_fewer_preemptions() {
    fewest_ = true;
    const auto search_until = steps_ + (steps_max_ - std::min(steps_, steps_max_)) * 3 / 4;
    for (std::uint32_t bound = 0; bound < size_.preemptions; ++bound) {
      exhaustive_strategy s(
          {.preemptions = bound, .reduce = how_.reduce && how_.processors == processors::own});
      for (bool more = true; more;) {
        if (steps_ >= search_until) {
          fewest_ = false;
          return;
        }
        more = engine_.run(s);
        // Its look for races takes the longer the longer the execution is.
        steps_ += std::uint64_t{engine_.steps()} * (1 + engine_.steps() / 256);
        if (kind_of(engine_) != kind_) continue;
        guided_strategy again(engine_.choices());
        (void)engine_.run(again);
        if (take(again.size())) return;
      }
    }
  }

  options how_;
  engine engine_;
  std::uint64_t steps_max_;
  std::uint64_t steps_ = 0;
  std::string kind_;
  std::vector<choice> best_;
  schedule_size size_;
  bool fewest_ = false;
};

}  // namespace

shortened shorten(const report& found, const program& p, options how, std::uint64_t steps_max) {
  how.on_event = {};
  how.observers.clear();
  how.continue_after_deadlock = false;
  shortened out;
  shortener work(p, how, steps_max);
  if (!work.start(parse_schedule(found.schedule).choices)) {
    throw std::invalid_argument("the schedule to be shortened shows no defect in this program");
  }
  out.before = work.size();
  work.shorten();
  out.after = work.size();
  out.fewest_preemptions = work.fewest();
  out.steps = work.steps();

  // Once more, for what there is to tell.
  how.on_event = [&out](const trace_event& e) { out.events.push_back(e); };
  const auto again = replay(encode(work.best(), work.agents()), p, how);
  out.tasks = work.tasks();
  out.report = found;
  out.report.message = again.message;
  out.report.cycle = again.cycle;
  out.report.waits = again.waits;
  out.report.still_running = again.still_running;
  out.report.schedule = again.schedule;
  out.report.event_hash = again.event_hash;
  out.report.observations = again.observations;
  out.report.steps_reached_by_defect = again.steps_reached_by_defect;
  out.report.steps_skipped_by_defect = again.steps_skipped_by_defect;
  return out;
}

}  // namespace faultline::sim

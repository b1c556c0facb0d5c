// SPDX-License-Identifier: BSD-2-Clause
// Random programs of mutexes, wait queues, time-outs and atomics: the reduced search must end in everything that the search of
// every interleaving ends in, and in nothing else, under each memory model and each kind of timers.
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace faultline::test {
namespace {

using S = simulated;
using namespace std::chrono_literals;

enum class act : std::uint8_t {
  load,
  store,
  add,
  locked_load,
  locked_store,
  wait,
  wait_for,
  wake_one,
  wake_all,
  sleep
};
struct instruction {
  act what;
  std::uint32_t where;
  int value;
};
using code = std::vector<std::vector<instruction>>;

sim::program explored(const code& tasks) {
  return [&tasks](sim::execution& e) {
    struct world {
      std::array<S::atomic<int>, 2> x;
      S::mutex m{"m"};
      S::waitq q{"q"};
      int guarded = 0;
      std::array<std::uint64_t, 3> seen{};  // what the loads saw, in base 7
    };
    auto& w = e.make<world>();
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      e.spawn(fmt::format("T{}", t), [&w, &tasks, t] {
        const auto saw = [&w, t](int value) {
          w.seen[t] = w.seen[t] * 7 + static_cast<std::uint64_t>(value) + 1;
        };
        for (const auto& i : tasks[t]) {
          auto& x = w.x[i.where];
          switch (i.what) {
            case act::load:
              saw(x.load(std::memory_order_acquire));
              break;
            case act::store:
              x.store(i.value, std::memory_order_release);
              break;
            case act::add:
              saw(x.fetch_add(1, std::memory_order_relaxed));
              break;
            case act::locked_load:
              w.m.lock();
              saw(w.guarded);
              w.m.unlock();
              break;
            case act::locked_store:
              w.m.lock();
              w.guarded = i.value;
              w.m.unlock();
              break;
            case act::wait:
              w.m.lock();
              w.q.wait(w.m);
              saw(w.guarded);
              w.m.unlock();
              break;
            case act::wait_for:
              w.m.lock();
              saw(w.q.wait_for(w.m, std::chrono::microseconds(1 + i.value)) ? 1 : 0);
              w.m.unlock();
              break;
            case act::wake_one:
              w.q.wake_one();
              break;
            case act::wake_all:
              w.q.wake_all();
              break;
            case act::sleep:
              S::sleep_for(std::chrono::microseconds(i.value));
              break;
          }
        }
      });
    }
    e.at_end([&w, &e] {
      for (std::size_t t = 0; t < 3; ++t)
        e.here().observe(fmt::format("T{}", t), static_cast<std::int64_t>(w.seen[t]));
      e.here().observe("x", w.x[0].peek() * 10 + w.x[1].peek());
    });
  };
}

code random_code(std::mt19937& random) {
  const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  code tasks(2 + below(2));
  for (auto& t : tasks) {
    const auto n = 1 + below(tasks.size() == 2 ? 3 : 2);
    for (std::uint32_t k = 0; k < n; ++k) {
      t.push_back(
          {.what = static_cast<act>(below(10)), .where = below(2), .value = static_cast<int>(below(3))});
    }
  }
  return tasks;
}

std::string text_of(const code& tasks) {
  static constexpr const char* names[] = {"load", "store",    "add",      "locked_load", "locked_store",
                                          "wait", "wait_for", "wake_one", "wake_all",    "sleep"};
  std::string out;
  for (const auto& t : tasks) {
    out += "\n ";
    for (const auto& i : t)
      out += fmt::format(" {}({},{})", names[static_cast<int>(i.what)], i.where, i.value);
  }
  return out;
}

std::set<std::string> ends(const sim::report& r) {
  std::set<std::string> out;
  for (const auto& [text, n] : r.outcomes) out.insert(text);
  for (const auto& [v, n] : r.by_verdict) out.insert(sim::name_of(v));
  return out;
}

TEST(Reduction, LosesNothingAndAddsNothing) {
  const char* factor = std::getenv("FAULTLINE_ORACLE_FACTOR");
  const int programs = 250 * (factor != nullptr ? std::max(1, std::atoi(factor)) : 1);
  std::mt19937 random(4);
  for (int n = 0; n < programs; ++n) {
    const auto tasks = random_code(random);
    for (const auto memory : {sim::memory_model::sc, sim::memory_model::tso, sim::memory_model::weak}) {
      for (const auto timers : {sim::timers::may_fire, sim::timers::maximal_progress}) {
        sim::options how{
            .memory = memory, .timers = timers, .executions_max = 60'000, .stop_at_first = false};
        const auto reduced = sim::explore(how, explored(tasks));
        how.reduce = false;
        const auto all = sim::explore(how, explored(tasks));
        if (all.executions == how.executions_max) continue;
        ASSERT_EQ(ends(reduced), ends(all))
            << "program " << n << ", " << reduced.memory << ", " << reduced.timers << text_of(tasks);
        ASSERT_LE(reduced.executions, all.executions);
      }
    }
  }
}

}  // namespace
}  // namespace faultline::test

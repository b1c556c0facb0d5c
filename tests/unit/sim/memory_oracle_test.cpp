// SPDX-License-Identifier: BSD-2-Clause
// Random small programs under each memory model: the explorer must show exactly what an abstract machine can do.
#include "support/machine.hpp"

#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <random>

namespace faultline::test {
namespace {

using sim::memory_model;

struct case_parameters {
  memory_model memory;
  machine::memory machine;
  const char* name;
};

/// The program for the explorer. The outcome is observed in the words of every_outcome().
sim::program explored(const small_program& code) {
  struct notes {  // not the model's: a world's objects are not destroyed, and strings in them would leak
    std::array<std::string, threads_most> seen;
    std::array<bool, threads_most> ended{};
  };
  return [&code, kept = std::make_shared<notes>()](sim::execution& e) {
    struct world {
      std::array<simulated::atomic<int>, locations> x;
      simulated::mutex m0{"m0"}, m1{"m1"};
    };
    auto& w = e.make<world>();
    auto& n = *kept = {};
    for (std::size_t t = 0; t < code.size(); ++t) {
      e.spawn(fmt::format("T{}", t), [&w, &n, &code, t] {
        for (const auto& i : code[t]) {
          auto& x = w.x[i.where];
          auto& m = i.where == 0 ? w.m0 : w.m1;
          switch (i.what) {
            case act::load:
              n.seen[t] += fmt::format("{} ", x.load(i.order));
              break;
            case act::store:
              x.store(i.value, i.order);
              break;
            case act::add:
              n.seen[t] += fmt::format("{} ", x.fetch_add(i.value, i.order));
              break;
            case act::cas: {
              int expected = i.value;
              x.compare_exchange_strong(expected, i.value + 1, i.order);
              n.seen[t] += fmt::format("{} ", expected);
              break;
            }
            case act::fence:
              simulated::fence(i.order);
              break;
            case act::lock:
              m.lock();
              break;
            case act::unlock:
              m.unlock();
              break;
          }
        }
        n.ended[t] = true;
      });
    }
    e.at_end([&w, &n, &e, tasks = code.size()] {
      std::string text;
      for (std::size_t t = 0; t < tasks; ++t)
        text += fmt::format("{}[{}]", n.ended[t] ? "" : "blocked", n.seen[t]);
      for (const auto& x : w.x) text += fmt::format(" {}", x.peek());
      e.here().observe("o", text);
    });
  };
}

std::string text_of(const small_program& p) {
  static constexpr const char* orders[] = {"rlx", "con", "acq", "rel", "acq_rel", "sc"};
  static constexpr const char* acts[] = {"load", "store", "add", "cas", "fence", "lock", "unlock"};
  std::string out;
  for (const auto& t : p) {
    out += "\n ";
    for (const auto& i : t) {
      out += fmt::format(" {}({},{},{});", acts[static_cast<int>(i.what)], i.where, i.value,
                         orders[static_cast<int>(i.order)]);
    }
  }
  return out;
}

small_program random_program(std::mt19937& random) {
  const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const std::uint32_t tasks = 2 + below(2);
  const std::uint32_t places = 1 + below(3);
  const bool mostly_sc = below(3) == 0;
  small_program p(tasks);
  int value = 0;
  for (auto& t : p) {
    const std::uint32_t most = tasks == 2 ? 4 : 3;
    const std::uint32_t n = 1 + below(most);
    bool locked = false;
    for (std::uint32_t k = 0; k < n; ++k) {
      instruction i;
      i.where = below(places);
      const auto which = below(12);
      const auto pick = [&](std::initializer_list<std::memory_order> from) {
        if (mostly_sc && below(3) != 0) return std::memory_order_seq_cst;
        return from.begin()[below(static_cast<std::uint32_t>(from.size()))];
      };
      using enum std::memory_order;
      if (which < 4) {
        i.what = act::load;
        i.order = pick({relaxed, relaxed, acquire, seq_cst});
      } else if (which < 8) {
        i.what = act::store;
        i.value = ++value;
        i.order = pick({relaxed, relaxed, release, seq_cst});
      } else if (which == 8) {
        i.what = below(2) == 0 ? act::add : act::cas;
        i.value = i.what == act::add ? 10 : static_cast<int>(below(3));
        i.order = pick({relaxed, acquire, release, acq_rel, seq_cst});
      } else if (which < 11) {
        i.what = act::fence;
        i.order = pick({acquire, release, acq_rel, seq_cst, seq_cst});
      } else {
        i.what = locked ? act::unlock : act::lock;
        i.where = 0;
        locked = !locked;
      }
      t.push_back(i);
    }
    if (locked) t.push_back({.what = act::unlock});
  }
  return p;
}

class MemoryOracle : public testing::TestWithParam<case_parameters> {};

std::set<std::string> keys(const std::map<std::string, std::uint64_t>& outcomes) {
  std::set<std::string> out;
  for (const auto& [text, n] : outcomes) out.insert(text.substr(2));
  return out;
}

TEST_P(MemoryOracle, ShowsWhatTheMachineCanDoAndNothingElse) {
  const char* factor = std::getenv("FAULTLINE_ORACLE_FACTOR");
  const int programs = 10000 * (factor != nullptr ? std::max(1, std::atoi(factor)) : 1);
  std::mt19937 random(20261201);
  std::uint64_t executions = 0;
  for (int n = 0; n < programs; ++n) {
    const auto p = random_program(random);
    const auto expected = every_outcome(p, GetParam().machine);
    const auto r = sim::explore({.memory = GetParam().memory, .stop_at_first = false}, explored(p));
    executions += r.executions;
    ASSERT_TRUE(r.complete) << r.why_incomplete << text_of(p);
    ASSERT_EQ(keys(r.outcomes), expected) << "program " << n << text_of(p);
  }
  RecordProperty("executions", static_cast<int>(executions));
}

TEST_P(MemoryOracle, ShardsAddUpToTheWhole) {
  std::mt19937 random(7);
  for (int n = 0; n < 300; ++n) {
    const auto p = random_program(random);
    sim::options how{.memory = GetParam().memory, .stop_at_first = false};
    const auto whole = sim::explore(how, explored(p));
    std::map<std::string, std::uint64_t> sum;
    std::uint64_t executions = 0;
    for (std::uint32_t i = 0; i < 3; ++i) {
      how.shard = {.index = i, .count = 3};
      const auto part = sim::explore(how, explored(p));
      executions += part.executions;
      EXPECT_FALSE(part.complete);
      for (const auto& [text, count] : part.outcomes) sum[text] += count;
    }
    ASSERT_EQ(keys(sum), keys(whole.outcomes)) << text_of(p);
    if (GetParam().memory == memory_model::sc) {
      ASSERT_EQ(executions, whole.executions) << text_of(p);  // a trace is explored once, whatever the order
      ASSERT_EQ(sum, whole.outcomes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MemoryOracle,
                         testing::Values(case_parameters{memory_model::sc, machine::memory::sc, "sc"},
                                         case_parameters{memory_model::tso, machine::memory::tso, "tso"},
                                         case_parameters{memory_model::weak, machine::memory::weak, "weak"}),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace faultline::test

// SPDX-License-Identifier: BSD-2-Clause
// One seed is one schedule, whatever the compiler, its options, the library and the layout of memory. The numbers here were
// taken once; each build has to come to them.
#include "support/programs.hpp"

#include <faultline/sim/explore.hpp>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace faultline::test {
namespace {

struct expected_hash {
  sim::strategy_kind strategy;
  sim::memory_model memory;
  std::uint64_t seed;
  std::uint64_t hash;
};

std::uint64_t hash_of(const expected_hash& e) {
  // The last of 40 executions: everything before it decides what it is.
  std::uint64_t hash = 0;
  std::string schedules;
  for (std::uint64_t n = 1; n <= 40; n += 13) {
    const auto r = sim::explore({.strategy = e.strategy,
                                 .memory = e.memory,
                                 .seed = e.seed + n,
                                 .executions_max = n,
                                 .stop_at_first = false},
                                programs::refcount(false));
    hash = hash * 31 + r.event_hash;
    for (const auto& [text, times] : r.outcomes) hash = hash * 31 + times + text.size();
    for (const char c : r.schedule) hash = hash * 31 + static_cast<unsigned char>(c);
  }
  return hash;
}

TEST(Hashes, AreTheSameInEveryBuild) {
  using enum sim::strategy_kind;
  using enum sim::memory_model;
  const std::vector<expected_hash> table{
      {exhaustive, sc, 1, 0x20cb2513c7a716baU},   {exhaustive, tso, 1, 0x20cb2513c7a716baU},
      {exhaustive, weak, 1, 0x5e2763bec1cd0353U}, {random, sc, 1, 0x502b6abe909c1399U},
      {random, tso, 7, 0x643602adb252d4e6U},      {random, weak, 7, 0xce7405d989644fecU},
      {pct, sc, 1, 0x7b0816c9bda96cbbU},          {pct, weak, 7, 0x0f3fed819733a637U},
      {pos, sc, 1, 0xfab6054c8684fe69U},          {pos, tso, 7, 0x5c55085d0360135aU},
  };
  for (const auto& e : table) {
    EXPECT_EQ(hash_of(e), e.hash) << static_cast<int>(e.strategy) << ' ' << static_cast<int>(e.memory) << ' '
                                  << e.seed << fmt::format(" 0x{:016x}", hash_of(e));
  }
}

}  // namespace
}  // namespace faultline::test

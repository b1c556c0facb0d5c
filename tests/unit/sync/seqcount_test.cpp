// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/native.hpp>
#include <faultline/substrate/simulated.hpp>
#include <faultline/sync/seqcount.hpp>

#include <gmock/gmock.h>

#include <string>

namespace faultline {
namespace {

using sim::memory_model;
using sim::verdict;

template <class S>
struct pair {
  sync::seqcount<S> count;
  sub::atomic<S, int> x{0};
  sub::atomic<S, int> y{0};

  void write(int value) {
    count.write_begin();
    x.store(value, std::memory_order_relaxed);
    y.store(-value, std::memory_order_relaxed);
    count.write_end();
  }
  int read() const {
    for (;;) {
      const auto begun = count.read_begin();
      const int a = x.load(std::memory_order_relaxed);
      const int b = y.load(std::memory_order_relaxed);
      if (count.read_retry(begun)) continue;
      S::check(a == -b, "the words do not belong together");
      return a;
    }
  }
};

/// A writer that writes 1 to `writes`; readers.
sim::program shared_pair(int writes, int readers) {
  return [=](sim::execution& e) {
    auto& p = e.make<pair<simulated>>();
    e.spawn("writer", [&p, writes] {
      for (int i = 1; i <= writes; ++i) p.write(i);
    });
    for (int r = 0; r < readers; ++r) {
      e.spawn("R" + std::to_string(r), [&p] {
        const int first = p.read();
        simulated::check(p.read() >= first, "an older pair is seen after a newer");
      });
    }
  };
}

TEST(Seqcount, reader_sees_pairs_that_were_written_together_in_any_memory) {
  for (const auto memory : {memory_model::sc, memory_model::tso, memory_model::weak}) {
    const auto r = sim::explore({.memory = memory, .stop_at_first = false}, shared_pair(1, 1));
    EXPECT_EQ(r.verdict, verdict::clean) << r;
    EXPECT_TRUE(r.complete) << r;
    const auto more =
        sim::explore({.strategy = sim::strategy_kind::random, .memory = memory, .executions_max = 20'000},
                     shared_pair(2, 2));
    EXPECT_EQ(more.verdict, verdict::clean) << more;
  }
}

struct omission {
  const step* left_out;
  bool in_any_memory;
};

class SeqcountWithout : public testing::TestWithParam<omission> {};

TEST_P(SeqcountWithout, words_are_torn) {
  const auto [left_out, in_any_memory] = GetParam();
  for (const auto memory : {memory_model::sc, memory_model::tso, memory_model::weak}) {
    const auto r = sim::explore({.memory = memory, .omit = {left_out}}, shared_pair(1, 1));
    if (!in_any_memory && memory != memory_model::weak) {
      EXPECT_EQ(r.verdict, verdict::clean) << r;
      EXPECT_TRUE(r.complete) << r;
      continue;
    }
    ASSERT_EQ(r.verdict, verdict::violation) << r;
    EXPECT_THAT(r.steps_skipped_by_defect, testing::Contains(std::string(left_out->id)));
    const auto again = sim::replay(r.schedule, shared_pair(1, 1), {.memory = memory, .omit = {left_out}});
    EXPECT_EQ(again.verdict, verdict::violation);
    EXPECT_EQ(again.event_hash, r.event_hash);
  }
}

INSTANTIATE_TEST_SUITE_P(step, SeqcountWithout,
                         testing::Values(omission{&sync::seq_read_barrier, false},
                                         omission{&sync::seq_write_barrier, false},
                                         omission{&sync::seq_end_with_release, false},
                                         omission{&sync::seq_begin_with_acquire, false},
                                         omission{&sync::seq_odd_while_written, true},
                                         omission{&sync::seq_look_again, true}),
                         [](const auto& i) { return std::string(i.param.left_out->id); });

TEST(SeqcountNative, reader_sees_pairs_that_were_written_together) {
  constexpr int writes = 100'000;
  pair<native> p;
  {
    const auto writer = native::spawn("writer", [&p] {
      for (int i = 1; i <= writes; ++i) p.write(i);
    });
    int last = 0;
    while (last != writes) {
      const int now = p.read();
      ASSERT_GE(now, last);
      last = now;
    }
  }
  EXPECT_EQ(p.read(), writes);
}

}  // namespace
}  // namespace faultline

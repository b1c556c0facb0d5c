// SPDX-License-Identifier: BSD-2-Clause
// Does the seam cost anything natively? Mechanisms over `native` beside the same written by hand with std::atomic and
// std::mutex, and beside one locked increment. x_hand is to be 1, as in the rows that time the hand-written one twice.
#include "support/beside.hpp"
#include "support/seam_pairs.hpp"

#include <benchmark/benchmark.h>

namespace {

namespace seam = faultline::seam;
using faultline::native;
using faultline::native_without;
using faultline::bench::seconds;

constexpr std::uint64_t pairs = 16'384;  // in one turn

template <class Ours, class ByHand>
void BM_beside(benchmark::State& state) {
  seam::have_had_a_thread();
  seam::repeated<Ours> ours;
  seam::repeated<ByHand> by_hand;
  faultline::bench::lock_inc base;
  double of_ours = 0;
  double of_hand = 0;
  double of_base = 0;
  for (auto _ : state) {
    const double now = seconds([&] { ours.run(pairs); });
    of_hand += seconds([&] { by_hand.run(pairs); });
    of_base += seconds([&] { base.run(pairs); });
    of_ours += now;
    state.SetIterationTime(now);
  }
  const double each = 1e9 / static_cast<double>(pairs) / static_cast<double>(state.iterations());
  state.counters["ns/pair"] = of_ours * each;
  state.counters["x_hand"] = of_ours / of_hand;
  state.counters["x_lock_inc"] = of_ours / of_base;
  state.counters["base/lock_inc_ns"] = of_base * each;
}

using found_without_F4 = seam::found_of<native_without<faultline::sync::increment_if_not_zero>>;

#define FAULTLINE_BESIDE(name, ...) \
  BENCHMARK(BM_beside<__VA_ARGS__>)->Name(name)->UseManualTime()->Repetitions(9)->ReportAggregatesOnly()
FAULTLINE_BESIDE("refcount/acquire_release/native", seam::refcount_of<native>, seam::refcount_by_hand);
FAULTLINE_BESIDE("refcount/acquire_release/by_hand", seam::refcount_by_hand, seam::refcount_by_hand);
FAULTLINE_BESIDE("refcount/found_release/native", seam::found_of<native>, seam::found_by_hand);
FAULTLINE_BESIDE("refcount/found_release/by_hand", seam::found_by_hand, seam::found_by_hand);
FAULTLINE_BESIDE("refcount/found_release/native_without_F4", found_without_F4, seam::found_by_hand);
FAULTLINE_BESIDE("counter/native", seam::counter_of<native>, seam::counter_by_hand);
FAULTLINE_BESIDE("counter/by_hand", seam::counter_by_hand, seam::counter_by_hand);
#undef FAULTLINE_BESIDE

}  // namespace

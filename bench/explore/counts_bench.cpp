// SPDX-License-Identifier: BSD-2-Clause
// How large can a program be whose every trace is to be seen in ten seconds? Programs whose number of traces is known in
// closed form, at the largest size that took less here; the number must come out exactly. Once each: it is long enough.
#include "support/beside.hpp"
#include "support/programs.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace {

namespace programs = faultline::programs;
namespace sim = faultline::sim;

constexpr std::uint64_t factorial(std::uint64_t n) { return n == 0 ? 1 : n * factorial(n - 1); }
constexpr std::uint64_t power_of_2(int n) { return std::uint64_t{1} << n; }

void BM_counts(benchmark::State& state, const sim::program& program, std::uint64_t traces) {
  sim::report r;
  double taken = 0;
  for (auto _ : state) {
    taken = faultline::bench::seconds(
        [&] { r = sim::explore({.executions_max = ~std::uint64_t{0}, .stop_at_first = false}, program); });
    state.SetIterationTime(taken);
  }
  if (!r.complete || r.executions != traces)
    state.SkipWithError(
        ("not " + std::to_string(traces) + " traces but " + std::to_string(r.executions)).c_str());
  state.counters["traces"] = static_cast<double>(r.executions);
  state.counters["redundant"] = static_cast<double>(r.blocked);
  state.counters["traces/s"] = static_cast<double>(r.executions) / taken;
  state.counters["ns/step"] = taken * 1e9 / static_cast<double>(r.steps);
}

const int registered = [] {
  const struct {
    const char* name;
    sim::program program;
    std::uint64_t traces;
  } all[] = {
      {"inc:6", programs::increments(6), factorial(6) * factorial(6)},
      {"phil:19", programs::philosophers(19), power_of_2(19) - 1},
      {"readers:20", programs::readers(20), power_of_2(20)},
      {"lastzero:14", programs::last_zero(14), power_of_2(12) * 17},
      {"sections:9", programs::sections(9), factorial(9)},
      {"exchanges:10", programs::exchanges(10), factorial(10)},
  };
  for (const auto& p : all) {
    benchmark::RegisterBenchmark((std::string("counts/") + p.name).c_str(), BM_counts, p.program, p.traces)
        ->UseManualTime()
        ->Unit(benchmark::kSecond)
        ->Iterations(1)
        ->Repetitions(1);
  }
  return 0;
}();

}  // namespace

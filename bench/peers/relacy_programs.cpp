// SPDX-License-Identifier: BSD-2-Clause
// The programs of tests/support/programs.hpp over <relacy/relacy.hpp>, operation for operation.
// (relacy_std.hpp, with its names in std, does not compile from C++11 on with Debian's snapshot of 2019.)
#include "peers/relacy_programs.hpp"

#include <relacy/relacy.hpp>

#include <ostream>
#include <string>

namespace faultline::bench::relacy {

namespace {

using word = rl::atomic<int>;

std::uint64_t steps;

int load(word& w, rl::memory_order order = rl::mo_seq_cst) {
  ++steps;
  return w.load(order, $);
}
void store(word& w, int value, rl::memory_order order = rl::mo_seq_cst) {
  ++steps;
  w.store(value, order, $);
}
int add(word& w, int n) {
  ++steps;
  return w.fetch_add(n, rl::mo_seq_cst, $);
}
void lock(rl::mutex& m) {
  ++steps;
  m.lock($);
}
void unlock(rl::mutex& m) {
  ++steps;
  m.unlock($);
}

template <bool Ordered>
struct abba : rl::test_suite<abba<Ordered>, 2> {
  rl::mutex a, b;

  static void both(rl::mutex& first, rl::mutex& second) {
    lock(first);
    lock(second);
    unlock(second);
    unlock(first);
  }
  void thread(unsigned index) { Ordered || index == 0 ? both(a, b) : both(b, a); }
};

template <rl::memory_order Order>
struct store_buffering : rl::test_suite<store_buffering<Order>, 2> {
  word x{0}, y{0};
  int r[2] = {-1, -1};

  void thread(unsigned index) {
    store(index == 0 ? x : y, 1, Order);
    r[index] = load(index == 0 ? y : x, Order);
  }
  void after() { RL_ASSERT(r[0] != 0 || r[1] != 0); }
};

template <bool Locked>
struct refcount : rl::test_suite<refcount<Locked>, 3> {
  word slot{1}, count{1}, dead{0};
  rl::mutex m;
  bool bad = false;

  void put() {
    if (add(count, -1) == 1) store(dead, 1);
  }
  void get() {
    if (Locked) lock(m);
    const bool there = load(slot) != 0;
    if (there) add(count, 1);
    if (Locked) unlock(m);
    if (!there) return;
    if (load(dead) != 0) bad = true;
    put();
  }
  void thread(unsigned index) {
    if (index != 2) return get();
    if (Locked) lock(m);
    store(slot, 0);
    if (Locked) unlock(m);
    put();
  }
  void after() { RL_ASSERT(!bad); }
};

template <class Suite>
outcome simulate(search how, std::uint64_t from, std::uint64_t executions_max) {
  static std::ostream nowhere(nullptr);
  rl::test_params params;
  params.output_stream = &nowhere;
  params.progress_stream = &nowhere;
  params.search_type = how == search::random ? rl::sched_random : rl::sched_full;
  if (how == search::random) {
    params.initial_state = std::to_string(from).c_str();
    params.iteration_count = from + executions_max - 1;
  }
  steps = 0;
  (void)rl::simulate<Suite>(params);
  const bool defect = params.test_result != rl::test_result_success;
  return {.defect = defect, .executions = params.stop_iteration - from + 1, .steps = defect ? 0 : steps};
}

}  // namespace

outcome run(program what, search how, std::uint64_t from, std::uint64_t executions_max) {
  switch (what) {
    case program::abba:
      return simulate<abba<false>>(how, from, executions_max);
    case program::abba_ok:
      return simulate<abba<true>>(how, from, executions_max);
    case program::sb:
      return simulate<store_buffering<rl::mo_relaxed>>(how, from, executions_max);
    case program::sb_ok:
      return simulate<store_buffering<rl::mo_seq_cst>>(how, from, executions_max);
    case program::rc:
      return simulate<refcount<false>>(how, from, executions_max);
    case program::rc_ok:
      return simulate<refcount<true>>(how, from, executions_max);
  }
  return {};
}

}  // namespace faultline::bench::relacy

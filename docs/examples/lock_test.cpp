// SPDX-License-Identifier: BSD-2-Clause
// A ticket lock, tested with GoogleTest: every interleaving of two tasks that take it.
#include <faultline/conformance/matchers.hpp>
#include <faultline/sim/explore.hpp>
#include <faultline/sim/recorder.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gmock/gmock.h>

#include <string>

using namespace faultline;
using namespace faultline::conformance;
using testing::Contains;
using testing::Key;

inline constexpr step one_step_ticket{"ticket.one-step", "T1",
                                      "two tasks with one ticket: both are let in, or one waits for ever"};

template <substrate S>
class ticket_lock {
 public:
  void lock() {
    std::uint32_t mine = 0;
    if (S::keeps(one_step_ticket)) {
      mine = next_.fetch_add(1, std::memory_order_relaxed);
    } else {
      mine = next_.load(std::memory_order_relaxed);
      next_.store(mine + 1, std::memory_order_relaxed);
    }
    while (served_.load(std::memory_order_acquire) != mine) S::relax();  // pairs with the release below
  }
  void unlock() { served_.fetch_add(1, std::memory_order_release); }

 private:
  sub::atomic<S, std::uint32_t> next_{0U};
  sub::atomic<S, std::uint32_t> served_{0U};
};

/// What is guarded, as calls see it that are made one after the other: each gives the number and adds one.
struct counter {
  struct call {};
  using result = int;
  int now = 0;
  result apply(const call&) { return now++; }
  static std::string text(const call&) { return "next"; }
  static std::string text(result r) { return std::to_string(r); }
  friend bool operator==(const counter&, const counter&) = default;
};

void two_count(sim::execution& e) {
  auto& lock = e.make<ticket_lock<simulated>>();
  auto& count = e.make<simulated::var<int>>(0);
  simulated::name(count, "count");
  auto& history = e.make<sim::history<counter>>(&e.here().memory());
  auto& calls = e.make<sim::recorder<counter>>(history, sim::only(0) | sim::only(1));
  for (const char* name : {"a", "b"}) {
    e.spawn(name, [&lock, &count, &calls] {
      calls.call({}, [&lock, &count] {
        lock.lock();
        const int was = simulated::get(count);
        simulated::set(count, was + 1);
        lock.unlock();
        return was;
      });
    });
  }
  e.at_end([&calls] { calls.check(counter{}); });
}

TEST(TicketLock, makes_the_calls_appear_one_after_the_other) {
  EXPECT_THAT(sim::explore({}, two_count), IsCompleteAndClean());
}

TEST(TicketLock, must_give_out_each_ticket_once) {
  const auto wrong = sim::explore({.omit = {&one_step_ticket}}, two_count);
  EXPECT_THAT(wrong, Livelocks());  // the first that is found: a ticket that was served already
  EXPECT_THAT(sim::replay(wrong.schedule, two_count, {.omit = {&one_step_ticket}}), Livelocks());
  const auto all = sim::explore({.stop_at_first = false, .omit = {&one_step_ticket}}, two_count);
  EXPECT_THAT(all.by_verdict, Contains(Key(sim::verdict::race)));
}

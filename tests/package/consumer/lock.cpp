// SPDX-License-Identifier: BSD-2-Clause
// A lock of one's own on the substrate: a test-and-set lock that tests and sets in two steps, and one that does not.
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/native.hpp>
#include <faultline/substrate/simulated.hpp>

#include <iostream>

namespace {

using namespace faultline;

template <substrate S, bool InTwoSteps>
class tas_lock {
 public:
  void lock() {
    if constexpr (InTwoSteps) {
      while (word_.load(std::memory_order_acquire) != 0) S::relax();
      word_.store(1, std::memory_order_relaxed);
    } else {
      while (word_.exchange(1, std::memory_order_acquire) != 0) S::relax();
    }
  }
  void unlock() { word_.store(0, std::memory_order_release); }

 private:
  sub::atomic<S, std::uint32_t> word_{0U};
};

template <bool InTwoSteps>
sim::report explored() {
  return sim::explore({}, [](sim::execution& e) {
    auto& lock = e.make<tas_lock<simulated, InTwoSteps>>();
    auto& inside = e.make<simulated::var<int>>(0);
    for (const char* name : {"a", "b"}) {
      e.spawn(name, [&lock, &inside] {
        lock.lock();
        simulated::set(inside, simulated::get(inside) + 1);
        lock.unlock();
      });
    }
  });
}

}  // namespace

int main() {
  tas_lock<native, false> mine;
  mine.lock();
  mine.unlock();
  const auto wrong = explored<true>();
  const auto right = explored<false>();
  std::cout << "two steps: " << sim::name_of(wrong.verdict) << '\n'
            << "one step: " << sim::name_of(right.verdict) << ", complete " << right.complete << '\n';
  return wrong.verdict == sim::verdict::race && right.verdict == sim::verdict::clean && right.complete ? 0
                                                                                                       : 1;
}

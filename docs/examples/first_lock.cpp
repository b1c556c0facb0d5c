// SPDX-License-Identifier: BSD-2-Clause
// A lock that holds readers back while a writer is queued, and a reader that takes it twice.
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <iostream>

using namespace faultline;

struct writers_first final : sim::lock_rule {
  bool conflicts(const sim::request& held, const sim::request& wish) const override {
    return held.how == access::exclusive || wish.how == access::exclusive;
  }
  bool yields(const sim::request& queued, bool /*earlier*/, const sim::request& wish) const override {
    return queued.how == access::exclusive && wish.how == access::shared;
  }
  bool announces(const sim::request& wish) const override { return wish.how == access::exclusive; }
};
constexpr writers_first rule;

int main() {
  const auto found = sim::explore({}, [](sim::execution& e) {
    auto& lock = e.make<simulated::spec_lock>(rule, "rwlock", "map");
    e.spawn("reader", [&lock] {
      lock.acquire({.how = access::shared});
      lock.acquire({.how = access::shared});  // waits behind a writer that came in between
      lock.release();
      lock.release();
    });
    e.spawn("writer", [&lock] {
      lock.acquire({.how = access::exclusive});
      lock.release();
    });
  });
  std::cout << found;
  return found.verdict == sim::verdict::deadlock ? 0 : 1;
}

// SPDX-License-Identifier: BSD-2-Clause
// A test of a user's, with the matchers of the installed package.
#include <faultline/conformance/matchers.hpp>
#include <faultline/sim/explore.hpp>
#include <faultline/substrate/simulated.hpp>

#include <gmock/gmock.h>

namespace {

using namespace faultline;

TEST(Mine, a_mutex_that_is_taken_twice) {
  const auto r = sim::explore({}, [](sim::execution& e) {
    auto& m = e.make<simulated::mutex>("m");
    e.spawn("t", [&m] {
      m.lock();
      m.lock();
    });
  });
  EXPECT_THAT(r, conformance::Deadlocks("mutex:m"));
}

}  // namespace

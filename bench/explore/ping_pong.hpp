// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The unit of the explorer's benchmarks: a raw switch between two fibers.
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace faultline::bench {

/// Two switches a round: there and back.
class ping_pong {
 public:
  [[gnu::noinline]] void run(std::uint64_t rounds) {
    for (; rounds != 0; --rounds) other_ = std::move(other_).resume();
  }

 private:
  boost::context::fiber other_{std::allocator_arg, boost::context::protected_fixedsize_stack(),
                               [](boost::context::fiber&& back) {
                                 for (;;) back = std::move(back).resume();
                                 return std::move(back);
                               }};
};

}  // namespace faultline::bench

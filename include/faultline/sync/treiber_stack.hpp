// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Treiber's stack of numbered nodes: push and pop are one compare-exchange of the head.
///
/// pop() reads the head, then the node behind it, and swings the head there if it is still what it was. "Still" is the
/// catch: between the two the top node may have been popped, the next one as well, and the top node pushed again. The head
/// then names the same node, whose successor is another; the exchange would put a node that somebody owns back on the stack
/// and lose those that belong there (ABA). So the head carries a count of pushes beside the node's number, and is never the
/// same twice (but for 2^32 pushes during one pop).
///
/// Nodes are numbers, and their links lie in an array that outlives the stack: who is late in pop() may still read the link
/// of a node that is somebody else's by now.
///
/// Never sleeps, takes no lock. Lock-free.
/// Source: R. K. Treiber, Systems programming: coping with parallelism, IBM RJ 5118 (1986); the count is from IBM System/370
/// Extended Architecture, Principles of Operation, appendix A (compare double and swap).
#include <faultline/core/step.hpp>
#include <faultline/substrate/concept.hpp>

#include <cstdint>
#include <span>

namespace faultline::sync {

inline constexpr step count_pushes{"treiber.count-pushes", "TS1",
                                   "ABA: a node that is owned is on the stack again"};

template <substrate S>
class treiber_stack {
 public:
  /// No node: the end of the list.
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Of one node; node n is the n-th.
  class link {
   public:
    link() noexcept : next_(none) {}

   private:
    friend class treiber_stack;
    sub::atomic<S, std::uint32_t> next_;
  };

  /// \param links  of all nodes that will ever be on the stack; they outlive it. It starts empty
  explicit treiber_stack(std::span<link> links) : links_(links), head_(pack(none, 0)) {
    S::name(head_, "head");
  }
  treiber_stack(const treiber_stack&) = delete;
  treiber_stack& operator=(const treiber_stack&) = delete;

  /// \pre the caller owns `node`: it is not on the stack
  void push(std::uint32_t node) {
    S::check(node < links_.size(), "treiber stack: no such node");
    std::uint64_t old = head_.load(std::memory_order_relaxed);
    for (;;) {
      links_[node].next_.store(top(old), std::memory_order_relaxed);
      const std::uint32_t pushes = S::keeps(count_pushes) ? count(old) + 1 : count(old);
      // (1) release, pairs with acquire (2): the link, and what the owner left in the node. Exchanges of others after this
      // one continue its release sequence
      if (head_.compare_exchange_weak(old, pack(node, pushes), std::memory_order_release,
                                      std::memory_order_relaxed))
        return;
    }
  }

  /// \returns a node, which the caller owns then; none if the stack is empty
  [[nodiscard]] std::uint32_t pop() {
    std::uint64_t old = head_.load(std::memory_order_acquire);  // (2) acquire, pairs with release (1)
    while (top(old) != none) {
      // Perhaps no longer of a node on the stack; then the exchange fails.
      const std::uint32_t next = links_[top(old)].next_.load(std::memory_order_relaxed);
      if (head_.compare_exchange_weak(old, pack(next, count(old)), std::memory_order_acquire,
                                      std::memory_order_acquire))  // (2)
        return top(old);
    }
    return none;
  }

  /// Calls `see(node)` for each node, top first; at most as many times as there are nodes. For checks while nobody else is
  /// there.
  template <class F>
  void peek(F&& see) const {
    auto node = top(S::peek(head_));
    for (std::size_t n = 0; node != none && n < links_.size(); ++n) {
      see(node);
      node = S::peek(links_[node].next_);
    }
  }

 private:
  static constexpr std::uint64_t pack(std::uint32_t node, std::uint32_t pushes) noexcept {
    return (std::uint64_t{pushes} << 32) | node;
  }
  static constexpr std::uint32_t top(std::uint64_t head) noexcept { return static_cast<std::uint32_t>(head); }
  static constexpr std::uint32_t count(std::uint64_t head) noexcept {
    return static_cast<std::uint32_t>(head >> 32);
  }

  std::span<link> links_;
  sub::atomic<S, std::uint64_t> head_;  // node in the lower half, count of pushes in the upper
};

}  // namespace faultline::sync

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Candidate executions of a litmus test, and what the models say of one.
#include "scenario/litmus/interpret.hpp"
#include "scenario/litmus/relation.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace faultline::scenario::litmus {

struct event {
  enum class kind : std::uint8_t { load, store, update, fence };
  kind what = kind::load;
  std::size_t thread = 0;
  std::size_t location = 0;
  bool plain = false;
  bool initial = false;
  bool arithmetic = false;  ///< an update that computes with the value it finds
  bool locked = false;      ///< on amd64 a locked instruction or a fence: nothing passes it
  std::memory_order order = std::memory_order_relaxed;
  number loaded = 0;
  number stored = 0;
  std::uint64_t from = 0;  ///< events of its thread, by their place in it, that it carries a dependency from

  [[nodiscard]] bool loads() const noexcept { return what == kind::load || what == kind::update; }
  [[nodiscard]] bool stores() const noexcept { return what == kind::store || what == kind::update; }
  [[nodiscard]] bool acquires() const noexcept {
    return !plain && (order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
                      order == std::memory_order_seq_cst);
  }
  [[nodiscard]] bool releases() const noexcept {
    return !plain && (order == std::memory_order_release || order == std::memory_order_acq_rel ||
                      order == std::memory_order_seq_cst);
  }
};

/// One thread's course, for given values of its loads.
struct path {
  std::vector<event> events{};
  std::vector<number> registers{};
  std::string undefined{};  ///< why it ended early
};

struct paths {
  std::vector<std::vector<path>> of_thread{};
  std::string too_many{};  ///< if so, there are no paths
};

/// Every course of every thread in which each load has a value that some course stores to its location.
[[nodiscard]] paths paths_of(const program& p, const axiom_limits& limits);

/// Events with the stores that are read, and the order of stores.
struct candidate {
  std::vector<event> events{};
  relation sb{0};  ///< sequenced before; initial stores are before all
  relation rf{0};  ///< store, load that reads it
  relation mo{0};  ///< stores of one location
  relation fr{0};  ///< load, stores after the one it reads
};

struct judgement {
  bool allowed = false;
  gaps needs = 0;
  std::optional<std::pair<std::size_t, std::size_t>> race{};
};
[[nodiscard]] judgement judged(const candidate& c, memory_model m);

}  // namespace faultline::scenario::litmus

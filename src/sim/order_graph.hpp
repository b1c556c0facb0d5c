// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Which lock instance was asked for while which was held, over all executions of a search.
#include <faultline/sim/report.hpp>

#include <boost/unordered/unordered_flat_map.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace faultline::sim {

/// A cycle of blocking edges by different tasks, not guarded by a common lock, is an order reversal: it may
/// never hang (shared holders), so it is a finding and not a verdict. A try adds an edge that is never blocking.
class order_graph {
 public:
  using node = std::uint32_t;

  /// \param label  "vnode:f0": the same instance in every execution
  node intern(std::string_view label);

  struct held {
    node lock;
    bool exclusive;
  };
  /// `task` asked for `wanted` while it held `holds[i]`.
  void asked(const std::vector<held>& holds, std::size_t from, node wanted, bool blocking, task_id task,
             const call_chain& where, const char* task_name);

  /// All edges; and the edges of another search of the same program, added to these.
  [[nodiscard]] std::vector<order_record> records() const;
  void add(const std::vector<order_record>& others);

  /// Reversals, shortest cycles first, each once.
  [[nodiscard]] std::vector<finding> reversals() const;

 private:
  struct edge {
    bool blocking = false;
    task_set tasks = 0;        ///< that asked blocking
    std::vector<node> guards;  ///< held exclusively at every blocking request; sorted
    std::string example;       ///< of the first blocking request
  };
  static std::uint64_t key(node a, node b) { return (std::uint64_t{a} << 32U) | b; }
  [[nodiscard]] bool can_be_live(const std::vector<node>& cycle) const;

  std::vector<std::string> labels_;
  boost::unordered_flat_map<std::string, node> nodes_;
  boost::unordered_flat_map<std::uint64_t, edge> edges_;
};

}  // namespace faultline::sim

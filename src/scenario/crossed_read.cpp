// SPDX-License-Identifier: BSD-2-Clause
// Two tasks each read the first page of their own file into the second, cold page of the other's.
//   T0: vnode f0 (S) -> page fault -> vnode f1 (S)      T1: vnode f1 (S) -> page fault -> vnode f0 (S)
// Sharers do not exclude each other, so with shared vnode locks this is an order reversal and never a deadlock; with
// LK_NOSHARE vnodes every request is exclusive, and it is one.
#include "setting.hpp"

namespace faultline::scenario {

namespace {

struct setting : crossed_tasks {
  explicit setting(kernel& made) : crossed_tasks(with_files(made), "f0", "f1") {
    for (std::size_t i = 0; i < 2; ++i) {
      buffer[i] =
          k.map_file(*proc[i], k.find(file[1 - i]), vm::protection::read_write, page_bytes, page_bytes);
    }
  }
  static kernel& with_files(kernel& k) {
    k.make_file("f0", "aaaaAAAA");
    k.make_file("f1", "bbbbBBBB");
    return k;
  }
  void task(std::size_t i) { returned[i] = text(k.read(*td[i], fd[i], buffer[i], page_bytes)); }
  void check() const { crossed_tasks::check("4"); }
};

}  // namespace

scenario crossed_read() {
  return {
      .info = {.name = "vn-io-fault/crossed-read",
               .summary =
                   "two tasks each read(2) their own file into a cold page mapped from the other's file",
               .thread = 1,
               .cases = {"C02"},
               .axes = {"io", "vnode"},
               .stock = {{"io", "vnode-locked"}, {"vnode", "shared"}}},
      .program = [](const policies& chosen) { return crossed_program<setting>(chosen, 16); },
      .expected =
          {
              {.policies = {{"io", "vnode-locked"}},
               .outcomes = {"f0=aaaabbbb f1=bbbbaaaa"},
               .reversals = {{"vnode:f0", "vnode:f1"}}},
              {.policies = {{"io", "vnode-locked"}, {"vnode", "no-share"}},
               .verdict = sim::verdict::deadlock,
               .message = "T0 waits for vnode:f1; T1 waits for vnode:f0",
               .cycle = {"vnode:f0", "vnode:f1"}},
              {.policies = {{"io", "vn-io-fault"}}, .outcomes = {"f0=aaaabbbb f1=bbbbaaaa"}},
              {.policies = {{"io", "vn-io-fault"}, {"vnode", "no-share"}},
               .outcomes = {"f0=aaaabbbb f1=bbbbaaaa"}},
              {.policies = {{"io", "vn-io-fault"}, {"vnode", "no-share"}},
               .omit = {"V1"},
               .verdict = sim::verdict::deadlock,
               .cycle = {"vnode:f0", "vnode:f1"}},
          },
  };
}

}  // namespace faultline::scenario

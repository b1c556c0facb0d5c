// SPDX-License-Identifier: BSD-2-Clause
// Two tasks each read the first page of their own file into the second, cold page of the other's.
//   T0: vnode f0 (S) -> page fault -> vnode f1 (S)      T1: vnode f1 (S) -> page fault -> vnode f0 (S)
// Sharers do not exclude each other, so with shared vnode locks this is an order reversal and never a deadlock; with
// LK_NOSHARE vnodes every request is exclusive, and it is one.
#include "setting.hpp"

namespace faultline::scenario {

namespace {

struct setting {
  explicit setting(kernel& made) : k(made) {
    auto& f0 = k.make_file("f0", "aaaaAAAA");
    auto& f1 = k.make_file("f1", "bbbbBBBB");
    for (int i = 0; i < 2; ++i) {
      auto& p = k.make_process(i == 0 ? "P0" : "P1");
      td[i] = &k.make_thread(p);
      fd[i] = k.open_file(p, i == 0 ? "f0" : "f1", kern::o_rdwr);
      buffer[i] = k.map_file(p, i == 0 ? f1 : f0, vm::protection::read_write, page_bytes, page_bytes);
    }
  }
  void task(int i) { got[i] = text(k.read(*td[i], fd[i], buffer[i], page_bytes)); }
  void check() const {
    auto& w = sim::world::here();
    observe_file(k, "f0");
    observe_file(k, "f1");
    if (!all_finished()) return;
    w.check(got[0] == "4" && got[1] == "4", "both reads return 4");
    expect_nothing_held(k);
  }

  kernel& k;
  thread* td[2] = {};
  fd_number fd[2] = {};
  user_address buffer[2] = {};
  std::string got[2];
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
      .program = [](const policies& chosen) -> sim::program {
        return [chosen](sim::execution& e) {
          auto& s = e.make<setting>(make_kernel(e, chosen));
          e.spawn("T0", [&s] { s.task(0); });
          e.spawn("T1", [&s] { s.task(1); });
          e.at_end([&s] { s.check(); });
        };
      },
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

// SPDX-License-Identifier: BSD-2-Clause
// A fault against a truncation of the same file.
//   fault:    page busy -> vnode (tried; on failure the page is given back first)
//   truncate: vnode (X) -> waits for the busy page
// Where the fault blocks for the vnode with the page busy, the two wait for each other.
#include "setting.hpp"

namespace faultline::scenario {

namespace {

struct setting {
  explicit setting(kernel& made) : k(made) {
    auto& f = k.make_file("f", "aaaa");
    auto& p0 = k.make_process("P0");
    auto& p1 = k.make_process("P1");
    td[0] = &k.make_thread(p0);
    td[1] = &k.make_thread(p1);
    mapped = k.map_file(p0, f, vm::protection::read);
    fd = k.open_file(p1, "f", kern::o_rdwr);
  }
  void load() { seen = k.load(*td[0], mapped); }
  void truncate() { truncated = k.ftruncate(*td[1], fd, 0); }
  void check() const {
    auto& w = sim::world::here();
    if (!all_finished()) return;
    w.check(truncated == errc::ok, "ftruncate returns 0");
    w.check(k.file_contents("f").empty(), "the file is empty");
    w.check(seen.signal != kern::user_signal::sigsegv, "the load sees a mapping");
    w.check(seen.signal == kern::user_signal::sigbus || seen.value == std::byte{'a'},
            "the load sees the old byte");
    w.observe("load", seen.signal == kern::user_signal::sigbus ? "SIGBUS" : "a");
    expect_nothing_held(k);
  }

  kernel& k;
  thread* td[2] = {};
  fd_number fd{};
  user_address mapped{};
  kern::user_access seen{};
  errc truncated = errc::eio;
};

}  // namespace

scenario busy_truncate() {
  return {
      .info = {.name = "vn-io-fault/busy-truncate",
               .summary = "a load faults on a cold page of a file while the file is truncated",
               .thread = 1,
               .cases = {"A2"},
               .axes = {"io", "vnode"},
               .stock = {{"io", "vnode-locked"}, {"vnode", "shared"}}},
      .program = [](const policies& chosen) -> sim::program {
        return [chosen](sim::execution& e) {
          auto& s = e.make<setting>(make_kernel(e, chosen));
          e.spawn("fault", [&s] { s.load(); });
          e.spawn("truncate", [&s] { s.truncate(); });
          e.at_end([&s] { s.check(); });
        };
      },
      .expected =
          {
              {.policies = {{"io", "vnode-locked"}}, .outcomes = {"load=SIGBUS", "load=a"}},
              {.policies = {{"io", "vn-io-fault"}}, .outcomes = {"load=SIGBUS", "load=a"}},
              {.policies = {{"io", "vnode-locked"}},
               .omit = {"V10"},
               .verdict = sim::verdict::deadlock,
               .cycle = {"vmpage:f.0", "vnode:f"}},
              {.policies = {{"io", "vn-io-fault"}},
               .omit = {"V10"},
               .verdict = sim::verdict::deadlock,
               .cycle = {"vmpage:f.0", "vnode:f"}},
          },
  };
}

}  // namespace faultline::scenario

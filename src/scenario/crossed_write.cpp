// SPDX-License-Identifier: BSD-2-Clause
// Two tasks each write their own file from a page mapped from the other's.
//   T0: vnode f0 (X) -> page fault -> vnode f1          T1: vnode f1 (X) -> page fault -> vnode f0
// vnode-locked can deadlock; vn-io-fault never does.
#include "setting.hpp"

namespace faultline::scenario {

namespace {

struct one_page {
  explicit one_page(kernel& made) : k(made) {
    auto& f0 = k.make_file("f0", "aaaa");
    auto& f1 = k.make_file("f1", "bbbb");
    for (int i = 0; i < 2; ++i) {
      auto& p = k.make_process(i == 0 ? "P0" : "P1");
      td[i] = &k.make_thread(p);
      fd[i] = k.open_file(p, i == 0 ? "f0" : "f1", kern::o_rdwr);
      buffer[i] = k.map_file(p, i == 0 ? f1 : f0, vm::protection::read);
    }
  }
  void task(int i) { wrote[i] = text(k.write(*td[i], fd[i], buffer[i], page_bytes)); }
  void check() const {
    auto& w = sim::world::here();
    observe_file(k, "f0");
    observe_file(k, "f1");
    if (!all_finished()) return;
    w.check(wrote[0] == "4" && wrote[1] == "4", "both writes return 4");
    expect_nothing_held(k);
  }

  kernel& k;
  thread* td[2] = {};
  fd_number fd[2] = {};
  user_address buffer[2] = {};
  std::string wrote[2];
};

/// C01 as it was reported: the first page of each buffer maps a third, cold file, so that both writers hold their own vnode
/// before they need the other's. Each second page is the other file's old first page or the new one, but not the old one in both:
/// each task writes its first page before it copies its second.
struct two_pages {
  explicit two_pages(kernel& made) : k(made) {
    // A block of two pages: what is being written becomes valid as a whole, so a fault on it needs the pager and the vnode.
    auto& a = k.make_file("A", "aaaaAAAA", {.block_pages = 2});
    auto& b = k.make_file("B", "bbbbBBBB", {.block_pages = 2});
    auto& da = k.make_file("DA", "dddd");
    auto& db = k.make_file("DB", "eeee");
    for (int i = 0; i < 2; ++i) {
      auto& p = k.make_process(i == 0 ? "P0" : "P1");
      td[i] = &k.make_thread(p);
      fd[i] = k.open_file(p, i == 0 ? "A" : "B", kern::o_rdwr);
      buffer[i] =
          k.map_file(p, i == 0 ? da : db, vm::protection::read, 0, page_bytes, user_address{16 * page_bytes});
      k.map_file(p, i == 0 ? b : a, vm::protection::read, 0, page_bytes, user_address{17 * page_bytes});
    }
  }
  void task(int i) { wrote[i] = text(k.write(*td[i], fd[i], buffer[i], 2 * page_bytes)); }
  void check() const {
    auto& w = sim::world::here();
    observe_file(k, "A");
    observe_file(k, "B");
    if (!all_finished()) return;
    w.check(wrote[0] == "8" && wrote[1] == "8", "both writes return 8");
    expect_nothing_held(k);
  }

  kernel& k;
  thread* td[2] = {};
  fd_number fd[2] = {};
  user_address buffer[2] = {};
  std::string wrote[2];
};

template <class Setting>
sim::program program_of(const policies& chosen, std::size_t hold_pages) {
  return [chosen, hold_pages](sim::execution& e) {
    auto& s = e.make<Setting>(make_kernel(e, chosen, hold_pages));
    e.spawn("T0", [&s] { s.task(0); });
    e.spawn("T1", [&s] { s.task(1); });
    e.at_end([&s] { s.check(); });
  };
}

}  // namespace

scenario crossed_write() {
  return {
      .info = {.name = "vn-io-fault/crossed-write",
               .summary = "two tasks each write(2) their own file from a page mapped from the other's file",
               .thread = 1,
               .cases = {"C01", "A1"},
               .axes = {"io", "vnode"},
               .stock = {{"io", "vnode-locked"}, {"vnode", "shared"}}},
      .program = [](const policies& chosen) { return program_of<one_page>(chosen, 16); },
      .expected =
          {
              {.policies = {{"io", "vnode-locked"}},
               .verdict = sim::verdict::deadlock,
               .message = "T0 waits for vnode:f1; T1 waits for vnode:f0",
               .cycle = {"vnode:f0", "vnode:f1"}},
              {.policies = {{"io", "vnode-locked"}, {"vnode", "no-share"}},
               .verdict = sim::verdict::deadlock,
               .cycle = {"vnode:f0", "vnode:f1"}},
              {.policies = {{"io", "vn-io-fault"}},
               .outcomes = {"f0=bbbb f1=aaaa", "f0=bbbb f1=bbbb", "f0=aaaa f1=aaaa"}},
              {.policies = {{"io", "vn-io-fault"}, {"vnode", "no-share"}},
               .outcomes = {"f0=bbbb f1=aaaa", "f0=bbbb f1=bbbb", "f0=aaaa f1=aaaa"}},
              {.policies = {{"io", "vn-io-fault"}},
               .omit = {"V1"},
               .verdict = sim::verdict::deadlock,
               .cycle = {"vnode:f0", "vnode:f1"}},
          },
  };
}

scenario crossed_write_two_pages() {
  return {
      .info =
          {.name = "vn-io-fault/crossed-write-two-pages",
           .summary =
               "crossed-write with two-page buffers whose first page maps a third, cold file; hold window of "
               "one page",
           .thread = 1,
           .cases = {"C01"},
           .axes = {"io", "vnode"},
           .stock = {{"io", "vnode-locked"}, {"vnode", "shared"}}},
      .program = [](const policies& chosen) { return program_of<two_pages>(chosen, 1); },
      .expected =
          {
              {.policies = {{"io", "vnode-locked"}},
               .verdict = sim::verdict::deadlock,
               .cycle = {"vnode:A", "vnode:B"}},
              {.policies = {{"io", "vn-io-fault"}},
               .outcomes = {"A=ddddbbbb B=eeeedddd", "A=ddddeeee B=eeeeaaaa", "A=ddddeeee B=eeeedddd"}},
              {.policies = {{"io", "vn-io-fault"}},
               .preemptions = 2,
               .outcomes = {"A=ddddbbbb B=eeeedddd", "A=ddddeeee B=eeeeaaaa", "A=ddddeeee B=eeeedddd"}},
          },
  };
}

}  // namespace faultline::scenario

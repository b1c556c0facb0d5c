// SPDX-License-Identifier: BSD-2-Clause
// Two tasks each write their own file from a page mapped from the other's.
//   T0: vnode f0 (X) -> page fault -> vnode f1          T1: vnode f1 (X) -> page fault -> vnode f0
// vnode-locked can deadlock; vn-io-fault never does.
#include "setting.hpp"

namespace faultline::scenario {

namespace {

struct one_page : crossed_tasks {
  explicit one_page(kernel& made) : crossed_tasks(with_files(made), "f0", "f1") {
    for (std::size_t i = 0; i < 2; ++i) {
      buffer[i] = k.map_file(*proc[i], k.find(file[1 - i]), vm::protection::read);
    }
  }
  static kernel& with_files(kernel& k) {
    k.make_file("f0", "aaaa");
    k.make_file("f1", "bbbb");
    return k;
  }
  void task(std::size_t i) { returned[i] = text(k.write(*td[i], fd[i], buffer[i], page_bytes)); }
  void check() const { crossed_tasks::check("4"); }
};

/// C01 as it was reported: the first page of each buffer maps a third, cold file, so that both writers hold their own vnode
/// before they need the other's. Each second page is the other file's old first page or the new one, but not the old one in
/// both: each task writes its first page before it copies its second.
struct two_pages : crossed_tasks {
  explicit two_pages(kernel& made) : crossed_tasks(with_files(made), "A", "B") {
    for (std::size_t i = 0; i < 2; ++i) {
      auto& delay = k.find(i == 0 ? "DA" : "DB");
      buffer[i] =
          k.map_file(*proc[i], delay, vm::protection::read, 0, page_bytes, user_address{16 * page_bytes});
      k.map_file(*proc[i], k.find(file[1 - i]), vm::protection::read, 0, page_bytes,
                 user_address{17 * page_bytes});
    }
  }
  static kernel& with_files(kernel& k) {
    // A block of two pages: what is being written becomes valid as a whole, so a fault on it needs the pager and the vnode.
    k.make_file("A", "aaaaAAAA", {.block_pages = 2});
    k.make_file("B", "bbbbBBBB", {.block_pages = 2});
    k.make_file("DA", "dddd");
    k.make_file("DB", "eeee");
    return k;
  }
  void task(std::size_t i) { returned[i] = text(k.write(*td[i], fd[i], buffer[i], 2 * page_bytes)); }
  void check() const { crossed_tasks::check("8"); }
};

}  // namespace

scenario crossed_write() {
  return {
      .info = {.name = "vn-io-fault/crossed-write",
               .summary = "two tasks each write(2) their own file from a page mapped from the other's file",
               .thread = 1,
               .cases = {"C01", "A1"},
               .axes = {"io", "vnode"},
               .stock = {{"io", "vnode-locked"}, {"vnode", "shared"}}},
      .program = [](const policies& chosen) { return crossed_program<one_page>(chosen, 16); },
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
      .program = [](const policies& chosen) { return crossed_program<two_pages>(chosen, 1); },
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

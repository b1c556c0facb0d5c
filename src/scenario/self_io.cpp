// SPDX-License-Identifier: BSD-2-Clause
// A task whose buffer maps the very file it reads or writes: the fault asks for a vnode that the task holds.
#include "setting.hpp"

namespace faultline::scenario {

namespace {

/// Form 1: the exclusive holder faults on its own file.
struct writer {
  explicit writer(kernel& made) : k(made) {
    auto& f = k.make_file("f", "aaaabbbb");
    auto& p = k.make_process("P0");
    td = &k.make_thread(p);
    fd = k.open_file(p, "f", kern::o_rdwr);
    second_page = k.map_file(p, f, vm::protection::read, page_bytes, page_bytes);
  }
  void task() { wrote = text(k.write(*td, fd, second_page, page_bytes)); }
  void check() const {
    observe_file(k, "f");
    if (!all_finished()) return;
    sim::world::here().check(wrote == "4", "the write returns 4");
    expect_nothing_held(k);
  }

  kernel& k;
  thread* td = nullptr;
  fd_number fd{};
  user_address second_page{};
  std::string wrote;
};

/// Form 2: a sharer faults on its own file while a writer is queued for it.
struct reader {
  explicit reader(kernel& made) : k(made) {
    auto& f = k.make_file("f", "aaaabbbb");
    auto& p0 = k.make_process("P0");
    auto& p1 = k.make_process("P1");
    td[0] = &k.make_thread(p0);
    td[1] = &k.make_thread(p1);
    fd[0] = k.open_file(p0, "f", kern::o_rdwr);
    fd[1] = k.open_file(p1, "f", kern::o_rdwr);
    second_page = k.map_file(p0, f, vm::protection::read_write, page_bytes, page_bytes);
    resident = k.map_buffer(p1, "cccc");
  }
  void read() { got = text(k.pread(*td[0], fd[0], second_page, page_bytes, 0)); }
  void write() { wrote = text(k.pwrite(*td[1], fd[1], resident, page_bytes, 0)); }
  void check() const {
    observe_file(k, "f");
    if (!all_finished()) return;
    sim::world::here().check(got == "4" && wrote == "4", "both calls return 4");
    expect_nothing_held(k);
  }

  kernel& k;
  thread* td[2] = {};
  fd_number fd[2] = {};
  user_address second_page{};
  user_address resident{};
  std::string got;
  std::string wrote;
};

}  // namespace

scenario self_write() {
  return {
      .info = {.name = "vn-io-fault/self-write",
               .summary = "a task writes a file from a page mapped from the same file",
               .thread = 1,
               .cases = {"C05"},
               .axes = {"io", "vnode"},
               .stock = {{"io", "vnode-locked"}, {"vnode", "shared"}}},
      .program = [](const policies& chosen) -> sim::program {
        return [chosen](sim::execution& e) {
          auto& s = e.make<writer>(make_kernel(e, chosen));
          e.spawn("T0", [&s] { s.task(); });
          e.at_end([&s] { s.check(); });
        };
      },
      .expected =
          {
              {.policies = {{"io", "vnode-locked"}}, .outcomes = {"f=bbbbbbbb"}},
              {.policies = {{"io", "vnode-locked"}, {"vnode", "no-share"}}, .outcomes = {"f=bbbbbbbb"}},
              {.policies = {{"io", "vn-io-fault"}}, .outcomes = {"f=bbbbbbbb"}},
              {.policies = {{"io", "vnode-locked"}},
               .omit = {"V11a"},
               .verdict = sim::verdict::deadlock,
               .message = "self-deadlock: T0 waits for vnode:f",
               .cycle = {"vnode:f"}},
          },
  };
}

scenario self_read() {
  return {
      .info = {.name = "vn-io-fault/self-read",
               .summary =
                   "a task reads a file into a page mapped from the same file while a writer queues for it",
               .thread = 1,
               .cases = {"A3"},
               .axes = {"io", "vnode"},
               .stock = {{"io", "vnode-locked"}, {"vnode", "shared"}}},
      .program = [](const policies& chosen) -> sim::program {
        return [chosen](sim::execution& e) {
          auto& s = e.make<reader>(make_kernel(e, chosen));
          e.spawn("reader", [&s] { s.read(); });
          e.spawn("writer", [&s] { s.write(); });
          e.at_end([&s] { s.check(); });
        };
      },
      .expected =
          {
              {.policies = {{"io", "vnode-locked"}}, .outcomes = {"f=ccccaaaa", "f=cccccccc"}},
              {.policies = {{"io", "vn-io-fault"}}, .outcomes = {"f=ccccaaaa", "f=cccccccc"}},
              {.policies = {{"io", "vnode-locked"}},
               .omit = {"V11b"},
               .verdict = sim::verdict::deadlock,
               .cycle = {"vnode:f", "vnode:f"}},
          },
  };
}

}  // namespace faultline::scenario

// SPDX-License-Identifier: BSD-2-Clause
// A write longer than the hold window, from a cold buffer, against a read of the same bytes. The vnode lock is dropped
// between the chunks; the range lock is what keeps the reader out.
#include "setting.hpp"

namespace faultline::scenario {

namespace {

struct setting {
  explicit setting(kernel& made) : k(made) {
    k.make_file("f", "oooooooo");
    auto& source = k.make_file("source", "nnnnnnnn");
    auto& p0 = k.make_process("P0");
    auto& p1 = k.make_process("P1");
    td[0] = &k.make_thread(p0);
    td[1] = &k.make_thread(p1);
    fd[0] = k.open_file(p0, "f", kern::o_rdwr);
    fd[1] = k.open_file(p1, "f", kern::o_rdwr);
    cold = k.map_file(p0, source, vm::protection::read);
    reader_process = &p1;
    resident = k.map_buffer(p1, "--------");
  }
  void write() { wrote = text(k.pwrite(*td[0], fd[0], cold, 2 * page_bytes, 0)); }
  void read() { got = text(k.pread(*td[1], fd[1], resident, 2 * page_bytes, 0)); }
  void check() const {
    auto& w = sim::world::here();
    if (!all_finished()) return;
    w.check(wrote == "8" && got == "8", "both calls return 8");
    w.check(k.file_contents("f") == "nnnnnnnn", "the write is in the file");
    const auto seen = k.user_contents(*reader_process, resident, 2 * page_bytes);
    if (seen != "oooooooo" && seen != "nnnnnnnn") w.fail("torn read: " + seen);
    w.observe("read", seen);
    expect_nothing_held(k);
  }

  kernel& k;
  thread* td[2] = {};
  fd_number fd[2] = {};
  user_address cold{};
  user_address resident{};
  process* reader_process = nullptr;
  std::string wrote;
  std::string got;
};

}  // namespace

scenario torn_write() {
  return {
      .info =
          {.name = "vn-io-fault/torn-write",
           .summary =
               "pwrite(2) of two pages from a cold buffer, hold window of one, against pread(2) of the same "
               "bytes",
           .thread = 1,
           .cases = {"A4", "C20"},
           .axes = {"io", "vnode"},
           .stock = {{"io", "vnode-locked"}, {"vnode", "shared"}}},
      .program = [](const policies& chosen) -> sim::program {
        return [chosen](sim::execution& e) {
          auto& s = e.make<setting>(make_kernel(e, chosen, 1));
          e.spawn("writer", [&s] { s.write(); });
          e.spawn("reader", [&s] { s.read(); });
          e.at_end([&s] { s.check(); });
        };
      },
      .expected =
          {
              {.policies = {{"io", "vnode-locked"}}, .outcomes = {"read=nnnnnnnn", "read=oooooooo"}},
              {.policies = {{"io", "vn-io-fault"}}, .outcomes = {"read=nnnnnnnn", "read=oooooooo"}},
              {.policies = {{"io", "vn-io-fault"}},
               .omit = {"V2"},
               .verdict = sim::verdict::violation,
               .message = "torn read: nnnnoooo"},
          },
  };
}

}  // namespace faultline::scenario

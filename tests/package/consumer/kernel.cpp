// SPDX-License-Identifier: BSD-2-Clause
// A kernel scenario: in C++ with a policy, and as a file.
#include <faultline/kern/simulated_kernel.hpp>
#include <faultline/policy/io/vn_io_fault.hpp>
#include <faultline/policy/io/vnode_locked.hpp>
#include <faultline/scenario/file.hpp>
#include <faultline/sim/explore.hpp>

#include <iostream>

namespace {

using namespace faultline;
using kernel = kern::simulated_kernel;

template <class Io>
sim::report crossed_writes() {
  return sim::explore({}, [](sim::execution& e) {
    auto& k = e.make<kernel>(kern::parameters{.page_size = 4}, kern::simulated_io(Io{}));
    auto& f = k.make_file("f", "aaaa");
    auto& g = k.make_file("g", "bbbb");
    for (const bool first : {true, false}) {
      auto& process = k.make_process(first ? "p" : "q");
      auto& td = k.make_thread(process);
      const auto fd = k.open_file(process, first ? "f" : "g", kern::o_rdwr);
      const auto from = k.map_file(process, first ? g : f, vm::protection::read);
      e.spawn(process.name,
              [&k, &td, fd, from] { simulated::check(k.write(td, fd, from, 4).ok(), "write"); });
    }
  });
}

constexpr const char* text = R"(faultline-scenario 1
name    mine
summary "a byte onto its own page"
file f "abcd"
process P
  open a = f rdwr
  map  m = f read
task T in P
  pwrite a m 1 at 2 -> 1
finally f == "abad"
expect vn-io-fault: clean
expect page-busy: deadlock vmpage:f.0
)";

}  // namespace

int main() {
  const auto before = crossed_writes<policy::io::vnode_locked>();
  const auto after = crossed_writes<policy::io::vn_io_fault>();
  std::cout << "vnode-locked: " << sim::name_of(before.verdict)
            << "\nvn-io-fault: " << sim::name_of(after.verdict) << ", complete " << after.complete << '\n';
  bool ok =
      before.verdict == sim::verdict::deadlock && after.verdict == sim::verdict::clean && after.complete;

  const auto mine = scenario::parse(text, "mine.scn");
  for (const auto& row : mine.expected) {
    const auto result = scenario::check(mine, row);
    for (const auto& wrong : result.wrong) std::cout << wrong << '\n';
    ok = ok && result.wrong.empty();
  }
  std::cout << mine.expected.size() << " rows of a file\n";
  return ok ? 0 : 1;
}

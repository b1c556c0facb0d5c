// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// One process with one thread on a kernel of its own: for tests of what calls return, not of who runs when.
#include <faultline/kern/simulated_kernel.hpp>
#include <faultline/policy/io/page_busy.hpp>
#include <faultline/policy/io/prefault.hpp>
#include <faultline/policy/io/vn_io_fault.hpp>
#include <faultline/policy/io/vnode_locked.hpp>
#include <faultline/scenario/mutants/vn_io_fault_copyin.hpp>
#include <faultline/scenario/mutants/write_mutants.hpp>
#include <faultline/sim/explore.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::test {

using kernel = kern::simulated_kernel;

template <class... Policies>
kern::simulated_io io_of(std::string_view name) {
  std::optional<kern::simulated_io> found;
  ((Policies::name == name ? void(found = Policies{}) : void()), ...);
  if (!found) throw std::invalid_argument("no I/O policy " + std::string(name));
  return *found;
}

inline kern::simulated_io io_named(std::string_view name) {
  namespace io = policy::io;
  namespace mutants = scenario::mutants;
  return io_of<io::vnode_locked, io::prefault, io::page_busy, io::vn_io_fault, mutants::overwrite_valid_early,
               mutants::size_decided_early, mutants::vn_io_fault_copyin, mutants::vn_io_fault_copyin_retry>(
      name);
}

/// Small pages, and a hold window of two.
inline kern::parameters small_pages() {
  kern::parameters p;
  p.page_size = 16;
  p.hold_pages = 2;
  return p;
}

struct alone {
  kernel& k;
  kernel::process& process;
  kernel::thread& td;

  fd_number open(std::string_view file, kern::open_flags how = kern::o_rdwr) {
    return k.open_file(process, file, how);
  }
  std::string load(user_address at, std::size_t n) {
    std::string text(n, '?');
    EXPECT_EQ(k.load(td, at, std::as_writable_bytes(std::span{text})), kern::user_signal::none);
    return text;
  }
};

inline sim::report run_alone(kern::parameters p, std::string_view io, const std::function<void(alone&)>& body,
                             std::vector<const step*> omit = {}) {
  sim::options how;
  how.omit = std::move(omit);
  return sim::explore(how, [&](sim::execution& e) {
    auto& k = e.make<kernel>(p, io_named(io));
    auto& process = k.make_process("p");
    auto& self = e.make<alone>(alone{k, process, k.make_thread(process)});
    e.spawn("t", [&body, &self] { body(self); });
    e.at_end([&k, &e] { e.here().check(k.account().none(), "a page or a lock was left held"); });
  });
}

/// One interleaving, nothing left held.
inline void expect_alone(kern::parameters p, std::string_view io, const std::function<void(alone&)>& body) {
  const auto r = run_alone(p, io, body);
  EXPECT_EQ(r.verdict, sim::verdict::clean) << r;
  EXPECT_EQ(r.executions, 1U);
}

template <class T>
T value_of(const result<T>& r) {
  EXPECT_TRUE(r.ok()) << name_of(r.error());
  return r.value();
}

}  // namespace faultline::test

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Several tasks on one kernel, each with a process of its own: for tests of what an I/O policy holds across a fault.
#include "unit/kern/alone.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::test {

/// A file of `pages` pages, each of its own letter.
inline std::string letters(std::size_t pages, std::size_t page_size, char first = 'a') {
  std::string text;
  for (std::size_t i = 0; i < pages; ++i)
    text += std::string(page_size, static_cast<char>(first + static_cast<int>(i % 26)));
  return text;
}

struct caller {
  kernel& k;
  kernel::thread& td;
  kernel::process& process;
};
struct cross {
  std::vector<std::function<void(caller)>> tasks;
  std::function<void(kernel&)> files;
  std::function<void(kernel&)> check = [](kernel&) {};
};

inline sim::report explore(const cross& what, std::vector<const step*> omit = {},
                           std::string_view io_name = "vn-io-fault",
                           kern::parameters p = {.page_size = 4, .hold_pages = 1},
                           std::optional<std::uint32_t> preemptions = {}) {
  sim::options how;
  how.omit = std::move(omit);
  how.preemptions = preemptions;
  return sim::explore(how, [&](sim::execution& e) {
    auto& k = e.make<kernel>(p, io_named(io_name));
    what.files(k);
    for (std::size_t i = 0; i < what.tasks.size(); ++i) {
      auto& process = k.make_process("p" + std::to_string(i));
      auto& self = e.make<caller>(caller{k, k.make_thread(process), process});
      e.spawn("t" + std::to_string(i), [&what, &self, i] { what.tasks[i](self); });
    }
    e.at_end([&what, &k, &e] {
      what.check(k);
      e.here().check(k.account().none(), "a page or a lock was left held");
    });
  });
}

/// Writes (or reads) the first page of `file` from (or into) a cold mapping of the second page of `buffer`: one that the
/// other task's transfer does not bring in.
inline auto crossed(bool write, const char* file, const char* buffer) {
  return [=](caller c) {
    const auto fd = c.k.open_file(c.process, file, kern::o_rdwr);
    const auto at = c.k.map_file(c.process, c.k.find(buffer), vm::protection::read_write, 4);
    const auto r = write ? c.k.pwrite(c.td, fd, at, 4, 0) : c.k.pread(c.td, fd, at, 4, 0);
    simulated::check(r.ok() && r.value() == 4, "short or failed");
  };
}
inline const auto two_files = [](kernel& k) {
  k.make_file("f0", "aaaaAAAA");
  k.make_file("f1", "bbbbBBBB");
};

}  // namespace faultline::test

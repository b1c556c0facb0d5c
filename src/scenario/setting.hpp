// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What the kernel scenarios share: a kernel with the chosen policies, and how ends are looked at.
#include <faultline/kern/simulated_kernel.hpp>
#include <faultline/scenario/scenario.hpp>

#include <array>
#include <string>
#include <string_view>

namespace faultline::scenario {

using kernel = kern::simulated_kernel;
using thread = kernel::thread;
using process = kernel::process;

/// Explorations use pages of few bytes: what counts is how many there are.
inline constexpr std::size_t page_bytes = 4;

/// A kernel in the execution's arena. `chosen` has a policy for "io", and perhaps for "vnode".
[[nodiscard]] kernel& make_kernel(sim::execution& e, const policies& chosen, std::size_t hold_pages = 16);

/// Observes the contents of a file under its name, and fails if anything is left held.
void observe_file(const kernel& k, std::string_view name);
/// Fails if a page, a lock or paging in progress is left behind. Only where every task has ended.
void expect_nothing_held(const kernel& k);
[[nodiscard]] bool all_finished();

/// "4", or the error's name.
template <class T>
[[nodiscard]] std::string text(const result<T>& r) {
  return r.ok() ? std::to_string(r.value()) : std::string(name_of(r.error()));
}

/// Two tasks that each do I/O on a file of their own, from or into a buffer that maps the other's: a process each.
struct crossed_tasks {
  /// \pre both files are there
  crossed_tasks(kernel& made, std::string_view first_file, std::string_view second_file);
  /// Observes both files; both calls returned `bytes`, and nothing is left held.
  void check(std::string_view bytes) const;

  kernel& k;
  std::array<std::string_view, 2> file;
  std::array<process*, 2> proc{};
  std::array<thread*, 2> td{};
  std::array<fd_number, 2> fd{};
  std::array<user_address, 2> buffer{};
  std::array<std::string, 2> returned;
};

/// A program of two tasks, T0 and T1, on a `Setting` made from a kernel: set-up in its constructor, task(i), check().
template <class Setting>
[[nodiscard]] sim::program crossed_program(const policies& chosen, std::size_t hold_pages) {
  return [chosen, hold_pages](sim::execution& e) {
    auto& s = e.make<Setting>(make_kernel(e, chosen, hold_pages));
    e.spawn("T0", [&s] { s.task(0); });
    e.spawn("T1", [&s] { s.task(1); });
    e.at_end([&s] { s.check(); });
  };
}

// The scenarios, a file each.
[[nodiscard]] scenario busy_truncate();
[[nodiscard]] scenario crossed_read();
[[nodiscard]] scenario crossed_write();
[[nodiscard]] scenario crossed_write_two_pages();
[[nodiscard]] scenario self_read();
[[nodiscard]] scenario self_write();
[[nodiscard]] scenario torn_write();

}  // namespace faultline::scenario

// SPDX-License-Identifier: BSD-2-Clause
#include "setting.hpp"

#include <faultline/policy/io/vn_io_fault.hpp>
#include <faultline/policy/io/vnode_locked.hpp>

#include <stdexcept>

namespace faultline::scenario {

namespace {

kern::simulated_io io_policy(std::string_view name) {
  if (name == policy::io::vnode_locked::name) return policy::io::vnode_locked{};
  if (name == policy::io::vn_io_fault::name) return policy::io::vn_io_fault{};
  throw std::invalid_argument("no I/O policy " + std::string(name));
}

}  // namespace

kernel& make_kernel(sim::execution& e, const policies& chosen, std::size_t hold_pages) {
  const auto vnode = chosen.find("vnode");
  const bool noshare = vnode != chosen.end() && vnode->second == "no-share";
  return e.make<kernel>(
      kern::parameters{.page_size = page_bytes,
                       .hold_pages = hold_pages,
                       .vnode_sharing = noshare ? sync::sharing::noshare : sync::sharing::share},
      io_policy(chosen.at("io")));
}

bool all_finished() {
  const auto& w = sim::world::here();
  for (sim::task_id t = 0; t < w.task_count(); ++t) {
    if (!w.finished(t)) return false;
  }
  return true;
}

void expect_nothing_held(const kernel& k) {
  if (!all_finished()) return;
  const auto left = k.account();
  auto& w = sim::world::here();
  w.check(left.held_pages == 0, "pages are left held");
  w.check(left.wired_pages == 0, "pages are left wired");
  w.check(left.busy_pages == 0, "pages are left busy");
  w.check(left.paging_in_progress == 0, "paging is left in progress");
  w.check(left.none(), "a lock is left held");
}

crossed_tasks::crossed_tasks(kernel& made, std::string_view first_file, std::string_view second_file)
    : k(made), file{first_file, second_file} {
  for (std::size_t i = 0; i < 2; ++i) {
    proc[i] = &k.make_process(i == 0 ? "P0" : "P1");
    td[i] = &k.make_thread(*proc[i]);
    fd[i] = k.open_file(*proc[i], file[i], kern::o_rdwr);
  }
}

void crossed_tasks::check(std::string_view bytes) const {
  for (const auto name : file) observe_file(k, name);
  if (!all_finished()) return;
  sim::world::here().check(returned[0] == bytes && returned[1] == bytes, "both calls return all bytes");
  expect_nothing_held(k);
}

void observe_file(const kernel& k, std::string_view name) {
  sim::world::here().observe(name, k.file_contents(name));
}

}  // namespace faultline::scenario

// SPDX-License-Identifier: BSD-2-Clause
#include "scenario/setting.hpp"

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

kernel& make_kernel(sim::execution& e, const policies& chosen, kern::parameters parameters) {
  const auto vnode = chosen.find("vnode");
  const bool noshare = vnode != chosen.end() && vnode->second == "no-share";
  parameters.vnode_sharing = noshare ? sync::sharing::noshare : sync::sharing::share;
  return e.make<kernel>(parameters, io_policy(chosen.at("io")));
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
  w.check(left.lost_pages == 0, "pages are neither freed nor anybody's");
  w.check(left.none(), "a lock is left held");
}

}  // namespace faultline::scenario

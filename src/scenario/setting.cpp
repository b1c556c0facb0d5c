// SPDX-License-Identifier: BSD-2-Clause
#include "scenario/setting.hpp"

#include <faultline/policy/io/page_busy.hpp>
#include <faultline/policy/io/prefault.hpp>
#include <faultline/policy/io/vn_io_fault.hpp>
#include <faultline/policy/io/vnode_locked.hpp>
#include <faultline/scenario/mutants/vn_io_fault_copyin.hpp>
#include <faultline/scenario/mutants/write_mutants.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace faultline::scenario {

namespace {

template <class... Policies>
kern::simulated_io io_policy_of(std::string_view name) {
  std::optional<kern::simulated_io> found;
  ((Policies::name == name ? void(found = Policies{}) : void()), ...);
  if (!found) throw std::invalid_argument("no I/O policy " + std::string(name));
  return *found;
}

}  // namespace

kernel& make_kernel(sim::execution& e, const policies& chosen, kern::parameters parameters) {
  const auto vnode = chosen.find("vnode");
  const bool noshare = vnode != chosen.end() && vnode->second == "no-share";
  parameters.vnode_sharing = noshare ? sync::sharing::noshare : sync::sharing::share;
  namespace io = policy::io;
  return e.make<kernel>(
      parameters,
      io_policy_of<io::page_busy, io::prefault, io::vn_io_fault, io::vnode_locked,
                   mutants::overwrite_valid_early, mutants::size_decided_early, mutants::vn_io_fault_copyin,
                   mutants::vn_io_fault_copyin_retry>(chosen.at("io")));
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

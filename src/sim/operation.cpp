// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/sim/operation.hpp>

namespace faultline::sim {

const char* name_of(op kind) noexcept {
  switch (kind) {
    case op::start:
      return "start";
    case op::load:
      return "load";
    case op::store:
      return "store";
    case op::rmw:
      return "rmw";
    case op::var_read:
      return "read";
    case op::var_write:
      return "write";
    case op::lock:
      return "lock";
    case op::try_lock:
      return "try";
    case op::unlock:
      return "unlock";
    case op::enqueue:
      return "queue for";
    case op::section:
      return "section";
    case op::wait:
      return "wait";
    case op::resume:
      return "resume";
    case op::wake:
      return "wake";
    case op::relax:
      return "relax";
    case op::spawn:
      return "spawn";
    case op::join:
      return "join";
    case op::fence:
      return "fence";
    case op::sleep:
      return "sleep";
    case op::fire:
      return "fire";
    case op::cross_call:
      return "cross-call";
    case op::interrupt:
      return "interrupt";
    case op::mask:
      return "mask";
    case op::io:
      return "io";
  }
  return "?";
}

}  // namespace faultline::sim

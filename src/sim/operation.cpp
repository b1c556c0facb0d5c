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
    case op::io:
      return "io";
    case op::finish:
      return "finish";
  }
  return "?";
}

namespace {

enum class family : std::uint8_t { none, data, acquire, release, attempt, resume };

constexpr family family_of(touch t) {
  switch (t) {
    case touch::none:
      return family::none;
    case touch::read:
    case touch::write:
      return family::data;
    case touch::acquire_shared:
    case touch::acquire_exclusive:
      return family::acquire;
    case touch::release_shared:
    case touch::release_exclusive:
      return family::release;
    case touch::attempt_shared:
    case touch::attempt_exclusive:
      return family::attempt;
    case touch::resume:
      return family::resume;
  }
  return family::none;
}

constexpr bool shared(touch t) {
  return t == touch::read || t == touch::acquire_shared || t == touch::release_shared ||
         t == touch::attempt_shared;
}

}  // namespace

relation relate(touch earlier, touch later) noexcept {
  const auto a = family_of(earlier);
  const auto b = family_of(later);
  if (a == family::none || b == family::none) return relation::independent;
  // A resume comes after the wake that ended its wait, which is told by operation::follows.
  if (a == family::resume || b == family::resume) return relation::independent;
  // Readers of any kind commute with readers: what one sees does not depend on the other.
  if (shared(earlier) && shared(later)) return relation::independent;
  if (a == family::release && b == family::release) return relation::independent;
  // A lock is never asked for and given back in the other order: the attempt waited until it could be granted.
  if (a == family::release && b == family::acquire) return relation::ordered;
  if (a == family::acquire && b == family::release) return relation::ordered;
  return relation::racing;
}

relation relate(const object_touch& earlier, const object_touch& later) noexcept {
  const auto ranged = [](const byte_range& r) { return r.first < r.last; };
  if (ranged(earlier.range) && ranged(later.range) && !earlier.range.overlaps(later.range)) {
    return relation::independent;
  }
  return relate(earlier.how, later.how);
}

}  // namespace faultline::sim

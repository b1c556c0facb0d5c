// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/sim/lock_state.hpp>

#include <faultline/sim/grant.hpp>
#include <faultline/sim/world.hpp>

namespace faultline::sim {

lock_state::lock_state(const lock_rule& rule, const char* kind, const char* name)
    : rule_(rule),
      kind_(kind),
      owner_(world::here().enroll(this, kind, name)),
      queue_id_(world::here().enroll(&queue_id_, kind, name)),
      holds_(&world::here().memory()),
      given_back_(&world::here().memory()),
      queue_(&world::here().memory()) {
  static constexpr request one{.task = 0, .how = access::shared, .range = {0, 1}};
  static constexpr request other{.task = 1, .how = access::shared, .range = {0, 1}};
  if (rule.conflicts(one, other)) {
    world::here().fail(
        "a lock rule under which two shared requests conflict: such requests must be exclusive");
  }
}

lock_state::~lock_state() {
  if (auto* w = world::current()) {
    w->retire(owner_, this);
    w->retire(queue_id_, &queue_id_);
  }
}

bool lock_state::grants(const request& wish) const noexcept {
  return sim::grants(rule_, holds_, queue_, wish);
}

task_set lock_state::blockers(const request& wish) const noexcept {
  task_set who = 0;
  visit_blockers(rule_, holds_, queue_, wish, [&who](const request& r) {
    if (r.task != no_task) who |= only(r.task);  // what set-up took, no task gives back
    return false;
  });
  return who;
}

const hold* lock_state::held_by(task_id t) const noexcept {
  for (const auto& h : holds_) {
    if (h.granted.task == t) return &h;
  }
  return nullptr;
}

}  // namespace faultline::sim

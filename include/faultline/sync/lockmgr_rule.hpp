// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// When lockmgr(9) grants a lock: the rule of a vnode lock in specification form.
///
///  - exclusive excludes everybody; sharers share;
///  - the exclusive holder gets the lock again only with LK_CANRECURSE. Without it, it waits for itself;
///  - a sharer is refused while exclusive requests are queued, whoever came first ("give them preference, in order to avoid
///    starvation"), unless it is let through: it holds some shared lockmgr lock already (td_lk_slocks != 0) or is copying
///    to or from user memory (TDP_DEADLKTREAT);
///  - exclusive requests are in no order among themselves: a release wakes all of them.
///
/// One simplification: a queued exclusive request stays queued until it is granted. In lockmgr the waiters are woken, and
/// between the release and the moment one of them runs a newcomer may barge in. Barging lets more through, never less, so a
/// deadlock found under this rule needs no barging; one that is avoided only by a barging sharer is reported all the same.
///
/// Source: FreeBSD sys/kern/kern_lock.c (LK_CAN_SHARE, __lockmgr_args, wakeupshlk), as of 10.2 and later. 9.3 and 10.1 refused
/// sharers only when exclusive waiters and spinners were both flagged, so that sharers overtook queued writers.
#include <faultline/sim/lock_state.hpp>

namespace faultline::sync {

class lockmgr_rule final : public sim::lock_rule {
 public:
  [[nodiscard]] bool conflicts(const sim::request& held, const sim::request& wish) const override {
    if (held.how == access::shared && wish.how == access::shared) return false;
    const bool recursion =
        held.task == wish.task && held.how == access::exclusive && wish.how == access::exclusive;
    return !(recursion && wish.may_recurse);
  }
  [[nodiscard]] bool yields(const sim::request& queued, bool /*earlier*/,
                            const sim::request& wish) const override {
    return wish.how == access::shared && queued.how == access::exclusive && queued.task != wish.task &&
           !wish.overtakes;
  }
  [[nodiscard]] bool announces(const sim::request& wish) const override {
    return wish.how == access::exclusive;
  }
};
inline constexpr lockmgr_rule the_lockmgr_rule{};

}  // namespace faultline::sync

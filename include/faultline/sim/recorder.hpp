// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Records the calls that the tasks of an execution make, as a history that is checked in the end.
///
/// Whether a history is linearizable depends on which calls had returned before others were made. Neither is an operation of
/// the program, so there are two ways to record:
///
///   silent    No scheduling point is added. Each execution is checked under the order that its calls had in it. A call counts as
///             made when its task ended the step before, and orders of calls whose operations commute are not explored. So a call
///             that is its task's first overlaps all that ran before its first step, and a violation that needs one call to have
///             returned before the other was made can be missed, by a search that is complete. What is found is one.
///   visible   The return of a call and the invocation of one by another task are operations that do not commute; two returns do,
///             and two invocations. So a complete search checks every order of results that the program can have under every
///             order of returns and invocations.
///
/// How: each caller has an object of its own. A return writes the caller's; an invocation reads those of all other callers.
/// That costs one step for each return, and one for each other caller at an invocation. Under `tso` and `weak` the write waits until
/// the task's stores are visible, as user bytes do: there a visible recorder hides a store that is late, and its search is never
/// complete; record silently.
#include <faultline/sim/linearizable.hpp>
#include <faultline/sim/world.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace faultline::sim {

/// Made in set-up, in the execution's arena. Used by tasks, and by the check at the end.
template <sequential_model M>
class recorder {
 public:
  /// Silent. \param into  is cleared; outlives the execution's check
  explicit recorder(history<M>& into) : recorder(into, 0) {}
  /// Visible. \param callers  the tasks that make calls: only(0) | only(1). They are numbered as they are spawned, from 0
  recorder(history<M>& into, task_set callers) : history_(into), callers_(callers) {
    history_.clear();
    auto& w = world::here();
    for (auto rest = callers_; rest != 0; rest &= rest - 1) {
      const auto t = static_cast<task_id>(std::countr_zero(rest));
      returns_[t] = w.enroll(&returns_[t], "returns", w.keep("task " + std::to_string(t)));
    }
  }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  /// Runs `body`, which is the call, and records it. A task that is abandoned in it leaves a call that did not return.
  /// \param body  gives the call's result, or what a result is made from
  /// \returns what it gives
  template <std::invocable F>
  requires std::constructible_from < typename M::result, const std::invoke_result_t<F>
  & > auto call(typename M::call what, F&& body) {
    return call(std::move(what), std::forward<F>(body),
                [](const std::invoke_result_t<F>& gave) { return typename M::result(gave); });
  }
  /// \param seen  makes a result of what `body` gives, at the moment of the return
  template <std::invocable F, class Seen>
  requires std::convertible_to < std::invoke_result_t < Seen, const std::invoke_result_t<F>
  & >, typename M::result > auto call(typename M::call what, F&& body, Seen&& seen) {
    auto& w = world::here();
    const task_id me = w.self();
    if (callers_ != 0) {
      w.check((callers_ & only(me)) != 0, "a call is recorded of a task that was not given as a caller");
      for (auto rest = callers_ & ~only(me); rest != 0; rest &= rest - 1)
        w.racy_read(returns_[static_cast<task_id>(std::countr_zero(rest))]);
    }
    history_.invoked(me, std::move(what), w.now());
    auto gave = std::forward<F>(body)();
    typename M::result result = std::forward<Seen>(seen)(std::as_const(gave));
    if (callers_ != 0) w.racy_write(returns_[me]);
    history_.returned(me, std::move(result), w.now());
    return gave;
  }

  [[nodiscard]] const history<M>& calls() const noexcept { return history_; }

  /// For execution::at_end(): a violation, with the table of calls as its message, unless what was recorded is linearizable.
  /// Also one, saying so, if that is more than can be checked.
  void check(const M& initial) const {
    auto& w = world::here();
    std::vector<std::string> names;
    for (task_id t = 0; t < w.task_count(); ++t) names.emplace_back(w.task_name(t));
    try {
      if (auto found = sim::check(initial, history_, names); !found) w.fail(std::move(found.text));
    } catch (const std::length_error& error) {
      w.fail(error.what());
    }
  }

 private:
  history<M>& history_;
  task_set callers_;
  std::array<object_id, tasks_max> returns_{};
};

}  // namespace faultline::sim

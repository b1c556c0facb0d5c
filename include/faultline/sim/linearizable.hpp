// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Could overlapping calls have been made one after the other, each within its own time, with the results that they had?
///
/// A history has the invocations and returns of calls in their order. It is linearizable if there is an order of the calls
/// that a sequential model gives the same results for, and in which a call that had returned before another was made comes
/// first. A call that did not return (its task hangs) may have taken effect or not.
///
/// The search is that of Wing and Gong (Testing and verifying concurrent objects, JPDC 17, 1993) with the memory of Lowe
/// (Testing for linearizability, CCPE 29, 2017): no pair of model state and set of calls is looked at twice.
#include <faultline/sim/operation.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace faultline::sim {

/// Calls that a history may have to be checked, and pairs of state and set of calls that a check may come by.
inline constexpr std::size_t linearizable_calls_max = 64;
inline constexpr std::size_t linearizable_states_max = 100'000;

/// A model that has one result for a call: `result apply(const call&)`.
template <class M>
concept deterministic_model = requires(M& m, const typename M::call& what) {
  { m.apply(what) } -> std::same_as<typename M::result>;
  requires std::equality_comparable<typename M::result>;
};

/// A model that allows several: `bool admits(const call&, const result&)` says whether it may have been that one, and if so goes
/// on to the state after it (if not, the state does not matter: a copy is asked). `std::vector<M> pending(const call&) const` has
/// each state in which a call whose result is not known may have left things.
template <class M>
concept permissive_model = requires(M& m, const M& before, const typename M::call& what,
                                    const typename M::result& gave) {
  { m.admits(what, gave) } -> std::same_as<bool>;
  { before.pending(what) } -> std::same_as<std::vector<M>>;
};

/// What calls do when they are made one after the other. A model is a value: its copies go apart. Its static
/// `text(call)` and `text(result)` are for reports.
template <class M>
concept sequential_model = std::copyable<M> && std::equality_comparable<M> &&
    std::movable<typename M::call> && std::movable<typename M::result> &&
    (deterministic_model<M> || permissive_model<M>)&&requires(const typename M::call& what,
                                                              const typename M::result& gave) {
  { M::text(what) } -> std::convertible_to<std::string>;
  { M::text(gave) } -> std::convertible_to<std::string>;
};

/// The calls of one execution, in the order in which they were made and returned.
template <sequential_model M>
class history {
 public:
  using call = typename M::call;
  using result = typename M::result;
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  struct entry {
    task_id task = no_task;
    call what;
    std::optional<result> gave{};  ///< none: it did not return
    std::size_t invoked = 0;       ///< number of the event
    std::size_t returned = never;
    std::uint32_t invoked_step = 0;  ///< of the execution, for reports
    std::uint32_t returned_step = 0;
  };

  /// \param memory  must outlive the history. In the arena of an execution nothing is destroyed: there a call and a result own no
  ///                memory but the arena's
  explicit history(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : calls_(memory) {}

  /// \errors throws std::logic_error if the task is in a call already
  void invoked(task_id task, call what, std::uint32_t step = 0) {
    if (open_call(task) != nullptr)
      throw std::logic_error("task " + std::to_string(task) +
                             " makes a call and is in one already; record its return first");
    calls_.push_back(entry{.task = task, .what = std::move(what), .invoked = events_, .invoked_step = step});
    ++events_;
  }
  /// \errors throws std::logic_error if the task is in no call
  void returned(task_id task, result gave, std::uint32_t step = 0) {
    auto* const one = open_call(task);
    if (one == nullptr)
      throw std::logic_error("task " + std::to_string(task) +
                             " returns and is in no call; record the call first");
    one->gave.emplace(std::move(gave));
    one->returned = events_;
    one->returned_step = step;
    ++events_;
  }
  void clear() noexcept {
    calls_.clear();
    events_ = 0;
  }

  /// In the order of their invocations.
  [[nodiscard]] const std::pmr::vector<entry>& calls() const noexcept { return calls_; }
  /// Invocations and returns.
  [[nodiscard]] std::size_t events() const noexcept { return events_; }

 private:
  [[nodiscard]] entry* open_call(task_id task) noexcept {
    const auto latest =
        std::find_if(calls_.rbegin(), calls_.rend(), [task](const entry& e) { return e.task == task; });
    return latest == calls_.rend() || latest->returned != never ? nullptr : &*latest;
  }

  std::pmr::vector<entry> calls_;
  std::size_t events_ = 0;
};

/// What a check found. Calls are numbers of history::calls().
struct linearization {
  bool linearizable = false;
  /// A witness: the calls in an order that fits. If there is none, the longest order of calls of the prefix that fits.
  std::vector<std::size_t> order{};
  /// Events of the shortest beginning of the history that is not linearizable. Its last one is the return of `misfit`, whose
  /// result fits at no point.
  std::size_t prefix = 0;
  std::optional<std::size_t> misfit{};
  /// Empty if it is linearizable. Else a line that says what fits nowhere, the calls with their steps, and the order.
  std::string text{};

  explicit operator bool() const noexcept { return linearizable; }
};

namespace detail {

/// A call of the prefix, for the table.
struct call_row {
  std::size_t number = 0;
  std::string task;
  std::string call;
  std::string result;
  std::uint32_t invoked = 0;
  std::optional<std::uint32_t> returned{};  ///< the step; none: not in the prefix
};
[[nodiscard]] std::string misfit_text(const std::vector<call_row>& rows, std::size_t misfit,
                                      const std::vector<std::size_t>& order);
[[noreturn]] void too_many_calls(std::size_t calls);
[[noreturn]] void too_many_states();

/// Looks for an order of the calls of a history's first events.
template <sequential_model M>
class linearizer {
 public:
  linearizer(const history<M>& of, std::size_t events) : calls_(of.calls()), events_(events) {
    for (std::size_t i = 0; i < calls_.size() && calls_[i].invoked < events_; ++i) {
      ++count_;
      if (has_returned(i)) must_ |= bit(i);
    }
  }

  bool find(const M& initial) { return from(initial, 0); }
  [[nodiscard]] const std::vector<std::size_t>& longest() const noexcept { return longest_; }

 private:
  static std::uint64_t bit(std::size_t i) noexcept { return std::uint64_t{1} << i; }
  [[nodiscard]] bool has_returned(std::size_t i) const noexcept { return calls_[i].returned < events_; }

  /// `done` have been put in order, and left the model in `state`.
  bool from(const M& state, std::uint64_t done) {
    const bool all = (must_ & ~done) == 0;
    if (all || order_.size() > longest_.size()) longest_ = order_;
    if (all) return true;
    if (!is_new(state, done)) return false;
    // Nothing that was made after this return can come next.
    std::size_t first_return = events_;
    for (auto rest = must_ & ~done; rest != 0; rest &= rest - 1)
      first_return =
          std::min(first_return, calls_[static_cast<std::size_t>(std::countr_zero(rest))].returned);
    for (std::size_t i = 0; i < count_ && calls_[i].invoked < first_return; ++i) {
      if ((done & bit(i)) != 0) continue;
      order_.push_back(i);
      if (with(state, done, i)) return true;
      order_.pop_back();
    }
    return false;
  }

  /// Goes on with call `i` as the next.
  bool with(const M& state, std::uint64_t done, std::size_t i) {
    const auto& one = calls_[i];
    if constexpr (deterministic_model<M>) {
      M next = state;
      const auto gives = next.apply(one.what);
      return (!has_returned(i) || gives == *one.gave) && from(next, done | bit(i));
    } else {
      if (has_returned(i)) {
        M next = state;
        return next.admits(one.what, *one.gave) && from(next, done | bit(i));
      }
      for (const M& next : state.pending(one.what)) {
        if (from(next, done | bit(i))) return true;
      }
      return false;
    }
  }

  bool is_new(const M& state, std::uint64_t done) {
    auto& known = seen_[done];
    if (std::find(known.begin(), known.end(), state) != known.end()) return false;
    if (++states_ > linearizable_states_max) too_many_states();
    known.push_back(state);
    return true;
  }

  const std::pmr::vector<typename history<M>::entry>& calls_;
  std::size_t events_;
  std::size_t count_ = 0;   // calls made in the prefix: the first ones
  std::uint64_t must_ = 0;  // those that returned in it
  std::vector<std::size_t> order_{};
  std::vector<std::size_t> longest_{};
  std::unordered_map<std::uint64_t, std::vector<M>> seen_{};
  std::size_t states_ = 0;
};

}  // namespace detail

/// \param names  of tasks, for the text; a task without one is "T" and its number
/// \errors throws std::length_error beyond linearizable_calls_max calls or linearizable_states_max states
template <sequential_model M>
[[nodiscard]] linearization check(const M& initial, const history<M>& h,
                                  std::span<const std::string> names = {}) {
  const auto& calls = h.calls();
  if (calls.size() > linearizable_calls_max) detail::too_many_calls(calls.size());
  detail::linearizer<M> whole(h, h.events());
  if (whole.find(initial)) return {.linearizable = true, .order = whole.longest()};

  // Once a beginning is not linearizable no longer one is: so the first return that cannot be had is the one to tell of.
  std::vector<std::size_t> by_return;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].gave) by_return.push_back(i);
  }
  std::sort(by_return.begin(), by_return.end(),
            [&](std::size_t a, std::size_t b) { return calls[a].returned < calls[b].returned; });
  linearization found;
  for (const auto i : by_return) {
    const auto events = calls[i].returned + 1;
    detail::linearizer<M> beginning(h, events);
    if (beginning.find(initial)) continue;
    found.prefix = events;
    found.misfit = i;
    found.order = beginning.longest();
    break;
  }
  std::vector<detail::call_row> rows;
  for (std::size_t i = 0; i < calls.size() && calls[i].invoked < found.prefix; ++i) {
    const auto& one = calls[i];
    const bool returned = one.returned < found.prefix;
    rows.push_back({.number = i,
                    .task = one.task < names.size() ? names[one.task] : "T" + std::to_string(one.task),
                    .call = M::text(one.what),
                    .result = returned ? M::text(*one.gave) : std::string(),
                    .invoked = one.invoked_step,
                    .returned = returned ? std::optional{one.returned_step} : std::nullopt});
  }
  found.text = detail::misfit_text(rows, *found.misfit, found.order);
  return found;
}

}  // namespace faultline::sim

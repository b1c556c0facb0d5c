// SPDX-License-Identifier: BSD-2-Clause
#include "scenario/litmus/interpret.hpp"

#include <fmt/format.h>

#include <optional>

namespace faultline::scenario::litmus {

namespace {

/// Arithmetic that wraps: nothing a file says is undefined behaviour here.
number wrapped(std::uint64_t value) noexcept { return static_cast<number>(value); }
std::uint64_t bits(number value) noexcept { return static_cast<std::uint64_t>(value); }

number computed(op what, number left, number right) noexcept {
  switch (what) {
    case op::times:
      return wrapped(bits(left) * bits(right));
    case op::plus:
      return wrapped(bits(left) + bits(right));
    case op::minus:
      return wrapped(bits(left) - bits(right));
    case op::less:
      return left < right ? 1 : 0;
    case op::more:
      return left > right ? 1 : 0;
    case op::at_most:
      return left <= right ? 1 : 0;
    case op::at_least:
      return left >= right ? 1 : 0;
    case op::equal:
      return left == right ? 1 : 0;
    case op::unequal:
      return left != right ? 1 : 0;
    case op::bit_and:
      return left & right;
    case op::bit_xor:
      return left ^ right;
    case op::bit_or:
      return left | right;
    default:
      return 0;
  }
}

class runner {
 public:
  runner(const program& p, memory& on, std::vector<datum>& registers) noexcept
      : program_(p), memory_(on), registers_(registers) {}

  void run(const std::vector<statement>& list) {
    for (const auto& s : list) {
      if (stopped_) return;
      run(s);
    }
  }

 private:
  void run(const statement& s) {
    using kind = statement::kind;
    switch (s.what) {
      case kind::assign: {
        const auto value = evaluated(s.value);
        if (!stopped_) registers_[s.index] = value;
        return;
      }
      case kind::write: {
        const auto address = evaluated(s.target);
        const auto value = evaluated(s.value);
        if (const auto a = plain_access(address, s.target.at)) memory_.store(*a, value);
        return;
      }
      case kind::evaluate:
        (void)evaluated(s.value);
        return;
      case kind::choose: {
        const auto condition = evaluated(s.value);
        if (!stopped_) run(condition.value != 0 ? s.yes : s.no);
        return;
      }
      case kind::block:
        run(s.yes);
    }
  }

  std::optional<access> access_to(datum address, place at) {
    if (stopped_) return {};
    const auto location = location_at(address.value, program_.locations.size());
    if (!location) {
      stop(at, fmt::format("an access through {}, which is no address", text_of(program_, address.value)));
      return {};
    }
    return access{.location = *location, .address_from = address.from};
  }

  /// Of *e: seq_cst where the location is atomic.
  std::optional<access> plain_access(datum address, place at) {
    auto a = access_to(address, at);
    if (a) a->plain = !program_.locations[a->location].atomic;
    return a;
  }

  std::optional<access> atomic_access(datum address, const expression& call) {
    auto a = access_to(address, call.at);
    if (!a) return {};
    const auto& l = program_.locations[a->location];
    if (!l.atomic) {
      stop(call.at, fmt::format("an atomic access to {}, which is not atomic", l.name));
      return {};
    }
    a->order = call.order;
    return a;
  }

  void stop(place at, const std::string& what) {
    stopped_ = true;
    memory_.undefined(at, what);
  }

  datum evaluated(const expression& e) {
    if (stopped_) return {};
    switch (e.what) {
      case op::constant:
        return {e.value};
      case op::local:
        return registers_[e.index];
      case op::address:
        return {address_of(e.index)};
      case op::negate: {
        const auto v = evaluated(e.operands[0]);
        return {wrapped(0 - bits(v.value)), v.from};
      }
      case op::complement: {
        const auto v = evaluated(e.operands[0]);
        return {~v.value, v.from};
      }
      case op::negation: {
        const auto v = evaluated(e.operands[0]);
        return {v.value == 0 ? 1 : 0, v.from};
      }
      case op::and_also:
      case op::or_else: {  // the left operand decides, and its dependency is one of control
        const auto left = evaluated(e.operands[0]);
        if (stopped_ || (left.value != 0) == (e.what == op::or_else)) return {left.value != 0 ? 1 : 0};
        return {evaluated(e.operands[1]).value != 0 ? 1 : 0};
      }
      case op::pointee: {
        const auto a = plain_access(evaluated(e.operands[0]), e.at);
        return a ? memory_.load(*a) : datum{};
      }
      case op::load: {
        const auto a = atomic_access(evaluated(e.operands[0]), e);
        return a ? memory_.load(*a) : datum{};
      }
      case op::store: {
        const auto address = evaluated(e.operands[0]);
        const auto value = evaluated(e.operands[1]);
        if (const auto a = atomic_access(address, e)) memory_.store(*a, value);
        return {};
      }
      case op::exchange:
      case op::add:
      case op::sub:
      case op::with_or:
      case op::with_and:
      case op::with_xor: {
        const auto address = evaluated(e.operands[0]);
        const auto by = evaluated(e.operands[1]);
        const auto a = atomic_access(address, e);
        return a ? memory_.modify(*a, e.what, by) : datum{};
      }
      case op::compare_exchange:
        return compared(e);
      case op::fence:
        memory_.fence(e.order);
        return {};
      default: {
        const auto left = evaluated(e.operands[0]);
        const auto right = evaluated(e.operands[1]);
        return {computed(e.what, left.value, right.value), left.from | right.from};
      }
    }
  }

  datum compared(const expression& e) {
    const auto address = evaluated(e.operands[0]);
    const auto desired = evaluated(e.operands[1]);
    const auto a = atomic_access(address, e);
    if (!a) return {};
    const auto got = memory_.compare_exchange(*a, e.failure, registers_[e.index], desired);
    if (!got.done) registers_[e.index] = got.old;
    return {got.done ? 1 : 0, got.old.from};
  }

  const program& program_;
  memory& memory_;
  std::vector<datum>& registers_;
  bool stopped_ = false;
};

}  // namespace

number applied(op how, number old, number by) noexcept {
  switch (how) {
    case op::exchange:
      return by;
    case op::add:
      return computed(op::plus, old, by);
    case op::sub:
      return computed(op::minus, old, by);
    case op::with_or:
      return old | by;
    case op::with_and:
      return old & by;
    case op::with_xor:
      return old ^ by;
    default:
      return old;
  }
}

void run_thread(const program& p, std::size_t thread, memory& on, std::vector<datum>& registers) {
  const auto& t = p.threads[thread];
  registers.clear();
  registers.reserve(t.initial.size());
  for (const auto value : t.initial) registers.push_back({value});
  runner(p, on, registers).run(t.body);
}

}  // namespace faultline::scenario::litmus

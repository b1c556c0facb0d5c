// SPDX-License-Identifier: BSD-2-Clause
// Values, states and answers: what both ways to answer share.
#include "scenario/litmus/ast.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

namespace faultline::scenario::litmus {

namespace {
constexpr number first_address = number{1} << 40U;
constexpr unsigned range_bits = 20;
constexpr number half_range = number{1} << (range_bits - 1);
}  // namespace

number address_of(std::size_t location) noexcept {
  return first_address + (static_cast<number>(location) << range_bits);
}

std::optional<std::size_t> location_at(number value, std::size_t locations) noexcept {
  if (value < first_address - half_range || value >= first_address * 2) return {};
  const auto which = static_cast<std::size_t>((value - first_address + half_range) >> range_bits);
  if (which >= locations) return {};
  return which;
}

std::string name_of(const program& p, const variable& v) {
  if (!v.thread) return p.locations[v.index].name;
  return fmt::format("{}:{}", *v.thread, p.threads[*v.thread].registers[v.index]);
}

std::string text_of(const program& p, number value) {
  const auto which = location_at(value, p.locations.size());
  if (!which) return std::to_string(value);
  const auto offset = value - address_of(*which);
  return offset == 0 ? p.locations[*which].name : fmt::format("{}{:+}", p.locations[*which].name, offset);
}

std::string state_text(const program& p, const std::vector<number>& seen) {
  std::string out;
  for (std::size_t i = 0; i < seen.size(); ++i)
    out += fmt::format("{}{}={};", i == 0 ? "" : " ", name_of(p, p.observed[i]), text_of(p, seen[i]));
  return out;
}

bool holds(const proposition& p, const std::vector<number>& seen) {
  using kind = proposition::kind;
  switch (p.what) {
    case kind::constant:
      return p.value != 0;
    case kind::equal:
      return seen[p.observed] == p.value;
    case kind::unequal:
      return seen[p.observed] != p.value;
    case kind::no:
      return !holds(p.parts[0], seen);
    case kind::both:
      return holds(p.parts[0], seen) && holds(p.parts[1], seen);
    case kind::either:
      return holds(p.parts[0], seen) || holds(p.parts[1], seen);
    case kind::implies:
      return !holds(p.parts[0], seen) || holds(p.parts[1], seen);
  }
  return false;
}

std::string_view name_of(memory_model m) noexcept {
  constexpr std::array<std::string_view, 3> names{"sc", "tso", "weak"};
  return names[static_cast<std::size_t>(m)];
}

std::string_view name_of(observation o) noexcept {
  constexpr std::array<std::string_view, 4> names{"Never", "Sometimes", "Always", "Undefined"};
  return names[static_cast<std::size_t>(o)];
}

namespace {
struct gap_text {
  gap which;
  std::string_view name;
  std::string_view explanation;
};
constexpr std::array gap_texts{
    gap_text{gap::load_buffering, "load-buffering", "a load takes a value that is stored only later"},
    gap_text{gap::store_order, "store-order",
             "a store takes its place in the modification order before one that was performed earlier"},
    gap_text{gap::sc_order, "sc-order",
             "the order of the seq_cst operations is not the order in which they are performed"},
};
}  // namespace

std::string text_of(gaps set) {
  std::string out;
  for (const auto& g : gap_texts) {
    if ((set & static_cast<gaps>(g.which)) == 0) continue;
    if (!out.empty()) out += '+';
    out += g.name;
  }
  return out.empty() ? "-" : out;
}

std::string explanation_of(gaps set) {
  std::string out;
  for (const auto& g : gap_texts) {
    if ((set & static_cast<gaps>(g.which)) == 0) continue;
    if (!out.empty()) out += "; ";
    out += g.explanation;
  }
  return out;
}

namespace {
bool counts(const state& s, gaps with) noexcept { return (s.needs & ~with) == 0; }
}  // namespace

std::uint64_t answer::positive(gaps with) const noexcept {
  std::uint64_t n = 0;
  for (const auto& s : states) n += counts(s, with) && s.satisfies ? s.witnesses : 0;
  return n;
}

std::uint64_t answer::negative(gaps with) const noexcept {
  std::uint64_t n = 0;
  for (const auto& s : states) n += counts(s, with) && !s.satisfies ? s.witnesses : 0;
  return n;
}

observation answer::observed(gaps with) const noexcept {
  if (undefined && (undefined->needs & ~with) == 0) return observation::undefined;
  if (positive(with) == 0) return observation::never;
  return negative(with) == 0 ? observation::always : observation::sometimes;
}

bool is_ok(const test& t, const answer& a, gaps with) noexcept {
  switch (t.quantifier) {
    case quantifier::exists:
      return a.positive(with) != 0;
    case quantifier::not_exists:
      return a.positive(with) == 0;
    case quantifier::forall:
      break;
  }
  return a.negative(with) == 0;
}

gaps gaps_needed(const test& t, const answer& a) noexcept {
  const bool looked_for = t.quantifier != quantifier::forall;
  gaps least = 0;
  int least_size = 9;
  for (const auto& s : a.states) {
    if (s.satisfies != looked_for) continue;
    const int size = std::popcount(s.needs);
    if (size < least_size || (size == least_size && s.needs < least)) {
      least = s.needs;
      least_size = size;
    }
  }
  return least;
}

}  // namespace faultline::scenario::litmus

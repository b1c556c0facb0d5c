// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/sim/linearizable.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace faultline::sim::detail {

namespace {

std::string span_of(const call_row& row) {
  return row.returned ? fmt::format("[{}, {}]", row.invoked, *row.returned)
                      : fmt::format("[{}, -]", row.invoked);
}

std::string in_line(const call_row& row) {
  return row.returned ? fmt::format("{}: {} -> {}", row.task, row.call, row.result)
                      : fmt::format("{}: {}", row.task, row.call);
}

}  // namespace

std::string misfit_text(const std::vector<call_row>& rows, std::size_t misfit,
                        const std::vector<std::size_t>& order) {
  const auto row_of = [&](std::size_t number) -> const call_row& {
    return *std::find_if(rows.begin(), rows.end(), [&](const call_row& r) { return r.number == number; });
  };
  std::size_t span = 0;
  std::size_t task = 0;
  std::size_t call = 0;
  for (const auto& r : rows) {
    span = std::max(span, span_of(r).size());
    task = std::max(task, r.task.size());
    call = std::max(call, r.call.size());
  }
  auto out = fmt::format("not linearizable: {} fits at no point\n", in_line(row_of(misfit)));
  out += "  the calls until it returned, with the steps at which they were made and returned:\n";
  for (const auto& r : rows) {
    out += fmt::format("    {:<{}}  {:<{}}  {:<{}}  {}{}\n", span_of(r), span, r.task, task, r.call, call,
                       r.returned ? "-> " + r.result : "(has not returned)",
                       r.number == misfit ? "   <- fits at no point" : "");
  }
  if (order.empty()) return out + "  none of them can come first";
  out += "  the longest order that fits, and none of the others can come next:";
  for (std::size_t i = 0; i < order.size(); ++i)
    out += fmt::format("\n    {}. {}", i + 1, in_line(row_of(order[i])));
  return out;
}

void too_many_calls(std::size_t calls) {
  throw std::length_error(
      fmt::format("a history of {} calls is too long to be checked; {} calls can be, so record fewer", calls,
                  linearizable_calls_max));
}

void too_many_states() {
  throw std::length_error(fmt::format(
      "the check of a history came by more than {} states of its model; record fewer calls that overlap",
      linearizable_states_max));
}

}  // namespace faultline::sim::detail

// SPDX-License-Identifier: BSD-2-Clause
#include "scenario/checkers/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace faultline::scenario::checkers {

namespace {

std::uint32_t depth_of(const sim::call_chain* chain) {
  return chain == nullptr ? 0U
                          : std::min(chain->depth, static_cast<std::uint32_t>(sim::call_chain::depth_max));
}

std::string text_of(const sim::frame_record& f) {
  return f.object == nullptr || f.object[0] == '\0' ? std::string(f.function)
                                                    : fmt::format("{}({})", f.function, f.object);
}

}  // namespace

std::string label_of(const sim::lock_name& lock) {
  return lock.name[0] != '\0' ? fmt::format("{}:{}", lock.kind, lock.name)
                              : fmt::format("{}#{}", lock.kind, lock.id);
}

std::string place_of(const sim::call_chain* chain, std::string_view task_name) {
  const auto depth = depth_of(chain);
  return depth == 0 ? std::string(task_name) : text_of(chain->frames.at(depth - 1));
}

std::vector<std::string> stack_of(const sim::call_chain* chain, std::string_view task_name) {
  std::vector<std::string> out;
  for (auto i = depth_of(chain); i != 0; --i) out.push_back(text_of(chain->frames.at(i - 1)));
  if (out.empty()) out.emplace_back(task_name);
  return out;
}

bool in_call(const sim::call_chain* chain, std::string_view function) {
  for (std::uint32_t i = 0; i < depth_of(chain); ++i) {
    if (function == chain->frames.at(i).function) return true;
  }
  return false;
}

std::string task_of(std::string_view task_name, sim::task_id task, char between) {
  return fmt::format("{}{}{}", task_name, between, task + 1);
}

std::string stack_lines(const std::vector<std::string>& stack, std::size_t by) {
  std::string out;
  for (const auto& frame : stack) out += fmt::format("{:{}}{}\n", "", by, frame);
  return out;
}

}  // namespace faultline::scenario::checkers

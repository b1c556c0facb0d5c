// SPDX-License-Identifier: BSD-2-Clause
// Each row for several threads: on the model in every interleaving, on the host some hundred times.
#include "posix/shared.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

namespace faultline::posix {
namespace {

struct on_system {
  const shared_row* what;
  std::string system;  ///< "host", or the I/O policy

  friend void PrintTo(const on_system& o, std::ostream* out) { *out << o.what->id << " on " << o.system; }
};

std::vector<on_system> everywhere() {
  std::vector<on_system> all;
  for (const auto& r : shared_rows()) {
    for (const char* io : {"vnode-locked", "prefault", "page-busy", "vn-io-fault"}) all.push_back({&r, io});
    if (r.on_host) all.push_back({&r, "host"});
  }
  return all;
}

std::set<std::string> set_of(std::string_view answers) {
  std::set<std::string> all;
  constexpr std::string_view between = " | ";
  for (auto at = answers.find(between); at != std::string_view::npos; at = answers.find(between)) {
    all.emplace(answers.substr(0, at));
    answers.remove_prefix(at + between.size());
  }
  if (!answers.empty()) all.emplace(answers);
  return all;
}

std::string once_on_host(const shared_row& row, unsigned round) {
  const auto host = make_host();
  const auto where = row.set_up(*host);
  const auto count = static_cast<std::ptrdiff_t>(std::count_if(
      row.tasks.begin(), row.tasks.end(), [](const shared_task& body) { return body != nullptr; }));
  std::array<outcome, 3> gave{};
  std::barrier together(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      threads.emplace_back([&, i] {
        together.arrive_and_wait();
        // Not always the same one first.
        for (volatile std::size_t wait = (round + 1) * (i + 3) * 37U % 400U; wait > 0;) wait = wait - 1;
        gave.at(i) = row.tasks.at(i)(*host, where);
      });
    }
  }
  notes n;
  row.end(*host, where, gave, n);
  return n.all();
}

class PosixShared : public testing::TestWithParam<on_system> {};

TEST_P(PosixShared, ends_in_one_of_the_right_ways) {
  const auto& [row, where] = GetParam();
  const auto right = set_of(row->right);
  if (where == "host") {
    auto allowed = right;
    allowed.merge(set_of(row->host_too));
    for (unsigned round = 0; round < 100; ++round)
      ASSERT_THAT(allowed, testing::Contains(once_on_host(*row, round))) << row->situation;
    return;
  }
  kern::parameters p = host_like();
  p.page_size = 16;
  p.hold_pages = 1;  // two pages take two chunks
  const auto seen = on_model(where, p, *row);
  EXPECT_EQ(seen.defect, "");
  EXPECT_EQ(seen.ends, where == "vn-io-fault" && !row->vn_io_fault.empty() ? set_of(row->vn_io_fault) : right)
      << row->situation;
}

INSTANTIATE_TEST_SUITE_P(Table, PosixShared, testing::ValuesIn(everywhere()), [](const auto& i) {
  std::string name = std::string(i.param.what->id) + "_" + i.param.system;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace faultline::posix

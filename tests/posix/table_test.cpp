// SPDX-License-Identifier: BSD-2-Clause
// Each row of the table on the model, under the I/O policies that answer for it, and on the host's kernel.
#include "posix/rows.hpp"
#include "posix/shared.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace faultline::posix {
namespace {

constexpr int last_id = 124;  // from S125 on: names, which are not modelled

struct without_row {
  int id;
  std::string_view why;
};
constexpr without_row left_out[] = {
    {8, "pipes are not modelled"},
    {19, "directories are not modelled"},
    {54, "no such row"},
    {56, "close-on-exec; the rest is X27"},
    {58, "dup2"},
    {59, "dup2"},
    {60, "dup3"},
    {61, "dup2"},
    {62, "dup2"},
    {63, "dup2"},
    {64, "dup2"},
    {65, "dup2"},
    {66, "fcntl"},
    {67, "fcntl"},
    {68, "the host's table is not ours to fill"},
    {69, "O_CREAT"},
    {70, "the host's table is not ours to limit"},
    {74, "close_range"},
    {75, "close_range"},
    {76, "exec"},
    {77, "the host's table is not ours to fill"},
    {78, "no such row"},
    {85, "directories and pipes are not modelled"},
    {106, "in S105"},
    {108, "in S107"},
    {114, "no such row"},
    {115, "counts of faults are a cost, not a value"},
    {122, "no such row"},
};

std::vector<row> all_rows() {
  std::vector<row> all;
  for (const auto rows : {io_rows(), buffer_rows(), mapping_rows(), own_rows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

TEST(PosixTable, each_id_has_a_row_or_a_reason_and_each_row_a_name_of_its_own) {
  std::set<std::string> names;
  std::set<int> ids;
  const auto count = [&](std::string_view id) {
    EXPECT_TRUE(names.emplace(id).second) << id << " twice";
    if (id.front() == 'S') ids.insert(std::stoi(std::string(id.substr(1))));
  };
  for (const auto& r : all_rows()) count(r.id);
  for (const auto& r : shared_rows()) count(r.id);
  for (const auto& [id, why] : left_out) EXPECT_TRUE(ids.insert(id).second) << "S" << id << ", " << why;
  for (int id = 1; id <= last_id; ++id) EXPECT_EQ(ids.count(id), 1U) << "S" << id;
}

struct on_system {
  row what;
  std::string system;  ///< "host", or the I/O policy

  friend void PrintTo(const on_system& o, std::ostream* out) { *out << o.what.id << " on " << o.system; }
};

std::vector<on_system> everywhere() {
  std::vector<on_system> all;
  for (const auto& r : all_rows()) {
    for (const char* io : {"vnode-locked", "prefault", "page-busy", "vn-io-fault"}) {
      // Page busy over a copy from the same page: the deadlock is a scenario's.
      const bool deadlocks =
          std::string_view(io) == "page-busy" && (r.id == "S52" || r.id == "S53" || r.id == "S52-straddling");
      if (!deadlocks) all.push_back({r, io});
    }
    if (r.on_host) all.push_back({r, "host"});
  }
  return all;
}

/// Is it one of "this | that"?
bool among(std::string_view seen, std::string_view answers) {
  constexpr std::string_view between = " | ";
  for (auto at = answers.find(between); at != std::string_view::npos; at = answers.find(between)) {
    if (seen == answers.substr(0, at)) return true;
    answers.remove_prefix(at + between.size());
  }
  return seen == answers;
}

class Posix : public testing::TestWithParam<on_system> {};

TEST_P(Posix, gives_the_right_answer) {
  const auto& [what, where] = GetParam();
  notes seen;
  auto right = what.right;
  if (where == "host") {
    if (!what.host.empty()) right = what.host;
    const auto host = make_host();
    what.body(*host, seen);
    EXPECT_TRUE(among(seen.all(), right))
        << what.situation << "\n  is:        " << seen.all() << "\n  should be: " << right;
    return;
  }
  if (where == "vn-io-fault" && !what.vn_io_fault.empty()) right = what.vn_io_fault;
  const auto defect = on_model(where, what.parameters, [&, &body = what.body](system& s) {
    seen = {};  // an execution may be done again
    body(s, seen);
  });
  EXPECT_EQ(defect, "");
  EXPECT_EQ(seen.all(), right) << what.situation;
}

INSTANTIATE_TEST_SUITE_P(Table, Posix, testing::ValuesIn(everywhere()), [](const auto& i) {
  std::string name = std::string(i.param.what.id) + "_" + i.param.system;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace faultline::posix

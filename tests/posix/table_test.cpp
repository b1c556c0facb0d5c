// SPDX-License-Identifier: BSD-2-Clause
// Each row of the table on the model, under the I/O policies that answer for it, and on the host's kernel.
//
// Rows of the list that are not here, and why:
//   S08, S19, S85                pipes and directories are not modelled
//   S23 to S28, S50, S51, S112, S113, S117
//                                two threads: explored as scenarios (shared_test.cpp), and run on the host there
//   S55, S56, S58 to S77         the descriptor table's own rows
//   S106                         in S105;  S108 in S107
//   S115                         counts of faults are a cost, not a value
//   S122                         there is no such row;  S125 and on: names
#include "posix/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace faultline::posix {
namespace {

struct on_system {
  const row* what;
  std::string system;  ///< "host", or the I/O policy
};

std::vector<on_system> everywhere() {
  std::vector<on_system> all;
  for (const auto rows : {io_rows(), buffer_rows(), mapping_rows()}) {
    for (const auto& r : rows) {
      for (const char* io : {"vnode-locked", "prefault", "page-busy", "vn-io-fault"}) {
        // Page busy over a copy from the same page: the deadlock is a scenario's.
        const bool deadlocks = std::string_view(io) == "page-busy" &&
                               (r.id == "S52" || r.id == "S53" || r.id == "S52-straddling");
        if (!deadlocks) all.push_back({&r, io});
      }
      if (r.on_host) all.push_back({&r, "host"});
    }
  }
  return all;
}

class Posix : public testing::TestWithParam<on_system> {};

TEST_P(Posix, gives_the_right_answer) {
  const auto* const what = GetParam().what;
  const auto& where = GetParam().system;
  notes seen;
  auto right = what->right;
  if (where == "host") {
    const auto host = make_host();
    what->body(*host, seen);
    if (!what->host.empty() && seen.all() != right) right = what->host;
  } else {
    if (where == "vn-io-fault" && !what->vn_io_fault.empty()) right = what->vn_io_fault;
    const auto defect = on_model(where, what->parameters, [&](system& s) {
      seen = {};  // an execution may be done again
      what->body(s, seen);
    });
    EXPECT_EQ(defect, "");
  }
  EXPECT_EQ(seen.all(), right) << what->situation;
}

INSTANTIATE_TEST_SUITE_P(Table, Posix, testing::ValuesIn(everywhere()), [](const auto& i) {
  std::string name = std::string(i.param.what->id) + "_" + i.param.system;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace faultline::posix

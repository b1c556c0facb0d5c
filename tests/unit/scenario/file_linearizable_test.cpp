// SPDX-License-Identifier: BSD-2-Clause
// `linearizable files`: what it refuses, what it finds, and that the model answers as the kernel does.
#include <faultline/scenario/file.hpp>
#include <faultline/scenario/specification/files.hpp>

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace faultline {
namespace {

using sim::verdict;
using testing::HasSubstr;

const std::string head = "faultline-scenario 1\nname n\nsummary \"s\"\nlinearizable files\n";  // line 4
/// Lines 5 to 12.
const std::string setting = R"(file A "aaaabbbb"
file S "ssssssss"
process P
  open a = A rdwr
  map m = A read-write
  map s = S read
  buffer b = "xxxxyyyy"
  zeros z = 8
)";
const std::string task = head + setting + "task T in P\n";  // line 13; its first call is line 14

std::string error_of(const std::string& text) {
  try {
    (void)scenario::parse(text, "f");
  } catch (const scenario::file_error& error) {
    return error.what();
  }
  return "no error";
}

sim::report explore(const std::string& text, const std::string& io = "vn-io-fault", sim::options how = {}) {
  const auto s = scenario::parse(text, "f");
  how.stop_at_first = false;
  return sim::explore(how, s.program(scenario::complete(s, {{"io", io}})));
}

struct wrong {
  std::string text;
  std::string error;
};
class LinearizableFileErrors : public testing::TestWithParam<wrong> {};

TEST_P(LinearizableFileErrors, are_told_with_their_place_and_what_would_be_right) {
  EXPECT_THAT(error_of(GetParam().text), HasSubstr(GetParam().error)) << GetParam().text;
}

std::vector<wrong> wrong_files() {
  std::string many = head + setting;
  for (int t = 0; t < 5; ++t) {
    many += "task T" + std::to_string(t) + " in P\n";
    for (int i = 0; i < 13; ++i) many += "  fstat a\n";
  }
  std::string pieces = task;
  for (int i = 0; i < 3; ++i) {
    pieces += "  writev a [";
    for (int n = 0; n < 1000; ++n) pieces += "b 1, ";
    pieces += "b 1]\n";
  }
  std::string vector = task + "  writev a [";
  for (int n = 0; n < 1024; ++n) vector += "b 0, ";
  vector += "b 0]\n";
  return {
      {head + "linearizable files\n", "f:5:1: there is a linearizable line already"},
      {"faultline-scenario 1\nlinearizable names\n",
       "f:2:14: there is one model that calls can be held against"},
      {"faultline-scenario 1\nlinearizable\n", "there is one model"},
      {many, "f:4:1: the tasks have 65 calls on files, and a history of 64 can be checked"},
      {pieces, "f:4:1: the transfers have 3003 pieces of memory, and 2000 can be looked at"},
      {vector, "f:14:3: a vector of more than 1024 pieces"},
      {task + "  write a m 4\n", "f:14:3: m shows file A, which calls change"},
      {task + "  read a m 4\n", "f:14:3: a read into m changes file A by itself"},
      {task + "  read a s 4\n", "f:14:3: s may not be written: the transfer fails"},
      {task + "  r: read a b+6 4\n", "f:14:6: the transfer goes past the 8 bytes of b"},
      {task + "  read a b 4\ntask U in P\n  write a b+3 1\n", "f:14:3: b is used by tasks T and U"},
      {task + "  write a b 4\ntask U in P\n  store b \"q\"\n", "f:14:3: b is used by tasks T and U"},
      {task + "  readv a [b 4, b+3 1]\n", "f:14:3: two pieces of a read are the same bytes of b"},
      {task + "  store m \"q\"\n  write a b 4\n", "f:14:3: a store to m may change a file"},
      {task + "  lseek a 0 hole\n", "f:14:3: the model of files does not know holes"},
      {task + "  munmap b 8\n", "f:14:3: memory that may go away makes transfers short"},
      {task + "  mprotect b 8 read\n", "f:14:3: memory that may go away"},
      {task + "  mmap c = anonymous read-write private 4\n  read a c 4\n", "f:15:3: c is made by a call"},
      {task + "  mmap c = anonymous read private 4 at=z\n", "f:14:3: memory that is laid over other memory"},
      {task + "  fail reads\n", "f:14:3: the files of a history are on a disk without errors"},
      {task + "  fstat a\nadversary V forever\n  truncate A 0\n",
       "f:16:3: V goes on for ever, and a history has an end"},
      {head + "file A \"a\"\nprocess P\n  open a = A rdwr\n  buffer b = \"xx\"\n  zeros z = 4 at=b\ntask T "
              "in P\n  write a b 1\n",
       "f:11:3: P has memory laid over other memory"},
      {head + "file A \"a\"\nprocess P\n  open a = A rdwr\n  limit file-size 4\ntask T in P\n  fstat a\n",
       "f:4:1: process P has a limit, which makes writes short"},
      {head + "kernel file-size-max=10\n" + setting + "task T in P\n  pwrite a b 4 at 4\n",
       "f:4:1: a write could come to file-size-max, 10"},
      {head + "kernel disk-blocks=8\n" + setting + "task T in P\n  pwrite a b 4 at 4\n",
       "f:4:1: the writes could fill the disk of 8 blocks"},
      {head + "file A \"aaaa\"\nfile S \"s\"\nprocess P\n  open a = A rdwr\n  map s = S read size=8\ntask T "
              "in P\n  write a s 8\n",
       "f:11:3: the transfer goes past the end of file S"},
      {task + "  open c = S rdwr\n  dup d = c\n  pwrite d b 4 at 0\n  write a s 4\n",
       "f:17:3: s shows file S, which calls change"},
      {task + "  write a s 4\nadversary V\n  truncate S 0\n", "f:14:3: s shows file S, which calls change"},
  };
}
INSTANTIATE_TEST_SUITE_P(Table, LinearizableFileErrors, testing::ValuesIn(wrong_files()));

TEST(LinearizableFiles, every_call_has_the_result_that_the_model_gives) {
  const auto r = explore(task + R"(  write a b 4 -> 4
  pread a z 4 at 4 -> 4
  readv a [z 1, z+1 1] -> 2
  preadv a [z 2] at 0
  writev a [b 2, b+2 2]
  pwritev a [b 1] at 11
  lseek a -1 end -> 11
  read a z 0 -> 0
  write a b 0 -> 0
  ftruncate a 6
  ftruncate a -1 -> EINVAL
  fstat a -> 6
  read a z 8 -> 0
  fsync a
  dup d = a
  lseek d 0 cur
  lseek d -99 cur -> EINVAL
  close d
  close d -> EBADF
  open e = A rdonly trunc
  write e b 4 -> EBADF
  fstat a -> 0
  open f = A rdwr append
  write f s 8
  pwrite f b 1 at 0
  pread e z 8 at 0
  pread e z 8 at -1 -> EINVAL
  load z 8 -> "xsssssss"
  truncate A 3
  lseek f 0 end -> 3
)");
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_EQ(r.executions, 1U);
}

TEST(LinearizableFiles, a_torn_read_is_a_violation_with_the_table_and_a_proof_where_there_is_none) {
  const std::string text =
      "faultline-scenario 1\nname n\nsummary \"s\"\nkernel hold-pages=1\nlinearizable files\n" + setting +
      "process Q\n  open a = A rdwr\n  buffer b = \"--------\"\n"
      "task W in P\n  pwrite a s 8 at 0\ntask R in Q\n  r: pread a b 8 at 0\n";
  for (const char* io : {"vnode-locked", "prefault", "page-busy", "vn-io-fault"}) {
    const auto good = explore(text, io);
    EXPECT_EQ(good.verdict, verdict::clean) << io << good;
    EXPECT_TRUE(good.complete) << io << good;
  }
  const auto bad = explore(text, "vn-io-fault", {.omit = {scenario::find_step("V2")}});
  ASSERT_EQ(bad.verdict, verdict::violation) << bad;
  EXPECT_THAT(bad.message,
              HasSubstr("not linearizable: R: r: pread a b 8 at 0 -> 8 \"ssssbbbb\" fits at no point\n"));
  EXPECT_THAT(bad.message, HasSubstr("W  pwrite a s 8 at 0 \"ssssssss\""));
}

/// Two calls of one task, whose results are each right alone: only the time between them tells.
TEST(LinearizableFiles, a_size_in_the_middle_of_a_write_is_one_too) {
  const std::string text =
      "faultline-scenario 1\nname n\nsummary \"s\"\nkernel hold-pages=1\nlinearizable files\n"
      "file A \"\"\nfile S \"ssssssss\"\nprocess P\n  open a = A rdwr\n  map s = S read\n"
      "task W in P\n  pwrite a s 8 at 0\ntask R in P\n  fstat a\n";
  EXPECT_EQ(explore(text, "vnode-locked").verdict, verdict::clean);
  const auto r = explore(text, "vn-io-fault");  // documented: the size moves with each piece
  EXPECT_EQ(r.verdict, verdict::violation) << r;
  EXPECT_THAT(r.message, HasSubstr("R: fstat a -> 4 fits at no point"));
}

TEST(LinearizableFiles, without_the_offset_lock_two_reads_give_the_same_bytes) {
  const std::string text = head +
                           "file A \"aabb\"\nprocess P\n  open a = A rdwr\n  zeros x = 2\n  zeros y = 2\n" +
                           "task T in P\n  read a x 2\ntask U in P\n  read a y 2\n";
  EXPECT_EQ(explore(text).verdict, verdict::clean);
  const auto bad = explore(text, "vn-io-fault", {.omit = {scenario::find_step("V13")}});
  ASSERT_EQ(bad.verdict, verdict::violation) << bad;
  EXPECT_THAT(bad.message, HasSubstr("-> 2 \"aa\" fits at no point"));
}

TEST(LinearizableFiles, killed_tasks_and_evictions_do_no_harm) {
  const auto r =
      explore(task + "  write a s 4\n  write a s 4\nadversary K\n  kill T\n  evict S 0\n  truncate A 2\n");
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
}

TEST(LinearizableFiles, one_task_costs_no_execution_more) {
  const std::string text = task + "  write a s 4\nadversary V\n  evict S 0\n";
  const auto with = explore(text);
  std::string without = text;
  without.erase(without.find("linearizable files\n"), 19);
  const auto plain = explore(without);
  EXPECT_EQ(with.executions, plain.executions);
  EXPECT_EQ(with.steps, plain.steps + with.executions + with.blocked) << with << plain;  // the returns
}

}  // namespace
}  // namespace faultline

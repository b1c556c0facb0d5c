// SPDX-License-Identifier: BSD-2-Clause
// Scenario files: what is said of a wrong one, and what each construct does.
#include <faultline/scenario/file.hpp>

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

namespace faultline {
namespace {

using sim::verdict;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string head = "faultline-scenario 1\nname n\nsummary \"s\"\n";
/// Lines 4 to 8: a file, a process with a descriptor, a mapping and a buffer.
const std::string setting =
    "file A \"aaaabbbb\"\nprocess P\n  open a = A rdwr\n  map m = A read-write\n  buffer b = \"xxxx\"\n";

std::string error_of(const std::string& text) {
  try {
    (void)scenario::parse(text, "f");
  } catch (const scenario::file_error& error) {
    return error.what();
  }
  return "no error";
}

struct wrong {
  std::string text;
  std::string error;
};

class FileErrors : public testing::TestWithParam<wrong> {};

TEST_P(FileErrors, are_told_with_their_place_and_what_would_be_right) {
  EXPECT_THAT(error_of(GetParam().text), HasSubstr(GetParam().error)) << GetParam().text;
}

const std::string task = head + setting + "task T in P\n";  // line 9; its first call is line 10

std::vector<wrong> wrong_files() {
  return {
      // The file as a whole
      {"", "f:1:1: the file is empty"},
      {"# nothing\n\n", "f:1:1: the file is empty"},
      {"scenario 1\n", "f:1:1: a scenario file begins with: faultline-scenario 1"},
      {"faultline-scenario 2\n", "f:1:20: this program reads version 1 of the language"},
      {"faultline-scenario\n", "f:1:19: the version of the language is missing here, as a number"},
      {"faultline-scenario 1 2\n", "f:1:22: 2 is too much here"},
      {std::string(scenario::file_bytes_max + 1, ' '), "f:1:1: the file is too large"},
      {"faultline-scenario 1\nname n\n", "f:2:7: a summary line is missing"},
      {"faultline-scenario 1\nsummary \"s\"\n", "a name line is missing"},
      {head, "f:3:12: there is no task"},
      {head + "name m\n", "f:4:1: there is a name line already"},
      {head + "nmae m\n", "f:4:1: unknown statement \"nmae\"; did you mean name?"},
      {head + "faultline-scenario 1\n", "f:4:1: the version stands in the first line only"},
      {head + "  open a\n", "f:4:3: an indented line belongs to"},
      {head + "thread 6\n", "f:4:8: the thread may be 5 at most"},
      // Tokens
      {head + "file A \"aa\n", "f:4:11: the text does not end on its line"},
      {head + "file A \"a\\q\"\n", "there is no such escape"},
      {head + "file A \"a\\x4\"\n", "\\x needs two hexadecimal digits"},
      {head + "file A @\n", "f:4:8: this is no part of the language"},
      {head + std::string("file \0\n", 7), "f:4:6: this is no part of the language"},
      {head + "file A 12x\n", "f:4:8: this is no part of the language"},
      {head + "file A 99999999999999999999 pages \"a\"\n", "f:4:8: the number is too large"},
      // The kernel, files
      {head + "kernel page-size=3\n", "f:4:18: page-size is a power of two"},
      {head + "kernel page-size=0\n", "page-size is a power of two"},
      {head + "kernel hold-pages=0\n", "hold-pages is 1 or more"},
      {head + "kernel pagesize=4\n", "unknown kernel parameter \"pagesize\"; did you mean page-size?"},
      {head + "kernel zero-page=maybe\n", "f:4:18: zero-page is yes or no"},
      {head + "file A \"\"\nkernel page-size=8\n", "f:5:8: the kernel line comes before"},
      {head + "file A \"a\"\nfile A \"b\"\n", "f:5:6: there is a file A already"},
      {head + "file A.b \"a\"\n", "f:4:6: the name A.b has a . or a /"},
      {head + "file disk \"a\"\n", "disk is a word of the language"},
      {head + "file A \"abc\" 2 pages \"x\"\n",
       "f:4:14: pages begin at a multiple of 4 bytes; the pieces before have 3"},
      {head + "file A 2 \"x\"\n", "f:4:10: after the number comes: pages"},
      {head + "file A 2 pages \"\"\n", "filled with a text that is not empty"},
      {head + "file A 999999 pages \"x\"\n", "pages may be 262144 at most"},
      {head + "file A \"a\" block-pages=0\n", "a buffer has 1 page or more"},
      {head + "file A \"aaaa\"\ncached A 1\n", "f:5:10: A has 1 page: from 0 to 0"},
      {head + "file A \"aaaa\"\ncached A 0..2\n", "A has 1 page"},
      {head + "file A \"aaaa\"\ncached B 0\n", "f:5:8: unknown file \"B\""},
      {head + "cached B 0\n", "f:4:8: there is no file B before this line"},
      // Processes
      {head + "process P\nprocess P\n", "f:5:9: there is a process P already"},
      {head + "process P\n  opne a = A\n", "f:5:3: unknown line of a process \"opne\"; did you mean open?"},
      {head + setting + "  open a = A rdwr\n", "f:9:8: P has a descriptor a already"},
      {head + setting + "  open c = A\n", "f:9:13: a way to open is missing here"},
      {head + setting + "  open c = A rdrw\n", "unknown way to open \"rdrw\"; did you mean rdwr?"},
      {head + setting + "  open c = A rdwr trunc\n", "trunc cuts the file when a task opens it"},
      {head + setting + "  map m = A read\n", "f:9:7: P has memory m already"},
      {head + setting + "  map c = A read offset=3\n",
       "the offset of a mapping is a multiple of the page size, 4"},
      {head + setting + "  map c = A read at=m+2\n", "a fixed address is a multiple of the page size"},
      {head + setting + "  map c = A read at=q\n", "unknown memory of P \"q\""},
      {head + setting + "  map c = A read offset=8\n", "memory of no bytes"},
      {head + setting + "  zeros z = 99999999999\n", "bytes may be 16777216 at most"},
      {head + setting + "  mapped m+4 8\n", "m has 8 bytes; what is mapped lies in them"},
      {head + setting + "  limit files 8\n", "there is one limit: file-size"},
      // Tasks and calls
      {head + "task T\n", "f:4:7: task T needs its process: task T in PROCESS"},
      {head + "task T in P\n", "there is no process P before this line"},
      {head + setting + "task T in Q\n", "f:9:11: unknown process \"Q\""},
      {task + "task T in P\n", "f:10:6: there is a task T already"},
      {task + "  wriet a m 4\n", "f:10:3: unknown call \"wriet\"; did you mean write?"},
      {task + "  write\n", "f:10:8: write takes: write FD ADDRESS BYTES"},
      {task + "  write c m 4\n", "f:10:9: unknown descriptor of P \"c\""},
      {task + "  write a 7 4\n", "f:10:11: here must be a name of memory, not 7"},
      {task + "  write a m\n", "f:10:12: bytes is missing here, as a number"},
      {task + "  write a m 4 5\n", "f:10:15: 5 is too much here"},
      {task + "  write a m 4 -> five\n", "five is no result of a call"},
      {task + "  write a m 4 -> EFALT\n", "f:10:18: EFALT is no result of a call"},
      {task + "  load m 4 -> 4\n", "a load gives \"text\", SIGSEGV or SIGBUS"},
      {task + "  load m 4 -> \"abc\"\n", "the load has 4 bytes, this text 3"},
      {task + "  load m 99999\n", "bytes may be 65536 at most"},
      {task + "  store m \"a\" -> 1\n", "a store gives ok, SIGSEGV or SIGBUS"},
      {task + "  pread a m 4\n", "f:10:14: the offset is missing: at OFFSET"},
      {task + "  readv a m 4\n", "a vector needs [ here"},
      {task + "  readv a [m 4, b 4\n", "a vector needs ] here"},
      {task + "  lseek a 4 start\n", "unknown whence \"start\""},
      {task + "  dup a = a\n", "P has a descriptor a already"},
      {task + "  mmap m = a read shared 4\n", "P has memory m already"},
      {task + "  mmap c = a read public 4\n", "unknown kind of mapping \"public\""},
      {task + "  mmap c = a read shared 4 no-replace\n", "no-replace goes with at=ADDRESS"},
      {task + "  evict B 0\n", "unknown file \"B\""},
      {task + "  fail some\n", "unknown kind of request \"some\""},
      {task + "  kill U\n", "unknown task \"U\""},
      {task + "  x: fsync a\n  x: fsync a\n", "f:11:3: the label x is used already"},
      {task + "  dup c = a\ntask U in P\n  fsync c\n",
       "f:12:9: c is made by a call of task T, and only that task can use it"},
      {task + "  mmap c = anonymous read private 4\ntask U in P\n  load c 1\n",
       "c is made by a call of task T"},
      {task + "adversary V forever\n  x: evict A 0\n", "made for ever has no label and no result"},
      {head + "file A \"a\"\nadversary V forever\n  evict A 0\n", "there is no task"},
      // Expectations
      {task + "finally B == \"a\"\n", "f:10:9: unknown thing to look at \"B\""},
      {task + "finally A \"a\"\n", "comes == VALUE, or made-of"},
      {task + "finally size.A == \"a\"\n", "here must be a value as a number"},
      {task + "finally A made-of \"\"\n", "a record has a byte or more"},
      {task + "observe A A\n", "f:10:11: A is observed already"},
      {task + "expect vn-io-fualt: clean\n", "unknown io policy \"vn-io-fualt\"; did you mean vn-io-fault?"},
      {task + "expect oi=vn-io-fault: clean\n", "unknown policy axis of the scenario \"oi\""},
      {task + "expect vn-io-fault omit V99: clean\n", "unknown step \"V99\""},
      {task + "expect vn-io-fault omit V1: clean\n", "a row that omits a step shows its defect"},
      {task + "expect vn-io-fault\n", "the verdict is missing"},
      {task + "expect vn-io-fault: fine\n", "unknown verdict \"fine\""},
      {task + "expect vn-io-fault: clean { A=\"a\" }\n", "A is not observed"},
      {task + "observe A\nexpect vn-io-fault: clean { A=\"a\" A=\"b\" }\n", "A stands twice in the outcome"},
      {task + "expect vn-io-fault: deadlock { }\n", "outcomes are those of clean ends"},
      {task + "expect vn-io-fault: deadlock vnode\n", "an object (vnode:A) needs : here"},
      {task + "expect vn-io-fault: clean vnode:A\n", "after clean may come outcomes"},
      {task + "expect vn-io-fault: clean checker witnes silent\n",
       "f:10:35: unknown checker \"witnes\"; did you mean witness?"},
      {task + "expect vn-io-fault: clean checker witness quiet\n", "unknown answer of a checker \"quiet\""},
      {task + "expect vn-io-fault: clean checker witness silent checker witness fires\n",
       "f:10:58: checker witness stands twice"},
      {task + "expect vn-io-fault: clean checker deadlkres silent at 5\n",
       "a checker that is silent has no time"},
      {task + "expect vn-io-fault: clean checker deadlkres fires at soon\n", "here must be virtual seconds"},
      {task + "expect vn-io-fault: clean\nexpect vn-io-fault: clean\n",
       "f:11:8: there is an expectation for these policies, steps and bound already"},
      {task + "expect vn-io-fault, prefault: clean\n", "f:10:21: a policy for axis io is given twice"},
      {task + "expect vn-io-fault clean\n", "f:10:20: a : is missing before the verdict"},
      {task + "expect vn-io-fault random 0: clean\n", "random is followed by 1 step or more"},
      {task + "adversary V forever\n  evict A 0\nexpect vn-io-fault: clean\n", "a row is: random N only"},
      {task + "adversary V forever\n  evict A 0\nadversary W\n  kill V\n", "there is nothing to kill"},
      {task + "  A: fstat a\nobserve A\n", "a label has the name of something that is observed"},
      {task + "  fstat a -> ok\n", "this call gives a number or an error, not ok"},
      {task + "  fsync a -> 5\n", "this call gives ok or an error, not 5"},
      {head + setting + "  map c = A none\n  mapped c\n", "c may not be read"},
      {head + setting + "  map c = A read size=16\n  mapped c+8\n", "goes past the end of A"},
      {head + "kernel map-entries-max=0\n", "map-entries-max is 1 or more"},
      {head + "kernel disk-blocks=1\n" + setting + "task T in P\n  fsync a\n",
       "more blocks than disk-blocks has"},
      {head + "axes vnode\n", "the axes of a scenario with system calls include io"},
      {head + "axes io io\n", "axis io is named twice"},
      {task + "expect stock: clean\nstock io=prefault\n", "axes and stock come before the first expect line"},
  };
}
INSTANTIATE_TEST_SUITE_P(Table, FileErrors, testing::ValuesIn(wrong_files()));

TEST(FileBounds, tasks_and_calls_are_counted) {
  std::string many = head + setting;
  for (int i = 0; i < 32; ++i) many += "task T" + std::to_string(i) + " in P\n  fsync a\n";
  EXPECT_THAT(error_of(many), HasSubstr("there may be 31 tasks at most"));
  std::string calls = task;
  for (int i = 0; i < 1001; ++i) calls += "  fsync a\n";
  EXPECT_THAT(error_of(calls), HasSubstr("f:1010:3: a task may have 1000 calls at most"));
}

// --- what a file does ------------------------------------------------------------------------------------------------

sim::report explore(const std::string& text, const std::string& io = "vn-io-fault", sim::options how = {}) {
  const auto s = scenario::parse(text, "f");
  how.stop_at_first = false;
  return sim::explore(how, s.program(scenario::complete(s, {{"io", io}})));
}
/// One task, one interleaving: its observations.
std::string observed(const std::string& text, const std::string& io = "vn-io-fault") {
  const auto r = explore(text, io);
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_EQ(r.outcomes.size(), 1U) << r;
  return r.outcomes.empty() ? "" : r.outcomes.begin()->first;
}

TEST(FileRuns, each_call_gives_what_it_should) {
  EXPECT_EQ(
      observed(task + R"(  w: write a b 4
  r: pread a b 4 at 4
  v: readv a [m 1, m+1 1]
  v2: preadv a [b 2] at 0
  v3: writev a [b 2, b+2 2]
  v4: pwritev a [b 1] at 11
  s: lseek a -1 end
  t: ftruncate a 6
  z: fstat a
  y: fsync a
  dup d = a
  c: lseek d 0 cur
  cl: close d
  bad: close d
  n: open e = A rdonly
  l: load m 4
  st: store m "zz"
  l2: load m 2
  e: load m+8 1
)"),
      "bad=EBADF c=11 cl=ok e=SIGSEGV l=bbxx l2=zz n=1 r=4 s=11 st=ok t=ok v=2 v2=2 v3=4 v4=1 w=4 y=ok z=6");
}

TEST(FileRuns, mappings_are_made_changed_and_taken_away_by_calls) {
  EXPECT_EQ(observed(task + R"(  mmap p = a read-write private 8
  store p "PP" -> ok
  mmap q = a read shared 4 offset=4
  q: load q 4
  mmap r = anonymous read-write private 8
  mmap s = a read shared 4 offset=4 at=r+4
  r: load r+3 3
  x: mmap t = a read shared 4 at=r no-replace
  pr: mprotect p 8 read
  st: store p "QQ"
  p: load p 4
  un: munmap r 8
  gone: load r 1
  sy: msync q 4
  sa: msync q 4 async invalidate
)"),
            "gone=SIGSEGV p=PPaa pr=ok q=bbbb r=\\0bb sa=ok st=SIGSEGV sy=ok un=ok x=EEXIST");
}

TEST(FileRuns, adversaries_evict_cut_and_break_the_disk) {
  const std::string text = head + setting + R"(task T in P
  r: pread a b 4 at 4
  r2: pread a b 4 at 0
adversary X
  fail reads
  heal
)";
  const auto r = explore(text);
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
  std::vector<std::string> seen;
  for (const auto& [line, times] : r.outcomes) seen.push_back(line);
  EXPECT_THAT(seen, ElementsAre("r=4 r2=4", "r=4 r2=EIO", "r=EIO r2=4", "r=EIO r2=EIO"));

  EXPECT_EQ(
      observed(
          task +
          "  load m 4\n  e: evict m\n  e2: evict A 1\n  store m \"z\"\n  e3: evict A 0\nobserve disk.A\n"),
      "disk.A=zaaabbbb e=gone e2=kept e3=gone");
}

TEST(FileRuns, a_killed_task_ends_between_its_calls) {
  const auto r = explore(task + "  one: write a b 4\n  two: write a b 4\nadversary K\n  kill T\n");
  EXPECT_EQ(r.verdict, verdict::clean) << r;
  EXPECT_TRUE(r.complete) << r;
  std::vector<std::string> seen;
  for (const auto& [line, times] : r.outcomes) seen.push_back(line);
  EXPECT_THAT(seen, ElementsAre("one=4", "one=4 two=4"));  // and one end in which nothing is observed
}

TEST(FileRuns, files_have_holes_and_pages_and_limits) {
  EXPECT_EQ(
      observed(head + R"(kernel page-size=8 hold-pages=2
file A "12345678" hole 1 page 2 pages "ab"
cached A 0 2..4
process P
  open a = A rdwr append
  buffer b = "0123" read
  zeros z = 2 pages
  limit file-size 4 pages
task T in P
  h: lseek a 0 hole
  d: lseek a 8 data
  w: write a b 4
  r: pread a b 4 at 0
  r2: pread a z+4 8 at 12
  z: load z 16
observe size.A slow-path
)"),
      "d=16 h=8 r=EFAULT r2=8 size.A=32 slow-path=2 w=EFBIG z=\\0\\0\\0\\0\\0\\0\\0\\0abab\\0\\0\\0\\0");
}

TEST(FileRuns, a_wrong_result_and_a_broken_invariant_are_violations_that_say_so) {
  EXPECT_EQ(explore(task + "  write a b 4 -> 3 | EFAULT\n").message,
            "T: write a b 4 gave 4, not 3 or EFAULT");
  EXPECT_EQ(explore(task + "  write a b 4\nfinally A == \"x\" | \"y\"\n").message,
            "A is \"xxxxbbbb\" in the end, not \"x\" or \"y\"");
  EXPECT_EQ(explore(task + "  write a b 4\nfinally A made-of \"bbbb\" \"xxxx\" \"x\"\n").message,
            "A is \"xxxxbbbb\", which is not each record once");
  EXPECT_EQ(explore(task + "  write a b 4\nfinally A made-of \"bbbb\" \"xxxx\"\n").verdict, verdict::clean);
  EXPECT_EQ(explore(task + "  write a b 4\nfinally size.A == 2 pages\n").verdict, verdict::clean);
}

TEST(FileText, line_ends_blanks_and_a_byte_order_mark_do_not_matter) {
  const std::string text = task + "  r: write a b 4   # comment\n\n   # more\nobserve A\n";
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  std::string tabs = text;
  for (auto at = tabs.find("\n  "); at != std::string::npos; at = tabs.find("\n  ", at))
    tabs.replace(at, 3, "\n\t");
  const auto right = observed(text);
  EXPECT_EQ(right, "A=xxxxbbbb r=4");
  EXPECT_EQ(observed(crlf), right);
  EXPECT_EQ(observed(tabs), right);
  EXPECT_EQ(observed("\xEF\xBB\xBF" + text), right);
  EXPECT_EQ(observed(text.substr(0, text.size() - 1)), right);
}

TEST(FileRuns, equal_records_and_far_offsets_do_not_hang) {
  EXPECT_EQ(explore(task + "  ftruncate a 13\nfinally A made-of \"a\" \"a\" \"a\" \"a\" \"a\" \"a\" \"a\" "
                           "\"a\" \"a\" \"a\" \"a\" \"a\" \"a\"\n")
                .verdict,
            verdict::violation);
  EXPECT_EQ(explore(task + "  ftruncate a 99999999999 -> EFBIG\nfinally size.A == 8\n").verdict,
            verdict::clean);
}

TEST(FileText, escapes_stand_for_bytes) {
  EXPECT_EQ(observed(head + "file A \"a\\n\\t\\0\\\\\\\"\\x41\\xff\"\nprocess P\n  open a = A rdwr\n" +
                     "  zeros z = 8\ntask T in P\n  pread a z 8 at 0\n  z: load z 8\n"),
            "z=a\\n\\x09\\0\\\\\\\"A\\xff");
}

TEST(FileRows, are_read_as_they_are_written) {
  const auto s = scenario::parse(task + R"(  r: write a b 4
observe A
expect vnode-locked, vnode=no-share omit V11a, V10 preemptions 2 full: deadlock vnode:A vmpage:A.0 "waits"
expect vn-io-fault random 500 only incomplete: clean
  { r=4 A="x y" } { r=EFAULT }
  reversal (vnode:A vnode:B)
)",
                                 "f");
  ASSERT_EQ(s.expected.size(), 2U);
  const auto& one = s.expected[0];
  EXPECT_EQ(one.policies, (scenario::policies{{"io", "vnode-locked"}, {"vnode", "no-share"}}));
  EXPECT_THAT(one.omit, ElementsAre("V11a", "V10"));
  EXPECT_EQ(one.preemptions, 2U);
  EXPECT_TRUE(one.full_only);
  EXPECT_THAT(one.cycle, ElementsAre("vnode:A", "vmpage:A.0"));
  EXPECT_EQ(one.message, "waits");
  const auto& two = s.expected[1];
  EXPECT_EQ(two.random_steps, 500U);
  EXPECT_TRUE(two.random_only);
  EXPECT_FALSE(two.complete);
  EXPECT_THAT(two.outcomes, ElementsAre("A=x y r=4", "r=EFAULT"));
  EXPECT_THAT(two.reversals, ElementsAre(ElementsAre("vnode:A", "vnode:B")));
}

}  // namespace
}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
// Exit statuses, one-line errors, files written whole or not at all.
#include "program.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using faultline::test::contents;
using faultline::test::outcome;
using faultline::test::run;
using faultline::test::scratch;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string crossed = "vn-io-fault/crossed-write";
const std::string deadlocks = "explore " + crossed + " --policy vnode-locked ";
const std::string holds = "explore " + crossed + " --policy vn-io-fault ";

/// Exit status 2, nothing on stdout, one line on stderr that says all of it.
template <class... Texts>
void expect_error(const std::string& arguments, const Texts&... texts) {
  const auto got = run(arguments);
  EXPECT_EQ(got.status, 2) << arguments << '\n' << got.out << got.err;
  EXPECT_EQ(got.out, "") << arguments;
  EXPECT_EQ(std::count(got.err.begin(), got.err.end(), '\n'), 1) << arguments << '\n' << got.err;
  EXPECT_THAT(got.err, AllOf(StartsWith("faultline: "), HasSubstr(texts)...)) << arguments;
}

/// The files that are there, by name.
std::size_t files_in(const std::filesystem::path& directory) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(directory), std::filesystem::directory_iterator()));
}

std::string word_after(const std::string& text, const std::string& before) {
  const auto at = text.find(before);
  if (at == std::string::npos) return "";
  const auto from = at + before.size();
  return text.substr(from, text.find_first_of("\n", from) - from);
}

// --- exit statuses ----------------------------------------------------------------------------------------------------

TEST(Cli, a_defect_is_1_and_comes_with_a_command_that_replays_it) {
  const auto found = run(deadlocks);
  EXPECT_EQ(found.status, 1);
  EXPECT_EQ(found.err, "");
  const auto again = run("replay " + word_after(found.out, " replay "));
  EXPECT_EQ(again.status, 1) << again.out << again.err;
  const auto defect = found.out.substr(found.out.find("deadlock: "));
  EXPECT_THAT(again.out, HasSubstr(defect.substr(0, defect.find("\n\norder reversal"))));
}

TEST(Cli, no_defect_is_0) {
  EXPECT_EQ(run(holds).status, 0);
  EXPECT_EQ(run(holds + "--strategy random --executions 50").status, 0);
  EXPECT_EQ(run(holds + "--preemptions 0").status, 0);
}

TEST(Cli, an_exhaustive_search_that_ended_early_is_3) {
  EXPECT_EQ(run(holds + "--executions 1").status, 3);
  EXPECT_EQ(run(holds + "--steps 1").status, 3);
}

TEST(Cli, help_and_version_are_0) {
  for (const auto* arguments : {"--help", "--version", "demo --help", "list --help", "explore --help",
                                "replay --help", "verify --help"}) {
    const auto got = run(arguments);
    EXPECT_EQ(got.status, 0) << arguments;
    EXPECT_NE(got.out, "") << arguments;
    EXPECT_EQ(got.err, "") << arguments;
  }
}

TEST(Cli, without_a_policy_it_says_that_it_takes_the_stock_policy) {
  EXPECT_THAT(run("explore " + crossed).out, HasSubstr("stock policies"));
}

TEST(Cli, an_interrupt_ends_the_search_with_what_there_is) {
  // Fine steps and no stop at the first defect: long enough to be interrupted, if not then nothing is lost.
  const auto got = run(deadlocks + "--all --granularity fine --executions 100000000",
                       "timeout -s INT --preserve-status 1");
  EXPECT_EQ(got.status, 1) << got.err;
  EXPECT_THAT(got.out, HasSubstr("replay"));
}

TEST(Cli, a_full_standard_output_is_2) { EXPECT_EQ(run("list >/dev/full").status, 2); }

// --- errors -----------------------------------------------------------------------------------------------------------

TEST(Cli, names_the_valid_ones_and_the_nearest) {
  expect_error("", "demo, explore, list, litmus, merge, replay, verify");
  expect_error("explor", "did you mean explore?");
  expect_error("explore vn-io-fault/crosed-write", "did you mean " + crossed + "?", "here are: ");
  expect_error("explore crossed-write", "did you mean " + crossed + "?");
  expect_error("explore " + crossed + " --policy vn-io-falt", "did you mean vn-io-fault?", "vnode-locked");
  expect_error("explore " + crossed + " --policy nonsense=x", "unknown policy axis \"nonsense\"");
  expect_error("explore " + crossed + " --omit nonsense", "unknown step \"nonsense\"", "V1");
  expect_error("explore " + crossed + " --strategy pcr", "exhaustive, random, pct, pos, auto");
  expect_error("explore " + crossed + " --memory tos", "sc, tso, weak");
  expect_error("explore " + crossed + " --processors mine", "own, shared");
  expect_error("explore " + crossed + " --timers never", "may-fire, maximal-progress");
  expect_error("explore " + crossed + " --granularity medium", "fine, coarse");
  expect_error("explore " + crossed + " --jbos 4", "unknown option \"--jbos\"");
  expect_error("verify nonsense", "unknown scenario \"nonsense\"");
}

TEST(Cli, refuses_what_makes_no_sense) {
  expect_error("explore", "SCENARIO");
  expect_error("explore " + crossed + " more", "\"more\" is a word too many");
  expect_error(deadlocks + "--policy vn-io-fault", "twice");
  expect_error("explore " + crossed + " --policy io=vnode-locked,io=vnode-locked", "twice");
  expect_error(deadlocks + "--strategy random --preemptions 2", "--preemptions");
  expect_error(deadlocks + "--executions 0", "\"0\" is not a whole number from 1");
  expect_error(deadlocks + "--seed x", "\"x\" is not a whole number");
  expect_error(deadlocks + "--preemptions -1", "\"-1\" is not a whole number");
}

TEST(Cli, an_error_is_one_line_whatever_was_given) {
  expect_error("explore 'two\nlines'", "unknown scenario");
  expect_error("replay 'two\nlines'", "cannot read");
}

// --- files ------------------------------------------------------------------------------------------------------------

TEST(Cli, saves_a_schedule_that_replays) {
  const scratch here;
  const auto file = here / "schedule";
  const auto found = run(deadlocks + "--save " + file);
  EXPECT_EQ(found.status, 1) << found.err;
  EXPECT_THAT(found.out, HasSubstr("replay " + file));
  const auto again = run("replay " + file);
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_THAT(again.out, HasSubstr("wait for each other"));
  EXPECT_EQ(files_in(here.path()), 1U);  // nothing temporary is left
}

TEST(Cli, a_message_of_several_lines_is_saved_as_comments) {
  const scratch here;
  const auto file = here / "schedule";
  const auto found = run("explore vn-io-fault/calls-in-order --policy vn-io-fault --omit V2 --save " + file);
  EXPECT_EQ(found.status, 1) << found.err;
  EXPECT_THAT(found.out, HasSubstr("<- fits at no point"));
  EXPECT_THAT(contents(file), HasSubstr("\n#   the longest order that fits"));
  const auto again = run("replay " + file);
  EXPECT_EQ(again.status, 1) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("<- fits at no point"));
}

TEST(Cli, a_clean_run_saves_its_first_execution) {
  const scratch here;
  EXPECT_EQ(run(holds + "--save " + (here / "schedule")).status, 0);
  EXPECT_EQ(run("replay " + (here / "schedule")).status, 0);
}

TEST(Cli, says_before_it_explores_that_a_file_cannot_be_written) {
  const scratch here;
  expect_error(deadlocks + "--save " + (here / "missing/schedule"), "cannot write",
               "No such file or directory");
  expect_error(deadlocks + "--dot " + here.path().string(), "Is a directory");
  expect_error(deadlocks + "--save " + (here / "x") + " --dot " + (here / "x"), "same file");
  EXPECT_EQ(files_in(here.path()), 0U);
}

TEST(Cli, a_file_that_cannot_be_written_to_the_end_is_an_error) {
  expect_error(deadlocks + "--save /dev/full", "No space left on device");
}

TEST(Cli, draws_the_waits) {
  const scratch here;
  EXPECT_EQ(run(deadlocks + "--dot " + (here / "graph")).status, 1);
  EXPECT_THAT(contents(here / "graph"),
              AllOf(StartsWith("digraph"), HasSubstr("waits, "), HasSubstr("held ")));
  EXPECT_EQ(run(holds + "--dot " + (here / "graph")).status, 0);
  EXPECT_THAT(contents(here / "graph"), StartsWith("digraph"));
}

TEST(Cli, malformed_schedules_are_told_with_their_line) {
  const scratch here;
  const auto file = here / "schedule";
  const auto with = [&](const std::string& text) {
    std::ofstream(file) << text;
    return "replay " + file;
  };
  const auto begin = "fl1:" + crossed;
  const std::string end = ";granularity=coarse;memory=sc;schedule=";
  expect_error("replay " + (here / "missing"), "cannot read");
  expect_error("replay " + here.path().string(), "is a directory");
  expect_error(with("# only a comment\n"), "no line that begins with");
  expect_error(with("# comment\n\nnonsense\n"), file + ":3: ");
  expect_error(with(begin + end + "0\n" + begin + end + "0\n"), file + ":2: ", "line 1");
  expect_error(with(begin + end + "0*x\n"), file + ":1: ", "\"0*x\"");
  expect_error(with(begin + end + "0@xyz\n"), file + ":1: ", "hexadecimal");
  expect_error(with(begin + ";granularity=coarse;memory=sc\n"), "schedule is missing");
  expect_error(with(begin + ";colour=red" + end + "0\n"), "unknown setting \"colour\"");
  expect_error(with(begin + ";omit=nonsense" + end + "0\n"), "unknown step");
  expect_error(with("fl1:nonsense" + end + "0\n"), "unknown scenario");
  expect_error("replay 'fl9:" + crossed + "'", "reads fl1");
}

TEST(Cli, a_schedule_that_does_not_fit_is_2_unless_a_defect_was_seen) {
  const auto got =
      run("replay 'fl1:" + crossed + ";policy=io=vn-io-fault;granularity=coarse;memory=sc;schedule='");
  EXPECT_EQ(got.status, 2);
  EXPECT_THAT(got.err, HasSubstr("does not fit"));
  EXPECT_EQ(std::count(got.err.begin(), got.err.end(), '\n'), 1);
}

// --- scenario files ----------------------------------------------------------------------------------------------------

const std::string hang =
    "faultline-scenario 1\nname mine\nsummary \"s\"\nfile A \"aaaa\"\nfile B \"bbbb\"\n"
    "process P\n  open a = A rdwr\n  map m = B read\nprocess Q\n  open b = B rdwr\n  map m = A read\n"
    "task T in P\n  write a m 4 -> 4\ntask U in Q\n  write b m 4 -> 4\n"
    "expect vnode-locked: deadlock vnode:A vnode:B\nexpect vn-io-fault: clean\n";

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(CliFile, is_explored_verified_and_replayed) {
  const scratch here;
  const auto file = here / "mine.scn";
  write_file(file, hang);
  EXPECT_EQ(run("verify " + file).status, 0);
  EXPECT_EQ(run("explore " + file + " --policy vn-io-fault").status, 0);
  const auto found = run("explore " + file + " --save " + (here / "saved"));
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.out, HasSubstr("as the matrix expects"));
  const auto again = run("replay " + (here / "saved"));
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_THAT(again.out, testing::Not(HasSubstr("has changed")));

  write_file(file, hang + "# a remark\n");
  const auto later = run("replay " + (here / "saved"));
  EXPECT_EQ(later.status, 1);
  EXPECT_THAT(later.out, HasSubstr("mine.scn has changed since this was recorded"));
  std::filesystem::remove(file);
  expect_error("replay " + (here / "saved"), "cannot read " + file);
}

TEST(CliFile, that_is_not_as_it_expects_is_1_and_a_wrong_one_is_2) {
  const scratch here;
  const auto file = here / "mine.scn";
  write_file(file, hang + "expect prefault: deadlock\n");
  const auto got = run("verify " + file);
  EXPECT_EQ(got.status, 1);
  EXPECT_THAT(got.out, HasSubstr("expected deadlock, got clean"));
  write_file(file, hang + "expect prefalt: clean\n");
  for (const char* command : {"verify ", "explore "})
    expect_error(command + file, "mine.scn:18:8: unknown io policy \"prefalt\"; did you mean prefault?");
  expect_error("verify " + (here / "none.scn"), "cannot read", "No such file");
  expect_error("explore " + here.path().string(), "is a directory, not a scenario file");
  write_file(here / "a;b.scn", hang);
  expect_error("explore '" + (here / "a;b.scn") + "'", "a schedule cannot name a path with a ; in it");
}

TEST(CliFile, several_are_verified_beside_shipped_ones) {
  const scratch here;
  write_file(here / "one", hang);
  write_file(here / "two.scn", hang);
  const auto got = run("verify --json " + (here / "one") + " " + (here / "two.scn") + " " + crossed);
  EXPECT_EQ(got.status, 0) << got.out;
  EXPECT_THAT(got.out, HasSubstr("\"scenario\":\"mine\""));
  EXPECT_THAT(got.out, HasSubstr("\"wrong\":0"));
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// The command line: options, help, exit statuses. The only source that sees CLI11.
#include "commands.hpp"
#include "select.hpp"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::cli {

namespace {

constexpr const char* statuses =
    "Exit status:\n"
    "  0  no defect (order reversals and other findings are no defect)\n"
    "  1  a defect, or something not as expected\n"
    "  2  usage or input error; one line on stderr says what would be right\n"
    "  3  an exhaustive search ended early (--executions, --steps, SIGINT) and had found nothing";

constexpr const char* replay_statuses =
    "Exit status:\n"
    "  0  the execution ended without a defect\n"
    "  1  it ended in a defect, also if it was not quite the recorded execution (the output then says so)\n"
    "  2  usage or input error, or the schedule does not fit this program any more and no defect was seen";

constexpr const char* litmus_statuses =
    "Exit status:\n"
    "  0  answered; the table is as expected\n"
    "  1  undefined behaviour, ~exists or forall does not hold, or the table is not as expected\n"
    "  2  usage or input error; one line on stderr says what would be right\n"
    "  3  ended early (too large, SIGINT)";

constexpr std::array<std::string_view, 7> commands{"demo",  "explore", "list",  "litmus",
                                                   "merge", "replay",  "verify"};

/// Says itself what is wrong with a number: CLI11 says only that it could not convert it.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = ~std::uint64_t{0}) {
  return {[least, most](std::string& text) {
            std::uint64_t n = 0;
            const auto* const end = text.data() + text.size();
            const auto got = std::from_chars(text.data(), end, n);
            if (got.ec == std::errc{} && got.ptr == end && n >= least && n <= most) return std::string{};
            return most == ~std::uint64_t{0}
                       ? fmt::format("\"{}\" is not a whole number from {}", text, least)
                       : fmt::format("\"{}\" is not a whole number from {} to {}", text, least, most);
          },
          ""};
}

/// One line, whatever was given on the command line.
std::string one_line(std::string_view text) {
  std::string out(text.substr(0, text.find_last_not_of("\n ") + 1));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }, ' ');
  return out;
}

exit_status fail(std::string_view text) {
  std::fflush(stdout);
  fmt::print(stderr, "faultline: {}\n", one_line(text));
  return exit_usage;
}

struct requests {
  explore_request explore;
  merge_request merge;
  replay_request replay;
  verify_request verify;
  litmus_request litmus;
  bool list_json = false;
};

void add_explore(CLI::App& app, explore_request& r) {
  auto* c = app.add_subcommand("explore", "Look for a defect in the interleavings of a scenario");
  c->add_option("SCENARIO", r.scenario, "one that `faultline list` shows, or a scenario file")
      ->required()
      ->option_text(" ");
  c->add_option("--policy", r.policies, "instead of the stock ones; a bare P is of the scenario's own axis")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("[AXIS=]P[,...]");
  c->add_option("--omit", r.omit, "leave out load-bearing steps, by id (V1) or name")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("STEP[,...]");
  c->add_option("--strategy", r.strategy,
                "exhaustive (default), random, pct, pos, or auto: exhaustive if the steps do\n"
                "for it, else samples of all kinds")
      ->option_text("NAME");
  c->add_option("--seed", r.seed, "of random, pct, pos, auto (default 1)")
      ->check(whole_number(0))
      ->option_text("N");
  c->add_option("--executions", r.executions,
                "stop after so many (default: random, pct, pos 1,000, others 10,000,000)")
      ->check(whole_number(1))
      ->option_text("N");
  c->add_option("--steps", r.steps, "stop after so many steps of all executions together")
      ->check(whole_number(1))
      ->option_text("N");
  c->add_option("--preemptions", r.preemptions,
                "exhaustive, but at most N preemptions in an execution; 0..N: first with none,\n"
                "then with one, ..., until the bound cuts nothing off")
      ->option_text("N");
  c->add_option("--granularity", r.granularity,
                "fine: a scheduling point before every access; coarse: before lock, wait,\n"
                "atomic, copy and I/O operations only (default: the scenario's)")
      ->option_text("NAME");
  c->add_option("--memory", r.memory,
                "sc: sequential consistency; tso: amd64; weak: C++20 (default: the scenario's)")
      ->option_text("NAME");
  c->add_option("--processors", r.processors,
                "own: a CPU for each task; shared: priorities and interrupts count\n"
                "(default: the scenario's)")
      ->option_text("NAME");
  c->add_option("--timers", r.timers,
                "may-fire: at any time; maximal-progress: when nobody else can run\n"
                "(default: the scenario's)")
      ->option_text("NAME");
  c->add_option("--jobs", r.jobs, "in N processes, a shard each (default 1)")
      ->check(whole_number(1, 256))
      ->option_text("N");
  c->add_option("--shard", r.shard, "only part I of N (0/N to N-1/N), to be put together with `merge`")
      ->option_text("I/N");
  c->add_flag("--all", r.all, "do not stop at the first defect");
  c->add_flag("--as-found", r.as_found, "do not shorten the schedule of a defect");
  c->add_flag("--checkers", r.checkers,
              "also what WITNESS, lockdep, deadlkres and khungtaskd would have said");
  c->add_flag("--json", r.json, "one JSON object instead of text");
  c->add_option("--save", r.save, "write the schedule of the defect, or of the first execution, for replay")
      ->option_text("FILE");
  c->add_option("--dot", r.dot,
                "write the wait-for graph of the defect, or the order reversals, for Graphviz")
      ->option_text("FILE");
  c->add_option("--trace", r.trace, "write that execution for Perfetto or chrome://tracing (JSON)")
      ->option_text("FILE");
  c->footer(statuses);
}

void add_merge(CLI::App& app, merge_request& r) {
  auto* c = app.add_subcommand("merge", "Put the shards of a search together");
  c->add_option("FILE", r.files, "what `explore --shard I/N --json` printed, for each I")
      ->required()
      ->option_text("...");
  c->add_flag("--json", r.json, "one JSON object instead of text");
  c->footer(statuses);
}

void add_replay(CLI::App& app, replay_request& r) {
  auto* c = app.add_subcommand("replay", "The same execution again, told step by step");
  c->add_option("SCHEDULE", r.source, "a file that explore --save wrote, or the text 'fl1:...' itself")
      ->required()
      ->option_text(" ");
  c->add_flag("--json", r.json, "one JSON object instead of text");
  c->add_option("--trace", r.trace, "write it for Perfetto or chrome://tracing (JSON)")->option_text("FILE");
  c->footer(replay_statuses);
}

void add_verify(CLI::App& app, verify_request& r) {
  auto* c = app.add_subcommand("verify", "Check the verdict matrix: every expectation of every scenario");
  c->add_option("SCENARIO", r.scenarios, "these only, or scenario files (default: all shipped)")
      ->option_text("...");
  c->add_flag("--full", r.full, "the long rows too, and 25 times the steps for each");
  c->add_flag("--json", r.json, "one JSON object instead of a table");
  c->footer(statuses);
}

void add_litmus(CLI::App& app, litmus_request& r) {
  auto* c = app.add_subcommand("litmus", "How small programs of C11 atomics may end, under a memory model");
  c->add_option("TEST", r.tests,
                "shipped litmus tests, or files in herd's C format (default: the table of all shipped)")
      ->option_text("...");
  c->add_option("--memory", r.memory, "sc, tso (amd64) or weak (C++20; default; the table: all three)")
      ->option_text("NAME");
  c->add_flag("--json", r.json, "one JSON object instead of text");
  c->footer(litmus_statuses);
}

/// What CLI11 did not expect: the first of it that looks like an option, or a word too many.
std::string unexpected(const CLI::App& command) {
  const auto rest = command.remaining();
  const auto option =
      std::find_if(rest.begin(), rest.end(), [](const auto& text) { return text.starts_with('-'); });
  if (option == rest.end()) {
    return rest.empty() ? "a word too many" : fmt::format("\"{}\" is a word too many", rest.front());
  }
  std::vector<std::string> names;
  for (const auto* o : command.get_options()) {
    for (const auto& name : o->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> valid(names.begin(), names.end());
  return unknown("option", std::string_view(*option).substr(0, option->find('=')), valid);
}

exit_status run(int argc, char** argv) {
  CLI::App app(
      "faultline explores interleavings of kernel VM and VFS locking: finds the deadlocks and races, shows "
      "the schedule,\n"
      "proves the fixes.",
      "faultline");
  requests wanted;
  app.set_version_flag("--version", "faultline " FAULTLINE_VERSION);
  app.get_formatter()->column_width(27);
  app.require_subcommand(1);
  app.footer(statuses);
  app.add_subcommand(
         "demo", "The tour: the old way fails, the fix holds, each of its steps is needed; under a minute")
      ->footer(statuses);
  auto* list_command = app.add_subcommand("list", "Scenarios, policies and load-bearing steps");
  list_command->add_flag("--json", wanted.list_json, "one JSON object, with every expectation");
  add_explore(app, wanted.explore);
  add_merge(app, wanted.merge);
  add_replay(app, wanted.replay);
  add_verify(app, wanted.verify);
  add_litmus(app, wanted.litmus);

  const std::string program = argc > 0 ? argv[0] : "faultline";
  if (argc < 2) {
    return fail(fmt::format("a command is missing; there are: {} (faultline --help says more)",
                            fmt::join(commands, ", ")));
  }
  if (const std::string_view first = argv[1];
      !first.starts_with('-') && std::find(commands.begin(), commands.end(), first) == commands.end()) {
    return fail(unknown("command", first, commands));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      return app.exit(error) == 0 ? exit_clean : exit_usage;
    }
    const auto used = app.get_subcommands();
    const bool surplus = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    return fail(fmt::format("{}; see faultline {}--help",
                            surplus ? unexpected(used.empty() ? app : *used.front()) : one_line(error.what()),
                            used.empty() ? "" : used.front()->get_name() + " "));
  }
  const auto command = app.get_subcommands().front()->get_name();
  if (command == "demo") return demo(program);
  if (command == "list") return list(wanted.list_json);
  if (command == "litmus") return litmus(wanted.litmus);
  if (command == "explore") return explore(wanted.explore, program);
  if (command == "merge") return merge(wanted.merge, program);
  if (command == "replay") return replay(wanted.replay);
  return verify(wanted.verify);
}

}  // namespace

}  // namespace faultline::cli

int main(int argc, char** argv) {
  using namespace faultline::cli;
  try {
    const auto status = run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return fail("cannot write to standard output");
    return status;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

// SPDX-License-Identifier: BSD-2-Clause
// Each tests/golden/NAME.txt is a session: the first line a command, "$ faultline ...", the last its exit status,
// "=> 1", and between them what it prints (seconds are not compared). FAULTLINE_UPDATE_GOLDEN=1 writes them anew; a new
// one is made by writing its first line.
#include "program.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using faultline::test::contents;
using faultline::test::run;

const std::string prompt = "$ faultline ";

std::vector<std::string> sessions() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(FAULTLINE_GOLDEN)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Without what differs from run to run and from machine to machine.
std::string settled(std::string text) {
  const std::string program = FAULTLINE_PROGRAM;
  for (std::size_t at = 0; (at = text.find(program, at)) != std::string::npos;)
    text.replace(at, program.size(), "faultline");
  const std::string sources = FAULTLINE_SOURCES "/";
  for (std::size_t at = 0; (at = text.find(sources, at)) != std::string::npos;)
    text.erase(at, sources.size());
  text = std::regex_replace(text, std::regex("[0-9]+\\.[0-9]+ s\\b"), "T s");
  text = std::regex_replace(text, std::regex(" +[0-9]+\\.[0-9]+  (ok|WRONG)"), "  T  $1");
  return std::regex_replace(text, std::regex("\"seconds\":[-+.0-9E]+"), "\"seconds\":T");
}

class Golden : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Golden);

TEST_P(Golden, prints_what_it_printed_before) {
  const auto file = fs::path(FAULTLINE_GOLDEN) / (GetParam() + ".txt");
  const auto expected = contents(file);
  const auto command = expected.substr(0, expected.find('\n'));
  ASSERT_EQ(command.compare(0, prompt.size(), prompt), 0)
      << file << " does not begin with \"" << prompt << '"';
  const auto got = run(command.substr(prompt.size()));
  const auto session =
      command + '\n' + settled(got.out + got.err) + "=> " + std::to_string(got.status) + '\n';
  if (const char* update = std::getenv("FAULTLINE_UPDATE_GOLDEN");
      update != nullptr && std::string(update) == "1") {
    std::ofstream(file, std::ios::binary) << session;
    return;
  }
  EXPECT_EQ(session, expected)
      << "if this is how it should be: FAULTLINE_UPDATE_GOLDEN=1 ./dev test -R Golden";
}

INSTANTIATE_TEST_SUITE_P(sessions, Golden, testing::ValuesIn(sessions()), [](const auto& one) {
  auto name = one.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace

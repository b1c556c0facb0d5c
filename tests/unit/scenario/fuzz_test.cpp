// SPDX-License-Identifier: BSD-2-Clause
// Shipped scenario files with mistakes in them: each is refused at a place in the file, or runs.
#include <faultline/scenario/file.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace faultline {
namespace {

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t n) {
    auto z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<std::size_t>((z ^ (z >> 31U)) % n);
  }

 private:
  std::uint64_t state_;
};

std::vector<std::string> shipped() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(FAULTLINE_SCENARIOS)) {
    if (entry.path().extension() == ".scn") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

/// Begin and end of word `n`, of those that blanks part.
std::pair<std::size_t, std::size_t> word(const std::string& text, random_numbers& next) {
  auto begin = next.below(text.size());
  while (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '\n') --begin;
  auto end = begin;
  while (end < text.size() && text[end] != ' ' && text[end] != '\n') ++end;
  return {begin, end};
}

std::string with_a_mistake(std::string text, random_numbers& next) {
  if (text.empty()) return text;
  switch (next.below(6)) {
    case 0:
      text[next.below(text.size())] = static_cast<char>(next.below(256));
      break;
    case 1: {
      const auto [begin, end] = word(text, next);
      text.erase(begin, end - begin);
      break;
    }
    case 2: {
      const auto [begin, end] = word(text, next);
      const auto other = word(text, next);
      text.replace(begin, end - begin, text.substr(other.first, other.second - other.first));
      break;
    }
    case 3: {
      const auto at = text.find('\n', next.below(text.size()));
      if (at == std::string::npos) break;
      const auto end = text.find('\n', at + 1);
      text.erase(at, end == std::string::npos ? std::string::npos : end - at);
      break;
    }
    case 4: {
      const auto [begin, end] = word(text, next);
      text.replace(begin, end - begin,
                   std::to_string(next.below(3) == 0 ? ~std::size_t{0} - next.below(5) : next.below(40)));
      break;
    }
    default:
      text.erase(next.below(text.size()));
  }
  return text;
}

TEST(FileFuzz, a_file_with_mistakes_is_refused_at_a_place_in_it_or_runs) {
  const auto texts = shipped();
  ASSERT_GE(texts.size(), 20U);
  random_numbers next(1);
  int refused = 0;
  int ran = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto text = texts[next.below(texts.size())];
    for (auto mistakes = 1 + next.below(3); mistakes > 0; --mistakes) text = with_a_mistake(text, next);
    try {
      const auto s = scenario::parse(text, "f");
      ++ran;
      // Whatever it does, it ends; the policies that are not mutants must not break an assertion of the model's own.
      sim::options how{.executions_max = 20, .steps_max = 20'000};
      (void)sim::explore(how, s.program(s.info.stock));
    } catch (const scenario::file_error& error) {
      ++refused;
      const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
      EXPECT_LE(error.line, lines) << text;
      EXPECT_GE(error.line, 1U);
      EXPECT_GE(error.column, 1U);
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(ran, 1000);
}

}  // namespace
}  // namespace faultline

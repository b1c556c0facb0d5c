// SPDX-License-Identifier: BSD-2-Clause
#include "scenario_file.hpp"

#include "commands.hpp"
#include "select.hpp"

#include <faultline/scenario/file.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace faultline::cli {

namespace {

/// FNV-1a: tells a changed file, not a forged one.
std::string fingerprint_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

}  // namespace

std::string text_of_file(const std::string& path, std::size_t bytes_max, std::string_view what) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed))
    throw usage_error(fmt::format("{} is a directory, not a {}", path, what));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw usage_error(fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)));
  std::string text;
  text.resize(bytes_max + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad())
    throw usage_error(fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)));
  if (!in.eof()) throw usage_error(fmt::format("{} is too long for a {}", path, what));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

chosen_scenario scenario_from_file(const std::string& path) {
  static std::deque<scenario::scenario> loaded;  // of this run of the program: others point to them
  const auto text = text_of_file(path, scenario::file_bytes_max, "scenario file");
  try {
    loaded.push_back(scenario::parse(text, path));
  } catch (const scenario::file_error& error) {
    throw usage_error(error.what());
  }
  return {&loaded.back(), path, fingerprint_of(text)};
}

chosen_scenario scenario_or_file(std::string_view word) {
  if (const auto* s = scenario::find(word)) return {.what = s};
  const std::string path(word);
  std::error_code failed;
  if (path.ends_with(".scn") || std::filesystem::exists(path, failed)) return scenario_from_file(path);
  return {.what = &scenario_named(word)};
}

}  // namespace faultline::cli

// SPDX-License-Identifier: BSD-2-Clause
#include "recording.hpp"

#include "commands.hpp"
#include "scenario_file.hpp"
#include "select.hpp"

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace faultline::cli {

namespace {

constexpr std::string_view tag = "fl1:";
constexpr std::string_view file_tag = "file:";
constexpr std::array<std::string_view, 8> keys{"policy",     "omit",   "granularity", "memory",
                                               "processors", "timers", "schedule",    "text"};
constexpr std::size_t file_max = std::size_t{1} << 24U;

std::vector<std::string> parts(std::string_view text, char between) {
  std::vector<std::string> out;
  if (!text.empty()) boost::algorithm::split(out, text, [between](char c) { return c == between; });
  return out;
}

std::map<std::string, std::string, std::less<>> settings(const std::vector<std::string>& fields) {
  std::map<std::string, std::string, std::less<>> out;
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const auto& field = fields[i];
    const auto sign = field.find('=');
    const auto key = field.substr(0, sign);
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw usage_error(unknown("setting", key, keys));
    if (sign == std::string::npos)
      throw usage_error(fmt::format("\"{0}\" has no value; write {0}=VALUE", key));
    if (!out.emplace(key, field.substr(sign + 1)).second)
      throw usage_error(fmt::format("{} is given twice", key));
  }
  for (const std::string_view key : {"granularity", "memory", "schedule"}) {
    if (!out.contains(key))
      throw usage_error(fmt::format("{} is missing; write {}=VALUE after a semicolon", key, key));
  }
  return out;
}

}  // namespace

std::string text_of(const recording& r) {
  std::string out = r.path.empty() ? fmt::format("{}{}", tag, r.what->info.name)
                                   : fmt::format("{}{}{};text={}", tag, file_tag, r.path, r.fingerprint);
  if (!r.policies.empty()) out += ";policy=" + text_of(r.policies, ",");
  for (std::size_t i = 0; i < r.omit.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? ";omit=" : ",", r.omit[i]->id);
  out += fmt::format(";granularity={};memory={}", sim::name_of(r.grain), sim::name_of(r.memory));
  if (r.processors != sim::processors::own) out += fmt::format(";processors={}", sim::name_of(r.processors));
  if (r.timers != sim::timers::may_fire) out += fmt::format(";timers={}", sim::name_of(r.timers));
  return out + fmt::format(";schedule={}", r.schedule);
}

sim::options options_of(const recording& r) {
  auto how = scenario::usual_options(r.what->info);
  how.grain = r.grain;
  how.memory = r.memory;
  how.processors = r.processors;
  how.timers = r.timers;
  how.omit = r.omit;
  return how;
}

void take_usual_settings(recording& r) {
  const auto how = scenario::usual_options(r.what->info);
  r.grain = how.grain;
  r.memory = how.memory;
  r.processors = how.processors;
  r.timers = how.timers;
}

bool is_recording(std::string_view text) noexcept {
  if (!text.starts_with("fl")) return false;
  const auto colon = text.find_first_not_of("0123456789", 2);
  return colon != std::string_view::npos && colon > 2 && text[colon] == ':';
}

recording recording_from(std::string_view line, const std::string& origin) {
  try {
    if (!line.starts_with(tag)) {
      if (is_recording(line)) {
        throw usage_error(
            fmt::format("a schedule of format {}; this program reads fl1", line.substr(0, line.find(':'))));
      }
      throw usage_error("not a schedule: it begins with \"fl1:\", as explore prints it");
    }
    recording r;
    const auto fields = parts(line.substr(tag.size()), ';');
    const std::string first = fields.empty() ? std::string{} : fields.front();
    auto given = settings(fields);
    if (first.starts_with(file_tag)) {
      auto chosen = scenario_from_file(first.substr(file_tag.size()));
      r.what = chosen.what;
      r.path = std::move(chosen.path);
      r.changed = given["text"] != chosen.fingerprint;
      r.fingerprint = std::move(chosen.fingerprint);
    } else {
      r.what = &scenario_named(first);
    }
    r.policies = scenario::complete(*r.what, policies_named(*r.what, parts(given["policy"], ',')));
    r.omit = steps_named(parts(given["omit"], ','));
    r.grain = granularity_named(given["granularity"]);
    r.memory = memory_named(given["memory"]);
    if (given.contains("processors")) r.processors = processors_named(given["processors"]);
    if (given.contains("timers")) r.timers = timers_named(given["timers"]);
    r.schedule = given["schedule"];
    r.origin = origin;
    return r;
  } catch (const usage_error& error) {
    throw usage_error(origin + error.what());
  }
}

recording recording_from_file(const std::string& path) {
  const auto text = text_of_file(path, file_max, "schedule");

  std::string found;
  std::size_t found_at = 0;
  std::size_t number = 0;
  for (auto& line : parts(text, '\n')) {
    ++number;
    boost::algorithm::trim(line);
    if (line.empty() || line.front() == '#') continue;
    if (found_at != 0) {
      throw usage_error(
          fmt::format("{}:{}: a second schedule; the first is in line {}", path, number, found_at));
    }
    found = line;
    found_at = number;
  }
  if (found_at == 0) {
    throw usage_error(fmt::format("{}:{}: the file ends and there was no line that begins with \"fl1:\"",
                                  path, std::max<std::size_t>(number, 1)));
  }
  return recording_from(found, fmt::format("{}:{}: ", path, found_at));
}

std::string shell_word(std::string_view text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+:=,@%").find(c) != std::string_view::npos;
  });
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace faultline::cli

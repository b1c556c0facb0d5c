// SPDX-License-Identifier: BSD-2-Clause
#include "scenario/file/cursor.hpp"

#include "scenario/suggest.hpp"

#include <fmt/format.h>

#include <limits>

namespace faultline::scenario::file {

namespace {

std::string shown_of(const token& t) {
  return t.kind == token_kind::text ? '"' + escaped(t.text) + '"' : t.text;
}

}  // namespace

const std::string& cursor::a_word(std::string_view what) {
  if (!at(token_kind::word))
    fail(done() ? fmt::format("{} is missing here", what)
                : fmt::format("here must be {}, not {}", what, shown_of(line_.tokens[next_])));
  return line_.tokens[next_++].text;
}

const std::string& cursor::a_text(std::string_view what) {
  if (!at(token_kind::text))
    fail(done() ? fmt::format("{} is missing here, as \"text\"", what)
                : fmt::format("here must be {} as \"text\", not {}", what, shown_of(line_.tokens[next_])));
  return line_.tokens[next_++].text;
}

std::uint64_t cursor::a_number(std::string_view what, std::uint64_t most) {
  if (!at(token_kind::number))
    fail(done() ? fmt::format("{} is missing here, as a number", what)
                : fmt::format("here must be {} as a number, not {}", what, shown_of(line_.tokens[next_])));
  const auto& t = line_.tokens[next_];
  if (t.number > most) fail(fmt::format("{} may be {} at most", what, most));
  ++next_;
  return t.number;
}

std::uint64_t cursor::a_size(std::string_view what, std::uint64_t most) {
  const auto begin = here();
  auto n = a_number(what, most);
  if (word("pages") || word("page")) {
    if (n > most / page_size_)
      fail(begin, fmt::format("{} may be {} pages at most", what, most / page_size_));
    n *= page_size_;
  }
  return n;
}

std::int64_t cursor::a_signed_size(std::string_view what) {
  const bool negative = sign("-");
  const auto n = a_size(what, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  return negative ? -static_cast<std::int64_t>(n) : static_cast<std::int64_t>(n);
}

void cursor::the_sign(std::string_view text, std::string_view where) {
  if (!sign(text)) fail(fmt::format("{} needs {} here", where, text));
}

std::string_view cursor::one_of(std::string_view kind, std::span<const std::string_view> valid) {
  const auto begin = here();
  const std::string_view given = a_word(fmt::format("a {}", kind));
  for (const auto name : valid) {
    if (name == given) return name;
  }
  fail(begin, unknown(kind, given, valid));
}

bool cursor::yes_or_no(std::string_view what) {
  if (word("yes")) return true;
  if (word("no")) return false;
  fail(fmt::format("{} is yes or no", what));
}

void cursor::finish() const {
  if (!done()) fail(fmt::format("{} is too much here", shown_of(line_.tokens[next_])));
}

std::string cursor::shown() const {
  std::string out;
  bool space = false;
  for (const auto& t : line_.tokens) {
    if (t.kind == token_kind::sign && (t.text == "->" || t.text == "...")) break;
    const bool joins =
        t.kind == token_kind::sign && (t.text == "+" || t.text == "," || t.text == "]" || t.text == ":");
    if (space && !joins) out += ' ';
    out += shown_of(t);
    space = !(t.kind == token_kind::sign && (t.text == "+" || t.text == "["));
  }
  return out;
}

}  // namespace faultline::scenario::file

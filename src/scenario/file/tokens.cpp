// SPDX-License-Identifier: BSD-2-Clause
// The lexical grammar of scenario files.
#include "scenario/file/ast.hpp"

#include <fmt/format.h>
#include <tao/pegtl.hpp>

#include <charconv>
#include <iterator>
#include <utility>

namespace faultline::scenario::file {

namespace {

namespace peg = tao::pegtl;

// clang-format off
struct blank : peg::one<' ', '\t'> {};
struct comment : peg::seq<peg::one<'#'>, peg::until<peg::at<peg::eolf>>> {};
struct escape_hex : peg::seq<peg::one<'x'>, peg::must<peg::xdigit, peg::xdigit>> {};
struct escape_one : peg::one<'n', 't', '0', '\\', '"'> {};
struct escape : peg::if_must<peg::one<'\\'>, peg::sor<escape_hex, escape_one>> {};
struct plain : peg::not_one<'"', '\\', '\n', '\r', '\0'> {};
struct quote_end : peg::one<'"'> {};
struct text_body : peg::star<peg::sor<escape, plain>> {};
struct text : peg::if_must<peg::one<'"'>, text_body, quote_end> {};
struct number : peg::seq<peg::plus<peg::digit>, peg::not_at<peg::identifier_first>> {};
// A word goes on over - / . where a letter or digit follows: page-size, vn-io-fault/crossed-write, thread.step
struct word_char : peg::sor<peg::identifier_other, peg::seq<peg::one<'-', '/', '.'>, peg::at<peg::identifier_other>>> {};
struct word : peg::seq<peg::identifier_first, peg::star<word_char>> {};
struct sign : peg::sor<peg::string<'-', '>'>, peg::string<'.', '.', '.'>, peg::string<'.', '.'>, peg::string<'=', '='>,
                       peg::one<'=', ',', '[', ']', '(', ')', '{', '}', '+', '-', '|', ':', ';'>> {};
struct item : peg::sor<text, number, word, sign> {};
struct indent : peg::plus<blank> {};
struct line_end : peg::eolf {};
struct full_line : peg::seq<peg::opt<indent>, peg::star<peg::seq<item, peg::star<blank>>>, peg::opt<comment>, peg::must<line_end>> {};
struct grammar : peg::until<peg::eof, full_line> {};
// clang-format on

template <class Rule>
inline constexpr const char* what_is_wrong = nullptr;
template <>
inline constexpr const char* what_is_wrong<line_end> =
    "this is no part of the language; write names, numbers, \"text\", or one of -> ... .. == = , [ ] ( ) { } "
    "+ | :";
template <>
inline constexpr const char* what_is_wrong<quote_end> = "the text does not end on its line; close it with \"";
template <>
inline constexpr const char* what_is_wrong<peg::sor<escape_hex, escape_one>> =
    "there is no such escape; there are \\n \\t \\0 \\\\ \\\" and \\xNN";
template <>
inline constexpr const char* what_is_wrong<peg::xdigit> = "\\x needs two hexadecimal digits";
template <>
inline constexpr const char* what_is_wrong<text_body> = "the text cannot be read";

template <class Rule>
struct control : peg::normal<Rule> {
  template <class Input, class... States>
  static void raise(const Input& in, States&&...) {
    throw peg::parse_error(what_is_wrong<Rule> != nullptr ? what_is_wrong<Rule> : "this cannot be read", in);
  }
};

struct reader {
  std::vector<line> lines;
  line current{};
  std::string bytes{};  // of the text being read
};

template <class Input>
place place_of(const Input& in) {
  const auto at = in.position();
  return {at.line, at.column};
}

/// An indented line after an `expect` line goes on with it.
void take(reader& r) {
  const bool goes_on = r.current.indented && !r.lines.empty() && !r.lines.back().indented &&
                       r.lines.back().tokens.front().text == "expect";
  if (!goes_on) {
    r.lines.push_back(std::move(r.current));
    return;
  }
  auto& before = r.lines.back();
  before.tokens.insert(before.tokens.end(), std::make_move_iterator(r.current.tokens.begin()),
                       std::make_move_iterator(r.current.tokens.end()));
  before.end = r.current.end;
}

template <class Rule>
struct action {};

template <>
struct action<indent> {
  template <class Input>
  static void apply(const Input&, reader& r) {
    r.current.indented = true;
  }
};
template <>
struct action<plain> {
  template <class Input>
  static void apply(const Input& in, reader& r) {
    r.bytes += in.string_view();
  }
};
template <>
struct action<escape_one> {
  template <class Input>
  static void apply(const Input& in, reader& r) {
    switch (const char c = in.peek_char(); c) {
      case 'n':
        r.bytes += '\n';
        break;
      case 't':
        r.bytes += '\t';
        break;
      case '0':
        r.bytes += '\0';
        break;
      default:
        r.bytes += c;
    }
  }
};
template <>
struct action<escape_hex> {
  template <class Input>
  static void apply(const Input& in, reader& r) {
    unsigned value = 0;
    const auto digits = in.string_view().substr(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    r.bytes += static_cast<char>(value);
  }
};
template <>
struct action<text> {
  template <class Input>
  static void apply(const Input& in, reader& r) {
    r.current.tokens.push_back({token_kind::text, std::exchange(r.bytes, {}), 0, place_of(in)});
  }
};
template <>
struct action<number> {
  template <class Input>
  static void apply(const Input& in, reader& r) {
    token t{token_kind::number, in.string(), 0, place_of(in)};
    const auto got = std::from_chars(t.text.data(), t.text.data() + t.text.size(), t.number);
    if (got.ec != std::errc{}) throw peg::parse_error("the number is too large", in);
    r.current.tokens.push_back(std::move(t));
  }
};
template <>
struct action<word> {
  template <class Input>
  static void apply(const Input& in, reader& r) {
    r.current.tokens.push_back({token_kind::word, in.string(), 0, place_of(in)});
  }
};
template <>
struct action<sign> {
  template <class Input>
  static void apply(const Input& in, reader& r) {
    r.current.tokens.push_back({token_kind::sign, in.string(), 0, place_of(in)});
  }
};
template <>
struct action<line_end> {
  template <class Input>
  static void apply(const Input& in, reader& r) {
    r.current.end = place_of(in);
    if (!r.current.tokens.empty()) take(r);
    r.current = {};
  }
};

}  // namespace

std::vector<line> tokens_of(std::string_view source, const std::string& origin) {
  if (source.size() > file_bytes_max)
    throw file_error(origin, 1, 1, fmt::format("the file is too large; {} bytes are read", file_bytes_max));
  if (source.starts_with("\xEF\xBB\xBF")) source.remove_prefix(3);  // a byte order mark
  peg::memory_input<> in(source.data(), source.size(), origin);
  reader r;
  try {
    peg::parse<grammar, action, control>(in, r);
  } catch (const peg::parse_error& error) {
    const auto& at = error.positions().front();
    throw file_error(origin, at.line, at.column, std::string(error.message()));
  }
  return std::move(r.lines);
}

std::string escaped(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\\' || c == '"') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\0') {
      out += "\\0";
    } else if (code < 0x20 || code >= 0x7f) {
      out += fmt::format("\\x{:02x}", code);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace faultline::scenario::file

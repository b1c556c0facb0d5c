// SPDX-License-Identifier: BSD-2-Clause
// The lexical grammar of litmus files: code has C's comments, what is around it has nested (* *) too.
#include "scenario/litmus/ast.hpp"

#include <fmt/format.h>
#include <tao/pegtl.hpp>

#include <charconv>
#include <limits>
#include <utility>

namespace faultline::scenario::litmus {

namespace {

namespace peg = tao::pegtl;

// clang-format off
struct note_end : peg::string<'*', ')'> {};
struct note;
struct note_body : peg::until<note_end, peg::sor<note, peg::any>> {};
struct note : peg::seq<peg::string<'(', '*'>, peg::sor<note_body, peg::raise<note_body>>> {};  // raises where it began
struct c_comment_body : peg::until<peg::string<'*', '/'>> {};
struct c_comment : peg::seq<peg::string<'/', '*'>, peg::sor<c_comment_body, peg::raise<c_comment_body>>> {};
struct line_comment : peg::seq<peg::string<'/', '/'>, peg::until<peg::at<peg::eolf>>> {};
struct code_gap : peg::star<peg::sor<peg::space, c_comment, line_comment>> {};
struct gap_around : peg::star<peg::sor<peg::space, c_comment, line_comment, note>> {};

struct architecture : peg::plus<peg::sor<peg::alnum, peg::one<'_'>>> {};
struct name : peg::plus<peg::not_one<' ', '\t', '\r', '\n', '\0'>> {};
struct blanks : peg::star<peg::one<' ', '\t'>> {};
struct title_end : peg::eolf {};
struct title : peg::seq<peg::must<architecture>, blanks, peg::opt<name>, blanks, peg::must<title_end>> {};

struct text_body : peg::until<peg::one<'"'>, peg::not_one<'\0'>> {};
struct text : peg::seq<peg::one<'"'>, peg::sor<text_body, peg::raise<text_body>>> {};
struct hexadecimal : peg::seq<peg::one<'0'>, peg::one<'x', 'X'>, peg::plus<peg::xdigit>, peg::not_at<peg::identifier_other>> {};
struct decimal : peg::seq<peg::plus<peg::digit>, peg::not_at<peg::identifier_other>> {};
struct word : peg::identifier {};
struct sign : peg::sor<
    peg::string<'/', '\\'>, peg::string<'\\', '/'>, peg::string<'&', '&'>, peg::string<'|', '|'>, peg::string<'=', '='>,
    peg::string<'=', '>'>, peg::string<'!', '='>, peg::string<'<', '='>, peg::string<'>', '='>, peg::string<'+', '+'>,
    peg::string<'-', '-'>, peg::string<'-', '>'>, peg::string<'<', '<'>, peg::string<'>', '>'>,
    peg::seq<peg::one<'+', '-', '|', '&', '^', '*', '/', '%'>, peg::one<'='>>,
    peg::one<'{', '}', '(', ')', '[', ']', ';', ':', ',', '=', '<', '>', '+', '-', '*', '/', '%', '&', '|', '^', '!', '~',
             '?', '.'>> {};
struct item : peg::must<peg::sor<text, hexadecimal, decimal, word, sign>> {};
// clang-format on

template <class Rule>
inline constexpr const char* what_is_wrong = "this is no part of the language";
template <>
inline constexpr const char* what_is_wrong<note_body> = "the comment does not end; close it with *)";
template <>
inline constexpr const char* what_is_wrong<c_comment_body> = "the comment does not end; close it with */";
template <>
inline constexpr const char* what_is_wrong<text_body> = "the text does not end; close it with \"";
template <>
inline constexpr const char* what_is_wrong<architecture> = "a litmus test begins with the line C NAME";
template <>
inline constexpr const char* what_is_wrong<title_end> =
    "the first line is C NAME, and a name has no blanks in it";

template <class Rule>
struct control : peg::normal<Rule> {
  template <class Input, class... States>
  static void raise(const Input& in, States&&...) {
    throw peg::parse_error(what_is_wrong<Rule>, in);
  }
};

template <class Input>
place place_of(const Input& in) {
  const auto at = in.position();
  return {at.line, at.column};
}

template <class Input>
number number_of(const Input& in, std::string_view digits, int base) {
  number value = 0;
  const auto got = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (got.ec != std::errc{} || value > std::numeric_limits<std::uint32_t>::max())
    throw peg::parse_error("the number is too large; 32 bits are read", in);
  return value;
}

template <class Rule>
struct action {};
template <>
struct action<architecture> {
  template <class Input>
  static void apply(const Input& in, tokens& t) {
    t.architecture = in.string();
    t.architecture_at = place_of(in);
  }
};
template <>
struct action<name> {
  template <class Input>
  static void apply(const Input& in, tokens& t) {
    t.name = in.string();
    t.name_at = place_of(in);
  }
};
template <>
struct action<text> {
  template <class Input>
  static void apply(const Input& in, tokens& t) {
    const auto whole = in.string_view();
    t.list.push_back({token_kind::text, std::string(whole.substr(1, whole.size() - 2)), 0, place_of(in)});
  }
};
template <>
struct action<hexadecimal> {
  template <class Input>
  static void apply(const Input& in, tokens& t) {
    t.list.push_back(
        {token_kind::numeral, in.string(), number_of(in, in.string_view().substr(2), 16), place_of(in)});
  }
};
template <>
struct action<decimal> {
  template <class Input>
  static void apply(const Input& in, tokens& t) {
    t.list.push_back({token_kind::numeral, in.string(), number_of(in, in.string_view(), 10), place_of(in)});
  }
};
template <>
struct action<word> {
  template <class Input>
  static void apply(const Input& in, tokens& t) {
    t.list.push_back({token_kind::word, in.string(), 0, place_of(in)});
  }
};
template <>
struct action<sign> {
  template <class Input>
  static void apply(const Input& in, tokens& t) {
    t.list.push_back({token_kind::sign, in.string(), 0, place_of(in)});
  }
};

bool names_a_thread(std::string_view text) {
  return text.size() > 1 && text[0] == 'P' &&
         text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

/// Whether what comes next is code: from the ( behind P0 to the } that closes its body.
class where {
 public:
  [[nodiscard]] bool in_code() const noexcept { return in_code_; }
  void pass(const std::vector<token>& list) {
    const auto& last = list.back();
    if (!in_code_) {
      in_code_ = last.kind == token_kind::sign && last.text == "(" && list.size() > 1 &&
                 names_a_thread(list[list.size() - 2].text);
      depth_ = 0;
    } else if (last.kind == token_kind::sign && last.text == "{") {
      ++depth_;
    } else if (last.kind == token_kind::sign && last.text == "}") {
      --depth_;
      in_code_ = depth_ > 0;
    }
  }

 private:
  bool in_code_ = false;
  int depth_ = 0;
};

/// Notes in notes are the one thing here that the grammar recurses for.
constexpr std::size_t notes_in_notes_max = 1000;

void check_depth(std::string_view source, const std::string& origin) {
  std::size_t opened = 0;
  std::size_t line = 1;
  std::size_t line_begin = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\n') {
      ++line;
      line_begin = i + 1;
    }
    if (!source.substr(i).starts_with("(*")) continue;
    if (++opened > notes_in_notes_max)
      throw file_error(
          origin, line, i - line_begin + 1,
          fmt::format("more than {} comments (* *); that is no litmus test", notes_in_notes_max));
  }
}

}  // namespace

tokens tokens_of(std::string_view source, const std::string& origin) {
  if (source.size() > file_bytes_max)
    throw file_error(origin, 1, 1, fmt::format("the file is too large; {} bytes are read", file_bytes_max));
  if (source.starts_with("\xEF\xBB\xBF")) source.remove_prefix(3);  // a byte order mark
  check_depth(source, origin);
  peg::memory_input<> in(source.data(), source.size(), origin);
  tokens out;
  try {
    peg::parse<gap_around, action, control>(in);
    peg::parse<title, action, control>(in, out);
    if (out.architecture == "C") {  // others have a grammar of their own: it is refused as a whole
      where w;
      for (;;) {
        w.in_code() ? peg::parse<code_gap, action, control>(in) : peg::parse<gap_around, action, control>(in);
        if (in.empty()) break;
        peg::parse<item, action, control>(in, out);
        w.pass(out.list);
      }
    }
  } catch (const peg::parse_error& error) {
    const auto& at = error.positions().front();
    throw file_error(origin, at.line, at.column, std::string(error.message()));
  }
  out.list.push_back({token_kind::end, "the end of the file", 0, place_of(in)});
  return out;
}

}  // namespace faultline::scenario::litmus

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Goes along the tokens of one line. Whatever is not as asked for is a file_error at its place.
#include "scenario/file/ast.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace faultline::scenario::file {

class cursor {
 public:
  /// \param page_size  of the scenario's kernel, for sizes in pages
  cursor(const line& of, const std::string& origin, std::uint64_t page_size) noexcept
      : line_(of), origin_(origin), page_size_(page_size) {}

  [[nodiscard]] bool done() const noexcept { return next_ == line_.tokens.size(); }
  [[nodiscard]] place here() const noexcept { return done() ? line_.end : line_.tokens[next_].at; }
  [[nodiscard]] place last() const noexcept { return line_.tokens[next_ == 0 ? 0 : next_ - 1].at; }
  [[noreturn]] void fail(place at, const std::string& what) const {
    throw file_error(origin_, at.line, at.column, what);
  }
  [[noreturn]] void fail(const std::string& what) const { fail(here(), what); }

  [[nodiscard]] bool at(token_kind kind) const noexcept {
    return !done() && line_.tokens[next_].kind == kind;
  }
  [[nodiscard]] bool at_sign(std::string_view text) const noexcept {
    return at(token_kind::sign) && line_.tokens[next_].text == text;
  }
  [[nodiscard]] bool at_word(std::string_view text) const noexcept {
    return at(token_kind::word) && line_.tokens[next_].text == text;
  }
  /// Is there `name =` here?
  [[nodiscard]] bool at_setting() const noexcept {
    return at(token_kind::word) && next_ + 1 < line_.tokens.size() &&
           line_.tokens[next_ + 1].kind == token_kind::sign && line_.tokens[next_ + 1].text == "=";
  }
  /// Goes on if it is there.
  bool sign(std::string_view text) noexcept { return at_sign(text) && (++next_, true); }
  bool word(std::string_view text) noexcept { return at_word(text) && (++next_, true); }

  /// \param what  "the name of a file": for the error
  const std::string& a_word(std::string_view what);
  const std::string& a_text(std::string_view what);
  std::uint64_t a_number(std::string_view what, std::uint64_t most);
  /// Bytes, or pages: `8`, `2 pages`.
  std::uint64_t a_size(std::string_view what, std::uint64_t most);
  /// With a sign before it, perhaps.
  std::int64_t a_signed_size(std::string_view what);
  void the_sign(std::string_view text, std::string_view where);
  /// One of `valid`. \param kind  "verdict": for the error
  std::string_view one_of(std::string_view kind, std::span<const std::string_view> valid);
  bool yes_or_no(std::string_view what);
  /// Fails unless the line ends here.
  void finish() const;

  /// The line as it is written, for messages. Without a result that is expected.
  [[nodiscard]] std::string shown() const;

 private:
  const line& line_;
  const std::string& origin_;
  std::uint64_t page_size_;
  std::size_t next_ = 0;
};

}  // namespace faultline::scenario::file

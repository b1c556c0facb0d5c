// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A scenario file as lines of tokens, each with its place.
#include <faultline/scenario/file.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::scenario::file {

struct place {
  std::size_t line = 1;
  std::size_t column = 1;
};

enum class token_kind : std::uint8_t { word, number, text, sign };

struct token {
  token_kind kind = token_kind::word;
  std::string text;          ///< of a `text`, the bytes it stands for
  std::uint64_t number = 0;  ///< of a `number`
  place at;
};

struct line {
  bool indented = false;
  std::vector<token> tokens;  ///< at least one
  place end;                  ///< behind the last token
};

/// \errors file_error
[[nodiscard]] std::vector<line> tokens_of(std::string_view text, const std::string& origin);

/// "a\n\x01" for messages, outcome lines and results: printing characters as they are.
[[nodiscard]] std::string escaped(std::string_view bytes);

}  // namespace faultline::scenario::file

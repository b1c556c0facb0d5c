// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A litmus test as the parser leaves it: names are resolved to locations and registers, types are gone.
#include <faultline/scenario/litmus.hpp>

#include "scenario/file/ast.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace faultline::scenario::litmus {

using file::place;

/// A value. Addresses are values far from those a test computes with, one range of them for each location: so that any
/// arithmetic on an address that ends near where it began still means the location (`x + (r0 ^ r0)`).
using number = std::int64_t;
[[nodiscard]] number address_of(std::size_t location) noexcept;
/// The location whose range `value` lies in.
[[nodiscard]] std::optional<std::size_t> location_at(number value, std::size_t locations) noexcept;

enum class op : std::uint8_t {
  constant,  ///< value
  local,     ///< register `index`
  address,   ///< of location `index`
  negate,
  complement,
  negation,
  times,
  plus,
  minus,
  less,
  more,
  at_most,
  at_least,
  equal,
  unequal,
  bit_and,
  bit_xor,
  bit_or,
  and_also,
  or_else,
  pointee,  ///< *e: a plain load, or a seq_cst one of an atomic location
  load,     ///< operands: address
  store,    ///< address, value
  exchange,
  add,
  sub,
  with_or,
  with_and,
  with_xor,          ///< address, value
  compare_exchange,  ///< address, desired; expected is register `index`
  fence,
};

struct expression {
  op what = op::constant;
  number value = 0;
  std::size_t index = 0;
  std::memory_order order = std::memory_order_seq_cst;
  std::memory_order failure = std::memory_order_seq_cst;
  std::vector<expression> operands{};
  place at{};
};

struct statement {
  enum class kind : std::uint8_t {
    assign,    ///< register `index` = value
    write,     ///< *target = value
    evaluate,  ///< value
    choose,    ///< if (value) yes else no
    block,     ///< yes
  };
  kind what = kind::evaluate;
  std::size_t index = 0;
  expression target{};
  expression value{};
  std::vector<statement> yes{};
  std::vector<statement> no{};
};

struct location {
  std::string name;
  number initial = 0;
  bool atomic = false;
};

struct thread {
  std::vector<std::string> registers{};
  std::vector<number> initial{};  ///< of each register
  std::vector<statement> body{};
};

/// Something of the final state: a location, or a register of a thread.
struct variable {
  std::optional<std::size_t> thread{};
  std::size_t index = 0;
  friend bool operator==(const variable&, const variable&) = default;
};

struct proposition {
  enum class kind : std::uint8_t { constant, equal, unequal, no, both, either, implies };
  kind what = kind::constant;
  std::size_t observed = 0;  ///< of an atom: which of program::observed
  number value = 1;          ///< of an atom, or the constant
  std::vector<proposition> parts{};
};

struct program {
  std::vector<location> locations{};
  std::vector<thread> threads{};
  std::vector<variable> observed{};  ///< in the order in which they are shown
  std::optional<proposition> filter{};
  proposition condition{};
};

/// \param seen  a value for each of program::observed
[[nodiscard]] bool holds(const proposition& p, const std::vector<number>& seen);
/// "0:r0", "x"
[[nodiscard]] std::string name_of(const program& p, const variable& v);
/// "3", "x", "x+4"
[[nodiscard]] std::string text_of(const program& p, number value);
/// "0:r0=1; x=2;"
[[nodiscard]] std::string state_text(const program& p, const std::vector<number>& seen);

enum class token_kind : std::uint8_t { word, numeral, text, sign, end };
struct token {
  token_kind kind = token_kind::end;
  std::string text{};
  number value = 0;
  place at{};
};
struct tokens {
  std::string architecture{};
  place architecture_at{};
  std::string name{};
  place name_at{};
  std::vector<token> list{};  ///< the last one is the end of the file
};
/// \errors file_error
[[nodiscard]] tokens tokens_of(std::string_view text, const std::string& origin);

}  // namespace faultline::scenario::litmus

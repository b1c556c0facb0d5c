// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Goes along the tokens of a litmus file. Whatever is not as asked for is a file_error at its place.
#include "scenario/litmus/ast.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::scenario::litmus {

/// A type as far as it matters.
struct type {
  bool atomic = false;
  std::size_t stars = 0;
};

class parser {
 public:
  parser(tokens of, const std::string& origin) : tokens_(std::move(of)), origin_(origin) {}
  [[nodiscard]] test whole();

 private:
  /// What is known of a location beside what the program needs.
  struct known_location {
    std::optional<place> said_atomic{};  ///< by a type
    std::optional<place> said_plain{};
    std::optional<place> used_atomic{};  ///< by a call
    std::optional<place> used_plain{};   ///< by *x where the type is not atomic
    [[nodiscard]] bool nothing() const noexcept {
      return !said_atomic && !said_plain && !used_atomic && !used_plain;
    }
  };

  // Tokens.
  [[nodiscard]] const token& here() const noexcept { return tokens_.list[next_]; }
  [[nodiscard]] const token& after() const noexcept {
    return tokens_.list[next_ + 1 < tokens_.list.size() ? next_ + 1 : next_];
  }
  [[noreturn]] void fail(place at, const std::string& what) const;
  [[noreturn]] void fail_here(std::string_view wanted) const;
  [[nodiscard]] bool at_end() const noexcept { return here().kind == token_kind::end; }
  [[nodiscard]] bool at_sign(std::string_view text) const noexcept {
    return here().kind == token_kind::sign && here().text == text;
  }
  [[nodiscard]] bool at_word(std::string_view text) const noexcept {
    return here().kind == token_kind::word && here().text == text;
  }
  bool sign(std::string_view text) noexcept { return at_sign(text) && (++next_, true); }
  bool word(std::string_view text) noexcept { return at_word(text) && (++next_, true); }
  void the_sign(std::string_view text, std::string_view where);
  const token& a_word(std::string_view what);

  // parse.cpp: what is around the code.
  void initial_state();
  void initial_item();
  void header(std::size_t thread);
  void a_thread();
  [[nodiscard]] bool at_type() const noexcept;
  type a_type();
  void said(std::size_t location, const type& t, place at);
  void check_locations() const;
  std::size_t location(const std::string& name);
  number a_value();

  // condition.cpp
  void final_part(test& out);
  [[nodiscard]] std::string written(std::size_t first) const;
  void observed_list();
  std::size_t observe(const variable& v);
  variable a_variable();
  proposition a_proposition();
  proposition an_implication();
  proposition a_disjunction();
  proposition a_conjunction();
  proposition a_negation();
  proposition an_atom();
  number a_final_value();

  // code.cpp: one thread's body.
  std::vector<statement> a_block();
  void a_statement(std::vector<statement>& out);
  void a_declaration(std::vector<statement>& out);
  void an_assignment(std::vector<statement>& out);
  void a_write(std::vector<statement>& out);
  statement a_choice();
  expression an_expression(int level = 0);
  expression a_unary();
  expression a_primary();
  expression a_call();
  expression an_address(std::string_view call);
  std::memory_order an_order(std::string_view call, std::string_view barred);
  std::size_t make_register(const std::string& name, place at);
  [[nodiscard]] std::optional<std::size_t> register_named(std::string_view name) const noexcept;
  [[nodiscard]] std::string names_here() const;
  void used_plainly(const expression& address);

  /// Recursion is bounded, so that no file overflows the stack.
  struct deeper {
    explicit deeper(parser& p) : of(p) {
      if (++of.depth_ > depth_max) of.fail(of.here().at, "nested too deep; a litmus test is smaller");
    }
    deeper(const deeper&) = delete;
    deeper& operator=(const deeper&) = delete;
    ~deeper() { --of.depth_; }
    parser& of;
  };
  static constexpr int depth_max = 60;
  static constexpr std::size_t threads_max = 8;
  static constexpr std::size_t locations_max = 32;
  static constexpr std::size_t registers_max = 64;

  tokens tokens_;
  const std::string& origin_;
  std::size_t next_ = 0;
  int depth_ = 0;
  program program_{};
  bool has_consume_ = false;
  bool atomic_pointees_ = false;         // does some atomic access go through a pointer that was loaded?
  std::vector<known_location> known_{};  // as program_.locations
  std::map<std::size_t, std::vector<std::pair<std::string, number>>> set_{};  // registers, by thread
  std::map<std::string, type> parameters_{};                                  // of the thread being read
};

}  // namespace faultline::scenario::litmus

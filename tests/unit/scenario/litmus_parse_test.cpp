// SPDX-License-Identifier: BSD-2-Clause
// Litmus files: what is read, what is refused and where, and shipped files with mistakes in them.
#include <faultline/scenario/litmus.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

namespace faultline {
namespace {

namespace litmus = scenario::litmus;
using litmus::memory_model;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string refusal(const std::string& text) {
  try {
    (void)litmus::parse(text, "f");
  } catch (const scenario::file_error& error) {
    return error.what();
  }
  return "read";
}

/// A body of P0 that has x, y (atomic) and p (plain).
std::string with_body(const std::string& body, const std::string& question = "exists (x=0)") {
  return "C t\n{ }\nP0 (atomic_int* x, atomic_int* y, int* p) {\n" + body + "\n}\n" + question + "\n";
}

litmus::observation under_sc(const std::string& text) {
  return litmus::check_axioms(litmus::parse(text, "f"), memory_model::sc).observed(litmus::no_gaps);
}

constexpr auto always = litmus::observation::always;

TEST(LitmusParse, everything_of_the_subset_is_read) {
  const auto t = litmus::parse(
      "C everything.of+it\n"
      "\"a text\"\n"
      "(* a comment (* in a comment *) *) // and one of C\n"
      "{ x=0; [y]=1; int p = 5; atomic_int a = 0; int* q = &x; atomic_int b; 0:r5=7; int 1:r6=-2; }\n"
      "P0 (atomic_int* x, volatile int* y, int* p, atomic_int* a) {\n"
      "  int r0 = atomic_load_explicit(y, memory_order_acquire);  // y: volatile int*, but used as an "
      "atomic\n"
      "  atomic_thread_fence(memory_order_seq_cst); /* (* not one of OCaml's */\n"
      "  *p = (*p + 1) * 2; int r1 = *p, r2;\n"
      "  r2 = atomic_exchange_explicit(a, 3, memory_order_acq_rel);\n"
      "  int r3 = atomic_fetch_add(a, 1); r3 = atomic_fetch_sub(a, 1); r3 = atomic_fetch_or(a, 4);\n"
      "  r3 = atomic_fetch_and_explicit(a, 6, memory_order_relaxed); (void)atomic_fetch_xor(a, 2);\n"
      "  int e = 4; int ok = atomic_compare_exchange_strong(a, &e, 9);\n"
      "  int e2 = 0; int ok2 = atomic_compare_exchange_weak_explicit(a, &e2, 1, memory_order_release,\n"
      "    memory_order_relaxed);\n"
      "  *x = 1; int s = *x;\n"
      "  if (r0 == 1 && !(r1 < 12)) { r5 += 1; } else r5 = 0;\n"
      "  int m = -(int)r5; m ^= m; int n = ~0x0F & 0xff; n++;\n"
      "}\n"
      "P1 () { int r0 = r6 > 0 || 1; { ; } }\n"
      "locations [x; a; 0:r0;]\n"
      "filter (true)\n"
      "forall (0:r0=1 /\\ (p=12 \\/ false) /\\ not (0:r5!=8) /\\ 0:m=0 /\\ 0:n=241 /\\ 0:r2=0 /\\ 0:r3=7\n"
      "  /\\ 0:ok=1 /\\ 0:e=4 /\\ 0:ok2=0 /\\ 0:e2=9 /\\ a=9 /\\ ~([x]=2) /\\ 0:s=1 /\\ q=&x /\\ 1:r6=-2 /\\ "
      "(false => x=7))\n",
      "f");
  EXPECT_EQ(t.name, "everything.of+it");
  EXPECT_EQ(t.doc, "a text");
  EXPECT_EQ(t.quantifier, litmus::quantifier::forall);
  EXPECT_THAT(t.condition, StartsWith("forall (0:r0=1 /\\ (p=12 \\/ false) /\\ not (0:r5!=8) /\\"));
  const auto a = litmus::check_axioms(t, memory_model::sc);
  ASSERT_EQ(a.states.size(), 1U) << (a.undefined ? a.undefined->text : a.incomplete);
  EXPECT_EQ(a.observed(litmus::no_gaps), always) << a.states.front().text;
}

TEST(LitmusParse, arithmetic_on_an_address_stays_in_its_location) {
  EXPECT_EQ(
      under_sc(with_body("int r0 = 3; *(p + (r0 & 128)) = 4; int r1 = *(p + 1);", "forall (p=4 /\\ 0:r1=4)")),
      always);
}

TEST(LitmusParse, a_line_of_settings_behind_the_title_is_skipped) {
  EXPECT_EQ(refusal("C t\n\"doc\"\nOrig=Rfe Fre PodWW\n{ }\nP0 (atomic_int* x) { }\nexists (x=0)"), "read");
}

TEST(LitmusRefused, tests_in_other_languages) {
  EXPECT_EQ(refusal("X86 SB\n{ x=0; }\n P0 | P1 ;\n"),
            "f:1:1: \"X86\" is no test in C; the first line is C NAME, and other languages (assembly, LISA) "
            "are not read");
  EXPECT_THAT(refusal("AArch64 MP\n{ 0:X1=x; }\n"), StartsWith("f:1:1: \"AArch64\" is no test in C"));
  EXPECT_THAT(refusal("LISA t\n"), StartsWith("f:1:1: \"LISA\" is no test in C"));
  EXPECT_THAT(refusal(""), AllOf(StartsWith("f:1:1: "), HasSubstr("begins with the line C NAME")));
  EXPECT_THAT(refusal("C\n{}"), AllOf(StartsWith("f:1:1: "), HasSubstr("has no name")));
  EXPECT_THAT(refusal("C a b\n{}"), AllOf(StartsWith("f:1:5: "), HasSubstr("no blanks")));
}

TEST(LitmusRefused, primitives_of_the_linux_kernel) {
  const auto got = refusal("C t\n{ }\nP0 (int* x) {\n  WRITE_ONCE(*x, 1);\n}\nexists (x=1)");
  EXPECT_THAT(got, AllOf(StartsWith("f:4:3: WRITE_ONCE is of the Linux kernel's model"),
                         HasSubstr("C11 atomics are"), HasSubstr("atomic_load")));
  for (const char* call :
       {"smp_mb()", "rcu_read_lock()", "smp_store_release(x, 1)", "spin_lock(x)", "xchg(x, 1)"})
    EXPECT_THAT(refusal(with_body(std::string(call) + ";")), HasSubstr("Linux kernel's")) << call;
  EXPECT_THAT(refusal(with_body("int r0 = READ_ONCE(*x);")), StartsWith("f:4:10: READ_ONCE is of"));
}

struct wrong {
  const char* body;
  const char* place;
  const char* says;
};

TEST(LitmusRefused, what_is_wrong_in_a_body_is_named_with_its_place) {
  for (const auto& w : std::vector<wrong>{
           {"while (1) { }", "4:1", "while is not in the subset of C that is read"},
           {"int i = 0; for (;;) { }", "4:12", "for is not in the subset"},
           {"return;", "4:1", "return is not in the subset"},
           {"x = 1;", "4:1", "x is a location; *x = 1 stores to it"},
           {"int x = 1;", "4:5", "x is a location"},
           {"*x += 1;", "4:4", "atomic_fetch_add and the like"},
           {"r1 = r0;", "4:6", "\"r0\" is not known here; there are: p, x, y"},
           {"r1++;", "4:1", "\"r1\" is not known here"},
           {"int r0 = atomic_lod(x);", "4:10", "did you mean atomic_load?"},
           {"atomic_store_explicit(x, 1, memory_order_acquire);", "4:29",
            "atomic_store_explicit cannot be memory_order_acquire"},
           {"int r = atomic_load_explicit(x, memory_order_release);", "4:33",
            "cannot be memory_order_release"},
           {"int r = atomic_load_explicit(x, relaxed);", "4:33", "\"relaxed\" is no memory order"},
           {"int r = atomic_load_explicit(x);", "4:31", "a memory order comes next"},
           {"int r = atomic_store(x, 1);", "4:9", "have no value"},
           {"int r = &x;", "4:9", "a parameter is an address already"},
           {"int r = atomic_compare_exchange_strong(x, 1, 2);", "4:43", "as &r"},
           {"int r = 99999999999;", "4:9", "too large"},
           {"int r = 1 ? 2 : 3;", "4:11", "; (ends a statement)"},
           {"int r[2];", "4:6", "arrays are not understood"},
           {"if (1) int r = 2", "5:1", "\"}\" is not ; (ends a statement)"},
           {"struct s r;", "4:1", "struct is not understood"},
           {"int r = 'a';", "4:9", "no part of the language"},
           {"/* no end", "4:3", "close it with */"},
       }) {
    EXPECT_THAT(refusal(with_body(w.body)),
                AllOf(StartsWith("f:" + std::string(w.place) + ": "), HasSubstr(w.says)))
        << w.body;
  }
}

TEST(LitmusRefused, what_is_wrong_around_the_threads) {
  const std::string head = "C t\n{ x=0; }\nP0 (atomic_int* x) { int r0 = *x; }\n";
  for (const auto& [text, place, says] : std::vector<std::array<std::string, 3>>{
           {head, "4:1", "the file ends where exists (...)"},
           {head + "exists (0:r1=1)", "4:11", "P0 has no register r1; it has r0"},
           {head + "exists (1:r0=1)", "4:9", "there is no thread 1"},
           {head + "exists (z=1)", "4:9", "there is no location z; there are: x"},
           {head + "exists (x=1", "4:12", "the file ends where ) (closes () is due"},
           {head + "exists (x)", "4:10", "= and a value"},
           {head + "exists (x=1) more", "4:14", "the end of the file"},
           {head + "P2 () { } exists (x=1)", "4:1", "\"P2\" is not P1"},
           {"C t\n{ x=0 y=0; }\n", "2:7", "; (ends each item"},
           {"C t\n{ int x[2]; }\n", "2:8", "arrays"},
           {"C t\n{ x=0;", "2:7", "the file ends where } (closes the initial state)"},
           {"C t\n{ }\nexists (x=0)", "3:1", "a thread: P0"},
           {"C t\n{ }\nP0 (atomic_int x) { }\nexists (x=0)", "3:5",
            "x is a location, so its parameter is a pointer"},
           {"C t\n{ }\nP0 (atomic_int* x, int* x) { }\nexists (x=0)", "3:25", "x twice"},
           {"C t\n{ }\nP0 (atomic_int* x) { }\nP1 (int* x) { }\nexists (x=0)", "4:5",
            "x is not atomic here, and is at 3:5"},
           {"C t\n{ }\nP0 (int* x) { *x = 1; }\nP1 (volatile int* x) { atomic_store(x, 2); }\nexists (x=0)",
            "3:15", "a plain access to x, which is atomic at 4:37"},
           {"C t\n{ }\nP0 (atomic_int* x) { int r = *y; }\nP1 (atomic_int* y) { }\nexists (x=0)", "3:31",
            "\"y\" is not known"},
           {"C t\n{ y=0; }\nP0 (atomic_int* x) { int r = *y; }\nexists (x=0)", "3:31",
            "y is no parameter of P0"},
           {"C t\n{ 3:r0=1; }\nP0 (atomic_int* x) { }\nexists (x=0)", "1:3",
            "register of P3, which is not there"},
           {"C t\n(* never closed\n{ }", "2:3", "close it with *)"},
       }) {
    EXPECT_THAT(refusal(text), AllOf(StartsWith("f:" + place + ": "), HasSubstr(says))) << text;
  }
}

TEST(LitmusRefused, deep_nesting) {
  EXPECT_THAT(refusal(with_body("int r = " + std::string(100'000, '(') + "1;")),
              HasSubstr("nested too deep"));
  EXPECT_THAT(refusal(with_body("int r = " + std::string(100'000, '!') + "1;")),
              HasSubstr("nested too deep"));
  EXPECT_THAT(refusal(with_body(std::string(100'000, '{'))), HasSubstr("nested too deep"));
  EXPECT_THAT(refusal(with_body("", "exists " + std::string(100'000, '~') + "(x=0)")),
              HasSubstr("nested too deep"));
  std::string notes;
  for (int i = 0; i < 100'000; ++i) notes += "(* ";
  EXPECT_THAT(refusal("C t\n" + notes), HasSubstr("comments"));
  std::string sum = "int r = 1";
  for (int i = 0; i < 100'000; ++i) sum += " + 1";
  EXPECT_THAT(refusal(with_body(sum + ";")), HasSubstr("too long"));
}

// --- mistakes in shipped files ----------------------------------------------------------------------------------------

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

/// Begin and end of a word, or of what is between two.
std::pair<std::size_t, std::size_t> part(const std::string& text, random_numbers& next) {
  const auto begin = next.below(text.size());
  const auto is_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  auto from = begin;
  auto to = begin;
  while (from > 0 && is_word(text[from - 1]) == is_word(text[begin])) --from;
  while (to < text.size() && is_word(text[to]) == is_word(text[begin])) ++to;
  return {from, to};
}

std::string with_a_mistake(std::string text, random_numbers& next) {
  if (text.empty()) return text;
  const auto [begin, end] = part(text, next);
  switch (next.below(6)) {
    case 0:
      text[next.below(text.size())] = static_cast<char>(next.below(256));
      break;
    case 1:
      text.erase(begin, end - begin);
      break;
    case 2: {
      const auto other = part(text, next);
      text.replace(begin, end - begin, text.substr(other.first, other.second - other.first));
      break;
    }
    case 3: {
      const auto other = part(text, next);
      text.insert(begin, text.substr(other.first, other.second - other.first));
      break;
    }
    case 4:
      text.replace(begin, end - begin, std::to_string(next.below(20)));
      break;
    default:
      text.erase(next.below(text.size()));
  }
  return text;
}

TEST(LitmusFuzz, a_file_with_mistakes_is_refused_at_a_place_in_it_or_runs) {
  random_numbers next(1);
  int refused = 0;
  int answered = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto text = std::string(litmus::shipped()[next.below(litmus::shipped().size())].text);
    for (auto mistakes = 1 + next.below(3); mistakes > 0; --mistakes) text = with_a_mistake(text, next);
    try {
      const auto t = litmus::parse(text, "f");
      ++answered;
      (void)litmus::check_axioms(t, memory_model::weak, {.candidates_max = 300, .paths_max = 100});
      (void)litmus::run(t, memory_model::weak, {.executions_max = 20});
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
  EXPECT_GT(answered, 1000);
}

}  // namespace
}  // namespace faultline

// SPDX-License-Identifier: BSD-2-Clause
// The sequential models: histories known to be right or wrong, and random ones against a check of every order.
#include <faultline/scenario/specification/fd_table.hpp>
#include <faultline/scenario/specification/files.hpp>
#include <faultline/scenario/specification/names.hpp>
#include <faultline/sim/linearizable.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace faultline {
namespace {

using specification::fd_table;
using specification::files;
using specification::names;
using testing::HasSubstr;

static_assert(sim::deterministic_model<fd_table> && sim::sequential_model<fd_table>);
static_assert(sim::deterministic_model<names> && sim::sequential_model<names>);
static_assert(sim::deterministic_model<files> && sim::sequential_model<files>);

class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint32_t below(std::uint32_t n) {
    auto z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<std::uint32_t>((z ^ (z >> 31U)) % n);
  }

 private:
  std::uint64_t state_;
};

// --- each model alone -------------------------------------------------------------------------------------------------

using fd = fd_table::op;

fd_table::result gave(int value) { return {.value = value}; }
fd_table::result failed(errc e) { return {.error = e}; }

TEST(FdTableModel, gives_the_lowest_free_number_until_there_is_none) {
  fd_table t(3);
  EXPECT_EQ(t.apply({.what = fd::open, .file = 7}), gave(0));
  EXPECT_EQ(t.apply({.what = fd::open, .file = 8}), gave(1));
  EXPECT_EQ(t.apply({.what = fd::dup, .fd = 1}), gave(2));
  EXPECT_EQ(t.apply({.what = fd::open, .file = 9}), failed(errc::emfile));
  EXPECT_EQ(t.apply({.what = fd::dup, .fd = 0}), failed(errc::emfile));
  EXPECT_EQ(t.apply({.what = fd::dup, .fd = 5}), failed(errc::ebadf));
  EXPECT_EQ(t.apply({.what = fd::close, .fd = 0}), gave(0));
  EXPECT_EQ(t.apply({.what = fd::close, .fd = 0}), failed(errc::ebadf));
  EXPECT_EQ(t.apply({.what = fd::fget, .fd = 0}), failed(errc::ebadf));
  EXPECT_EQ(t.apply({.what = fd::fget, .fd = 2}), gave(8));
  EXPECT_EQ(t.apply({.what = fd::open, .file = 9}), gave(0));
  EXPECT_EQ(t.apply({.what = fd::fget, .fd = -1}), failed(errc::ebadf));
}

TEST(FdTableModel, dup2_replaces_and_onto_itself_does_nothing) {
  fd_table t(4);
  (void)t.apply({.what = fd::open, .file = 7});
  EXPECT_EQ(t.apply({.what = fd::dup2, .fd = 0, .to = 3}), gave(3));
  EXPECT_EQ(t.apply({.what = fd::fget, .fd = 3}), gave(7));
  EXPECT_EQ(t.apply({.what = fd::dup2, .fd = 0, .to = 0}), gave(0));
  EXPECT_EQ(t.apply({.what = fd::dup2, .fd = 0, .to = 4}), failed(errc::ebadf));
  EXPECT_EQ(t.apply({.what = fd::dup2, .fd = 0, .to = -1}), failed(errc::ebadf));
  EXPECT_EQ(t.apply({.what = fd::dup2, .fd = 1, .to = 1}), failed(errc::ebadf));
}

TEST(FdTableModel, tables_with_the_same_numbers_open_are_equal_whatever_they_were) {
  fd_table a(8);
  fd_table b(8);
  (void)a.apply({.what = fd::open, .file = 1});
  (void)b.apply({.what = fd::open, .file = 1});
  (void)a.apply({.what = fd::dup2, .fd = 0, .to = 6});
  EXPECT_NE(a, b);
  (void)a.apply({.what = fd::close, .fd = 6});
  EXPECT_EQ(a, b);
}

/// A lookup of a number that is recycled gives the old file or the new one, and none that was never there.
TEST(FdTableModel, a_lookup_beside_a_close_and_an_open_gives_one_of_the_two_files) {
  for (const int seen : {7, 8, 9}) {
    fd_table t(4);
    (void)t.apply({.what = fd::open, .file = 7});
    sim::history<fd_table> h;
    h.invoked(0, {.what = fd::fget, .fd = 0});
    h.invoked(1, {.what = fd::close, .fd = 0});
    h.returned(1, gave(0));
    h.invoked(1, {.what = fd::open, .file = 8});
    h.returned(1, gave(0));
    h.returned(0, gave(seen));
    EXPECT_EQ(sim::check(t, h).linearizable, seen != 9) << seen;
  }
  sim::history<fd_table> late;  // a stale table: the lookup begins when the close has returned
  late.invoked(1, {.what = fd::close, .fd = 0});
  late.returned(1, gave(0));
  late.invoked(0, {.what = fd::fget, .fd = 0});
  late.returned(0, gave(7));
  fd_table t(4);
  (void)t.apply({.what = fd::open, .file = 7});
  EXPECT_THAT(sim::check(t, late).text, HasSubstr("T0: fget 0 -> 7 fits at no point"));
}

using name_op = names::op;

TEST(NamesModel, creates_finds_renames_and_unlinks) {
  names d({{"a", 1}});
  EXPECT_EQ(d.apply({.what = name_op::lookup, .name = "a"}), (names::result{.file = 1}));
  EXPECT_EQ(d.apply({.what = name_op::create, .name = "a", .file = 2}),
            (names::result{.error = errc::eexist}));
  EXPECT_EQ(d.apply({.what = name_op::create, .name = "b", .file = 2}), names::result{});
  EXPECT_EQ(d.apply({.what = name_op::rename, .name = "a", .to = "b"}), names::result{});
  EXPECT_EQ(d.apply({.what = name_op::lookup, .name = "b"}), (names::result{.file = 1}));
  EXPECT_EQ(d.apply({.what = name_op::lookup, .name = "a"}), (names::result{.error = errc::enoent}));
  EXPECT_EQ(d.apply({.what = name_op::rename, .name = "a", .to = "c"}),
            (names::result{.error = errc::enoent}));
  EXPECT_EQ(d.apply({.what = name_op::rename, .name = "b", .to = "b"}), names::result{});
  EXPECT_EQ(d.apply({.what = name_op::unlink, .name = "b"}), names::result{});
  EXPECT_EQ(d.apply({.what = name_op::unlink, .name = "b"}), (names::result{.error = errc::enoent}));
  EXPECT_EQ(d, names{});
}

/// rename(2) is atomic: who looks up both names beside it finds one of them.
TEST(NamesModel, a_file_under_neither_of_its_names_is_wrong) {
  for (const auto second : {errc::ok, errc::enoent}) {
    sim::history<names> h;
    h.invoked(0, {.what = name_op::rename, .name = "a", .to = "b"});
    h.invoked(1, {.what = name_op::lookup, .name = "a"});
    h.returned(1, {.error = errc::enoent});
    h.invoked(1, {.what = name_op::lookup, .name = "b"});
    h.returned(1, {.error = second, .file = second == errc::ok ? 1 : 0});
    h.returned(0, {});
    EXPECT_EQ(sim::check(names({{"a", 1}}), h).linearizable, second == errc::ok);
  }
}

using file_op = files::op;

struct one_file {
  files all;
  std::size_t process = all.add_process();
  int fd = 0;
  explicit one_file(std::string_view contents, kern::open_flags how = kern::o_rdwr, files::limits with = {})
      : all(with) {
    fd = static_cast<int>(all.open(process, all.add_file(contents), how).value);
  }
  std::string operator()(files::call c) {
    c.fd = c.fd < 0 ? fd : c.fd;
    return files::text(all.apply(c));
  }
};

TEST(FilesModel, transfers_move_the_offset_and_positioned_ones_do_not) {
  one_file f("abcdef");
  EXPECT_EQ(f({.what = file_op::read, .bytes = 2}), "2 \"ab\"");
  EXPECT_EQ(f({.what = file_op::pread, .bytes = 9, .offset = 4}), "2 \"ef\"");
  EXPECT_EQ(f({.what = file_op::write, .data = "XY"}), "2");
  EXPECT_EQ(f({.what = file_op::pwrite, .offset = 8, .data = "Z"}), "1");
  EXPECT_EQ(f({.what = file_op::lseek, .from = files::whence::current}), "4");
  EXPECT_EQ(f({.what = file_op::read, .bytes = 9}), "5 \"ef\\0\\0Z\"");
  EXPECT_EQ(f({.what = file_op::read, .bytes = 9}), "0");
  EXPECT_EQ(f({.what = file_op::size}), "9");
  EXPECT_EQ(f({.what = file_op::ftruncate, .offset = 2}), "0");
  EXPECT_EQ(f({.what = file_op::ftruncate, .offset = 4}), "0");
  EXPECT_EQ(f.all.contents(0), std::string("ab\0\0", 4));
  EXPECT_EQ(f({.what = file_op::lseek, .offset = -1, .from = files::whence::end}), "3");
}

TEST(FilesModel, appends_go_to_the_end_and_positioned_ones_where_the_system_says) {
  for (const bool moves : {false, true}) {
    one_file f("ab", kern::o_rdwr.with_append(), {.append_moves_pwrite = moves});
    EXPECT_EQ(f({.what = file_op::write, .data = "c"}), "1");
    EXPECT_EQ(f({.what = file_op::pwrite, .offset = 0, .data = "d"}), "1");
    EXPECT_EQ(f.all.contents(0), moves ? "abcd" : "dbc");
    EXPECT_EQ(f({.what = file_op::lseek, .from = files::whence::current}), "3");
  }
}

TEST(FilesModel, errors_change_nothing) {
  one_file f("ab", kern::o_rdwr, {.file_size_max = 4});
  const auto before = f.all;
  EXPECT_EQ(f({.what = file_op::pread, .bytes = 1, .offset = -1}), "EINVAL");
  EXPECT_EQ(f({.what = file_op::pwrite, .offset = 3, .data = "xx"}), "EFBIG");
  EXPECT_EQ(f({.what = file_op::ftruncate, .offset = 5}), "EFBIG");
  EXPECT_EQ(f({.what = file_op::ftruncate, .offset = -1}), "EINVAL");
  EXPECT_EQ(f({.what = file_op::lseek, .offset = -1}), "EINVAL");
  EXPECT_EQ(f({.what = file_op::lseek,
               .offset = std::numeric_limits<std::int64_t>::max(),
               .from = files::whence::end}),
            "EOVERFLOW");
  EXPECT_EQ(f({.what = file_op::read, .fd = 3, .bytes = 1}), "EBADF");
  EXPECT_EQ(f({.what = file_op::close, .fd = 3}), "EBADF");
  EXPECT_EQ(f.all, before);
  one_file r("ab", kern::o_rdonly);
  EXPECT_EQ(r({.what = file_op::write, .data = "x"}), "EBADF");
  EXPECT_EQ(r({.what = file_op::ftruncate, .offset = 0}), "EINVAL");
  one_file w("ab", kern::o_wronly);
  EXPECT_EQ(w({.what = file_op::read, .bytes = 1}), "EBADF");
}

TEST(FilesModel, descriptors_share_an_offset_if_one_was_made_from_the_other) {
  one_file f("abcd");
  EXPECT_EQ(f({.what = file_op::dup}), "1");
  EXPECT_EQ(f({.what = file_op::open, .file = 0, .how = kern::o_rdwr}), "2");
  EXPECT_EQ(f({.what = file_op::read, .bytes = 1}), "1 \"a\"");
  EXPECT_EQ(f({.what = file_op::read, .fd = 1, .bytes = 1}), "1 \"b\"");
  EXPECT_EQ(f({.what = file_op::read, .fd = 2, .bytes = 1}), "1 \"a\"");
  EXPECT_EQ(f({.what = file_op::close, .fd = 1}), "0");
  EXPECT_EQ(f({.what = file_op::open, .file = 0, .how = kern::o_rdwr.with_truncate()}), "1");
  EXPECT_EQ(f.all.contents(0), "");
}

TEST(FilesModel, a_torn_read_and_one_that_goes_back_are_wrong) {
  const auto reads = [](const char* first, const char* second) {
    one_file f("oooo");
    sim::history<files> h;
    h.invoked(0, {.what = file_op::pwrite, .fd = 0, .data = "nnnn"});
    for (const char* seen : {first, second}) {
      h.invoked(1, {.what = file_op::pread, .fd = 0, .bytes = 4});
      h.returned(1, {.value = 4, .bytes = seen});
    }
    h.returned(0, {.value = 4});
    return sim::check(f.all, h);
  };
  EXPECT_TRUE(reads("oooo", "oooo"));
  EXPECT_TRUE(reads("oooo", "nnnn"));
  EXPECT_TRUE(reads("nnnn", "nnnn"));
  EXPECT_THAT(reads("nnoo", "nnnn").text,
              HasSubstr("T1: pread 0, 4 bytes at 0 -> 4 \"nnoo\" fits at no point"));
  EXPECT_EQ(reads("nnnn", "oooo").misfit, 2U);
}

TEST(FilesModel, two_reads_of_one_description_that_give_the_same_byte_are_wrong) {
  const auto reads = [](const char* one, const char* other) {
    one_file f("ab");
    sim::history<files> h;
    h.invoked(0, {.what = file_op::read, .fd = 0, .bytes = 1});
    h.invoked(1, {.what = file_op::read, .fd = 0, .bytes = 1});
    h.returned(0, {.value = 1, .bytes = one});
    h.returned(1, {.value = 1, .bytes = other});
    return sim::check(f.all, h).linearizable;
  };
  EXPECT_TRUE(reads("a", "b"));
  EXPECT_TRUE(reads("b", "a"));
  EXPECT_FALSE(reads("a", "a"));
}

TEST(FilesModel, long_texts_are_cut_in_reports) {
  files::call c{.what = file_op::pwrite, .fd = 0, .data = std::pmr::string(100, 'x')};
  EXPECT_EQ(files::text(c), "pwrite 0 \"" + std::string(40, 'x') + "\"... of 100 bytes at 0");
  c.shown = "pwrite a b 100 at 0";
  EXPECT_THAT(files::text(c), HasSubstr("pwrite a b 100 at 0 \"xx"));
}

// --- random histories -------------------------------------------------------------------------------------------------

fd_table::call random_call(const fd_table&, random_numbers& next) {
  return {.what = static_cast<fd>(next.below(5)),
          .fd = static_cast<int>(next.below(4)),
          .to = static_cast<int>(next.below(4)),
          .file = static_cast<int>(next.below(3))};
}
names::call random_call(const names&, random_numbers& next) {
  static const std::string all[] = {"a", "b", "c"};
  return {.what = static_cast<name_op>(next.below(4)),
          .name = all[next.below(3)],
          .to = all[next.below(3)],
          .file = 1 + static_cast<int>(next.below(3))};
}
files::call random_call(const files&, random_numbers& next) {
  return {.what = static_cast<file_op>(next.below(10)),
          .fd = static_cast<int>(next.below(3)),
          .file = next.below(2),
          .how = {.read = true,
                  .write = next.below(4) != 0,
                  .append = next.below(3) == 0,
                  .truncate = next.below(4) == 0},
          .bytes = next.below(4),
          .offset = static_cast<std::int64_t>(next.below(5)) - 1,
          .from = static_cast<files::whence>(next.below(3)),
          .data = std::pmr::string(next.below(4), static_cast<char>('a' + next.below(4)))};
}

/// A history of at most six calls of three tasks. Results are those of some order of the calls; then, mostly, calls are moved in
/// time or a result becomes another one.
template <class M>
sim::history<M> random_history(const M& initial, random_numbers& next) {
  struct made {
    typename M::call what;
    typename M::result gave;
    sim::task_id task;
  };
  const auto count = 1 + next.below(6);
  std::vector<made> calls;
  M state = initial;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto c = random_call(state, next);
    auto r = state.apply(c);
    calls.push_back({std::move(c), std::move(r), next.below(3)});
  }
  if (next.below(3) == 0) {  // a result of something else
    M other = initial;
    for (auto n = next.below(3); n > 0; --n) (void)other.apply(random_call(other, next));
    auto& c = calls[next.below(count)];
    c.gave = other.apply(c.what);
  }
  for (auto n = next.below(3); n > 0; --n) std::swap(calls[next.below(count)], calls[next.below(count)]);
  // Interleave: each task's calls in their order, each begun and ended at random.
  sim::history<M> h;
  std::vector<std::size_t> open(3, count);
  std::vector<bool> begun(count, false);
  for (;;) {
    const sim::task_id t = next.below(3);
    if (open[t] != count) {
      if (next.below(12) == 0) break;  // whoever is in a call stays there
      h.returned(t, calls[open[t]].gave);
      open[t] = count;
      continue;
    }
    std::size_t i = 0;
    while (i < count && (begun[i] || calls[i].task != t)) ++i;
    if (i == count) {
      if (std::all_of(begun.begin(), begun.end(), [](bool b) { return b; }) &&
          std::all_of(open.begin(), open.end(), [count](std::size_t o) { return o == count; }))
        break;
      continue;
    }
    begun[i] = true;
    open[t] = i;
    h.invoked(t, calls[i].what);
  }
  return h;
}

/// Tries every order of every set of calls that has all that returned.
template <class M>
class every_order {
 public:
  explicit every_order(const sim::history<M>& h) : calls_(h.calls()), used_(calls_.size(), false) {}
  bool any(const M& state) {
    bool all = true;
    for (std::size_t i = 0; i < calls_.size(); ++i) all &= used_[i] || !calls_[i].gave;
    if (all && respects_time()) return true;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (used_[i]) continue;
      M next = state;
      const auto r = next.apply(calls_[i].what);
      if (calls_[i].gave && !(r == *calls_[i].gave)) continue;
      used_[i] = true;
      order_.push_back(i);
      const bool found = any(next);
      order_.pop_back();
      used_[i] = false;
      if (found) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool respects_time() const {
    for (std::size_t a = 0; a < order_.size(); ++a) {
      for (std::size_t b = a + 1; b < order_.size(); ++b) {
        if (calls_[order_[b]].returned < calls_[order_[a]].invoked) return false;
      }
    }
    return true;
  }
  const std::pmr::vector<typename sim::history<M>::entry>& calls_;
  std::vector<bool> used_;
  std::vector<std::size_t> order_{};
};

template <class M>
sim::history<M> beginning(const sim::history<M>& h, std::size_t events) {
  sim::history<M> out;
  for (std::size_t at = 0; at < events; ++at) {
    for (const auto& c : h.calls()) {
      if (c.invoked == at) out.invoked(c.task, c.what);
      if (c.returned == at) out.returned(c.task, *c.gave);
    }
  }
  return out;
}

/// The answer, the witness and the shortest beginning are those of trying everything.
template <class M>
void hold_against_every_order(const M& initial, std::uint64_t seed) {
  random_numbers next(seed);
  int right = 0;
  int wrong = 0;
  int open = 0;
  for (int i = 0; i < 6000; ++i) {
    const auto h = random_history(initial, next);
    const auto found = sim::check(initial, h);
    ASSERT_EQ(found.linearizable, every_order<M>(h).any(initial)) << found.text;
    M state = initial;
    for (const auto n : found.order) {
      const auto r = state.apply(h.calls()[n].what);
      const bool returned = h.calls()[n].returned < (found ? h.events() : found.prefix);
      ASSERT_TRUE(!returned || r == *h.calls()[n].gave) << found.text;
    }
    const auto& calls = h.calls();
    open += std::any_of(calls.begin(), calls.end(), [](const auto& c) { return !c.gave; }) ? 1 : 0;
    if (found) {
      ++right;
      continue;
    }
    ++wrong;
    ASSERT_FALSE(every_order<M>(beginning(h, found.prefix)).any(initial)) << found.text;
    ASSERT_TRUE(every_order<M>(beginning(h, found.prefix - 1)).any(initial)) << found.text;
    ASSERT_EQ(calls[*found.misfit].returned + 1, found.prefix);
  }
  EXPECT_GT(right, 600);
  EXPECT_GT(wrong, 600);
  EXPECT_GT(open, 600);
}

TEST(RandomHistories, of_descriptors_are_judged_as_by_every_order) {
  fd_table t(3);
  (void)t.apply({.what = fd::open, .file = 0});
  hold_against_every_order(t, 1);
}
TEST(RandomHistories, of_names_are_judged_as_by_every_order) {
  hold_against_every_order(names({{"a", 1}}), 2);
}
TEST(RandomHistories, of_files_are_judged_as_by_every_order) {
  one_file f("abc");
  (void)f.all.add_file("xy");
  hold_against_every_order(f.all, 3);
}

}  // namespace
}  // namespace faultline

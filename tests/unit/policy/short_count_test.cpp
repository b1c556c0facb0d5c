// SPDX-License-Identifier: BSD-2-Clause
// What a transfer gives back that meets a page of its buffer which cannot be had, as each policy's kernel does it. Rows are those of
// LTP readv02, writev07, write05 and pwrite02; POSIX.1-2017 leaves the choice open.
#include "unit/policy/crossed.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace faultline {
namespace {

using kern::answer_to_fault;
using kern::o_rdwr;
using kern::whence;
using test::alone;
using test::letters;
using test::value_of;

std::string printable(std::string_view policy) {
  std::string name(policy);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

constexpr user_address nowhere{0};
constexpr std::uint64_t page = 4096;

std::uint64_t offset_of(alone& s, fd_number fd) { return value_of(s.k.lseek(s.td, fd, 0, whence::current)); }
std::uint64_t size_of(alone& s, fd_number fd) { return value_of(s.k.fstat_size(s.td, fd)); }
/// The last 10 bytes of a page with nothing behind it.
user_address ten_good_bytes(alone& s) {
  return s.k.map_buffer(s.process, std::string(page - 10, '.') + std::string(10, 'X')) + (page - 10);
}

class ShortCount : public testing::TestWithParam<std::string_view> {
 protected:
  void run(const std::function<void(alone&)>& body) { test::expect_alone({}, GetParam(), body); }
};
INSTANTIATE_TEST_SUITE_P(Io, ShortCount, testing::Values("vnode-locked", "prefault", "page-busy"),
                         [](const auto& p) { return printable(p.param); });

TEST_P(ShortCount, a_read_gives_the_bytes_before_the_bad_page) {
  run([](alone& s) {
    s.k.make_file("f", letters(4, page));
    const auto fd = s.open("f");
    EXPECT_EQ(s.k.read(s.td, fd, nowhere, 100).error(), errc::efault);
    EXPECT_EQ(offset_of(s, fd), 0U);
    EXPECT_EQ(value_of(s.k.read(s.td, fd, ten_good_bytes(s), 100)), 10U);
    EXPECT_EQ(offset_of(s, fd), 10U);
    const auto cold = s.k.map_zeros(s.process, 2 * page);
    EXPECT_EQ(value_of(s.k.pread(s.td, fd, cold, 2 * page + 100, 0)), 2 * page);
    EXPECT_EQ(s.load(cold, 2 * page), letters(2, page));
  });
}

TEST_P(ShortCount, a_write_keeps_the_bytes_before_the_bad_page_and_the_size_is_what_was_returned) {
  run([](alone& s) {
    s.k.make_file("f", "");
    auto fd = s.open("f");
    EXPECT_EQ(value_of(s.k.write(s.td, fd, ten_good_bytes(s), 100)), 10U);
    EXPECT_EQ(offset_of(s, fd), 10U);
    EXPECT_EQ(s.k.file_contents("f"), std::string(10, 'X'));
    EXPECT_EQ(s.k.ftruncate(s.td, fd, 2 * page), errc::ok);  // nothing stale behind it
    EXPECT_EQ(s.k.file_contents("f"), std::string(10, 'X') + std::string(2 * page - 10, '\0'));

    auto& source = s.k.make_file("s", letters(2, page));  // cold
    s.k.make_file("g", "");
    fd = s.open("g");
    const auto map = s.k.map_file(s.process, source, vm::protection::read, 0, 3 * page);
    EXPECT_EQ(value_of(s.k.write(s.td, fd, map, 2 * page + 100)), 2 * page);
    EXPECT_EQ(s.k.file_contents("g"), letters(2, page));
  });
}

TEST_P(ShortCount, a_write_of_which_nothing_arrives_leaves_no_hole) {
  run([](alone& s) {
    s.k.make_file("f", "01234");
    const auto fd = s.open("f");
    EXPECT_EQ(s.k.write(s.td, fd, nowhere, 100).error(), errc::efault);
    EXPECT_EQ(s.k.pwrite(s.td, fd, nowhere, 100, 3 * page).error(), errc::efault);
    EXPECT_EQ(offset_of(s, fd), 0U);
    EXPECT_EQ(size_of(s, fd), 5U);
    EXPECT_EQ(value_of(s.k.lseek(s.td, fd, 0, whence::hole)), 5U);
    EXPECT_EQ(s.k.ftruncate(s.td, fd, 4 * page), errc::ok);
    EXPECT_EQ(s.k.file_contents("f"), "01234" + std::string(4 * page - 5, '\0'));
  });
}

TEST_P(ShortCount, vectors_end_at_the_bad_piece) {
  run([](alone& s) {
    s.k.make_file("f", "");
    s.k.make_file("g", "");
    const auto f = s.open("f");
    const auto g = s.open("g");
    const auto good = s.k.map_buffer(s.process, letters(1, page));
    const vfs::iovec hundreds[] = {{good, 100}, {nowhere, 100}, {good, 100}};
    EXPECT_EQ(value_of(s.k.writev(s.td, f, hundreds)), 100U);
    EXPECT_EQ(size_of(s, f), 100U);
    const vfs::iovec whole_page[] = {{good, page}, {nowhere, 100}, {good, 100}};
    EXPECT_EQ(value_of(s.k.writev(s.td, g, whole_page)), page);
    EXPECT_EQ(size_of(s, g), page);
    EXPECT_EQ(value_of(s.k.lseek(s.td, g, 0, whence::set)), 0U);
    EXPECT_EQ(value_of(s.k.readv(s.td, g, hundreds)), 100U);
    EXPECT_EQ(offset_of(s, g), 100U);
    const vfs::iovec empty_first[] = {{nowhere, 0}, {good, 10}};
    EXPECT_EQ(value_of(s.k.writev(s.td, g, empty_first)), 10U);
    const vfs::iovec all_empty[] = {{good, 0}, {nowhere, 0}};
    EXPECT_EQ(value_of(s.k.writev(s.td, g, all_empty)), 0U);
  });
}

TEST(VnIoFaultAnswer, a_read_is_an_error_but_the_offset_counts_what_moved) {
  test::expect_alone({}, "vn-io-fault", [](alone& s) {
    s.k.make_file("f", letters(4, page));
    const auto fd = s.open("f");
    EXPECT_EQ(s.k.read(s.td, fd, nowhere, 100).error(), errc::efault);
    EXPECT_EQ(offset_of(s, fd), 0U);
    EXPECT_EQ(s.k.read(s.td, fd, ten_good_bytes(s), 100).error(), errc::efault);
    EXPECT_EQ(offset_of(s, fd), 10U);
    // Not mapped: no page of the chunk is held, so nothing moves.
    EXPECT_EQ(s.k.read(s.td, fd, s.k.map_zeros(s.process, page), page + 100).error(), errc::efault);
    EXPECT_EQ(offset_of(s, fd), 10U);
  });
}

TEST(VnIoFaultAnswer, a_write_is_rolled_back_but_for_the_chunks_before_the_bad_one) {
  test::expect_alone({}, "vn-io-fault", [](alone& s) {
    s.k.make_file("f", "01234");
    const auto fd = s.open("f");
    EXPECT_EQ(s.k.write(s.td, fd, ten_good_bytes(s), 100).error(), errc::efault);
    EXPECT_EQ(s.k.pwrite(s.td, fd, nowhere, 100, 3 * page).error(), errc::efault);
    EXPECT_EQ(offset_of(s, fd), 0U);
    EXPECT_EQ(size_of(s, fd), 5U);
    const auto good = s.k.map_buffer(s.process, letters(1, page));
    const vfs::iovec pieces[] = {{good, 100}, {nowhere, 100}, {good, 100}};  // a chunk each
    EXPECT_EQ(s.k.writev(s.td, fd, pieces).error(), errc::efault);
    EXPECT_EQ(offset_of(s, fd), 100U);
    EXPECT_EQ(s.k.file_contents("f"), letters(1, 100));
  });
}

// --- whatever the layout ------------------------------------------------------------------------------------------------

class AnyTransfer
    : public testing::TestWithParam<std::tuple<std::string_view, answer_to_fault, std::uint32_t>> {};
INSTANTIATE_TEST_SUITE_P(
    Io, AnyTransfer,
    testing::Combine(testing::Values("vnode-locked", "prefault", "page-busy", "vn-io-fault"),
                     testing::Values(answer_to_fault::short_count, answer_to_fault::error),
                     testing::Values(1U, 4U)),
    [](const auto& p) {
      return printable(std::get<0>(p.param)) +
             (std::get<1>(p.param) == answer_to_fault::error ? "_error_" : "_short_") +
             std::to_string(std::get<2>(p.param)) + "_pages";
    });

/// A vector of pieces: mapped, cold, of a file, bad from some byte on, or bad altogether.
struct layout {
  std::vector<vfs::iovec> pieces;
  std::string good;        ///< the bytes before the first bad one
  std::uint64_t size = 0;  ///< of all pieces, bytes

  layout(alone& s, std::mt19937& dice) {
    bool all_good = true;
    for (auto left = 1 + dice() % 4; left > 0; --left) {
      const std::uint64_t at = dice() % 20;
      const std::uint64_t n = dice() % 40;
      const auto text = letters(60, 1, static_cast<char>('A' + dice() % 20));
      std::uint64_t end = 60;  // of what can be had
      user_address base{};
      switch (dice() % 4) {
        case 0:
          base = s.k.map_buffer(s.process, text);
          break;
        case 1:
          base =
              s.k.map_file(s.process, s.k.make_file("s" + std::to_string(left), text), vm::protection::read);
          break;
        case 2:
          end = 32;
          base = s.k.map_buffer(s.process, text.substr(0, end));
          break;
        default:
          end = 0;
          break;
      }
      pieces.push_back({end == 0 ? nowhere : base + at, n});
      size += n;
      if (all_good && at < end) good += text.substr(at, std::min(n, end - at));
      all_good = all_good && (n == 0 || at + n <= end);
    }
  }
};

/// `before` with `stored` in it from `offset` on: the gap between the two is zeros.
std::string overwritten(std::string before, std::size_t offset, std::string_view stored) {
  if (stored.empty()) return before;
  before.resize(std::max(before.size(), offset + stored.size()));
  return before.replace(offset, stored.size(), stored);
}

TEST_P(AnyTransfer, counts_offset_size_and_bytes_agree) {
  const auto& [policy, answer, block_pages] = GetParam();
  const bool undone = answer == answer_to_fault::error;
  const bool in_chunks = policy == "vn-io-fault";
  auto p = test::small_pages();
  p.fault_answer = answer;
  unsigned faulted = 0;
  for (unsigned seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    test::expect_alone(p, policy, [&, blocks = block_pages](alone& s) {
      std::mt19937 dice(seed);
      const auto before = letters(dice() % 70, 1);
      auto& f = s.k.make_file("f", before, {.block_pages = blocks});
      if (dice() % 2 == 0 && !before.empty()) s.k.make_resident(f, page_index{0}, 1);
      const bool append = dice() % 4 == 0;
      const auto fd = s.open("f", append ? o_rdwr.with_append() : o_rdwr);
      const std::size_t first = append ? before.size() : dice() % 100;
      value_of(s.k.lseek(s.td, fd, static_cast<std::int64_t>(first), whence::set));
      const layout what(s, dice);
      const auto r = s.k.writev(s.td, fd, what.pieces);
      const auto moved = offset_of(s, fd) - first;
      const auto seen = s.k.file_contents("f");

      const bool all_good = what.good.size() == what.size;
      faulted += all_good ? 0 : 1;
      ASSERT_LE(moved, what.good.size());
      const auto after = overwritten(before, first, std::string_view(what.good).substr(0, moved));
      EXPECT_EQ(seen.size(), after.size());
      EXPECT_EQ(r.ok(), all_good || (!undone && moved > 0));
      EXPECT_EQ(r.error(), r.ok() ? errc::ok : errc::efault);
      if (r.ok()) {
        EXPECT_EQ(r.value(), moved);
      }
      if (!in_chunks) {
        EXPECT_EQ(moved, all_good || !undone ? what.good.size() : 0);
      }
      // Undone below the old end means: what was overwritten stays.
      const auto kept = undone ? std::min(before.size(), first + what.good.size()) : 0;
      for (std::size_t i = 0; i < std::min(seen.size(), after.size()); ++i) {
        const bool either = i >= first + moved && i < kept && seen[i] == what.good[i - first];
        EXPECT_TRUE(either || seen[i] == after[i]) << "byte " << i << " of\n" << seen << "\n" << after;
      }
    });
  }
  EXPECT_GT(faulted, 100U);
}

}  // namespace
}  // namespace faultline

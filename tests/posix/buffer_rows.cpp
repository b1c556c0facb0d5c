// SPDX-License-Identifier: BSD-2-Clause
// Faults of the user buffer during a transfer. Sources: LTP read02, write05, pwrite02, writev03, writev07, readv02, preadv02;
// xfstests 248, 443, 638, 647. vn_io_fault answers EFAULT, with the offset moved by what was copied and a write undone.
#include "posix/rows.hpp"

#include <limits>

namespace faultline::posix {

using kern::o_rdonly;
using kern::o_rdwr;
using kern::whence;
using vm::protection;

namespace {

const row table[] = {
    {"S30", "read into a wholly bad buffer",
     [](system& s, notes& n) {
       const auto fd = opened(s, letters(100));
       n("r", s.read(fd, s.reserve(1), 50));
       n("at", at(s, fd));
     },
     "r=EFAULT at=0"},
    {"S31",
     "read 100, 10 bytes of the buffer good",
     [](system& s, notes& n) {
       const auto fd = opened(s, letters(100));
       const auto b = ends_after(s, 10);
       n("r", s.read(fd, b, 100));
       n("at", at(s, fd));
       n("b", s.load(b, 10));
     },
     "r=10 at=10 b=abcdefghij",
     {},
     "r=EFAULT at=10 b=abcdefghij"},
    {"S32",
     "read two pages and 100, the third page of the buffer bad",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, letters(3 * p));
       const auto b = ends_after(s, 2 * p, 2);
       const auto r = s.read(fd, b, 2 * p + 100);
       n("r", !r.ok() ? text(r) : r.value == static_cast<std::int64_t>(2 * p) ? "2 pages" : text(r));
       n("moved", at(s, fd).value == static_cast<std::int64_t>(2 * p));
     },
     "r=2 pages moved=yes",
     {},
     "r=EFAULT moved=yes"},
    {"S33",
     "write 100, 10 bytes good",
     [](system& s, notes& n) {
       const auto fd = opened(s, "");
       n("w", s.write(fd, ends_after(s, 10), 100));
       n("size", s.size(fd));
       n("at", at(s, fd));
     },
     "w=10 size=10 at=10",
     {},
     "w=EFAULT size=0 at=0"},
    {"S34",
     "write two pages and 100, the third page bad",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, "");
       const auto w = s.write(fd, ends_after(s, 2 * p, 2), 2 * p + 100);
       n("w", !w.ok() ? text(w) : w.value == static_cast<std::int64_t>(2 * p) ? "2 pages" : text(w));
       n("size", s.size(fd).value == w.value);
     },
     "w=2 pages size=yes",
     {},
     "w=EFAULT size=yes"},
    {"S35", "write from a wholly bad buffer",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("w", s.write(fd, s.reserve(1), 10));
       n("size", s.size(fd));
       n("at", at(s, fd));
     },
     "w=EFAULT size=3 at=0"},
    // Linux 6.16 and later copy before they fault the buffer in, and an empty copy past the end moves the end to it.
    {"S35-hole", "pwrite past the end from a wholly bad buffer: no hole",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("w", s.pwrite(fd, s.reserve(1), 10, 5000));
       n("size", s.size(fd));
     },
     "w=EFAULT size=3", "w=EFAULT size=5000 | w=EFAULT size=3"},
    {"S36",
     "writev of 100 good, 100 bad, 100 good",
     [](system& s, notes& n) {
       const auto fd = opened(s, "");
       const auto good = s.buffer(letters(200));
       n("w", s.writev(fd, {{good, 100}, {s.reserve(1), 100}, {good + 100, 100}}));
       n("size", s.size(fd));
     },
     "w=100 size=100",
     {},
     "w=EFAULT size=100"},  // a chunk never spans pieces: the first was done
    {"S37",
     "writev of a page, bad, good",
     [](system& s, notes& n) {
       const auto fd = opened(s, "");
       const auto good = s.buffer(letters(s.page()));
       const auto w = s.writev(fd, {{good, s.page()}, {s.reserve(1), 100}, {good, 100}});
       n("w", !w.ok() ? text(w) : w.value == static_cast<std::int64_t>(s.page()) ? "a page" : text(w));
       n("size", s.size(fd).value == static_cast<std::int64_t>(s.page()));
     },
     "w=a page size=yes",
     {},
     "w=EFAULT size=yes"},
    {"S38",
     "readv into 100 good, bad, good",
     [](system& s, notes& n) {
       const auto fd = opened(s, letters(300));
       const auto good = s.buffer(std::string(200, '.'));
       n("r", s.readv(fd, {{good, 100}, {s.reserve(1), 100}, {good + 100, 100}}));
       n("at", at(s, fd));
       n("third", s.load(good + 100, 1));
     },
     "r=100 at=100 third=.",
     {},
     "r=EFAULT at=100 third=."},
    {"S38-over",
     "write over a page, 10 bytes good: the rest of the page stays",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, letters(2 * p, 'q'));
       n("w", s.pwrite(fd, ends_after(s, 10), p, static_cast<std::int64_t>(p)));
       const auto all = s.contents("f");
       n("front", all.substr(p, 10) == letters(p).substr(p - 10));
       n("rest", all.substr(p + 10) == letters(2 * p, 'q').substr(p + 10));
       n("size", all.size() == 2 * p);
     },
     "w=10 front=yes rest=yes size=yes",
     {},
     "w=EFAULT front=no rest=yes size=yes"},
    {"S39", "writev of empty pieces only, one at a bad address",
     [](system& s, notes& n) {
       n("w", s.writev(opened(s, "abc"), {{s.buffer("x"), 0}, {1, 0}, {s.reserve(1), 0}}));
     },
     "w=0"},
    {"S40", "writev of an empty piece at a bad address, then 10 good",
     [](system& s, notes& n) {
       n("w", s.writev(opened(s, "abc"), {{1, 0}, {s.buffer("0123456789"), 10}}));
       n("f", s.contents("f"));
     },
     "w=10 f=0123456789"},
    {"S41", "writev of three one-byte pieces on untouched pages",
     [](system& s, notes& n) {
       const auto p = s.page();
       s.make("g", letters(3 * p));
       const auto m = static_cast<std::uint64_t>(
           s.mmap(0, 3 * p, protection::read, shared, s.open("g", o_rdonly).value, 0).value);
       n("w", s.writev(opened(s, ""), {{m, 1}, {m + p, 1}, {m + 2 * p, 1}}));
       const auto g = letters(3 * p);
       n("f", s.contents("f") == std::string{g[0], g[p], g[2 * p]});
     },
     "w=3 f=yes"},
    {"S42", "no pieces", [](system& s, notes& n) { n("r", s.readv(opened(s, "abc"), {})); }, "r=0"},
    {"S43", "more than IOV_MAX pieces",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto b = s.buffer("x");
       n("1024", s.readv(fd, std::vector<piece>(1024, {b, 0})));
       n("1025", s.readv(fd, std::vector<piece>(1025, {b, 0})));
       n("write", s.writev(fd, std::vector<piece>(1025, {b, 1})));
     },
     "1024=0 1025=EINVAL write=EINVAL"},
    {"S44", "a piece of negative length",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("readv", s.readv(fd, {{s.buffer("x"), ~std::uint64_t{0}}}));
       n("preadv", s.preadv(fd, {{s.buffer("x"), std::uint64_t{1} << 63U}}, 0));
     },
     "readv=EINVAL preadv=EINVAL"},
    {"S45", "lengths whose sum overflows; the host looks at the addresses first",
     [](system& s, notes& n) {
       constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
       const auto b = s.buffer("x");
       n("r", s.readv(opened(s, "abc"), {{b, most}, {b, most}}));
     },
     "r=EINVAL", "r=EFAULT"},
    {"S46", "a bad descriptor and a bad buffer",
     [](system& s, notes& n) {
       n("read", s.read(900, 1, 10));
       n("write", s.write(900, 1, 10));
       n("negative", s.read(-1, 1, 10));
     },
     "read=EBADF write=EBADF negative=EBADF"},
    {"S47", "write from a page of a mapping past the end of its file",
     [](system& s, notes& n) {
       const auto p = s.page();
       s.make("g", letters(p / 2));
       const auto m = static_cast<std::uint64_t>(
           s.mmap(0, 2 * p, protection::read, shared, s.open("g", o_rdonly).value, 0).value);
       const auto fd = opened(s, "abc");
       n("w", s.write(fd, m + p, 10));
       n("size", s.size(fd));
     },
     "w=EFAULT size=3"},
    {"S48", "read into a page of a mapping past the end of its file",
     [](system& s, notes& n) {
       const auto p = s.page();
       s.make("g", letters(p / 2));
       const auto m = static_cast<std::uint64_t>(
           s.mmap(0, 2 * p, protection::read_write, shared, s.open("g", o_rdwr).value, 0).value);
       const auto fd = opened(s, letters(100));
       n("r", s.read(fd, m + p, 10));
       n("at", at(s, fd));
     },
     "r=EFAULT at=0"},
    {"S49", "read into memory that may not be written",
     [](system& s, notes& n) {
       const auto b = s.buffer("..........");
       n("protect", s.mprotect(b, s.page(), protection::read));
       const auto fd = opened(s, letters(100));
       n("r", s.read(fd, b, 10));
       n("b", s.load(b, 3));
       n("w", s.write(fd, b, 10));
     },
     "protect=0 r=EFAULT b=... w=10"},
    {"S52", "pwrite of one byte from the page that it goes to, and of a whole cold page onto itself",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, "01234" + letters(2 * p - 5));
       const auto m =
           static_cast<std::uint64_t>(s.mmap(0, 2 * p, protection::read_write, shared, fd, 0).value);
       n("byte", s.pwrite(fd, m + 2, 1, 3));
       n("f", s.contents("f").substr(0, 5));
       const auto before = s.contents("f");
       s.evict("f");
       n("page", s.pwrite(fd, m, p, 0).value == static_cast<std::int64_t>(p));
       s.evict("f");
       n("second",
         s.pwrite(fd, m + p, p, static_cast<std::int64_t>(p)).value == static_cast<std::int64_t>(p));
       n("same", s.contents("f") == before);
     },
     "byte=1 f=01224 page=yes second=yes same=yes"},
    {"S52-private", "pread into, and pwrite from, a private mapping of the same file with a hole",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, "");
       (void)s.ftruncate(fd, static_cast<std::int64_t>(2 * p));
       (void)s.pwrite(fd, s.buffer(letters(p)), p, static_cast<std::int64_t>(p));
       (void)s.fsync(fd);
       s.evict("f");
       const auto m = static_cast<std::uint64_t>(s.mmap(0, 2 * p, protection::read_write, copy, fd, 0).value);
       n("r", s.pread(fd, m, p, static_cast<std::int64_t>(p)).value == static_cast<std::int64_t>(p));
       n("m", s.load(m, p) == letters(p));
       n("hole", s.lseek(fd, 0, whence::hole));
       const auto again =
           static_cast<std::uint64_t>(s.mmap(0, 2 * p, protection::read_write, copy, fd, 0).value);
       n("w", s.pwrite(fd, again + p, p, 0).value == static_cast<std::int64_t>(p));
       n("f", s.contents("f") == letters(p) + letters(p));
     },
     "r=yes m=yes hole=0 w=yes f=yes"},
    {"S52-straddling", "pwritev across two pages with sources in both",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, std::string(3 * p, '\0'));
       const std::string aa(12, 'A');
       (void)s.pwrite(fd, s.buffer(aa), 12, 0);
       (void)s.pwrite(fd, s.buffer(aa), 12, static_cast<std::int64_t>(p));
       const auto m = static_cast<std::uint64_t>(s.mmap(0, 2 * p, protection::read, shared, fd, 0).value);
       n("w", s.pwritev(fd, {{m, 12}, {m + p, 12}}, static_cast<std::int64_t>(2 * p - 12)));
       n("f", s.contents("f").substr(2 * p - 12, 24) == aa + aa);
     },
     "w=24 f=yes"},
    {"S53", "pread into the page that it reads",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, letters(2 * p));
       const auto m =
           static_cast<std::uint64_t>(s.mmap(0, 2 * p, protection::read_write, shared, fd, 0).value);
       n("r", s.pread(fd, m, p, 0).value == static_cast<std::int64_t>(p));
       n("other", s.pread(fd, m, p, static_cast<std::int64_t>(p)).value == static_cast<std::int64_t>(p));
       n("f", s.contents("f").substr(0, p) == letters(2 * p).substr(p));
     },
     "r=yes other=yes f=yes"},
    {"X05",
     "a write on O_APPEND that does nothing leaves the offset; FreeBSD: at the end",
     [](system& s, notes& n) {
       s.make("f", "abc");
       const auto fd = s.open("f", o_rdwr.with_append()).value;
       n("w", s.writev(fd, {{s.reserve(1), 10}, {s.buffer("x"), 1}}));
       n("at", at(s, fd));
       n("size", s.size(fd));
     },
     "w=EFAULT at=0 size=3",
     {},
     "w=EFAULT at=3 size=3"},
};

}  // namespace

std::span<const row> buffer_rows() { return table; }

}  // namespace faultline::posix

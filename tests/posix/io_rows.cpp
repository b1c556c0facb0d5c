// SPDX-License-Identifier: BSD-2-Clause
// Reading, writing, offsets, sizes. Sources: POSIX.1-2017; LTP read, write, pread, pwrite, lseek, ftruncate; pjdfstest ftruncate.
#include "posix/rows.hpp"

#include <algorithm>
#include <limits>

namespace faultline::posix {

using kern::o_rdonly;
using kern::o_rdwr;
using kern::o_wronly;
using kern::whence;
using namespace std::string_view_literals;

namespace {

constexpr auto int64_max = std::numeric_limits<std::int64_t>::max();

kern::parameters appends() {
  auto p = host_like();
  p.append_moves_pwrite = true;
  return p;
}

const row table[] = {
    {"S01", "read at the end of the file",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       (void)s.lseek(fd, 0, whence::end);
       n("r", s.read(fd, s.buffer("......"), 6));
       n("at", at(s, fd));
     },
     "r=0 at=3"},
    {"S02", "pread wholly past the end",
     [](system& s, notes& n) { n("r", s.pread(opened(s, "abc"), s.buffer("..."), 3, 100)); }, "r=0"},
    {"S03", "pread across the end",
     [](system& s, notes& n) {
       const auto b = s.buffer("....");
       n("r", s.pread(opened(s, "abcd"), b, 4, 2));
       n("b", s.load(b, 4));
     },
     "r=2 b=cd.."},
    {"S04", "lseek far past the end",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("to", s.lseek(fd, 100000, whence::set));
       n("size", s.size(fd));
       n("r", s.read(fd, s.buffer("..."), 3));
     },
     "to=100000 size=3 r=0"},
    {"S05", "a byte written past the end",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto far = static_cast<std::int64_t>(3 * s.page() + 7);
       (void)s.lseek(fd, far, whence::set);
       n("w", s.write(fd, s.buffer("Z"), 1));
       const auto all = s.contents("f");
       n("size", all.size() == static_cast<std::size_t>(far) + 1);
       n("gap", all.substr(3, all.size() - 4).find_first_not_of('\0') == std::string::npos);
       n("last", all.substr(all.size() - 1));
     },
     "w=1 size=yes gap=yes last=Z"},
    {"S06", "lseek to before the file",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abcdefgh");
       (void)s.lseek(fd, 5, whence::set);
       n("set", s.lseek(fd, -1, whence::set));
       n("cur", s.lseek(fd, -6, whence::current));
       n("end", s.lseek(fd, -9, whence::end));
       n("at", at(s, fd));
     },
     "set=EINVAL cur=EINVAL end=EINVAL at=5"},
    {"S07", "lseek from nowhere",
     [](system& s, notes& n) { n("r", s.lseek(opened(s, "abc"), 0, static_cast<whence>(9))); }, "r=EINVAL"},
    {"S09", "lseek from the end",
     [](system& s, notes& n) { n("r", s.lseek(opened(s, "abc"), 5, whence::end)); }, "r=8"},
    {"S10", "SEEK_DATA and SEEK_HOLE in a file with data in one page",
     [](system& s, notes& n) {
       const auto fd = opened(s, "");
       const auto p = static_cast<std::int64_t>(s.page());
       (void)s.ftruncate(fd, 16 * p);
       (void)s.pwrite(fd, s.buffer(letters(s.page())), s.page(), 8 * p);
       n("data", in_pages(s, s.lseek(fd, 0, whence::data)));
       n("hole", in_pages(s, s.lseek(fd, 0, whence::hole)));
       n("hole-at-data", in_pages(s, s.lseek(fd, 8 * p, whence::hole)));
       n("at", in_pages(s, at(s, fd)));
       n("data-behind", s.lseek(fd, 9 * p, whence::data));
     },
     "data=8 hole=0 hole-at-data=9 at=9 data-behind=ENXIO"},
    {"S11", "SEEK_DATA and SEEK_HOLE past the end, and in an empty file",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("data", s.lseek(fd, 3, whence::data));
       n("hole", s.lseek(fd, 4, whence::hole));
       n("negative", s.lseek(fd, -1, whence::data));
       (void)s.ftruncate(fd, 0);
       n("empty-data", s.lseek(fd, 0, whence::data));
       n("empty-hole", s.lseek(fd, 0, whence::hole));
     },
     "data=ENXIO hole=ENXIO negative=ENXIO empty-data=ENXIO empty-hole=ENXIO"},
    {"S12", "a negative offset, with length 0 too",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto b = s.buffer("xxx");
       n("pread", s.pread(fd, b, 3, -1));
       n("pwrite", s.pwrite(fd, b, 3, -1));
       n("pread0", s.pread(fd, b, 0, -1));
       n("pwrite0", s.pwrite(fd, b, 0, -1));
     },
     "pread=EINVAL pwrite=EINVAL pread0=EINVAL pwrite0=EINVAL"},
    {"S13", "a negative offset on a bad descriptor: whichever is looked at first",
     [](system& s, notes& n) { n("r", s.pread(900, s.buffer("xxx"), 3, -1)); }, "r=EBADF", "r=EINVAL"},
    {"S14", "pread and pwrite leave the offset",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abcdef");
       const auto b = s.buffer("xx");
       (void)s.lseek(fd, 1, whence::set);
       n("pread", s.pread(fd, b, 2, 3));
       n("pwrite", s.pwrite(fd, b, 2, 3));
       n("at", at(s, fd));
     },
     "pread=2 pwrite=2 at=1"},
    {"S15", "pwrite on O_APPEND: at the offset",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc", o_rdwr.with_append());
       n("w", s.pwrite(fd, s.buffer("XY"), 2, 0));
       n("f", s.contents("f"));
     },
     "w=2 f=XYc", "w=2 f=abcXY"},
    {"S15-appends",
     "pwrite on O_APPEND where it appends",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc", o_rdwr.with_append());
       n("w", s.pwrite(fd, s.buffer("XY"), 2, 0));
       n("f", s.contents("f"));
     },
     "w=2 f=abcXY",
     {},
     {},
     appends()},
    {"S16", "write on O_APPEND: at the end, and the offset is there afterwards",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc", o_rdwr.with_append());
       (void)s.lseek(fd, 1, whence::set);
       n("w", s.write(fd, s.buffer("XY"), 2));
       n("at", at(s, fd));
       n("f", s.contents("f"));
     },
     "w=2 at=5 f=abcXY"},
    {"S17", "read on O_APPEND: at the offset",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc", o_rdwr.with_append());
       const auto b = s.buffer("..");
       n("r", s.read(fd, b, 2));
       n("b", s.load(b, 2));
     },
     "r=2 b=ab"},
    {"S18", "a descriptor that is not open for the call",
     [](system& s, notes& n) {
       const auto reader = opened(s, "abc", o_rdonly);
       const auto writer = s.open("f", o_wronly).value;
       const auto b = s.buffer("xyz");
       n("write", s.write(reader, b, 1));
       n("write0", s.write(reader, b, 0));
       n("read", s.read(writer, b, 1));
     },
     "write=EBADF write0=EBADF read=EBADF"},
    {"S20", "length 0, no buffer",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("read", s.read(fd, 0, 0));
       n("write", s.write(fd, 0, 0));
       n("pwrite", s.pwrite(fd, 0, 0, 100));
       n("size", s.size(fd));
     },
     "read=0 write=0 pwrite=0 size=3"},
    {"S21", "offset and length too large for the offset type, and for a file",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto b = s.buffer("0123456789");
       n("overflow", s.pwrite(fd, b, 10, int64_max - 5));
       n("huge", s.pwrite(fd, b, 10, std::int64_t{1} << 60));
       n("ftruncate", s.ftruncate(fd, std::int64_t{1} << 60));
       n("size", s.size(fd));
     },
     "overflow=EINVAL huge=EFBIG ftruncate=EFBIG size=3"},
    {"S22", "RLIMIT_FSIZE of 10",
     [](system& s, notes& n) {
       const auto fd = opened(s, "");
       const auto b = s.buffer("0123456789abcdefghij");
       s.limit_file_size(10);
       n("w", s.write(fd, b, 20));
       n("at", at(s, fd));
       n("again", s.write(fd, b, 1));
       n("ftruncate", s.ftruncate(fd, 50));
       n("shrink", s.ftruncate(fd, 4));
       n("fits", s.pwrite(fd, b, 4, 6));
       n("partly", s.pwrite(fd, b, 4, 8));
       n("f", s.contents("f").substr(4));
     },
     "w=10 at=10 again=EFBIG ftruncate=EFBIG shrink=0 fits=4 partly=2 f=\0\0"
     "0101"sv},
    {"S22-append", "the same by O_APPEND",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abcdefgh", o_rdwr.with_append());
       s.limit_file_size(10);
       n("w", s.write(fd, s.buffer("0123"), 4));
       n("again", s.write(fd, s.buffer("0123"), 4));
       n("f", s.contents("f"));
     },
     "w=2 again=EFBIG f=abcdefgh01"},
    {"S29",
     "a write that ends half-way: offset and size move by what it returns",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       (void)s.lseek(fd, 1, whence::set);
       const auto good = s.buffer("0123456789");
       n("w", s.writev(fd, {{good, 10}, {s.reserve(1), 10}}));
       n("at", at(s, fd));
       n("f", s.contents("f"));
     },
     "w=10 at=11 f=a0123456789",
     {},
     "w=EFAULT at=11 f=a0123456789"},
    {"S55", "open and dup give the lowest free number",
     [](system& s, notes& n) {
       const auto one = opened(s, "abc");
       const auto two = s.open("f", o_rdonly).value;
       const auto three = s.dup(one).value;
       (void)s.close(two);
       (void)s.close(one);
       n("open", s.open("f", o_rdonly).value == std::min(one, two));
       n("dup", s.dup(three).value == std::max(one, two));
     },
     "open=yes dup=yes"},
    {"S57", "a second open has an offset of its own, a duplicate has not",
     [](system& s, notes& n) {
       const auto one = opened(s, "abcdef");
       const auto same = s.dup(one).value;
       const auto other = s.open("f", o_rdonly).value;
       (void)s.read(one, s.buffer("..."), 3);
       n("dup", at(s, same));
       n("open", at(s, other));
     },
     "dup=3 open=0"},
    {"S71", "a descriptor that is closed, or never was",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("close", s.close(fd));
       n("again", s.close(fd));
       n("read", s.read(fd, s.buffer("x"), 1));
       n("dup", s.dup(fd));
       n("lseek", s.lseek(fd, 0, whence::set));
       n("size", s.size(fd));
       n("never", s.close(900));
       n("negative", s.close(-1));
     },
     "close=0 again=EBADF read=EBADF dup=EBADF lseek=EBADF size=EBADF never=EBADF negative=EBADF"},
    {"S73", "a number that is used again means the new file",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       s.make("g", "xyz");
       (void)s.close(fd);
       n("same", s.open("g", o_rdonly).value == fd);
       const auto b = s.buffer("...");
       n("r", s.read(fd, b, 3));
       n("b", s.load(b, 3));
     },
     "same=yes r=3 b=xyz"},
    {"S118", "ftruncate on O_RDONLY, to a negative length",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("rdonly", s.ftruncate(s.open("f", o_rdonly).value, 1));
       n("negative", s.ftruncate(fd, -1));
       n("size", s.size(fd));
     },
     "rdonly=EINVAL negative=EINVAL size=3"},
    {"S119", "ftruncate and fsync on a bad descriptor",
     [](system& s, notes& n) {
       n("ftruncate", s.ftruncate(900, 1));
       n("fsync", s.fsync(900));
       n("fsync-rdonly", s.fsync(opened(s, "abc", o_rdonly)));
     },
     "ftruncate=EBADF fsync=EBADF fsync-rdonly=0"},
    {"S120", "ftruncate leaves the offset",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abcdefgh");
       (void)s.lseek(fd, 6, whence::set);
       n("cut", s.ftruncate(fd, 2));
       n("at", at(s, fd));
       n("r", s.read(fd, s.buffer("..."), 3));
       n("w", s.write(fd, s.buffer("Z"), 1));
       n("f", s.contents("f"));
     },
     "cut=0 at=6 r=0 w=1 f=ab\0\0\0\0Z"sv},
    {"S121", "growing: zeros, the size exact",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto to = static_cast<std::int64_t>(2 * s.page() + 5);
       n("grow", s.ftruncate(fd, to));
       const auto all = s.contents("f");
       n("size", all.size() == static_cast<std::size_t>(to));
       n("zeros", all.find_first_not_of('\0', 3) == std::string::npos);
     },
     "grow=0 size=yes zeros=yes"},
    {"S123", "truncated to the same size",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("same", s.ftruncate(fd, 3));
       n("f", s.contents("f"));
     },
     "same=0 f=abc"},
};

}  // namespace

std::span<const row> io_rows() { return table; }

}  // namespace faultline::posix

// SPDX-License-Identifier: BSD-2-Clause
// Mappings. Sources: POSIX.1-2017 mmap, munmap, mprotect, msync, ftruncate; LTP mmap01, mmap06, mmap08, mmap13, munmap01, munmap03,
// munmap04; xfstests 469, 749; pjdfstest ftruncate.
#include "posix/rows.hpp"

namespace faultline::posix {

using kern::o_rdonly;
using kern::o_rdwr;
using kern::o_wronly;
using kern::whence;
using vm::protection;

namespace {

kern::parameters bsd_copies() {
  auto p = host_like();
  p.truncation_keeps_private_copies = true;
  return p;
}
kern::parameters four_entries() {
  auto p = host_like();
  p.map_entries_max = 4;
  return p;
}

const row table[] = {
    {"S79", "mmap of length 0",
     [](system& s, notes& n) { n("r", s.mmap(0, 0, protection::read, shared, opened(s, "abc"), 0)); },
     "r=EINVAL"},
    {"S80", "an offset that is not page aligned",
     [](system& s, notes& n) { n("r", s.mmap(0, 1, protection::read, shared, opened(s, "abc"), 7)); },
     "r=EINVAL"},
    {"S81", "neither MAP_SHARED nor MAP_PRIVATE",
     [](system& s, notes& n) {
       n("r", s.mmap(0, 1, protection::read, {.shared = false}, opened(s, "abc"), 0));
     },
     "r=EINVAL"},
    {"S82", "a bad descriptor",
     [](system& s, notes& n) { n("r", s.mmap(0, 1, protection::read, shared, 900, 0)); }, "r=EBADF"},
    {"S83", "a descriptor that is not open for reading",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc", o_wronly);
       n("shared", s.mmap(0, 1, protection::write, shared, fd, 0));
       n("private", s.mmap(0, 1, protection::read, copy, fd, 0));
       n("none", s.mmap(0, 1, protection::none, shared, fd, 0));
     },
     "shared=EACCES private=EACCES none=EACCES"},
    {"S84", "writing, on a descriptor that is not open for it",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc", o_rdonly);
       n("shared", s.mmap(0, 1, protection::read_write, shared, fd, 0));
       n("private", succeeds(s.mmap(0, 1, protection::read_write, copy, fd, 0)));
     },
     "shared=EACCES private=ok"},
    {"S86", "offset and length too large together",
     [](system& s, notes& n) {
       const auto p = static_cast<std::int64_t>(s.page());
       constexpr auto most = std::uint64_t{1} << 46U;
       n("r", s.mmap(0, most, protection::read, shared, opened(s, "abc"), (INT64_MAX / p - 1) * p));
     },
     "r=EOVERFLOW"},
    {"S87", "a mapping wholly past the end",
     [](system& s, notes& n) {
       const auto m = mapped(s, opened(s, "abc"), 1, shared, protection::read, 4);
       n("load", s.load(m, 1));
     },
     "load=SIGBUS"},
    {"S88", "a length that is not a multiple of the page",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto m = static_cast<std::uint64_t>(
           s.mmap(0, 1, protection::read, shared, opened(s, pages_of(s, "ab")), 0).value);
       n("last", s.load(m + p - 1, 1));
     },
     "last=a"},
    {"S89", "MAP_FIXED at an unaligned address",
     [](system& s, notes& n) {
       n("r", s.mmap(s.reserve(2) + 1, s.page(), protection::read, {.fixed = true}, opened(s, "abc"), 0));
     },
     "r=EINVAL"},
    {"S90", "MAP_FIXED over the middle of a mapping",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "abc"));
       s.make("g", pages_of(s, "xyz"));
       const auto m = mapped(s, fd, 3);
       n("before", s.load(m + p, 1));
       const auto over = s.mmap(m + p, p, protection::read, {.fixed = true}, s.open("g", o_rdonly).value,
                                static_cast<std::int64_t>(p));
       n("there", over.ok() && static_cast<std::uint64_t>(over.value) == m + p);
       n("now", s.load(m, 1) + s.load(m + p, 1) + s.load(m + 2 * p, 1));
     },
     "before=b there=yes now=ayc"},
    {"S91", "MAP_FIXED_NOREPLACE over a mapping, and beside it",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto at = s.reserve(3);
       (void)s.mmap(at + p, p, protection::read, {.fixed = true}, fd, 0);
       n("over", s.mmap(at, 2 * p, protection::read, {.no_replace = true}, fd, 0));
       n("beside", succeeds(s.mmap(at, p, protection::read, {.no_replace = true}, fd, 0)));
     },
     "over=EEXIST beside=ok"},
    {"S92", "munmap of length 0, and at an unaligned address",
     [](system& s, notes& n) {
       const auto m = mapped(s, opened(s, "abc"), 1);
       n("zero", s.munmap(m, 0));
       n("unaligned", s.munmap(m + 1, 1));
       n("there", s.load(m, 1));
     },
     "zero=EINVAL unaligned=EINVAL there=a"},
    {"S93", "munmap of the middle",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto m = mapped(s, opened(s, pages_of(s, "abc")), 3);
       n("r", s.munmap(m + p, 1));
       n("ends", s.load(m, 1) + s.load(m + 2 * p, 1));
       n("hole", s.load(m + 2 * p - 1, 1));
     },
     "r=0 ends=ac hole=SIGSEGV"},
    {"S94", "munmap of what is not mapped, and across a hole",
     [](system& s, notes& n) {
       const auto p = s.page();
       n("nothing", s.munmap(s.reserve(3), 2 * p));
       const auto m = mapped(s, opened(s, pages_of(s, "abc")), 3);
       (void)s.munmap(m + p, p);
       n("across", s.munmap(m, 3 * p));
       n("gone", s.load(m + 2 * p, 1));
     },
     "nothing=0 across=0 gone=SIGSEGV"},
    {"S95",
     "a split that would be an entry too many changes nothing",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "abcde"));
       const auto m = mapped(s, fd, 5);
       n("one", s.munmap(m + p, p));        // 2 entries
       (void)s.zeros(1);                    // 3
       (void)s.zeros(1);                    // 4
       n("split", s.munmap(m + 3 * p, p));  // would be 5
       n("protect", s.mprotect(m + 3 * p, p, protection::read));
       n("map", s.mmap(0, p, protection::read, shared, fd, 0));
       n("there", s.load(m + 3 * p, 1));
       n("end", s.munmap(m + 4 * p, p));
     },
     "one=0 split=ENOMEM protect=ENOMEM map=ENOMEM there=d end=0",
     {},
     {},
     four_entries(),
     false},
    {"S96", "after a split each part keeps its place in the file",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto m = mapped(s, opened(s, pages_of(s, "abcdef")), 4, shared, protection::read_write, 1);
       (void)s.munmap(m + p, p);
       n("seen", s.load(m, 1) + s.load(m + 2 * p, 1) + s.load(m + 3 * p, 1));
       n("store", s.store(m + 3 * p + 5, "Z"));
       n("f", s.contents("f").substr(4 * p + 4, 3));
     },
     "seen=bde store=ok f=eZe"},
    {"S97", "an access to nothing",
     [](system& s, notes& n) {
       n("load", s.load(s.reserve(1), 1));
       n("store", s.store(s.reserve(1), "x"));
     },
     "load=SIGSEGV store=SIGSEGV"},
    {"S98", "a store to what may only be read",
     [](system& s, notes& n) {
       const auto m = mapped(s, opened(s, "abc"), 1, shared, protection::read);
       n("store", s.store(m, "Z"));
       n("load", s.load(m, 3));
       n("f", s.contents("f"));
     },
     "store=SIGSEGV load=abc f=abc"},
    {"S99", "the tail of the last page, past the end",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto m = mapped(s, fd, 1);
       n("load", zero_or(s.load(m + 3, 5)));
       n("store", s.store(m + 5, "Z"));
       n("size", s.size(fd));
     },
     "load=zeros store=ok size=3"},
    {"S100", "a page wholly past the end",
     [](system& s, notes& n) {
       const auto m = mapped(s, opened(s, "abc"), 2);
       n("load", s.load(m + s.page(), 1));
       n("store", s.store(m + s.page(), "x"));
     },
     "load=SIGBUS store=SIGBUS"},
    {"S101", "a store past the end, then the file grows",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto m = mapped(s, fd, 1);
       (void)s.store(m + 5, "Z");
       n("grow", s.ftruncate(fd, 100));
       n("load", zero_or(s.load(m + 3, 20)));
       n("f", zero_or(s.contents("f").substr(3)));
     },
     "grow=0 load=zeros f=zeros"},
    {"S101-write", "a store past the end, then a write behind it",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto m = mapped(s, fd, 1);
       (void)s.store(m + 5, "Z");
       n("w", s.pwrite(fd, s.buffer("xyz"), 3, 10));
       n("load", zero_or(s.load(m + 3, 7)));
       n("w3", s.load(m + 10, 3));
     },
     "w=3 load=zeros w3=xyz"},
    {"S102", "the file grows under a mapping",
     [](system& s, notes& n) {
       const auto fd = opened(s, pages_of(s, "a"));
       const auto m = mapped(s, fd, 2);
       n("before", s.load(m + s.page(), 1));
       (void)s.ftruncate(fd, static_cast<std::int64_t>(2 * s.page()));
       n("after", zero_or(s.load(m + s.page(), 3)));
     },
     "before=SIGBUS after=zeros"},
    {"S103", "the file shrinks under a mapping",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "abc"));
       const auto m = mapped(s, fd, 3);
       n("all", s.load(m, 1) + s.load(m + p, 1) + s.load(m + 2 * p, 1));
       (void)s.ftruncate(fd, static_cast<std::int64_t>(p + 4));
       n("head", s.load(m + p, 4));
       n("tail", zero_or(s.load(m + p + 4, 8)));
       n("gone", s.load(m + 2 * p, 1));
     },
     "all=abc head=bbbb tail=zeros gone=SIGBUS"},
    {"S104", "the file shrinks and grows again",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto m = mapped(s, fd, 2);
       n("before", s.load(m + p, 1));
       (void)s.ftruncate(fd, 4);
       (void)s.ftruncate(fd, static_cast<std::int64_t>(2 * p));
       n("load", zero_or(s.load(m + 4, p)));
       n("f", zero_or(s.contents("f").substr(4)));
     },
     "before=b load=zeros f=zeros"},
    {"S105", "a write is seen through a shared mapping at once, and a store by read",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abcdef");
       const auto m = mapped(s, fd, 1);
       n("m", s.load(m, 6));
       (void)s.pwrite(fd, s.buffer("XY"), 2, 1);
       n("written", s.load(m, 6));
       (void)s.store(m + 4, "Z");
       n("stored", s.contents("f"));
     },
     "m=abcdef written=aXYdef stored=aXYdZf"},
    {"S107", "a private page that was not touched, or read only, shows a later write",
     [](system& s, notes& n) {
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto m = mapped(s, fd, 2, copy);
       n("read", s.load(m, 1));
       (void)s.pwrite(fd, s.buffer("X"), 1, 0);
       (void)s.pwrite(fd, s.buffer("Y"), 1, static_cast<std::int64_t>(s.page()));
       n("seen", s.load(m, 1) + s.load(m + s.page(), 1));
     },
     "read=a seen=XY"},
    {"S109", "a private page after a store of one's own",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abcdef");
       const auto m = mapped(s, fd, 1, copy);
       n("store", s.store(m + 1, "Z"));
       (void)s.pwrite(fd, s.buffer("XXXXXX"), 6, 0);
       n("m", s.load(m, 6));
       n("f", s.contents("f"));
       n("sync", s.msync(m, 6, {}));
       (void)s.fsync(fd);
       s.evict("f");
       n("later", s.contents("f"));
     },
     "store=ok m=aZcdef f=XXXXXX sync=0 later=XXXXXX"},
    {"S110", "a private copy below which the file is cut",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto m = mapped(s, fd, 2, copy);
       (void)s.store(m + p, "Z");
       (void)s.ftruncate(fd, 4);
       n("cut", s.load(m + p, 1));
       (void)s.ftruncate(fd, static_cast<std::int64_t>(2 * p));
       n("grown", zero_or(s.load(m + p, 4)));
     },
     "cut=SIGBUS grown=zeros"},
    {"S110-bsd",
     "the same where copies stay",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto m = mapped(s, fd, 2, copy);
       (void)s.store(m + p, "Z");
       (void)s.ftruncate(fd, 4);
       n("cut", s.load(m + p, 2));
     },
     "cut=Zb",
     {},
     {},
     bsd_copies(),
     false},
    {"S111", "the descriptor is closed after mmap",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto m = mapped(s, fd, 1);
       n("close", s.close(fd));
       n("load", s.load(m, 3));
       (void)s.store(m, "Z");
       n("f", s.contents("f"));
     },
     "close=0 load=abc f=Zbc"},
    {"S116", "a store to a private mapping leaves the file's page clean",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto m = mapped(s, fd, 1, copy);
       (void)s.store(m, "Z");
       s.evict("f");
       n("f", s.contents("f"));
       n("m", s.load(m, 3));
     },
     "f=abc m=Zbc"},
    {"S124", "open with O_TRUNC of a mapped file",
     [](system& s, notes& n) {
       const auto m = mapped(s, opened(s, "abc"), 1);
       n("before", s.load(m, 1));
       (void)s.open("f", o_rdwr.with_truncate());
       n("after", s.load(m, 1));
     },
     "before=a after=SIGBUS"},
};

}  // namespace

std::span<const row> mapping_rows() { return table; }

}  // namespace faultline::posix

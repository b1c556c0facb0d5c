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

constexpr kern::map_flags shared{};
constexpr kern::map_flags copy{.shared = false, .private_copy = true};
constexpr kern::map_flags anonymous{.shared = false, .private_copy = true, .anonymous = true};

std::int64_t opened(system& s, std::string_view contents, kern::open_flags how = o_rdwr) {
  s.make("f", contents);
  return s.open("f", how).value;
}
std::uint64_t mapped(system& s, std::int64_t fd, std::uint64_t pages, kern::map_flags how = shared,
                     protection rights = protection::read_write, std::uint64_t first_page = 0) {
  return static_cast<std::uint64_t>(
      s.mmap(0, pages * s.page(), rights, how, fd, static_cast<std::int64_t>(first_page * s.page())).value);
}
std::string pages_of(system& s, std::string_view firsts) {  // "ab": a page of a, a page of b
  std::string all;
  for (const char c : firsts) all += std::string(s.page(), c);
  return all;
}
/// "ok" where the address does not matter.
std::string succeeds(const outcome& o) { return o.ok() ? "ok" : text(o); }
std::string zero_or(const std::string& seen) {
  return seen == std::string(seen.size(), '\0') ? "zeros" : seen;
}

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
    {"X10", "anonymous memory: zeros, one's own, shared or private",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto m =
           static_cast<std::uint64_t>(s.mmap(0, 2 * p, protection::read_write, anonymous, -1, 0).value);
       n("zeros", zero_or(s.load(m, 2 * p)));
       n("store", s.store(m + p - 2, "wxyz"));
       n("m", s.load(m + p - 3, 6) == std::string("\0wxyz\0", 6));
       const auto sh = s.mmap(0, p, protection::read_write, {.anonymous = true}, -1, 0);
       n("shared", s.store(static_cast<std::uint64_t>(sh.value), "q"));
       n("other", s.load(m + p + 1, 1));
     },
     "zeros=zeros store=ok m=yes shared=ok other=z"},
    {"X11", "read into anonymous memory that was only read, or not touched",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, letters(2 * p));
       const auto a = s.zeros(2 * p);
       const auto b = s.zeros(2 * p);
       n("looked", zero_or(s.load(a, 1)));
       n("r", s.read(fd, a, 2 * p).value == static_cast<std::int64_t>(2 * p));
       n("a", s.load(a, 2 * p) == letters(2 * p));
       n("b", zero_or(s.load(b, 2 * p)));
     },
     "looked=zeros r=yes a=yes b=zeros"},
    {"X12", "mprotect: taken away, given back",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto m = mapped(s, opened(s, pages_of(s, "abc")), 3);
       (void)s.store(m + p, "X");
       n("none", s.mprotect(m + p, p, protection::none));
       n("load", s.load(m + p, 1));
       n("around", s.load(m, 1) + s.load(m + 2 * p, 1));
       n("read", s.mprotect(m + p, p, protection::read));
       n("seen", s.load(m + p, 2));
       n("store", s.store(m + p, "Y"));
       n("write", s.mprotect(m, 3 * p, protection::read_write));
       n("again", s.store(m + p, "Y"));
       n("f", s.contents("f").substr(p, 2));
     },
     "none=0 load=SIGSEGV around=ac read=0 seen=Xb store=SIGSEGV write=0 again=ok f=Yb"},
    {"X13", "mprotect: errors",
     [](system& s, notes& n) {
       const auto p = s.page();
       s.make("g", pages_of(s, "gg"));
       const auto g = mapped(s, s.open("g", o_rdonly).value, 2, shared, protection::read);
       const auto own = mapped(s, s.open("g", o_rdonly).value, 2, copy, protection::read);
       n("unaligned", s.mprotect(g + 1, p, protection::read));
       n("more", s.mprotect(g, p, protection::read_write));
       n("private", s.mprotect(own, p, protection::read_write));
       n("store", s.store(own, "Z"));
       n("g", s.contents("g").substr(0, 2));
       n("zero", s.mprotect(g, 0, protection::none));
       n("there", s.load(g, 1));
       n("nothing", s.mprotect(s.reserve(2), p, protection::read));
     },
     "unaligned=EINVAL more=EACCES private=0 store=ok g=gg zero=0 there=g nothing=ENOMEM"},
    {"X14", "msync: what it writes, and errors",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto m = mapped(s, fd, 2);
       (void)s.store(m + p, "Z");
       n("sync", s.msync(m, 2 * p, {}));
       s.evict("f");
       n("f", s.contents("f").substr(p, 2));
       n("again", s.store(m + p + 1, "Y"));
       s.evict("f");
       n("f2", s.contents("f").substr(p, 2));
       n("unaligned", s.msync(m + 1, p, {}));
       n("both", s.msync(m, p, {.sync = true, .async = true}));
       n("async", s.msync(m, p, {.sync = false, .async = true}));
       n("zero", s.msync(m, 0, {}));
       (void)s.munmap(m + p, p);
       n("hole", s.msync(m, 2 * p, {}));
     },
     "sync=0 f=Zb again=ok f2=ZY unaligned=EINVAL both=EINVAL async=0 zero=0 hole=ENOMEM"},
    {"X15", "a private mapping of a file that grows, and of its last page",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, "abc");
       const auto m = mapped(s, fd, 2, copy);
       n("tail", zero_or(s.load(m + 3, 4)));
       n("past", s.load(m + p, 1));
       (void)s.store(m + 1, "Z");
       (void)s.ftruncate(fd, static_cast<std::int64_t>(2 * p));
       (void)s.pwrite(fd, s.buffer("Q"), 1, static_cast<std::int64_t>(p));
       n("grown", s.load(m + p, 1));
       n("own", s.load(m, 3));
       n("own-tail", zero_or(s.load(m + 3, 4)));
     },
     "tail=zeros past=SIGBUS grown=Q own=aZc own-tail=zeros"},
    {"X16", "a private mapping written in part, over a mapping of the same file",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "abcd"));
       const auto m = mapped(s, fd, 4);
       (void)s.load(m + p, 1);
       n("over", succeeds(s.mmap(m + p, 2 * p, protection::read_write,
                                 {.shared = false, .private_copy = true, .fixed = true}, fd,
                                 static_cast<std::int64_t>(2 * p))));
       (void)s.store(m + p, "X");
       n("m", s.load(m, 1) + s.load(m + p, 2) + s.load(m + 2 * p, 1) + s.load(m + 3 * p, 1));
       n("f", s.contents("f") == pages_of(s, "abcd"));
     },
     "over=ok m=aXcdd f=yes"},
    {"X17", "an access across the end of a mapping, a store that is cut short",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto b = s.buffer(pages_of(s, "b"));
       n("load", s.load(b + p - 2, 4));
       n("store", s.store(b + p - 2, "xyz"));
       n("b", s.load(b + p - 3, 3));
     },
     "load=SIGSEGV store=SIGSEGV b=bxy"},
    {"X18", "read from the file into a private mapping of it that was read only so far",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto m = mapped(s, fd, 2, copy);
       n("before", s.load(m, 1) + s.load(m + p, 1));
       n("r", s.pread(fd, m, p, static_cast<std::int64_t>(p)).value == static_cast<std::int64_t>(p));
       n("m", s.load(m, 1) + s.load(m + p, 1));
       n("f", s.contents("f") == pages_of(s, "ab"));
     },
     "before=ab r=yes m=bb f=yes"},
    {"X19", "the tail past the end is not the file's, also after it was written back",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto m = mapped(s, fd, 1);
       (void)s.store(m, "Z");
       (void)s.store(m + 10, "junk");
       n("sync", s.fsync(fd));
       s.evict("f");
       n("grow", s.ftruncate(fd, 20));
       n("f", s.contents("f") == "Zbc" + std::string(17, '\0'));
       n("load", zero_or(s.load(m + 3, 17)));
     },
     "sync=0 grow=0 f=yes load=zeros"},
    {"X20", "munmap and a mapping anew at the same place",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto at = s.reserve(2);
       (void)s.mmap(at, p, protection::read_write, {.shared = false, .private_copy = true, .fixed = true}, fd,
                    0);
       (void)s.store(at, "Z");
       n("m", s.load(at, 2));
       (void)s.munmap(at, p);
       (void)s.mmap(at, p, protection::read_write, {.shared = false, .private_copy = true, .fixed = true}, fd,
                    0);
       n("anew", s.load(at, 2));
     },
     "m=Za anew=aa"},
};

}  // namespace

std::span<const row> mapping_rows() { return table; }

}  // namespace faultline::posix

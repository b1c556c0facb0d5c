// SPDX-License-Identifier: BSD-2-Clause
// Rows of our own, X: where model and host could differ, and the list has nothing. Sources: POSIX.1-2017 read, write, lseek, mmap,
// mprotect, msync, fsync, ftruncate.
#include "posix/rows.hpp"

namespace faultline::posix {

using kern::o_rdonly;
using kern::o_rdwr;
using kern::whence;
using vm::protection;
using namespace std::string_view_literals;

namespace {

const row table[] = {
    {"X01", "cut inside a page, evicted, then grown: nothing old shows",
     [](system& s, notes& n) {
       const auto fd = opened(s, letters(3 * s.page()));
       const auto p = s.page();
       n("cut", s.ftruncate(fd, static_cast<std::int64_t>(p + 10)));
       s.evict("f");
       n("grow", s.ftruncate(fd, static_cast<std::int64_t>(3 * p)));
       s.evict("f");
       const auto all = s.contents("f");
       n("kept", all.substr(0, p + 10) == letters(p + 10));
       n("zeros", all.find_first_not_of('\0', p + 10) == std::string::npos && all.size() == 3 * p);
     },
     "cut=0 grow=0 kept=yes zeros=yes"},
    {"X02", "written, evicted, read again",
     [](system& s, notes& n) {
       const auto fd = opened(s, letters(2 * s.page(), 'k'));
       const auto p = s.page();
       n("w", s.pwrite(fd, s.buffer("0123456789"), 10, static_cast<std::int64_t>(p - 5)));
       n("sync", s.fsync(fd));
       s.evict("f");
       const auto b = s.buffer("............");
       n("r", s.pread(fd, b, 12, static_cast<std::int64_t>(p - 6)));
       n("b", s.load(b + 1, 10));
     },
     "w=10 sync=0 r=12 b=0123456789"},
    {"X03", "open with O_TRUNC",
     [](system& s, notes& n) {
       (void)opened(s, "abc");
       const auto fd = s.open("f", o_rdwr.with_truncate()).value;
       n("size", s.size(fd));
       n("missing", s.open("nobody", o_rdonly));
     },
     "size=0 missing=ENOENT"},
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
       n("over", succeeds(s.mmap(m + p, 2 * p, protection::read_write, copy_fixed, fd,
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
       (void)s.mmap(at, p, protection::read_write, copy_fixed, fd, 0);
       (void)s.store(at, "Z");
       n("m", s.load(at, 2));
       (void)s.munmap(at, p);
       (void)s.mmap(at, p, protection::read_write, copy_fixed, fd, 0);
       n("anew", s.load(at, 2));
     },
     "m=Za anew=aa"},
    {"X21", "anonymous memory fixed over the middle of a private mapping with stores",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "abc"));
       const auto m = mapped(s, fd, 3, copy);
       for (std::uint64_t i = 0; i < 3; ++i) (void)s.store(m + i * p, "Z");
       n("over",
         succeeds(s.mmap(m + p, p, protection::read_write,
                         {.shared = false, .private_copy = true, .fixed = true, .anonymous = true}, -1, 0)));
       n("m", s.load(m, 2) + s.load(m + 2 * p, 2));
       n("new", zero_or(s.load(m + p, p)));
       n("f", s.contents("f") == pages_of(s, "abc"));
     },
     "over=ok m=ZaZc new=zeros f=yes"},
    {"X22", "mapped past the end, then written there",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, "abc");
       const auto m = mapped(s, fd, 2, shared, protection::read_write, 2);
       n("before", s.load(m, 1));
       (void)s.pwrite(fd, s.buffer("XY"), 2, static_cast<std::int64_t>(3 * p));
       n("hole", zero_or(s.load(m, p)));
       n("written", s.load(m + p, 2));
       n("tail", zero_or(s.load(m + p + 2, 8)));
       n("store", s.store(m, "Q"));
       n("f", s.contents("f").substr(2 * p, 1));
     },
     "before=SIGBUS hole=zeros written=XY tail=zeros store=ok f=Q"},
    {"X23", "SEEK_DATA and SEEK_HOLE after sparse writes, a cut, and a growth",
     [](system& s, notes& n) {
       const auto p = static_cast<std::int64_t>(s.page());
       const auto fd = opened(s, "");
       const auto b = s.buffer(letters(2 * s.page()));
       (void)s.pwrite(fd, b, 1, p + 7);
       (void)s.pwrite(fd, b, 2 * s.page(), 4 * p);
       n("data", in_pages(s, s.lseek(fd, 0, whence::data)));
       n("hole", in_pages(s, s.lseek(fd, p, whence::hole)));
       n("inside", s.lseek(fd, p + 1, whence::data).value == p + 1);
       n("next", in_pages(s, s.lseek(fd, 2 * p, whence::data)));
       n("end", in_pages(s, s.lseek(fd, 4 * p, whence::hole)));
       (void)s.ftruncate(fd, 5 * p);
       (void)s.ftruncate(fd, 8 * p);
       (void)s.fsync(fd);
       n("cut", in_pages(s, s.lseek(fd, 4 * p, whence::hole)));
       n("behind", s.lseek(fd, 5 * p, whence::data));
     },
     "data=1 hole=2 inside=yes next=4 end=6 cut=5 behind=ENXIO"},
    {"X24", "a private copy behind PROT_NONE and back, in a mapping that is split by it",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto m = mapped(s, opened(s, pages_of(s, "abc")), 3, copy);
       (void)s.store(m + p, "Z");
       n("none", s.mprotect(m + p, p, protection::none));
       n("around", s.store(m, "X") + s.store(m + 2 * p, "Y"));
       n("all", s.mprotect(m, 3 * p, protection::read));
       n("m", s.load(m, 2) + s.load(m + p, 2) + s.load(m + 2 * p, 2));
       n("store", s.store(m + p, "Q"));
     },
     "none=0 around=okok all=0 m=XaZbYc store=SIGSEGV"},
    {"X25", "MS_INVALIDATE over a private copy and over a shared page",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto own = mapped(s, fd, 2, copy);
       const auto all = mapped(s, fd, 2);
       (void)s.store(own, "Z");
       (void)s.store(all + p, "Q");
       n("own", s.msync(own, 2 * p, {.sync = true, .invalidate = true}));
       n("all", s.msync(all, 2 * p, {.sync = true, .invalidate = true}));
       n("seen", s.load(own, 2) + s.load(own + p, 2) + s.load(all + p, 2));
       n("none", s.msync(all, 2 * p, {.sync = false}));
     },
     "own=0 all=0 seen=ZaQbQb none=0"},
    {"X26", "transfers with memory that may not be touched",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abcdef");
       const auto b = s.buffer("xyz");
       (void)s.mprotect(b, s.page(), protection::none);
       n("w", s.pwrite(fd, b, 3, 0));
       n("r", s.pread(fd, b, 3, 0));
       n("f", s.contents("f"));
       (void)s.mprotect(b, s.page(), protection::read_write);
       n("b", s.load(b, 3));
     },
     "w=EFAULT r=EFAULT f=abcdef b=xyz"},
    {"X27", "a duplicate shares O_APPEND and the offset",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc", o_rdwr.with_append());
       const auto same = s.dup(fd).value;
       n("w", s.write(same, s.buffer("X"), 1));
       n("at", at(s, fd));
       n("close", s.close(fd));
       n("again", s.write(same, s.buffer("Y"), 1));
       n("f", s.contents("f"));
     },
     "w=1 at=4 close=0 again=1 f=abcXY"},
    {"X28", "RLIMIT_FSIZE between two pieces, and inside one",
     [](system& s, notes& n) {
       const auto fd = opened(s, "");
       const auto b = s.buffer(letters(40));
       s.limit_file_size(10);
       n("between", s.pwritev(fd, {{b, 4}, {b + 4, 6}, {b + 10, 4}}, 0));
       n("inside", s.pwritev(fd, {{b, 3}, {b + 3, 3}, {b + 6, 3}}, 5));
       n("at-it", s.pwritev(fd, {{b, 0}, {b, 3}}, 10));
       n("f", s.contents("f"));
     },
     "between=10 inside=5 at-it=EFBIG f=abcdeabcde"},
    {"X29", "readv to the end of the file: the piece it ends in, and the one behind it",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abcdef");
       const auto b = s.buffer("............");
       n("r", s.readv(fd, {{b, 4}, {b + 4, 4}, {b + 8, 4}}));
       n("b", s.load(b, 12));
       n("at", at(s, fd));
     },
     "r=6 b=abcdef...... at=6"},
    {"X30", "a write of nothing on O_APPEND leaves the offset",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc", o_rdwr.with_append());
       n("w", s.write(fd, s.buffer("x"), 0));
       n("at", at(s, fd));
     },
     "w=0 at=0"},
    {"X32", "what is past the end in a private copy is the process's own",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abcdef");
       const auto m = mapped(s, fd, 1, copy);
       (void)s.store(m + 8, "junk");
       (void)s.ftruncate(fd, 20);
       n("grown", s.load(m + 8, 4));
       (void)s.ftruncate(fd, 2);
       n("cut", s.load(m, 6));
       n("f", s.contents("f"));
     },
     "grown=junk cut=abcdef f=ab"},
    {"X33", "a shared and a private mapping of one page",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       const auto all = mapped(s, fd, 1);
       const auto own = mapped(s, fd, 1, copy);
       (void)s.store(all, "X");
       n("before", s.load(own, 3));
       (void)s.store(own + 1, "Y");
       (void)s.store(all + 2, "Z");
       n("own", s.load(own, 3));
       n("all", s.load(all, 3));
     },
     "before=Xbc own=XYc all=XbZ"},
    {"X34", "sizes and addresses that no process has",
     [](system& s, notes& n) {
       n("mmap", s.mmap(0, std::uint64_t{1} << 60U, protection::read, anonymous, -1, 0));
       n("munmap", s.munmap(std::uint64_t{1} << 60U, s.page()));
       n("mprotect", s.mprotect(std::uint64_t{1} << 60U, s.page(), protection::read));
       n("msync", s.msync(std::uint64_t{1} << 60U, s.page(), {}));
       n("load", s.load(std::uint64_t{1} << 46U, 1));
     },
     "mmap=ENOMEM munmap=EINVAL mprotect=ENOMEM msync=ENOMEM load=SIGSEGV"},
    {"X35", "mmap from a negative offset",
     [](system& s, notes& n) {
       n("r", s.mmap(0, s.page(), protection::read, shared, opened(s, "abc"),
                     -static_cast<std::int64_t>(s.page())));
     },
     "r=EINVAL", "r=EOVERFLOW"},
    {"X36", "lseek to where no file reaches, and past the offset type",
     [](system& s, notes& n) {
       const auto fd = opened(s, "abc");
       n("far", s.lseek(fd, std::int64_t{1} << 60, whence::set));
       (void)s.lseek(fd, 5, whence::set);
       n("over", s.lseek(fd, INT64_MAX, whence::current));
       n("at", at(s, fd));
     },
     "far=1152921504606846976 over=EOVERFLOW at=5", "far=EINVAL over=EINVAL at=5"},
    {"X37", "read from a hole, into memory that was never touched",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, "");
       (void)s.ftruncate(fd, static_cast<std::int64_t>(3 * p));
       const auto z = s.zeros(2 * p);
       n("r", in_pages(s, s.pread(fd, z, 2 * p, static_cast<std::int64_t>(p))));
       n("z", zero_or(s.load(z, 2 * p)));
       n("data", s.lseek(fd, 0, whence::data));
     },
     "r=2 z=zeros data=ENXIO"},
    {"X38", "a file written from a private copy of itself, and from a page of itself behind it",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "abcd"));
       const auto own = mapped(s, fd, 4, copy);
       const auto all = mapped(s, fd, 4);
       (void)s.store(own, "Z");
       n("own", in_pages(s, s.pwrite(fd, own, p, static_cast<std::int64_t>(p))));
       s.evict("f");
       n("all", in_pages(s, s.pwrite(fd, all + 3 * p, p, static_cast<std::int64_t>(2 * p))));
       n("back", in_pages(s, s.pread(fd, all + 3 * p, p, static_cast<std::int64_t>(p))));
       const auto f = s.contents("f");
       n("f", f.substr(0, 1) + f.substr(p, 2) + f.substr(2 * p, 1) + f.substr(3 * p, 2));
     },
     "own=1 all=1 back=1 f=aZadZa"},
    {"X39", "a file that grows by a write from its own last page",
     [](system& s, notes& n) {
       const auto p = s.page();
       const auto fd = opened(s, pages_of(s, "ab"));
       const auto m = mapped(s, fd, 4);
       n("w", in_pages(s, s.pwrite(fd, m + p, p, static_cast<std::int64_t>(2 * p))));
       n("m", s.load(m + 2 * p, 2));
       n("past", s.load(m + 3 * p, 1));
     },
     "w=1 m=bb past=SIGBUS"},
    {"X40", "a cut and a growth inside a hole leave it one, cached or not; what was stored there stays data",
     [](system& s, notes& n) {
       const auto p = static_cast<std::int64_t>(s.page());
       const auto fd = opened(s, "");
       (void)s.ftruncate(fd, 2 * p + 100);
       const auto m = mapped(s, fd, 4);
       n("seen", zero_or(s.load(m + 2 * s.page(), 3)));
       (void)s.ftruncate(fd, 4 * p);
       n("grown", s.lseek(fd, 0, whence::data));
       n("cached", zero_or(s.load(m + s.page(), 3)));
       (void)s.ftruncate(fd, p + 10);
       n("cut", s.lseek(fd, 0, whence::data));
       (void)s.store(m + s.page(), "Z");
       (void)s.ftruncate(fd, p + 5);
       (void)s.ftruncate(fd, 4 * p);
       n("data", in_pages(s, s.lseek(fd, 0, whence::data)));
       n("hole", in_pages(s, s.lseek(fd, p, whence::hole)));
     },
     "seen=zeros grown=ENXIO cached=zeros cut=ENXIO data=1 hole=2"},
};

}  // namespace

std::span<const row> own_rows() { return table; }

}  // namespace faultline::posix

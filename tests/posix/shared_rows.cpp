// SPDX-License-Identifier: BSD-2-Clause
// Calls of several threads. Sources: POSIX.1-2017 2.9.7, read, write; LTP write06; xfstests 069, 310.
#include "posix/shared.hpp"

namespace faultline::posix {

using kern::o_rdonly;
using kern::o_rdwr;
using vm::protection;

namespace {

/// "aab", a letter for each page that is all of that letter; else '*'.
std::string page_by_page(const system& s, const std::string& bytes) {
  std::string all;
  for (std::size_t at = 0; at < bytes.size(); at += s.page()) {
    const auto one = bytes.substr(at, s.page());
    all += one == std::string(one.size(), one[0]) ? one[0] : '*';
  }
  return all;
}

/// Two tasks write two pages each, from memory that is there.
place two_writers(system& s, std::string_view contents, kern::open_flags how) {
  s.make("f", contents);
  return {.fd = {s.open("f", how).value, s.open("f", how).value},
          .at = {s.buffer(pages_of(s, "xx")), s.buffer(pages_of(s, "yy"))}};
}
/// The same from cold mappings of another file: vn_io_fault does a page at a time.
place two_cold_writers(system& s, std::string_view contents, kern::open_flags how) {
  s.make("f", contents);
  s.make("g", pages_of(s, "xxyy"));
  const auto g = s.open("g", o_rdonly).value;
  return {.fd = {s.open("f", how).value, s.open("f", how).value},
          .at = {mapped(s, g, 2, shared, protection::read), mapped(s, g, 2, shared, protection::read, 2)}};
}
void all_of_f(system& s, const place&, std::span<const outcome>, notes& n) {
  n("f", page_by_page(s, s.contents("f")));
}

const shared_row table[] = {
    {"S23",
     "read over a write of two pages",
     [](system& s) {
       auto p = two_writers(s, pages_of(s, "aa"), o_rdwr);
       p.at[1] = s.zeros(2 * s.page());
       return p;
     },
     {[](system& s, const place& p) { return s.pwrite(p.fd[0], p.at[0], 2 * s.page(), 0); },
      [](system& s, const place& p) { return s.pread(p.fd[1], p.at[1], 2 * s.page(), 0); }},
     [](system& s, const place& p, std::span<const outcome>, notes& n) {
       n("r", page_by_page(s, s.load(p.at[1], 2 * s.page())));
     },
     "r=aa | r=xx",
     "r=ax | r=xa | r=*a | r=*x | r=a* | r=x* | r=**"},
    {"S23-cold",
     "the same from a cold mapping",
     [](system& s) {
       auto p = two_cold_writers(s, pages_of(s, "aa"), o_rdwr);
       p.at[1] = s.zeros(2 * s.page());
       return p;
     },
     {[](system& s, const place& p) { return s.pwrite(p.fd[0], p.at[0], 2 * s.page(), 0); },
      [](system& s, const place& p) { return s.pread(p.fd[1], p.at[1], 2 * s.page(), 0); }},
     [](system& s, const place& p, std::span<const outcome>, notes& n) {
       n("r", page_by_page(s, s.load(p.at[1], 2 * s.page())));
     },
     "r=aa | r=xx",
     "r=ax | r=xa | r=*a | r=*x | r=a* | r=x* | r=**"},
    {"S24",
     "two writes of the same two pages",
     [](system& s) { return two_writers(s, pages_of(s, "aa"), o_rdwr); },
     {[](system& s, const place& p) { return s.pwrite(p.fd[0], p.at[0], 2 * s.page(), 0); },
      [](system& s, const place& p) { return s.pwrite(p.fd[1], p.at[1], 2 * s.page(), 0); }},
     all_of_f,
     "f=xx | f=yy"},
    {"S24-cold",
     "the same from cold mappings",
     [](system& s) { return two_cold_writers(s, pages_of(s, "aa"), o_rdwr); },
     {[](system& s, const place& p) { return s.pwrite(p.fd[0], p.at[0], 2 * s.page(), 0); },
      [](system& s, const place& p) { return s.pwrite(p.fd[1], p.at[1], 2 * s.page(), 0); }},
     all_of_f,
     "f=xx | f=yy"},
    {"S25",
     "two appenders with descriptions of their own",
     [](system& s) { return two_writers(s, "", o_rdwr.with_append()); },
     {[](system& s, const place& p) { return s.write(p.fd[0], p.at[0], 2 * s.page()); },
      [](system& s, const place& p) { return s.write(p.fd[1], p.at[1], 2 * s.page()); }},
     all_of_f,
     "f=xxyy | f=yyxx"},
    {"S25-cold",
     "the same from cold mappings",
     [](system& s) { return two_cold_writers(s, "", o_rdwr.with_append()); },
     {[](system& s, const place& p) { return s.write(p.fd[0], p.at[0], 2 * s.page()); },
      [](system& s, const place& p) { return s.write(p.fd[1], p.at[1], 2 * s.page()); }},
     all_of_f,
     "f=xxyy | f=yyxx"},
    {"S26",
     "two writers on one description",
     [](system& s) { return two_writers(s, "", o_rdwr); },
     {[](system& s, const place& p) { return s.write(p.fd[0], p.at[0], 2 * s.page()); },
      [](system& s, const place& p) { return s.write(p.fd[0], p.at[1], 2 * s.page()); }},
     [](system& s, const place& p, std::span<const outcome>, notes& n) {
       n("f", page_by_page(s, s.contents("f")));
       n("at", in_pages(s, at(s, p.fd[0])));
     },
     "f=xxyy at=4 | f=yyxx at=4"},
    {"S27",
     "two readers on one description",
     [](system& s) {
       s.make("f", pages_of(s, "abc"));
       return place{.fd = {s.open("f", o_rdonly).value},
                    .at = {s.zeros(2 * s.page()), s.zeros(2 * s.page())}};
     },
     {[](system& s, const place& p) { return s.read(p.fd[0], p.at[0], 2 * s.page()); },
      [](system& s, const place& p) { return s.read(p.fd[0], p.at[1], 2 * s.page()); }},
     [](system& s, const place& p, std::span<const outcome> gave, notes& n) {
       n("first", page_by_page(s, s.load(p.at[0], static_cast<std::uint64_t>(gave[0].value))));
       n("second", page_by_page(s, s.load(p.at[1], static_cast<std::uint64_t>(gave[1].value))));
     },
     "first=ab second=c | first=c second=ab"},
    {"S28",
     "two pwrites past the end",
     [](system& s) { return two_writers(s, "", o_rdwr); },
     {[](system& s, const place& p) { return s.pwrite(p.fd[0], p.at[0], s.page(), 0); },
      [](system& s, const place& p) {
        return s.pwrite(p.fd[1], p.at[1], 2 * s.page(), static_cast<std::int64_t>(2 * s.page()));
      }},
     [](system& s, const place&, std::span<const outcome>, notes& n) {
       const auto f = s.contents("f");
       n("f", page_by_page(s, f.substr(0, s.page())) + page_by_page(s, f.substr(2 * s.page())));
       n("gap", zero_or(f.substr(s.page(), s.page())));
     },
     "f=xyy gap=zeros"},
    {"S50",
     "the mapping that is written from is cut to one page meanwhile",
     [](system& s) {
       s.make("g", pages_of(s, "ghi"));
       s.make("f", "");
       const auto g = s.open("g", o_rdwr).value;
       return place{.fd = {s.open("f", o_rdwr).value, g}, .at = {mapped(s, g, 3, shared, protection::read)}};
     },
     {[](system& s, const place& p) { return s.write(p.fd[0], p.at[0], 3 * s.page()); },
      [](system& s, const place& p) { return s.ftruncate(p.fd[1], static_cast<std::int64_t>(s.page())); }},
     [](system& s, const place& p, std::span<const outcome> gave, notes& n) {
       n("w", in_pages(s, gave[0]));
       n("f", page_by_page(s, s.contents("f")));
       n("at", in_pages(s, at(s, p.fd[0])));
     },
     "w=1 f=g at=1 | w=2 f=gh at=2 | w=3 f=ghi at=3",
     {},
     "w=EFAULT f=g at=1 | w=EFAULT f=gh at=2 | w=3 f=ghi at=3"},
    {"S51",
     "the buffer that is written from is unmapped meanwhile",
     [](system& s) {
       s.make("f", "");
       return place{.fd = {s.open("f", o_rdwr).value}, .at = {s.buffer(pages_of(s, "xy"))}};
     },
     {[](system& s, const place& p) { return s.write(p.fd[0], p.at[0], 2 * s.page()); },
      [](system& s, const place& p) { return s.munmap(p.at[0], 2 * s.page()); }},
     [](system& s, const place&, std::span<const outcome> gave, notes& n) {
       n("w", in_pages(s, gave[0]));
       n("f", page_by_page(s, s.contents("f")));
     },
     "w=EFAULT f= | w=1 f=x | w=2 f=xy",
     {},
     "w=EFAULT f= | w=2 f=xy"},  // undone, and the buffer is gone when the call tries again
    {"S72",
     "the descriptor is closed during a read",
     [](system& s) {
       s.make("f", pages_of(s, "a"));
       return place{.fd = {s.open("f", o_rdonly).value}, .at = {s.zeros(s.page())}};
     },
     {[](system& s, const place& p) { return s.read(p.fd[0], p.at[0], s.page()); },
      [](system& s, const place& p) { return s.close(p.fd[0]); }},
     [](system& s, const place& p, std::span<const outcome> gave, notes& n) {
       n("r", in_pages(s, gave[0]));
       if (gave[0].ok()) n("b", page_by_page(s, s.load(p.at[0], s.page())));
       n("close", gave[1]);
     },
     "r=1 b=a close=0 | r=EBADF close=0"},
    {"S112",
     "a load while the page is unmapped",
     [](system& s) {
       s.make("f", pages_of(s, "a"));
       const auto m = mapped(s, s.open("f", o_rdwr).value, 1);
       (void)s.load(m, 1);
       return place{.at = {m}};
     },
     {[](system& s, const place& p) { return touched(s, p.at[0]); },
      [](system& s, const place& p) { return s.munmap(p.at[0], s.page()); }},
     [](system&, const place&, std::span<const outcome> gave, notes& n) {
       n("load", text_of_touch(gave[0]));
     },
     "load=a | load=SIGSEGV"},
    {"S113",
     "a load while the file is cut, below the byte in its page",
     [](system& s) {
       s.make("f", pages_of(s, "ab"));
       const auto fd = s.open("f", o_rdwr).value;
       return place{.fd = {fd}, .at = {mapped(s, fd, 2)}};
     },
     {[](system& s, const place& p) { return touched(s, p.at[0] + s.page() + 5); },
      [](system& s, const place& p) {
        return s.ftruncate(p.fd[0], static_cast<std::int64_t>(s.page() + 3));
      }},
     [](system&, const place&, std::span<const outcome> gave, notes& n) {
       n("load", text_of_touch(gave[0]));
     },
     "load=b | load=0"},
    {"S113-page",
     "a load while the file is cut, below its page",
     [](system& s) {
       s.make("f", pages_of(s, "ab"));
       const auto fd = s.open("f", o_rdwr).value;
       return place{.fd = {fd}, .at = {mapped(s, fd, 2)}};
     },
     {[](system& s, const place& p) { return touched(s, p.at[0] + s.page() + 5); },
      [](system& s, const place& p) { return s.ftruncate(p.fd[0], 3); }},
     [](system&, const place&, std::span<const outcome> gave, notes& n) {
       n("load", text_of_touch(gave[0]));
     },
     "load=b | load=SIGBUS"},
    {"S117",
     "munmap while a fault reads the page in",
     [](system& s) {
       s.make("f", pages_of(s, "a"));
       return place{.at = {mapped(s, s.open("f", o_rdwr).value, 1)}};
     },
     {[](system& s, const place& p) { return touched(s, p.at[0]); },
      [](system& s, const place& p) { return s.munmap(p.at[0], s.page()); }},
     [](system&, const place&, std::span<const outcome> gave, notes& n) {
       n("load", text_of_touch(gave[0]));
     },
     "load=a | load=SIGSEGV"},
    {"X50",
     "a store into a private mapping over a write of the file's page",
     [](system& s) {
       s.make("f", pages_of(s, "a"));
       const auto fd = s.open("f", o_rdwr).value;
       return place{.fd = {fd}, .at = {mapped(s, fd, 1, copy), s.buffer(pages_of(s, "x"))}};
     },
     {[](system& s, const place& p) {
        (void)s.store(p.at[0] + 1, "Z");
        return outcome{};
      },
      [](system& s, const place& p) { return s.pwrite(p.fd[0], p.at[1], 1, 0); }},
     [](system& s, const place& p, std::span<const outcome>, notes& n) {
       n("m", s.load(p.at[0], 3));
       n("f", s.contents("f").substr(0, 3));
     },
     "m=aZa f=xaa | m=xZa f=xaa"},
    {"X51",
     "two tasks first store to different bytes of one private page",
     [](system& s) {
       s.make("f", pages_of(s, "a"));
       return place{.at = {mapped(s, s.open("f", o_rdwr).value, 1, copy)}};
     },
     {[](system& s, const place& p) {
        (void)s.store(p.at[0], "X");
        return outcome{};
      },
      [](system& s, const place& p) {
        (void)s.store(p.at[0] + 1, "Y");
        return outcome{};
      }},
     [](system& s, const place& p, std::span<const outcome>, notes& n) {
       n("m", s.load(p.at[0], 3));
       n("f", s.contents("f").substr(0, 3));
     },
     "m=XYa f=aaa"},
    {"X52",
     "a shared page that is stored to while the file is synced: nothing is lost",
     [](system& s) {
       s.make("f", pages_of(s, "a"));
       const auto fd = s.open("f", o_rdwr).value;
       const auto m = mapped(s, fd, 1);
       (void)s.store(m, "X");
       return place{.fd = {fd}, .at = {m}};
     },
     {[](system& s, const place& p) { return s.fsync(p.fd[0]); },
      [](system& s, const place& p) {
        (void)s.store(p.at[0] + 1, "Y");
        return outcome{};
      }},
     [](system& s, const place& p, std::span<const outcome>, notes& n) {
       (void)s.fsync(p.fd[0]);
       s.evict("f");
       n("f", s.contents("f").substr(0, 3));
     },
     "f=XYa"},
    {"X53",
     "a grown file is looked at while it is written",
     [](system& s) {
       auto p = two_writers(s, "", o_rdwr);
       p.at[1] = s.zeros(s.page());
       return p;
     },
     {[](system& s, const place& p) { return s.pwrite(p.fd[0], p.at[0], 2 * s.page(), 0); },
      [](system& s, const place& p) { return s.size(p.fd[1]); }},
     [](system& s, const place&, std::span<const outcome> gave, notes& n) {
       n("size", in_pages(s, gave[1]));
     },
     "size=0 | size=2",
     "size=1"},
    {"X53-cold",
     "the same, written from a cold mapping: vn_io_fault lets go of the vnode between pages, and stat takes "
     "no range",
     [](system& s) { return two_cold_writers(s, "", o_rdwr); },
     {[](system& s, const place& p) { return s.pwrite(p.fd[0], p.at[0], 2 * s.page(), 0); },
      [](system& s, const place& p) { return s.size(p.fd[1]); }},
     [](system& s, const place&, std::span<const outcome> gave, notes& n) {
       n("size", in_pages(s, gave[1]));
     },
     "size=0 | size=2",
     "size=1",
     "size=0 | size=1 | size=2"},
};

}  // namespace

std::span<const shared_row> shared_rows() { return table; }

outcome touched(system& s, std::uint64_t at) {
  const auto seen = s.load(at, 1);
  if (seen.size() == 1) return {seen[0]};
  return {seen == "SIGSEGV" ? -1 : -2};
}

std::string text_of_touch(const outcome& o) {
  if (o.value < 0) return o.value == -1 ? "SIGSEGV" : "SIGBUS";
  return o.value == 0 ? "0" : std::string(1, static_cast<char>(o.value));
}

}  // namespace faultline::posix

// SPDX-License-Identifier: BSD-2-Clause
#include "posix/rows.hpp"

namespace faultline::posix {

std::string letters(std::uint64_t n, char first) {
  std::string all(static_cast<std::size_t>(n), '\0');
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<char>('a' + (static_cast<std::size_t>(first - 'a') + i + i / 256) % 26);
  return all;
}

std::string pages_of(const system& s, std::string_view firsts) {
  std::string all;
  for (const char c : firsts) all += std::string(s.page(), c);
  return all;
}

std::string succeeds(const outcome& o) { return o.ok() ? "ok" : text(o); }

std::string zero_or(const std::string& seen) {
  return seen == std::string(seen.size(), '\0') ? "zeros" : seen;
}

outcome in_pages(const system& s, const outcome& o) {
  return o.ok() ? outcome{o.value / static_cast<std::int64_t>(s.page())} : o;
}

std::int64_t opened(system& s, std::string_view contents, kern::open_flags how) {
  s.make("f", contents);
  return s.open("f", how).value;
}

outcome at(system& s, std::int64_t fd) { return s.lseek(fd, 0, kern::whence::current); }

std::uint64_t ends_after(system& s, std::uint64_t good, std::uint64_t pages) {
  return s.buffer(letters(pages * s.page())) + pages * s.page() - good;
}

std::uint64_t mapped(system& s, std::int64_t fd, std::uint64_t pages, kern::map_flags how,
                     vm::protection rights, std::uint64_t first_page) {
  return static_cast<std::uint64_t>(
      s.mmap(0, pages * s.page(), rights, how, fd, static_cast<std::int64_t>(first_page * s.page())).value);
}

}  // namespace faultline::posix

// SPDX-License-Identifier: BSD-2-Clause
#include "posix/fsx.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace faultline::posix {

namespace {

constexpr std::uint32_t files = 2;
constexpr std::uint32_t descriptors = 4;
constexpr std::uint32_t windows = 4;
constexpr std::uint32_t window_pages = 4;
constexpr std::uint32_t file_pages = 5;

constexpr std::array rights{vm::protection::read_write, vm::protection::read_write,
                            vm::protection::read_write, vm::protection::read_write,
                            vm::protection::read,       vm::protection::none};

/// What the sequence knows of one page of a window.
struct known_page {
  bool mapped = false;
  bool shared = false;
  vm::protection rights = vm::protection::none;
  int file = -1;  ///< -1: anonymous
  std::uint64_t file_page = 0;
};

struct known_descriptor {
  std::int64_t fd = -1;
  int file = 0;
  bool append = false;
};

class player {
 public:
  player(system& s, const fsx_options& how) : s_(s), how_(how), page_(s.page()) {
    s_.make("f", pattern(2 * page_ + 100, 1));
    s_.make("g", pattern(page_ / 2, 2));
    buffer_ = s_.buffer(pattern(3 * page_, 3));
    zeros_ = s_.zeros(2 * page_);
    for (auto& w : at_) w = s_.reserve(window_pages);
    for (std::size_t i = 0; i < descriptors; ++i) {
      fds_[i] = {.fd = s_.open(name(i % 2), i < 2 ? kern::o_rdwr : kern::o_rdwr.with_append()).value,
                 .file = static_cast<int>(i % 2),
                 .append = i >= 2};
    }
    // Shared and private mappings of both; then what the calls make of them.
    for (std::uint32_t w = 0; w < windows; ++w) {
      const kern::map_flags kind{.shared = w < 2, .private_copy = w >= 2, .fixed = true};
      (void)s_.mmap(at_[w], window_pages * page_, vm::protection::read_write, kind, fds_[w % 2].fd, 0);
      for (std::uint32_t p = 0; p < window_pages; ++p) {
        known_[w][p] = {.mapped = true,
                        .shared = w < 2,
                        .rights = vm::protection::read_write,
                        .file = static_cast<int>(w % 2),
                        .file_page = p};
      }
    }
  }

  fsx_note play(const fsx_call& c);

 private:
  static std::string pattern(std::uint64_t n, std::uint64_t seed) {
    fsx_random next(seed);
    std::string all(static_cast<std::size_t>(n), '\0');
    for (auto& byte : all) byte = static_cast<char>('a' + next.below(26));
    return all;
  }
  [[nodiscard]] static const char* name(std::size_t file) { return file == 0 ? "f" : "g"; }
  [[nodiscard]] std::uint64_t size_of(int file) {
    return s_.contents(name(static_cast<std::size_t>(file))).size();
  }

  struct memory {
    std::uint64_t at = 0;
    std::string shown;
    int window = -1;  ///< -1: a buffer or a bad address
    std::uint64_t offset = 0;
    bool bad = false;
  };
  [[nodiscard]] memory memory_of(std::uint32_t which, std::uint32_t offset) const;
  [[nodiscard]] std::uint64_t length_of(std::uint32_t n) const;
  [[nodiscard]] std::uint64_t offset_of(std::uint32_t n) const;
  /// May all of it be had? `first_only`: its first byte.
  [[nodiscard]] bool accessible(const memory& m, std::uint64_t size, bool store, bool first_only);
  /// Does the outcome of a transfer of bytes [first, last) of the file depend on the order in which its bytes are copied: is memory
  /// of it a page of that range, or one that the transfer itself may make part of the file?
  [[nodiscard]] bool order_matters(const memory& m, std::uint64_t size, int file, bool reads,
                                   std::uint64_t first, std::uint64_t last);

  std::string transfer(const fsx_call& c, std::string& shown);
  std::string map(const fsx_call& c, std::string& shown);
  std::string change_window(const fsx_call& c, std::string& shown);
  std::string access(const fsx_call& c, std::string& shown);
  std::string descriptor_call(const fsx_call& c, std::string& shown);
  [[nodiscard]] std::uint64_t state(bool all_memory);

  system& s_;
  fsx_options how_;
  std::uint64_t page_;
  std::uint64_t buffer_ = 0;
  std::uint64_t zeros_ = 0;
  std::array<std::uint64_t, windows> at_{};
  std::array<std::array<known_page, window_pages>, windows> known_{};
  std::array<known_descriptor, descriptors> fds_{};
  std::array<bool, files> made_room_{};  ///< by a call that then stored nothing there
  std::uint64_t calls_ = 0;
};

player::memory player::memory_of(std::uint32_t which, std::uint32_t offset) const {
  memory m;
  switch (const auto kind = which % 10) {
    case 0:
    case 1:
    case 2:
      m.offset = offset % (3 * page_);
      m.at = buffer_ + m.offset;
      m.shown = fmt::format("buffer+{}", m.offset);
      break;
    case 3:
      m.offset = offset % (2 * page_);
      m.at = zeros_ + m.offset;
      m.shown = fmt::format("zeros+{}", m.offset);
      break;
    case 4:
      m.bad = true;
      m.shown = "NULL";
      break;
    default:
      m.window = static_cast<int>(kind - 5) % static_cast<int>(windows);
      m.offset = offset % (window_pages * page_);
      m.at = at_[static_cast<std::size_t>(m.window)] + m.offset;
      m.shown = fmt::format("w{}+{}", m.window, m.offset);
  }
  return m;
}

std::uint64_t player::length_of(std::uint32_t n) const {
  switch (n % 8) {
    case 0:
      return n / 8 % 3;
    case 1:
      return page_;
    case 2:
      return page_ + n / 8 % 5 - 2;
    case 3:
      return n / 8 % (3 * page_);
    default:
      return n / 8 % 200;
  }
}

std::uint64_t player::offset_of(std::uint32_t n) const {
  const auto near = n / 4 % file_pages * page_;
  return n % 4 == 0 ? near : n % 4 == 1 ? near + n / 32 % 9 : n / 4 % ((file_pages - 1) * page_);
}

bool player::accessible(const memory& m, std::uint64_t size, bool store, bool first_only) {
  if (size == 0) return true;
  if (m.bad) return false;
  if (first_only) size = 1;
  if (m.window < 0) return m.offset + size <= (m.at - m.offset == buffer_ ? 3 : 2) * page_;
  if (m.offset + size > window_pages * page_) return false;
  const auto& pages = known_[static_cast<std::size_t>(m.window)];
  for (auto p = m.offset / page_; p <= (m.offset + size - 1) / page_; ++p) {
    const auto& k = pages[static_cast<std::size_t>(p)];
    if (!k.mapped || !vm::allows(k.rights, store ? vm::protection::write : vm::protection::read))
      return false;
    if (k.file >= 0 && k.file_page * page_ >= size_of(k.file)) return false;
  }
  return true;
}

bool player::order_matters(const memory& m, std::uint64_t size, int file, bool reads, std::uint64_t first,
                           std::uint64_t last) {
  if (m.window < 0 || size == 0) return false;
  const auto& pages = known_[static_cast<std::size_t>(m.window)];
  for (auto p = m.offset / page_; p <= (m.offset + size - 1) / page_ && p < window_pages; ++p) {
    const auto& k = pages[static_cast<std::size_t>(p)];
    if (!k.mapped || k.file != file || (reads && !k.shared && !how_.busy_pages)) continue;
    const auto at = k.file_page * page_;
    if ((at < last && at + page_ > first / page_ * page_) || at >= size_of(file)) return true;
  }
  return false;
}

std::string player::transfer(const fsx_call& c, std::string& shown) {
  const bool reads = c.kind == fsx_kind::read || c.kind == fsx_kind::pread || c.kind == fsx_kind::readv ||
                     c.kind == fsx_kind::preadv;
  const bool at = c.kind == fsx_kind::pread || c.kind == fsx_kind::pwrite || c.kind == fsx_kind::preadv ||
                  c.kind == fsx_kind::pwritev;
  const bool vector = c.kind == fsx_kind::readv || c.kind == fsx_kind::writev || c.kind == fsx_kind::preadv ||
                      c.kind == fsx_kind::pwritev;
  const auto& d = fds_[c.a % descriptors];
  const auto offset = static_cast<std::int64_t>(offset_of(c.e));
  std::vector<memory> memories{memory_of(c.b, c.c)};
  std::vector<piece> pieces{{memories[0].at, length_of(c.d)}};
  if (vector) {
    for (std::uint32_t i = 1; i <= c.e % 3; ++i) {
      memories.push_back(memory_of(c.b / (10 * i), c.c / (7 * i)));
      pieces.push_back({memories.back().at, length_of(c.d / (3 * i))});
    }
  }
  shown = fmt::format("{}{}{}(fd{}", at ? "p" : "", reads ? "read" : "write", vector ? "v" : "",
                      c.a % descriptors);
  bool whole = true;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    shown += fmt::format(", {} {}", memories[i].shown, pieces[i].size);
    whole &= accessible(memories[i], pieces[i].size, reads, false);
  }
  shown += at ? fmt::format(" at {})", offset) : ")";
  if (how_.whole_buffers && !whole) return "left out";
  if (d.fd >= 0) {
    auto first = d.append && !reads ? size_of(d.file) : static_cast<std::uint64_t>(offset);
    if (!at && (!d.append || reads)) {
      first = static_cast<std::uint64_t>(
          std::max<std::int64_t>(s_.lseek(d.fd, 0, kern::whence::current).value, 0));
    }
    std::uint64_t last = first;
    for (const auto& p : pieces) last += p.size;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (order_matters(memories[i], pieces[i].size, d.file, reads, first, last)) return "left out";
    }
    const auto begin = std::find_if(pieces.begin(), pieces.end(), [](const auto& p) { return p.size != 0; });
    const auto which = static_cast<std::size_t>(begin - pieces.begin());
    if (!reads && !whole && begin != pieces.end()) {
      if (first > size_of(d.file) && !accessible(memories[which], 1, false, true)) return "left out";
      made_room_[static_cast<std::size_t>(d.file)] = true;
    }
  }
  // A read that stores past the end of a mapped file's last page.
  if (reads) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (memories[i].window < 0) continue;
      for (auto p = memories[i].offset / page_;
           p < window_pages && p * page_ < memories[i].offset + pieces[i].size; ++p) {
        const auto& k = known_[static_cast<std::size_t>(memories[i].window)][static_cast<std::size_t>(p)];
        if (k.mapped && k.file >= 0 && k.shared && (k.file_page + 1) * page_ > size_of(k.file))
          return "left out";
        if (k.mapped && k.file >= 0 && how_.has_whole_buffer) {
          if (!k.shared) return "left out";
          made_room_[static_cast<std::size_t>(k.file)] = true;
        }
      }
    }
  }
  switch (c.kind) {
    case fsx_kind::read:
      return text(s_.read(d.fd, pieces[0].at, pieces[0].size));
    case fsx_kind::write:
      return text(s_.write(d.fd, pieces[0].at, pieces[0].size));
    case fsx_kind::pread:
      return text(s_.pread(d.fd, pieces[0].at, pieces[0].size, offset));
    case fsx_kind::pwrite:
      return text(s_.pwrite(d.fd, pieces[0].at, pieces[0].size, offset));
    case fsx_kind::readv:
      return text(s_.readv(d.fd, pieces));
    case fsx_kind::writev:
      return text(s_.writev(d.fd, pieces));
    case fsx_kind::preadv:
      return text(s_.preadv(d.fd, pieces, offset));
    default:
      return text(s_.pwritev(d.fd, pieces, offset));
  }
}

std::string player::map(const fsx_call& c, std::string& shown) {
  const auto window = c.a % windows;
  const auto first = c.b % window_pages;
  const auto count = c.c % (window_pages - first) + 1;
  const auto& d = fds_[c.d % descriptors];
  const auto wanted = rights[c.e % rights.size()];
  const auto kind = c.e / 6 % 5;  // 0, 1: shared; 2, 3: private; 4: anonymous
  const kern::map_flags how{
      .shared = kind < 2, .private_copy = kind >= 2, .fixed = true, .anonymous = kind == 4};
  const auto file_page = c.e / 30 % file_pages;
  const auto at = at_[window] + first * page_;
  shown = fmt::format("mmap(w{}+{}p, {}p, {}, {}, fd{}, {}p)", window, first, count, static_cast<int>(wanted),
                      kind < 2   ? "shared"
                      : kind < 4 ? "private"
                                 : "anonymous",
                      c.d % descriptors, file_page);
  const auto got = s_.mmap(at, count * page_, wanted, how, d.fd,
                           kind == 4 ? 0 : static_cast<std::int64_t>(file_page * page_));
  if (!got.ok()) return text(got);
  for (std::uint32_t i = 0; i < count; ++i) {
    known_[window][first + i] = {.mapped = true,
                                 .shared = kind < 2,
                                 .rights = wanted,
                                 .file = kind == 4 ? -1 : d.file,
                                 .file_page = file_page + i};
  }
  return "ok";
}

std::string player::change_window(const fsx_call& c, std::string& shown) {
  const auto window = c.a % windows;
  const auto first = c.b % window_pages;
  const auto count = c.c % 4 == 0 ? window_pages - first : 1;
  const auto at = at_[window] + first * page_;
  auto& pages = known_[window];
  const auto all = std::all_of(pages.begin() + first, pages.begin() + first + count,
                               [](const auto& k) { return k.mapped; });
  if (c.kind == fsx_kind::unmap) {
    shown = fmt::format("munmap(w{}+{}p, {}p)", window, first, count);
    const auto got = s_.munmap(at, count * page_ - c.d % 2);
    for (std::uint32_t i = 0; i < count && got.ok(); ++i) pages[first + i] = {};
    return text(got);
  }
  if (c.kind == fsx_kind::sync) {
    shown = fmt::format("msync(w{}+{}p, {}p)", window, first, count);
    return text(s_.msync(at, count * page_,
                         {.sync = c.d % 3 != 0, .async = c.d % 3 == 0, .invalidate = c.d % 5 == 0}));
  }
  const auto wanted = rights[c.d % rights.size()];
  shown = fmt::format("mprotect(w{}+{}p, {}p, {})", window, first, count, static_cast<int>(wanted));
  if (!all) return "left out";
  // All or nothing in the model; elsewhere what comes before a refusal may be changed.
  const auto got = count == 1 ? s_.mprotect(at, page_, wanted) : outcome{0, errc::ok};
  if (count != 1) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (s_.mprotect(at + i * page_, page_, wanted).ok()) pages[first + i].rights = wanted;
    }
    return "each page";
  }
  if (got.ok()) pages[first].rights = wanted;
  return text(got);
}

std::string player::access(const fsx_call& c, std::string& shown) {
  const auto m = memory_of(5 + c.a % 5, c.b);
  const auto size = c.c % 64 + 1;
  if (c.kind == fsx_kind::load) {
    shown = fmt::format("load({}, {})", m.shown, size);
    return s_.load(m.at, size);
  }
  shown = fmt::format("store({}, {})", m.shown, size);
  for (auto p = m.offset / page_; p <= (m.offset + size - 1) / page_ && p < window_pages; ++p) {
    const auto& k = known_[static_cast<std::size_t>(m.window)][static_cast<std::size_t>(p)];
    if (k.mapped && k.file >= 0 && k.shared && (k.file_page + 1) * page_ > size_of(k.file)) return "left out";
  }
  return s_.store(m.at, pattern(size, c.d));
}

std::string player::descriptor_call(const fsx_call& c, std::string& shown) {
  const auto slot = c.a % descriptors;
  auto& d = fds_[slot];
  switch (c.kind) {
    case fsx_kind::open: {
      constexpr std::array hows{kern::o_rdwr,
                                kern::o_rdwr,
                                kern::o_rdwr,
                                kern::o_rdonly,
                                kern::o_wronly,
                                kern::o_rdwr.with_append(),
                                kern::o_rdwr.with_append()};
      const auto how = hows[c.c % hows.size()];
      if (d.fd >= 0) (void)s_.close(d.fd);
      d = {.fd = s_.open(name(c.b % files), c.d % 16 == 0 ? how.with_truncate() : how).value,
           .file = static_cast<int>(c.b % files),
           .append = how.append};
      shown = fmt::format("fd{} = open({}, {}{})", slot, name(static_cast<std::size_t>(d.file)),
                          c.c % hows.size(), c.d % 16 == 0 ? ", trunc" : "");
      return d.fd >= 0 ? "ok" : "no";
    }
    case fsx_kind::close: {
      shown = fmt::format("close(fd{})", slot);
      const auto got = s_.close(d.fd);
      d.fd = -1;
      return text(got);
    }
    case fsx_kind::dup: {
      auto& to = fds_[c.b % descriptors];
      shown = fmt::format("fd{} = dup(fd{})", c.b % descriptors, slot);
      if (&to == &d) return "left out";
      const auto got = s_.dup(d.fd);
      if (!got.ok()) return text(got);
      if (to.fd >= 0) (void)s_.close(to.fd);
      to = d;
      to.fd = got.value;
      return "ok";
    }
    case fsx_kind::lseek: {
      const auto from = static_cast<kern::whence>(c.b % 3);
      const auto distance = static_cast<std::int64_t>(offset_of(c.c)) -
                            (c.d % 4 == 0 ? static_cast<std::int64_t>(2 * page_) : 0);
      shown = fmt::format("lseek(fd{}, {}, {})", slot, distance, c.b % 3);
      // Far offsets make files longer than is worth while.
      if (from == kern::whence::current && c.e % 4 != 0) return "left out";
      auto got = s_.lseek(d.fd, distance, from);
      if (got.ok() && got.value > static_cast<std::int64_t>(file_pages * page_))
        got = s_.lseek(d.fd, 0, kern::whence::set);
      return text(got);
    }
    case fsx_kind::seek_data: {
      const auto from = c.b % 2 == 0 ? kern::whence::data : kern::whence::hole;
      shown = fmt::format("lseek(fd{}, {}, {})", slot, offset_of(c.c), c.b % 2 == 0 ? "data" : "hole");
      if (!how_.seek_data || made_room_[static_cast<std::size_t>(d.file)]) return "left out";
      return text(s_.lseek(d.fd, static_cast<std::int64_t>(offset_of(c.c)), from));
    }
    case fsx_kind::ftruncate:
      shown = fmt::format("ftruncate(fd{}, {})", slot, offset_of(c.b));
      return text(s_.ftruncate(d.fd, static_cast<std::int64_t>(offset_of(c.b))));
    case fsx_kind::fsync:
      shown = fmt::format("fsync(fd{})", slot);
      return text(s_.fsync(d.fd));
    default:
      shown = fmt::format("evict({})", name(c.a % files));
      s_.evict(name(c.a % files));
      return "ok";
  }
}

std::uint64_t player::state(bool all_memory) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&hash](std::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    hash = (hash ^ 0x100U) * 0x100000001b3U;
  };
  for (std::size_t f = 0; f < files; ++f) add(s_.contents(name(f)));
  for (const auto& d : fds_) {
    if (d.fd >= 0) add(text(s_.lseek(d.fd, 0, kern::whence::current)));
  }
  if (all_memory) {
    add(s_.load(buffer_, 3 * page_));
    add(s_.load(zeros_, 2 * page_));
    for (const auto w : at_) {
      for (std::uint32_t p = 0; p < window_pages; ++p) add(s_.load(w + p * page_, page_));
    }
  }
  return hash;
}

fsx_note player::play(const fsx_call& c) {
  fsx_note note;
  switch (c.kind) {
    case fsx_kind::map:
      note.gave = map(c, note.call);
      break;
    case fsx_kind::unmap:
    case fsx_kind::protect:
    case fsx_kind::sync:
      note.gave = change_window(c, note.call);
      break;
    case fsx_kind::load:
    case fsx_kind::store:
      note.gave = access(c, note.call);
      break;
    case fsx_kind::open:
    case fsx_kind::close:
    case fsx_kind::dup:
    case fsx_kind::lseek:
    case fsx_kind::seek_data:
    case fsx_kind::ftruncate:
    case fsx_kind::fsync:
    case fsx_kind::evict:
      note.gave = descriptor_call(c, note.call);
      break;
    default:
      note.gave = transfer(c, note.call);
  }
  note.state = state(++calls_ % how_.memory_every == 0);
  return note;
}

}  // namespace

void play(system& s, const std::vector<fsx_call>& calls, const fsx_options& how,
          std::vector<fsx_note>& notes) {
  player p(s, how);
  notes.clear();
  notes.reserve(calls.size() + 1);
  for (const auto& c : calls) notes.push_back(p.play(c));
}

}  // namespace faultline::posix

// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/scenario/specification/files.hpp>

#include "scenario/file/ast.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace faultline::specification {

namespace {

/// "text" for reports, cut where it is long.
std::string quoted(std::string_view bytes) {
  constexpr std::size_t shown_max = 40;
  if (bytes.size() <= shown_max) return fmt::format("\"{}\"", scenario::file::escaped(bytes));
  return fmt::format("\"{}\"... of {} bytes", scenario::file::escaped(bytes.substr(0, shown_max)),
                     bytes.size());
}

constexpr const char* name_of(files::op what) {
  switch (what) {
    case files::op::open:
      return "open";
    case files::op::close:
      return "close";
    case files::op::dup:
      return "dup";
    case files::op::read:
      return "read";
    case files::op::write:
      return "write";
    case files::op::pread:
      return "pread";
    case files::op::pwrite:
      return "pwrite";
    case files::op::lseek:
      return "lseek";
    case files::op::ftruncate:
      return "ftruncate";
    case files::op::size:
      return "fstat";
  }
  return "?";
}

}  // namespace

files::result files::open(std::size_t process, std::size_t file, kern::open_flags how) {
  const auto fd =
      tables_[process].apply({.what = fd_table::op::open, .file = static_cast<int>(descriptions_.size())});
  if (fd.error != errc::ok) return {.error = fd.error};
  descriptions_.push_back({.file = file, .read = how.read, .write = how.write, .append = how.append});
  return {.value = static_cast<std::uint64_t>(fd.value)};
}

files::result files::read(description& d, std::uint64_t bytes, std::uint64_t at, bool moves) {
  if (!d.read) return {.error = errc::ebadf};
  if (bytes == 0) return {};
  if (at > byte_range::off_max || bytes > byte_range::off_max - at) return {.error = errc::einval};
  const std::string_view all = contents_[d.file];
  const auto there = at < all.size() ? all.substr(static_cast<std::size_t>(at)) : std::string_view{};
  const auto got = there.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(bytes, there.size())));
  if (moves) d.offset = at + got.size();
  return {.value = got.size(), .bytes = std::pmr::string(got)};
}

files::result files::write(description& d, std::string_view data, std::uint64_t at, bool moves) {
  if (!d.write) return {.error = errc::ebadf};
  if (data.empty()) return {};
  auto& all = contents_[d.file];
  if (d.append && (moves || limits_.append_moves_pwrite)) {
    at = all.size();
  } else if (at > byte_range::off_max || data.size() > byte_range::off_max - at) {
    return {.error = errc::einval};
  }
  if (at > limits_.file_size_max || data.size() > limits_.file_size_max - at) return {.error = errc::efbig};
  const auto first = static_cast<std::size_t>(at);
  if (all.size() < first + data.size()) all.resize(first + data.size());  // a hole reads as zeros
  all.replace(first, data.size(), data);
  if (moves) d.offset = at + data.size();
  return {.value = data.size()};
}

files::result files::lseek(description& d, const call& c) const {
  std::uint64_t base = 0;
  if (c.from == whence::current) base = d.offset;
  if (c.from == whence::end) base = contents_[d.file].size();
  const auto by = static_cast<std::uint64_t>(c.offset);
  if (c.offset < 0 && std::uint64_t{0} - by > base) return {.error = errc::einval};
  if (c.offset >= 0 && by > byte_range::off_max - base) return {.error = errc::eoverflow};
  d.offset = base + by;  // modulo 2^64 a difference, if negative
  return {.value = d.offset};
}

files::result files::apply(const call& c) {
  auto& table = tables_[c.process];
  if (c.what == op::open) {
    auto opened = open(c.process, c.file, c.how);
    if (opened.error == errc::ok && c.how.truncate) contents_[c.file].clear();
    return opened;
  }
  if (c.what == op::close || c.what == op::dup) {
    const auto r =
        table.apply({.what = c.what == op::dup ? fd_table::op::dup : fd_table::op::close, .fd = c.fd});
    return {.error = r.error, .value = static_cast<std::uint64_t>(r.value)};
  }
  if (!table.is_open(c.fd)) return {.error = errc::ebadf};
  auto& d = descriptions_[static_cast<std::size_t>(table.file_of(c.fd))];
  const bool positioned = c.what == op::pread || c.what == op::pwrite;
  const bool reads = c.what == op::read || c.what == op::pread;
  if (positioned && (reads ? d.read : d.write) && c.offset < 0) return {.error = errc::einval};
  const auto at = positioned ? static_cast<std::uint64_t>(c.offset) : d.offset;
  switch (c.what) {
    case op::read:
    case op::pread:
      return read(d, c.bytes, at, !positioned);
    case op::write:
    case op::pwrite:
      return write(d, c.data, at, !positioned);
    case op::lseek:
      return lseek(d, c);
    case op::ftruncate:
      if (c.offset < 0 || !d.write) return {.error = errc::einval};
      if (static_cast<std::uint64_t>(c.offset) > limits_.file_size_max) return {.error = errc::efbig};
      contents_[d.file].resize(static_cast<std::size_t>(c.offset));
      return {};
    default:
      return {.value = contents_[d.file].size()};
  }
}

std::string files::text(const call& c) {
  if (!c.shown.empty()) return std::string(c.shown) + (c.data.empty() ? "" : ' ' + quoted(c.data));
  auto call = fmt::format("{} {}", name_of(c.what), c.fd);
  switch (c.what) {
    case op::open:
      return fmt::format("open file {}", c.file);
    case op::read:
      return fmt::format("{}, {} bytes", call, c.bytes);
    case op::pread:
      return fmt::format("{}, {} bytes at {}", call, c.bytes, c.offset);
    case op::write:
      return fmt::format("{} {}", call, quoted(c.data));
    case op::pwrite:
      return fmt::format("{} {} at {}", call, quoted(c.data), c.offset);
    case op::lseek: {
      constexpr const char* from[] = {"set", "cur", "end"};
      return fmt::format("{} {} {}", call, c.offset, from[static_cast<std::size_t>(c.from)]);
    }
    case op::ftruncate:
      return fmt::format("{} to {}", call, c.offset);
    default:
      return call;
  }
}

std::string files::text(const result& r) {
  if (r.error != errc::ok) return faultline::name_of(r.error);
  return r.bytes.empty() ? fmt::format("{}", r.value) : fmt::format("{} {}", r.value, quoted(r.bytes));
}

}  // namespace faultline::specification

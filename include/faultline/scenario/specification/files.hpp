// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Files, open descriptions and descriptor tables as calls see them that are made one after the other: a sequential model for
/// sim::check().
///
/// A transfer is whole or an error: no buffer fails half-way, and there is room on the disk.
/// Source: POSIX.1-2017 XSH read(), write(), lseek(), ftruncate(), open(), 2.9.7 (transfers are atomic to each other).
#include <faultline/core/errc.hpp>
#include <faultline/core/units.hpp>
#include <faultline/kern/file.hpp>
#include <faultline/scenario/specification/fd_table.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::specification {

class files {
 public:
  enum class op : std::uint8_t { open, close, dup, read, write, pread, pwrite, lseek, ftruncate, size };
  enum class whence : std::uint8_t { set, current, end };

  struct call {
    op what = op::size;
    std::size_t process = 0;
    int fd = -1;
    std::size_t file = 0;       ///< open
    kern::open_flags how{};     ///< open
    std::uint64_t bytes = 0;    ///< read, pread: how many are wanted
    std::int64_t offset = 0;    ///< pread, pwrite, lseek; ftruncate: the size
    whence from = whence::set;  ///< lseek
    std::pmr::string data{};    ///< write, pwrite
    /// As a report shows it, before the data; empty: made from the members.
    std::string_view shown{};
  };
  struct result {
    errc error = errc::ok;
    std::uint64_t value =
        0;  ///< bytes, an offset, a size, a descriptor's number; 0 of an error, close and ftruncate
    std::pmr::string bytes{};  ///< what was read
    friend bool operator==(const result&, const result&) = default;
  };

  struct limits {
    std::uint64_t file_size_max = std::uint64_t{1} << 24U;  ///< a write or truncation past it: EFBIG
    std::size_t descriptors = 64;                           ///< of a process
    bool append_moves_pwrite = false;  ///< pwrite(2) on O_APPEND appends (Linux, FreeBSD)
  };

  files() : files(limits{}) {}
  explicit files(const limits& with) : limits_(with) {}

  /// \name Set-up
  /// \{
  /// \returns its number, from 0
  std::size_t add_file(std::string_view contents) {
    contents_.emplace_back(contents);
    return contents_.size() - 1;
  }
  /// \returns its number, from 0
  std::size_t add_process() {
    tables_.emplace_back(limits_.descriptors);
    return tables_.size() - 1;
  }
  /// An open() that does not truncate. \pre the process and the file were added \returns the number, or EMFILE
  result open(std::size_t process, std::size_t file, kern::open_flags how);
  /// \}

  /// \pre the process, and the file of an open, were added
  /// \errors EBADF, EMFILE, EINVAL, EFBIG, EOVERFLOW
  result apply(const call& c);

  [[nodiscard]] const std::string& contents(std::size_t file) const { return contents_[file]; }

  static std::string text(const call& c);
  static std::string text(const result& r);

  friend bool operator==(const files& a, const files& b) {
    return a.contents_ == b.contents_ && a.descriptions_ == b.descriptions_ && a.tables_ == b.tables_;
  }

 private:
  struct description {
    std::size_t file = 0;
    bool read = false;
    bool write = false;
    bool append = false;
    std::uint64_t offset = 0;
    friend bool operator==(const description&, const description&) = default;
  };
  [[nodiscard]] result read(description& d, std::uint64_t bytes, std::uint64_t at, bool moves);
  [[nodiscard]] result write(description& d, std::string_view data, std::uint64_t at, bool moves);
  [[nodiscard]] result lseek(description& d, const call& c) const;

  limits limits_;
  std::vector<std::string> contents_{};
  std::vector<description> descriptions_{};  // of all opens; closed ones stay
  std::vector<fd_table> tables_{};           // a table's files are descriptions
};

}  // namespace faultline::specification

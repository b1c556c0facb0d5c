// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A descriptor table as calls see it that are made one after the other: a sequential model for sim::check().
///
/// Source: POSIX.1-2017 XSH 2.14 (the lowest number), XSH dup().
#include <faultline/core/errc.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace faultline::specification {

class fd_table {
 public:
  enum class op : std::uint8_t {
    open,   ///< `file` under the lowest free number, which is the result
    close,  ///< `fd`
    dup,    ///< the file of `fd` under the lowest free number
    dup2,   ///< the file of `fd` under `to`; what was there is closed
    fget,   ///< a lookup: the file of `fd`
  };
  struct call {
    op what = op::fget;
    int fd = -1;
    int to = -1;
    int file = 0;  ///< a number that tells files apart, 0 or more
    friend bool operator==(const call&, const call&) = default;
  };
  struct result {
    errc error = errc::ok;
    int value = 0;  ///< a number of the table, or of a file; 0 of an error and of close
    friend bool operator==(const result&, const result&) = default;
  };

  /// \param limit  numbers 0 to limit - 1 may be used (RLIMIT_NOFILE)
  explicit fd_table(std::size_t limit) : limit_(limit) {}

  /// \errors EBADF, EMFILE
  result apply(const call& c) {
    switch (c.what) {
      case op::open:
        return place(c.file);
      case op::close: {
        if (!is_open(c.fd)) return {.error = errc::ebadf};
        put(c.fd, closed);
        return {};
      }
      case op::dup: {
        const int file = file_of(c.fd);
        return file == closed ? result{.error = errc::ebadf} : place(file);
      }
      case op::dup2: {
        const int file = file_of(c.fd);
        if (file == closed || !in_range(c.to)) return {.error = errc::ebadf};
        put(c.to, file);
        return {.value = c.to};
      }
      case op::fget:
        break;
    }
    const int file = file_of(c.fd);
    return file == closed ? result{.error = errc::ebadf} : result{.value = file};
  }

  /// The file of an open number; else -1.
  [[nodiscard]] int file_of(int fd) const noexcept {
    return fd >= 0 && static_cast<std::size_t>(fd) < slots_.size() ? slots_[static_cast<std::size_t>(fd)]
                                                                   : closed;
  }
  [[nodiscard]] bool is_open(int fd) const noexcept { return file_of(fd) != closed; }

  static std::string text(const call& c) {
    const auto fd = std::to_string(c.fd);
    switch (c.what) {
      case op::open:
        return "open file " + std::to_string(c.file);
      case op::close:
        return "close " + fd;
      case op::dup:
        return "dup " + fd;
      case op::dup2:
        return "dup2 " + fd + " to " + std::to_string(c.to);
      case op::fget:
        break;
    }
    return "fget " + fd;
  }
  static std::string text(const result& r) {
    return r.error == errc::ok ? std::to_string(r.value) : name_of(r.error);
  }

  friend bool operator==(const fd_table&, const fd_table&) = default;

 private:
  static constexpr int closed = -1;
  [[nodiscard]] bool in_range(int fd) const noexcept {
    return fd >= 0 && static_cast<std::size_t>(fd) < limit_;
  }

  result place(int file) {
    const auto free = std::find(slots_.begin(), slots_.end(), closed) - slots_.begin();
    if (static_cast<std::size_t>(free) >= limit_) return {.error = errc::emfile};
    put(static_cast<int>(free), file);
    return {.value = static_cast<int>(free)};
  }
  /// Equal tables stay equal: the last slot is an open one.
  void put(int fd, int file) {
    const auto at = static_cast<std::size_t>(fd);
    if (at >= slots_.size()) slots_.resize(at + 1, closed);
    slots_[at] = file;
    while (!slots_.empty() && slots_.back() == closed) slots_.pop_back();
  }

  std::size_t limit_;
  std::vector<int> slots_{};
};

}  // namespace faultline::specification

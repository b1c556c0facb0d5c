// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The names of one directory as calls see them that are made one after the other: a sequential model for sim::check().
///
/// Source: POSIX.1-2017 XSH open() (O_CREAT with O_EXCL), unlink(), rename().
#include <faultline/core/errc.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace faultline::specification {

class names {
 public:
  enum class op : std::uint8_t {
    lookup,  ///< the file of `name`
    create,  ///< `name` for the new file `file`; it must not be there
    unlink,  ///< `name`
    rename,  ///< `name` becomes `to`; what `to` was goes
  };
  /// In a history that lies in an execution's arena a name is short: it must not need memory of its own (15 bytes).
  struct call {
    op what = op::lookup;
    std::string name{};
    std::string to{};
    int file = 0;  ///< a number that tells files apart
    friend bool operator==(const call&, const call&) = default;
  };
  struct result {
    errc error = errc::ok;
    int file = 0;  ///< of a lookup; else 0
    friend bool operator==(const result&, const result&) = default;
  };

  names() = default;
  /// \param there  names and their files to begin with
  explicit names(std::map<std::string, int, std::less<>> there) : there_(std::move(there)) {}

  /// \errors ENOENT, EEXIST
  result apply(const call& c) {
    const auto at = there_.find(c.name);
    if (c.what == op::create) {
      if (at != there_.end()) return {.error = errc::eexist};
      there_.emplace(c.name, c.file);
      return {};
    }
    if (at == there_.end()) return {.error = errc::enoent};
    if (c.what == op::lookup) return {.file = at->second};
    const int file = at->second;
    // Two names of one file: rename() does nothing, and one name onto itself is such a case.
    if (c.what == op::rename) {
      const auto other = there_.find(c.to);
      if (other != there_.end() && other->second == file) return {};
    }
    there_.erase(at);
    if (c.what == op::rename) there_.insert_or_assign(c.to, file);
    return {};
  }

  static std::string text(const call& c) {
    switch (c.what) {
      case op::create:
        return "create " + c.name + " as file " + std::to_string(c.file);
      case op::unlink:
        return "unlink " + c.name;
      case op::rename:
        return "rename " + c.name + " to " + c.to;
      case op::lookup:
        break;
    }
    return "lookup " + c.name;
  }
  static std::string text(const result& r) {
    if (r.error != errc::ok) return name_of(r.error);
    return r.file == 0 ? "ok" : "file " + std::to_string(r.file);
  }

  friend bool operator==(const names&, const names&) = default;

 private:
  std::map<std::string, int, std::less<>> there_{};
};

}  // namespace faultline::specification

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The descriptor table of a process: an array of files under one interlock.
///
/// Does not sleep.  Lock order: the interlock is a leaf.
/// Source: POSIX.1-2017 XSH 2.14 (the lowest number); FreeBSD sys/kern/kern_descrip.c. A file is not freed in the model: a
/// call that found it keeps using it after a close.
#include <faultline/core/errc.hpp>
#include <faultline/core/units.hpp>
#include <faultline/kern/file.hpp>

#include <utility>
#include <vector>

namespace faultline::kern {

template <substrate S, class V>
class fdtable {
 public:
  /// \param name  of the process
  /// \param limit  numbers 0 to limit - 1 may be used (RLIMIT_NOFILE)
  fdtable(const char* name, std::size_t limit)
      : interlock_("filedesc", name),
        slots_(table(limit, nullptr, &S::memory())),
        every_file_(&S::memory()) {}

  /// fget. \returns null: EBADF
  [[nodiscard]] file<S, V>* get(fd_number fd) {
    const section<S> guard{interlock_, access::shared};
    const auto& slots = S::get(slots_);
    return in_range(fd, slots) ? slots[index(fd)] : nullptr;
  }
  /// A file under the lowest free number. \errors EMFILE
  [[nodiscard]] result<fd_number> install(file<S, V>& fp) {
    const section<S> guard{interlock_};
    return place(fp);
  }
  /// The same, for a file that no table knows yet.
  [[nodiscard]] result<fd_number> install_new(file<S, V>& fp) {
    const section<S> guard{interlock_};
    every_file_.push_back(&fp);
    return place(fp);
  }
  /// \errors EBADF
  errc remove(fd_number fd) {
    const section<S> guard{interlock_};
    auto& slots = S::change(slots_);
    if (!in_range(fd, slots) || std::exchange(slots[index(fd)], nullptr) == nullptr) return errc::ebadf;
    return errc::ok;
  }

  /// At quiescence: the files that were opened here, closed ones too.
  [[nodiscard]] const std::pmr::vector<file<S, V>*>& every_file() const noexcept { return every_file_; }

 private:
  using table = std::pmr::vector<file<S, V>*>;
  result<fd_number> place(file<S, V>& fp) {  // caller is in a section
    auto& slots = S::change(slots_);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (slots[i] != nullptr) continue;
      slots[i] = &fp;
      return fd_number{static_cast<int>(i)};
    }
    return errc::emfile;
  }
  static std::size_t index(fd_number fd) noexcept { return static_cast<std::size_t>(raw(fd)); }
  static bool in_range(fd_number fd, const table& slots) noexcept {
    return raw(fd) >= 0 && index(fd) < slots.size();
  }

  sub::interlock<S> interlock_;
  sub::var<S, table> slots_;  // guarded by interlock_
  table every_file_;          // guarded by interlock_
};

}  // namespace faultline::kern

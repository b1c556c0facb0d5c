// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// What FreeBSD and Linux take the model's locks for: the class of the primitive, the name under which a checker knows it, and
/// whether the checker knows it at all.
///
/// Source: each row has its own.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::scenario::checkers {

enum class freebsd_primitive : std::uint8_t {
  none,  ///< no lock object: a flag with a sleep on it
  mtx,
  rw,
  sx,
  lockmgr,
};
/// "sleep mutex", "rw", "sx", "lockmgr": lc_name of the lock class.
[[nodiscard]] std::string_view class_name(freebsd_primitive p) noexcept;
/// LO_SLEEPABLE: may be held, and waited for, across a sleep.
[[nodiscard]] constexpr bool sleepable(freebsd_primitive p) noexcept {
  return p == freebsd_primitive::sx || p == freebsd_primitive::lockmgr;
}

enum class linux_primitive : std::uint8_t {
  none,  ///< no lockdep map: a page bit, or nothing at all
  spinlock,
  mutex,
  rwsem,             ///< readers wait behind a queued writer: not recursive
  recursive_reader,  ///< rcu_read_lock(), read_lock() in an interrupt: a reader never waits for a queued writer
};

/// The state of a Linux task that waits.
enum class linux_state : std::uint8_t {
  running,          ///< spins, or waits for nothing that Linux has
  killable,         ///< TASK_KILLABLE
  uninterruptible,  ///< TASK_UNINTERRUPTIBLE
};

struct lock_class {
  std::string key{};  ///< kind ("vnode"), or one lock of it ("vnode:z0")
  freebsd_primitive freebsd = freebsd_primitive::none;
  std::string witness_type{};  ///< one witness for all locks of the type; empty: the lock's own name
  bool dup_ok = false;         ///< two of the type may be held at a time
  linux_primitive linux_lock = linux_primitive::none;
  std::string lockdep_class{};  ///< empty: the lock's own name
  linux_state waits = linux_state::running;
  std::string_view source{};  ///< where the kernels say so
};

/// Rows by kind. A copy can be changed, for a file system or a lock of one's own.
class lock_classes {
 public:
  /// The table of the model's own kinds.
  lock_classes();
  /// Adds a row, or replaces the one of that key.
  void set(lock_class row);
  /// The row of the lock, of its kind, or the one for locks of unknown kind: an sx, a rwsem, each kind a type.
  [[nodiscard]] lock_class find(std::string_view kind, std::string_view name) const;
  [[nodiscard]] const std::vector<lock_class>& rows() const noexcept { return rows_; }

 private:
  std::vector<lock_class> rows_;
};

/// The state in which a Linux task waits with this word for something that is no lock. `in_read`: inside a read(2).
[[nodiscard]] linux_state state_of_wait(std::string_view wait_name, bool in_read) noexcept;

}  // namespace faultline::scenario::checkers

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// An open file description: the vnode, how it was opened, and the offset that all its descriptors share.
///
/// May sleep: the offset lock, as "vofflock".  Lock order: the offset lock is the first of all.
/// Source: FreeBSD sys/sys/file.h, sys/kern/vfs_vnops.c (foffset_lock, FOFFSET_LOCKED).
#include <faultline/sim/basic_rules.hpp>
#include <faultline/substrate/concept.hpp>

namespace faultline::kern {

/// O_* flags of open(2).
struct open_flags {
  bool read = true;
  bool write = false;
  bool append = false;
  bool truncate = false;  ///< at the open only

  [[nodiscard]] constexpr open_flags with_append() const noexcept { return {read, write, true, truncate}; }
  [[nodiscard]] constexpr open_flags with_truncate() const noexcept { return {read, write, append, true}; }
};
inline constexpr open_flags o_rdonly{.read = true, .write = false};
inline constexpr open_flags o_wronly{.read = false, .write = true};
inline constexpr open_flags o_rdwr{.read = true, .write = true};

template <substrate S, class V>
struct file {
  file(V& node, open_flags how)
      : vnode(node), flags(how), offset_lock(sim::the_mutex_rule, "vofflock", node.name) {}
  file(const file&) = delete;
  file& operator=(const file&) = delete;

  V& vnode;
  const open_flags flags;
  sub::spec_lock<S>
      offset_lock;  ///< FOFFSET_LOCKED: held for the whole of a read or write at the file's offset
  sub::var<S, std::uint64_t> offset{std::uint64_t{0}};  ///< f_offset; guarded by offset_lock
};

}  // namespace faultline::kern

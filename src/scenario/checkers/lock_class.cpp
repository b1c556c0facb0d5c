// SPDX-License-Identifier: BSD-2-Clause
#include <faultline/scenario/checkers/lock_class.hpp>

#include <algorithm>
#include <utility>

namespace faultline::scenario::checkers {

std::string_view class_name(freebsd_primitive p) noexcept {
  switch (p) {
    case freebsd_primitive::none:
      return "none";
    case freebsd_primitive::mtx:
      return "sleep mutex";
    case freebsd_primitive::rw:
      return "rw";
    case freebsd_primitive::sx:
      return "sx";
    case freebsd_primitive::lockmgr:
      return "lockmgr";
  }
  return "none";
}

lock_classes::lock_classes()
    : rows_{
          {.key = "vnode",
           .freebsd = freebsd_primitive::lockmgr,
           .witness_type = "ufs",
           .dup_ok = true,
           .linux_lock = linux_primitive::rwsem,
           .lockdep_class = "&sb->s_type->i_mutex_key",
           .waits = linux_state::uninterruptible,
           .source =
               "vfs_subr.c getnewvnode: named after the file system; kern_lock.c lockinit: DUPOK without "
               "LK_NODUP; Linux fs/inode.c inode_init_always: a class for each file system type"},
          {.key = "range",
           .source = "kern_rangelock.c: a list under the vnode interlock, and a sleep; Linux has none"},
          {.key = "vofflock",
           .linux_lock = linux_primitive::mutex,
           .lockdep_class = "&f->f_pos_lock",
           .waits = linux_state::uninterruptible,
           .source =
               "vfs_vnops.c foffset_lock: a flag of the file, and a sleep; Linux fs/file.c __fdget_pos"},
          {.key = "vmmap",
           .freebsd = freebsd_primitive::sx,
           .witness_type = "vm map (user)",
           .linux_lock = linux_primitive::rwsem,
           .lockdep_class = "&mm->mmap_lock",
           .waits = linux_state::killable,
           .source =
               "vm_map.c vm_map_zinit; Linux include/linux/mmap_lock.h: faults, mmap, munmap and mprotect "
               "use the killable forms"},
          {.key = "vmobject",
           .freebsd = freebsd_primitive::rw,
           .witness_type = "vm object",
           .dup_ok = true,
           .linux_lock = linux_primitive::spinlock,
           .lockdep_class = "&xa->xa_lock",
           .source = "vm_object.c vm_object_zinit: RW_DUPOK; Linux fs/inode.c: the xarray of the page cache"},
          {.key = "vmpage",
           .source = "vm_page.c: busy is a word with sleepers; Linux mm/filemap.c: PG_locked is a bit with "
                     "waiters"},
          {.key = "vmpagelock",
           .freebsd = freebsd_primitive::mtx,
           .witness_type = "vm page",
           .dup_ok = true,
           .source =
               "vm_page.c vm_page_startup: the hashed pa_lock, MTX_DUPOK; Linux counts references instead"},
          {.key = "pmap",
           .freebsd = freebsd_primitive::mtx,
           .witness_type = "pmap",
           .dup_ok = true,
           .linux_lock = linux_primitive::spinlock,
           .lockdep_class = "ptlock_ptr(page)",
           .source = "amd64 pmap.h PMAP_LOCK_INIT: MTX_DUPOK; Linux include/linux/mm.h ptlock_init"},
          {.key = "mutex",
           .freebsd = freebsd_primitive::mtx,
           .linux_lock = linux_primitive::mutex,
           .waits = linux_state::uninterruptible,
           .source = "kern_mutex.c mtx_init without a type: the name is the type; Linux mutex_init: a class "
                     "for each "
                     "place that initialises one"},
      } {}

void lock_classes::set(lock_class row) {
  const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const auto& r) { return r.key == row.key; });
  if (at != rows_.end()) {
    *at = std::move(row);
  } else {
    rows_.push_back(std::move(row));
  }
}

lock_class lock_classes::find(std::string_view kind, std::string_view name) const {
  const lock_class* found = nullptr;
  for (const auto& r : rows_) {
    if (r.key == kind && found == nullptr) found = &r;
    if (r.key.size() == kind.size() + 1 + name.size() && r.key.starts_with(kind) && r.key.ends_with(name) &&
        r.key[kind.size()] == ':')
      found = &r;
  }
  lock_class row = found != nullptr ? *found
                                    : lock_class{.key = std::string(kind),
                                                 .freebsd = freebsd_primitive::sx,
                                                 .witness_type = std::string(kind),
                                                 .linux_lock = linux_primitive::rwsem,
                                                 .lockdep_class = std::string(kind),
                                                 .waits = linux_state::uninterruptible};
  const std::string own(name.empty() ? kind : name);
  if (row.witness_type.empty()) row.witness_type = own;
  if (row.lockdep_class.empty()) row.lockdep_class = own;
  return row;
}

linux_state state_of_wait(std::string_view wait_name, bool in_read) noexcept {
  if (wait_name == "range" || wait_name == "spin" || wait_name == "join") return linux_state::running;
  if (wait_name == "vmpfw") return linux_state::killable;  // FAULT_FLAG_KILLABLE
  if (wait_name == "pgrbwt" && in_read) return linux_state::killable;
  return linux_state::uninterruptible;
}

}  // namespace faultline::scenario::checkers

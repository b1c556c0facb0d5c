// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The kernel: files, processes, and the system calls on them.
///
/// Set-up functions run before the tasks do. System calls run in tasks, each with a thread of its own. User memory is explicit:
/// load(), store() and the copies inside the calls, all through the process's pmap.
///
/// Errors follow POSIX.1-2017; where systems differ, `parameters` says which answer is given.
#include <faultline/core/errc.hpp>
#include <faultline/core/units.hpp>
#include <faultline/device/ram_disk.hpp>
#include <faultline/kern/io_policy.hpp>
#include <faultline/kern/thread.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::kern {

/// \name Load-bearing steps of the system calls
inline constexpr step offset_lock{"write.offset-lock", "V13",
                                  "two writes at the file's own offset land on the same bytes"};

struct parameters {
  std::size_t page_size = 4096;                        ///< bytes; a power of two. Explorations use few
  std::size_t hold_pages = 16;                         ///< io_hold_cnt
  sync::sharing vnode_sharing = sync::sharing::share;  ///< VN_LOCK_ASHARE (UFS regular files), or LK_NOSHARE
  std::size_t descriptors = 64;                        ///< for each process
  std::size_t map_entries_max = 65530;                 ///< for each process; more: ENOMEM
  std::size_t disk_blocks_max = 4096;                  ///< of one page each; more: ENOSPC
  std::uint64_t file_size_max = std::uint64_t{1} << 42U;
  answer_to_fault fault_answer = answer_to_fault::by_io;
  bool append_moves_pwrite =
      false;  ///< pwrite(2) on O_APPEND: at its offset (POSIX); FreeBSD, Linux: at the end
  bool zero_page =
      false;  ///< reads of untouched anonymous memory share one page of zeros (Linux); FreeBSD: a page each
  bool truncation_keeps_private_copies =
      false;                   ///< BSD. Linux: MAP_PRIVATE pages past the new end are SIGBUS
  bool reclaim = false;        ///< tasks may call evict()
  bool inject_errors = false;  ///< tasks may call set_device_error()
};

enum class whence : std::uint8_t { set, current, end, data, hole };

/// MAP_* flags of mmap(2).
struct map_flags {
  bool shared = true;
  bool private_copy = false;
  bool fixed = false;
  bool no_replace = false;  ///< MAP_FIXED_NOREPLACE, MAP_FIXED|MAP_EXCL
  bool anonymous = false;   ///< no descriptor and no offset
};

/// MS_* flags of msync(2).
struct msync_flags {
  bool sync = true;
  bool async = false;
  bool invalidate = false;
};

/// How a file is mapped in set-up.
enum class mapping_kind : std::uint8_t { shared, private_copy };

enum class user_signal : std::uint8_t { none, sigsegv, sigbus };
/// How a load or store of user memory ended.
struct user_access {
  user_signal signal = user_signal::none;
  std::byte value{};  ///< loads only
  friend bool operator==(const user_access&, const user_access&) = default;
};

/// What is still held when it should not be. All zero once every task has ended without a defect.
struct leftovers {
  std::uint32_t held_pages = 0, wired_pages = 0, busy_pages = 0, paging_in_progress = 0;
  std::uint32_t vnode_locks = 0, range_locks = 0, map_locks = 0, offset_locks = 0;
  std::uint32_t lost_pages = 0;  ///< neither freed nor somebody's

  [[nodiscard]] bool none() const noexcept { return *this == leftovers{}; }
  friend bool operator==(const leftovers&, const leftovers&) = default;
};

/// \tparam Config  `vnode` (with its range lock) and `io`, the I/O policy: see values and statics
template <substrate S, class Config>
class kernel {
 public:
  using vnode = typename Config::vnode;
  using io = typename Config::io;
  using thread = kern::thread<S, vnode>;
  using process = kern::process<S, vnode>;

  kernel(const parameters& p, io policy);
  kernel(const kernel&) = delete;
  kernel& operator=(const kernel&) = delete;

  /// \name Set-up
  /// \{

  /// A file of which nothing is cached.
  vnode& make_file(std::string_view name, std::string_view contents, vfs::mount_flags mount = {});
  process& make_process(std::string_view name);
  /// One for each task.
  thread& make_thread(process& of);
  /// As open(), but cannot fail.
  fd_number open_file(process& p, std::string_view name, open_flags how);
  /// Pages [first, first + count) of a file get no block: they read as zeros. \pre nothing of them is cached
  void make_hole(vnode& file, page_index first, std::uint64_t count);
  /// RLIMIT_FSIZE.
  void set_file_size_limit(process& p, std::uint64_t bytes) { p.file_size_limit = bytes; }
  /// As mmap() of whole pages of a file, but needs no descriptor and cannot fail.
  /// \param size  bytes; 0: to the end of the file
  user_address map_file(process& p, vnode& file, vm::protection rights, std::uint64_t offset = 0,
                        std::uint64_t size = 0, std::optional<user_address> fixed = {},
                        mapping_kind how = mapping_kind::shared);
  /// Anonymous memory that holds `contents`, resident and mapped.
  user_address map_buffer(process& p, std::string_view contents, std::optional<user_address> fixed = {},
                          vm::protection rights = vm::protection::read_write);
  /// Anonymous memory of zeros, not resident: the first touch of each page faults, without I/O.
  user_address map_zeros(process& p, std::uint64_t size, std::optional<user_address> fixed = {},
                         vm::protection rights = vm::protection::read_write);
  /// Reads pages [first, first + count) of a file into the cache.
  void make_resident(vnode& file, page_index first, std::uint64_t count);
  /// Faults a mapping in, so that accesses to [at, at + size) do not trap.
  void make_mapped(process& p, user_address at, std::uint64_t size);
  /// The disk, for error injection before the tasks run.
  [[nodiscard]] device::ram_disk<S>& disk() noexcept { return disk_; }
  /// \}

  /// \name System calls
  /// \{

  /// \errors ENOENT, EMFILE; with O_TRUNC: EIO
  result<fd_number> open(thread& td, std::string_view name, open_flags how);
  /// \errors EBADF
  errc close(thread& td, fd_number fd);
  /// The same description under the lowest free number. \errors EBADF, EMFILE
  result<fd_number> dup(thread& td, fd_number fd);

  /// \returns bytes done. \errors EBADF, EINVAL, EFAULT, EIO; writes: EFBIG
  result<std::uint64_t> read(thread& td, fd_number fd, user_address buffer, std::uint64_t size);
  result<std::uint64_t> write(thread& td, fd_number fd, user_address buffer, std::uint64_t size);
  result<std::uint64_t> pread(thread& td, fd_number fd, user_address buffer, std::uint64_t size,
                              std::int64_t offset);
  result<std::uint64_t> pwrite(thread& td, fd_number fd, user_address buffer, std::uint64_t size,
                               std::int64_t offset);
  result<std::uint64_t> readv(thread& td, fd_number fd, std::span<const vfs::iovec> buffers);
  result<std::uint64_t> writev(thread& td, fd_number fd, std::span<const vfs::iovec> buffers);
  result<std::uint64_t> preadv(thread& td, fd_number fd, std::span<const vfs::iovec> buffers,
                               std::int64_t offset);
  result<std::uint64_t> pwritev(thread& td, fd_number fd, std::span<const vfs::iovec> buffers,
                                std::int64_t offset);
  /// \errors EBADF, EINVAL, EOVERFLOW; SEEK_DATA and SEEK_HOLE: ENXIO
  result<std::uint64_t> lseek(thread& td, fd_number fd, std::int64_t offset, whence from);
  /// \errors EBADF, EINVAL (not open for writing, or negative), EFBIG, EIO
  errc ftruncate(thread& td, fd_number fd, std::int64_t size);
  /// The size as fstat(2) gives it. \errors EBADF
  result<std::uint64_t> fstat_size(thread& td, fd_number fd);
  /// Writes the file's dirty pages to the disk. \errors EBADF, EIO, ENOSPC
  errc fsync(thread& td, fd_number fd);

  /// \param at  the address for MAP_FIXED; otherwise ignored
  /// \errors EINVAL, EBADF, EACCES, EOVERFLOW, ENOMEM, EEXIST
  result<user_address> mmap(thread& td, user_address at, std::uint64_t size, vm::protection rights,
                            map_flags flags, fd_number fd, std::int64_t offset);
  /// \errors EINVAL, ENOMEM
  errc munmap(thread& td, user_address at, std::uint64_t size);
  /// \errors EINVAL (not page aligned), ENOMEM (a part is not mapped), EACCES (writing, where the descriptor did not allow it)
  errc mprotect(thread& td, user_address at, std::uint64_t size, vm::protection rights);
  /// Writes dirty pages of shared file mappings to the disk; MS_ASYNC starts nothing here.
  /// \errors EINVAL (not page aligned, or MS_SYNC with MS_ASYNC), ENOMEM (a part is not mapped), EIO, ENOSPC
  errc msync(thread& td, user_address at, std::uint64_t size, msync_flags how = {});

  /// One instruction of user code.
  user_access load(thread& td, user_address at);
  user_access store(thread& td, user_address at, std::byte value);
  /// A copy by user code: one access for each page. Stops at the first signal.
  user_signal load(thread& td, user_address at, std::span<std::byte> to);
  user_signal store(thread& td, user_address at, std::span<const std::byte> from);
  /// \}

  /// \name Adversaries
  /// What else happens in a system; called by tasks of their own.
  /// \{

  /// The pageout daemon on one page of a file (vm/pageout.hpp). \returns whether the page left the cache
  /// \pre parameters::reclaim
  bool evict(thread& td, vnode& file, page_index index);
  /// The same for the page that a process would see at an address, its own copy or the file's.
  bool evict(thread& td, process& p, user_address at);
  /// From now on these requests of the disk end with EIO. \pre parameters::inject_errors
  void set_device_error(device::device_error which) { disk_.fail(which); }
  /// \}

  /// \name Checks
  /// Without scheduling points; after a defect too.
  /// \{

  /// What a reader would get after a crash: the blocks alone, up to the size; what was not written back is missing.
  [[nodiscard]] std::string disk_contents(std::string_view name) const;
  /// What a reader would get: the page cache over the disk.
  [[nodiscard]] std::string file_contents(const vnode& file) const;
  [[nodiscard]] std::string file_contents(std::string_view name) const {
    return file_contents(*nodes_.at(key(name)));
  }
  [[nodiscard]] std::uint64_t file_size(const vnode& file) const { return S::peek(file.size); }
  /// What the process would load. Unmapped bytes and those past an end read as '?'.
  [[nodiscard]] std::string user_contents(const process& p, user_address at, std::uint64_t size) const;
  [[nodiscard]] bool is_resident(const vnode& file, page_index index) const {
    const auto* m = file.object.peek(index);
    return m != nullptr && m->valid;
  }
  [[nodiscard]] vnode& find(std::string_view name) { return *nodes_.at(key(name)); }
  [[nodiscard]] leftovers account() const;
  /// Of all threads.
  [[nodiscard]] vm::io_statistics statistics() const {
    vm::io_statistics sum;
    for (const auto* td : threads_) sum += td->io;
    return sum;
  }
  [[nodiscard]] std::string_view io_name() const {
    if constexpr (requires { io_.policy_name(); }) {
      return io_.policy_name();
    } else {
      return io::name;
    }
  }
  [[nodiscard]] const parameters& tunables() const noexcept { return parameters_; }
  /// \}

 private:
  using description = kern::file<S, vnode>;
  using key = std::pmr::string;

  /// fget with the right that the call needs. \returns null: EBADF
  [[nodiscard]] description* fget(thread& td, fd_number fd, bool open_flags::*right);
  result<std::uint64_t> transfer(const char* call, thread& td, fd_number fd,
                                 std::span<const vfs::iovec> buffers, std::optional<std::int64_t> offset,
                                 vfs::uio_direction direction);
  errc run(thread& td, description& fp, vfs::uio& u, bool explicit_offset);
  [[nodiscard]] bool short_count_wins() const noexcept {
    const auto answer = parameters_.fault_answer == answer_to_fault::by_io ? answer_to_fault{io_.fault_answer}
                                                                           : parameters_.fault_answer;
    return answer == answer_to_fault::short_count;
  }
  errc seek_data(thread& td, vnode& vp, std::uint64_t from, bool data, std::uint64_t& found);
  [[nodiscard]] user_address map_anonymous(process& p, std::uint64_t size, std::optional<user_address> fixed,
                                           vm::protection rights);
  [[nodiscard]] std::string_view page_contents(const vnode* file, const vm::vm_object<S>& object,
                                               page_index index) const;
  template <class Access>
  user_signal user_copy(thread& td, user_address at, std::uint64_t size, vm::protection wanted,
                        Access&& access_page);

  parameters parameters_;
  io io_;
  io_context context_;
  device::ram_disk<S> disk_;
  std::pmr::map<std::pmr::string, vnode*, std::less<>> nodes_;  // fixed once the tasks run
  std::pmr::vector<process*> processes_;                        // fixed once the tasks run
  std::pmr::vector<thread*> threads_;                           // fixed once the tasks run
  vm::page<S>* zero_page_ = nullptr;
};

/// A kernel whose policies are values: one instantiation serves all of them.
template <substrate S>
struct values {
  using vnode = vfs::vnode<S>;
  using io = any_io<S, vnode>;
};

/// A kernel whose policies are types.
template <substrate S, class Io, class Rangelock = sync::rangelock_spec<S>>
struct statics {
  using vnode = vfs::vnode<S, Rangelock>;
  using io = Io;
};

}  // namespace faultline::kern

#include <faultline/kern/kernel_setup.hpp>
#include <faultline/kern/syscalls.hpp>

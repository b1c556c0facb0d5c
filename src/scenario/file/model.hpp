// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A scenario file after its names were looked up: what run.cpp interprets. Indices point into the vectors here.
#include "scenario/file/ast.hpp"

#include <faultline/kern/kernel.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace faultline::scenario::file {

struct file_made {
  std::string name;
  std::string contents;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> holes;   ///< pages [first, last)
  std::vector<std::pair<std::uint64_t, std::uint64_t>> cached;  ///< pages [first, last)
  vfs::mount_flags mount;
};

enum class memory_kind : std::uint8_t { file, buffer, zeros, made_by_call };

/// Addresses [name + offset, + size).
struct user_range {
  std::size_t memory = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// A name of a process that stands for user memory.
struct memory_made {
  std::string name;
  memory_kind kind = memory_kind::buffer;
  std::size_t file = 0;  ///< `file`
  kern::mapping_kind mapping = kern::mapping_kind::shared;
  std::uint64_t offset = 0;
  std::string contents;    ///< `buffer`
  std::uint64_t size = 0;  ///< bytes
  vm::protection rights = vm::protection::read_write;
  std::optional<user_range> fixed;     ///< where it lies: at an address of memory that was made before
  std::optional<std::size_t> made_by;  ///< `made_by_call`: the task, which alone can use it
};

struct descriptor_made {
  std::string name;
  std::optional<std::size_t> file;  ///< opened before the tasks run; none: by a call
  kern::open_flags how;
  std::optional<std::size_t> made_by{};  ///< by a call: the task, which alone can use it
};

struct process_made {
  std::string name;
  std::vector<descriptor_made> descriptors{};
  std::vector<memory_made> memory{};  ///< in the order of the file: later fixed ones lie over earlier ones
  std::vector<user_range> mapped{};   ///< ptes there before the tasks run
  std::optional<std::uint64_t> file_size_limit{};
};

enum class call_kind : std::uint8_t {
  open,
  close,
  dup,
  read,
  write,
  pread,
  pwrite,
  readv,
  writev,
  preadv,
  pwritev,
  lseek,
  ftruncate,
  fstat,
  fsync,
  mmap,
  munmap,
  mprotect,
  msync,
  load,
  store,
  evict,
  truncate,
  fail,
  heal,
  kill,
};

struct call {
  call_kind kind{};
  place at;
  std::string shown;                  ///< as written, for messages
  std::string label;                  ///< empty: not observed
  std::vector<std::string> accepted;  ///< results; empty: any
  std::size_t descriptor = 0;
  std::size_t other_descriptor = 0;  ///< `dup`
  std::vector<user_range> buffers;   ///< one, but for vectors
  std::int64_t offset = 0;           ///< pread, ...; lseek; size of ftruncate and truncate
  kern::whence whence{};
  std::size_t file = 0;  ///< open, evict of a file's page, truncate
  kern::open_flags open_how{};
  bool evicts_memory = false;  ///< `evict` of what an address shows, in place of a file's page
  std::uint64_t page = 0;
  std::string text;  ///< `store`
  vm::protection rights{};
  kern::map_flags map_how{};
  std::size_t memory = 0;           ///< `mmap`: the name that it makes
  std::optional<user_range> fixed;  ///< `mmap`
  kern::msync_flags sync_how{};
  device::device_error device{};
  std::size_t task = 0;  ///< `kill`
};

struct task_made {
  std::string name;
  std::size_t process = 0;
  std::vector<call> calls;
  bool may_be_killed = false;
  bool forever = false;  ///< an adversary that begins again until all others have ended
};

enum class subject_kind : std::uint8_t { file, disk, size, memory, counter };

struct subject {
  subject_kind kind{};
  std::string shown;     ///< "A", "disk A", "P0.b"
  std::size_t file = 0;  ///< file, disk, size
  std::size_t process = 0;
  std::size_t memory = 0;
  std::string counter;  ///< "slow-path"
};

/// `finally`
struct invariant {
  subject what;
  std::vector<std::string> one_of;   ///< values
  std::vector<std::string> made_of;  ///< records, in any order, each once
};

struct model {
  kern::parameters kernel;
  std::vector<file_made> files;
  std::vector<process_made> processes;
  std::vector<task_made> tasks;
  std::vector<invariant> invariants;
  std::vector<subject> observed;
  bool linearizable = false;  ///< calls on files are recorded, and checked in the end
};

/// Is it a call on files, one that a history of `linearizable files` has?
[[nodiscard]] bool is_recorded(call_kind k) noexcept;

/// A file's text as a scenario, but for its program. \errors file_error
struct resolved {
  model program;
  scenario info;
};
[[nodiscard]] resolved resolve(const std::vector<line>& lines, const std::string& origin);

/// The names of the counters that `finally` and `observe` know.
[[nodiscard]] std::vector<std::string_view> counter_names();
[[nodiscard]] std::uint64_t counter_value(std::string_view name, const vm::io_statistics& all);

/// An execution's set-up, tasks and check.
[[nodiscard]] sim::program interpret(std::shared_ptr<const model> what, const policies& chosen);

}  // namespace faultline::scenario::file

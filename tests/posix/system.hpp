// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The system calls of the table of POSIX answers, on the model and on the host's real kernel.
#include <faultline/core/errc.hpp>
#include <faultline/kern/kernel.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace faultline::posix {

/// What a call gave: a value, or an errno.
struct outcome {
  std::int64_t value = 0;
  errc error = errc::ok;

  [[nodiscard]] bool ok() const noexcept { return error == errc::ok; }
  friend bool operator==(const outcome&, const outcome&) = default;
};
/// "10" or "EFAULT".
[[nodiscard]] std::string text(const outcome& o);

/// A piece of a vector: address and bytes.
struct piece {
  std::uint64_t at = 0;
  std::uint64_t size = 0;
};

class system {
 public:
  system() = default;
  system(const system&) = delete;
  system& operator=(const system&) = delete;
  virtual ~system() = default;

  [[nodiscard]] virtual std::uint64_t page() const = 0;

  /// \name Files
  /// \{
  /// A new file, of which nothing is cached as far as the system lets one say so.
  virtual void make(std::string_view name, std::string_view contents) = 0;
  [[nodiscard]] virtual std::string contents(std::string_view name) = 0;
  /// Takes the file's pages out of the cache, dirty ones after they were written back. The host may leave some.
  virtual void evict(std::string_view name) = 0;
  virtual void limit_file_size(std::uint64_t bytes) = 0;
  /// \}

  /// \name Memory
  /// Each followed by a page that is not mapped.
  /// \{
  [[nodiscard]] virtual std::uint64_t buffer(std::string_view contents) = 0;  ///< resident
  [[nodiscard]] virtual std::uint64_t zeros(std::uint64_t bytes) = 0;         ///< never touched
  /// Addresses that nothing is mapped at, for MAP_FIXED.
  [[nodiscard]] virtual std::uint64_t reserve(std::uint64_t pages) = 0;
  /// "aaaa", or SIGSEGV or SIGBUS of the first byte that cannot be had.
  [[nodiscard]] virtual std::string load(std::uint64_t at, std::uint64_t size) = 0;
  /// "ok", or a signal.
  virtual std::string store(std::uint64_t at, std::string_view bytes) = 0;
  /// \}

  virtual outcome open(std::string_view name, kern::open_flags how) = 0;
  virtual outcome close(std::int64_t fd) = 0;
  virtual outcome dup(std::int64_t fd) = 0;
  virtual outcome read(std::int64_t fd, std::uint64_t at, std::uint64_t size) = 0;
  virtual outcome write(std::int64_t fd, std::uint64_t at, std::uint64_t size) = 0;
  virtual outcome pread(std::int64_t fd, std::uint64_t at, std::uint64_t size, std::int64_t offset) = 0;
  virtual outcome pwrite(std::int64_t fd, std::uint64_t at, std::uint64_t size, std::int64_t offset) = 0;
  virtual outcome readv(std::int64_t fd, const std::vector<piece>& pieces) = 0;
  virtual outcome writev(std::int64_t fd, const std::vector<piece>& pieces) = 0;
  virtual outcome preadv(std::int64_t fd, const std::vector<piece>& pieces, std::int64_t offset) = 0;
  virtual outcome pwritev(std::int64_t fd, const std::vector<piece>& pieces, std::int64_t offset) = 0;
  virtual outcome lseek(std::int64_t fd, std::int64_t offset, kern::whence from) = 0;
  virtual outcome ftruncate(std::int64_t fd, std::int64_t size) = 0;
  virtual outcome fsync(std::int64_t fd) = 0;
  virtual outcome size(std::int64_t fd) = 0;  ///< fstat(2)
  virtual outcome mmap(std::uint64_t at, std::uint64_t size, vm::protection rights, kern::map_flags flags,
                       std::int64_t fd, std::int64_t offset) = 0;
  virtual outcome munmap(std::uint64_t at, std::uint64_t size) = 0;
  virtual outcome mprotect(std::uint64_t at, std::uint64_t size, vm::protection rights) = 0;
  virtual outcome msync(std::uint64_t at, std::uint64_t size, kern::msync_flags how) = 0;
};

/// Temporary files in a directory of their own, removed at the end.
[[nodiscard]] std::unique_ptr<system> make_host();

/// Runs `body` in a task of a kernel with that I/O policy; afterwards nothing may be left held. May run it more than once, each time
/// on a new kernel.
/// \returns empty, or what the explorer found
[[nodiscard]] std::string on_model(std::string_view io, kern::parameters p,
                                   const std::function<void(system&)>& body);

/// Pages as the host's, and whatever the table's rows need.
[[nodiscard]] kern::parameters host_like();

}  // namespace faultline::posix

// SPDX-License-Identifier: BSD-2-Clause
// The calls on the host's kernel.
#include "posix/system.hpp"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

namespace faultline::posix {

namespace {

// The access of each thread that may raise a signal.
thread_local sigjmp_buf back;                   // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
thread_local volatile sig_atomic_t caught = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
thread_local volatile sig_atomic_t expected =
    0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// What was there before: a sanitizer's, or the default.
struct sigaction old_segv {};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
struct sigaction old_bus {};   // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void on_fault(int number) {
  if (expected == 0) {
    sigaction(number, number == SIGBUS ? &old_bus : &old_segv, nullptr);  // a real one: comes again
    return;
  }
  caught = number;
  siglongjmp(back, 1);
}

/// Handlers for SIGSEGV and SIGBUS while it lives. One at a time in a process.
class faults_as_values {
 public:
  faults_as_values() {
    struct sigaction handler {};
    handler.sa_handler = on_fault;
    sigemptyset(&handler.sa_mask);
    handler.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &handler, &old_segv);
    sigaction(SIGBUS, &handler, &old_bus);
  }
  faults_as_values(const faults_as_values&) = delete;
  faults_as_values& operator=(const faults_as_values&) = delete;
  ~faults_as_values() {
    sigaction(SIGSEGV, &old_segv, nullptr);
    sigaction(SIGBUS, &old_bus, nullptr);
  }
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAULTLINE_NO_ASAN __attribute__((no_sanitize("address")))
#endif
#endif
#ifndef FAULTLINE_NO_ASAN
#define FAULTLINE_NO_ASAN __attribute__((no_sanitize_address))
#endif

/// Byte after byte, as far as it goes; true if to the end.
FAULTLINE_NO_ASAN bool copy(const volatile char* from, volatile char* to, std::size_t size) {
  if (sigsetjmp(back, 1) != 0) {
    expected = 0;
    return false;
  }
  expected = 1;
  for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
  expected = 0;
  return true;
}

int prot_of(vm::protection rights) {
  return (vm::allows(rights, vm::protection::read) ? PROT_READ : 0) |
         (vm::allows(rights, vm::protection::write) ? PROT_WRITE : 0);
}

int whence_of(kern::whence from) {
  constexpr std::array names{SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE};
  const auto at = static_cast<std::size_t>(from);
  return at < names.size() ? names[at] : 99;
}

void* pointer(std::uint64_t at) {
  return reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr): user addresses are numbers here
}

/// Where the next mapping goes: a part of the address space that neither kernels nor sanitizers use by themselves. What a row
/// unmaps is nobody else's then, and there is nothing of theirs to unmap in the end.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::uint64_t next_address = std::uint64_t{1} << 45U;

class host final : public system {
 public:
  host() {
    std::string pattern = (std::filesystem::temp_directory_path() / "faultline-posix-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
  }
  host(const host&) = delete;
  host& operator=(const host&) = delete;
  ~host() override {
    ::munmap(pointer(first_address_), static_cast<std::size_t>(next_address - first_address_));
    for (const auto& [fd, name] : open_) ::close(fd);
    if (limited_) {
      setrlimit(RLIMIT_FSIZE, &old_limit_);
      signal(SIGXFSZ, old_handler_);
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  [[nodiscard]] std::uint64_t page() const override {
    return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }

  void make(std::string_view name, std::string_view bytes) override {
    const int fd = ::open(path(name).c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0) throw std::runtime_error("cannot make a file");
    while (!bytes.empty()) {
      const auto n = ::write(fd, bytes.data(), bytes.size());
      if (n <= 0) throw std::runtime_error("cannot fill a file");
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    ::close(fd);
    evict(name);
  }
  [[nodiscard]] std::string contents(std::string_view name) override {
    const int fd = ::open(path(name).c_str(), O_RDONLY);
    struct stat about {};
    fstat(fd, &about);
    std::string all(static_cast<std::size_t>(about.st_size), '\0');
    std::size_t done = 0;
    while (done < all.size()) {
      const auto n = ::pread(fd, all.data() + done, all.size() - done, static_cast<off_t>(done));
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    ::close(fd);
    return all;
  }
  void evict(std::string_view name) override {
    const int fd = ::open(path(name).c_str(), O_RDWR);
    // No commit of the journal: only clean pages leave the cache.
    (void)sync_file_range(fd, 0, 0,
                          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    ::close(fd);
  }
  void limit_file_size(std::uint64_t bytes) override {
    if (!limited_) {
      getrlimit(RLIMIT_FSIZE, &old_limit_);
      old_handler_ = signal(SIGXFSZ, SIG_IGN);
      limited_ = true;
    }
    const rlimit limit{.rlim_cur = bytes, .rlim_max = old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }

  std::uint64_t buffer(std::string_view bytes) override {
    const auto at = zeros(bytes.size());
    std::memcpy(pointer(at), bytes.data(), bytes.size());
    return at;
  }
  std::uint64_t zeros(std::uint64_t bytes) override {
    const auto pages = (bytes + page() - 1) / page();
    const auto at = reserve(pages + 1);
    if (::mmap(pointer(at), pages * page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1, 0) == MAP_FAILED)
      throw std::runtime_error("no memory");
    return at;
  }
  std::uint64_t reserve(std::uint64_t pages) override {
    const auto first = next_address + page();
    next_address = first + (pages + 1) * page();
    return first;
  }
  [[nodiscard]] std::string load(std::uint64_t at, std::uint64_t size) override {
    std::string all(static_cast<std::size_t>(size), '\0');
    if (!copy(static_cast<const char*>(pointer(at)), all.data(), all.size()))
      return caught == SIGBUS ? "SIGBUS" : "SIGSEGV";
    return all;
  }
  std::string store(std::uint64_t at, std::string_view bytes) override {
    if (!copy(bytes.data(), static_cast<char*>(pointer(at)), bytes.size()))
      return caught == SIGBUS ? "SIGBUS" : "SIGSEGV";
    return "ok";
  }

  outcome open(std::string_view name, kern::open_flags how) override {
    const int access = how.read ? (how.write ? O_RDWR : O_RDONLY) : O_WRONLY;
    const int fd =
        ::open(path(name).c_str(), access | (how.append ? O_APPEND : 0) | (how.truncate ? O_TRUNC : 0));
    if (fd >= 0) open_.emplace(fd, name);
    return of(fd);
  }
  outcome close(std::int64_t fd) override {
    open_.erase(static_cast<int>(fd));
    return of(::close(static_cast<int>(fd)));
  }
  outcome dup(std::int64_t fd) override {
    const int other = ::dup(static_cast<int>(fd));
    if (other >= 0) open_.emplace(other, "");
    return of(other);
  }
  outcome read(std::int64_t fd, std::uint64_t at, std::uint64_t size) override {
    return of(::read(static_cast<int>(fd), pointer(at), size));
  }
  outcome write(std::int64_t fd, std::uint64_t at, std::uint64_t size) override {
    return of(::write(static_cast<int>(fd), pointer(at), size));
  }
  outcome pread(std::int64_t fd, std::uint64_t at, std::uint64_t size, std::int64_t offset) override {
    return of(::pread(static_cast<int>(fd), pointer(at), size, offset));
  }
  outcome pwrite(std::int64_t fd, std::uint64_t at, std::uint64_t size, std::int64_t offset) override {
    return of(::pwrite(static_cast<int>(fd), pointer(at), size, offset));
  }
  outcome readv(std::int64_t fd, const std::vector<piece>& pieces) override {
    const auto v = vector_of(pieces);
    return of(::readv(static_cast<int>(fd), v.data(), static_cast<int>(v.size())));
  }
  outcome writev(std::int64_t fd, const std::vector<piece>& pieces) override {
    const auto v = vector_of(pieces);
    return of(::writev(static_cast<int>(fd), v.data(), static_cast<int>(v.size())));
  }
  outcome preadv(std::int64_t fd, const std::vector<piece>& pieces, std::int64_t offset) override {
    const auto v = vector_of(pieces);
    return of(::preadv(static_cast<int>(fd), v.data(), static_cast<int>(v.size()), offset));
  }
  outcome pwritev(std::int64_t fd, const std::vector<piece>& pieces, std::int64_t offset) override {
    const auto v = vector_of(pieces);
    return of(::pwritev(static_cast<int>(fd), v.data(), static_cast<int>(v.size()), offset));
  }
  outcome lseek(std::int64_t fd, std::int64_t offset, kern::whence from) override {
    return of(::lseek(static_cast<int>(fd), offset, whence_of(from)));
  }
  outcome ftruncate(std::int64_t fd, std::int64_t size) override {
    return of(::ftruncate(static_cast<int>(fd), size));
  }
  outcome fsync(std::int64_t fd) override { return of(::fsync(static_cast<int>(fd))); }
  outcome size(std::int64_t fd) override {
    struct stat about {};
    const int e = fstat(static_cast<int>(fd), &about);
    return e == 0 ? outcome{about.st_size} : of(e);
  }
  outcome mmap(std::uint64_t at, std::uint64_t size, vm::protection rights, kern::map_flags flags,
               std::int64_t fd, std::int64_t offset) override {
    const int how = (flags.shared ? MAP_SHARED : 0) | (flags.private_copy ? MAP_PRIVATE : 0) |
                    (flags.fixed ? MAP_FIXED : 0) | (flags.no_replace ? MAP_FIXED_NOREPLACE : 0) |
                    (flags.anonymous ? MAP_ANONYMOUS : 0);
    const bool placed = flags.fixed || flags.no_replace;
    constexpr auto most = std::uint64_t{1} << 40U;
    if (!placed && size < most) at = reserve((size + page() - 1) / page());  // asked for, not insisted on
    void* const where =
        ::mmap(pointer(at), size, prot_of(rights), how, flags.anonymous ? -1 : static_cast<int>(fd), offset);
    if (where == MAP_FAILED) return of(-1);
    if (!placed && where != pointer(at)) throw std::runtime_error("the host maps elsewhere");
    const auto first = reinterpret_cast<std::uint64_t>(where);
    return {static_cast<std::int64_t>(first)};
  }
  outcome munmap(std::uint64_t at, std::uint64_t size) override { return of(::munmap(pointer(at), size)); }
  outcome mprotect(std::uint64_t at, std::uint64_t size, vm::protection rights) override {
    return of(::mprotect(pointer(at), size, prot_of(rights)));
  }
  outcome msync(std::uint64_t at, std::uint64_t size, kern::msync_flags how) override {
    return of(::msync(
        pointer(at), size,
        (how.sync ? MS_SYNC : 0) | (how.async ? MS_ASYNC : 0) | (how.invalidate ? MS_INVALIDATE : 0)));
  }

 private:
  static outcome of(std::int64_t value) {
    return value >= 0 ? outcome{value} : outcome{0, static_cast<errc>(errno)};
  }
  [[nodiscard]] std::string path(std::string_view name) const { return directory_ + '/' + std::string(name); }
  static std::vector<iovec> vector_of(const std::vector<piece>& pieces) {
    std::vector<iovec> v;
    for (const auto& p : pieces) v.push_back({pointer(p.at), static_cast<std::size_t>(p.size)});
    return v;
  }

  faults_as_values guard_;
  std::string directory_;
  std::map<int, std::string> open_;
  const std::uint64_t first_address_ = next_address;
  bool limited_ = false;
  rlimit old_limit_{};
  sighandler_t old_handler_ = nullptr;
};

}  // namespace

std::unique_ptr<system> make_host() { return std::make_unique<host>(); }

std::string text(const outcome& o) { return o.ok() ? std::to_string(o.value) : name_of(o.error); }

}  // namespace faultline::posix

// SPDX-License-Identifier: BSD-2-Clause
#include "output_file.hpp"

#include "commands.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace faultline::cli {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw usage_error(fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
}

/// A file beside the target that goes away again unless it is renamed.
class temporary {
 public:
  explicit temporary(const fs::path& target, const std::string& shown) : name_(target.string() + ".XXXXXX") {
    descriptor_ = ::mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0) cannot_write(shown, errno);
  }
  temporary(const temporary&) = delete;
  temporary& operator=(const temporary&) = delete;
  ~temporary() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// The data is on its way to the disk under the final name, or an error is told.
  [[nodiscard]] int rename_to(const fs::path& target) {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    struct ::stat old {};
    const mode_t mode = ::stat(target.c_str(), &old) == 0 ? old.st_mode & 0777U : 0666U & ~mask;
    if (::fchmod(descriptor_, mode) != 0) return errno;
    const int closed = ::close(descriptor_) == 0 ? 0 : errno;
    descriptor_ = -1;
    if (closed != 0) return closed;
    if (::rename(name_.c_str(), target.c_str()) != 0) return errno;
    name_.clear();
    return 0;
  }

 private:
  std::string name_;
  int descriptor_ = -1;
};

/// \returns 0, or the errno
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(descriptor, text.data(), text.size());
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// Where the bytes will lie: behind symbolic links.
fs::path target_of(const std::string& path) {
  std::error_code failed;
  auto real = fs::weakly_canonical(path, failed);
  return failed ? fs::path(path) : real;
}

bool is_special(const fs::path& target) {
  std::error_code failed;
  const auto status = fs::status(target, failed);
  return fs::exists(status) && !fs::is_regular_file(status);
}

}  // namespace

void check_writable(const std::string& path) {
  if (path.empty()) throw usage_error("cannot write a file without a name");
  std::error_code failed;
  const auto target = target_of(path);
  if (fs::is_directory(target, failed)) cannot_write(path, EISDIR);
  if (target.filename().empty()) cannot_write(path, EISDIR);
  if (fs::exists(target, failed) && ::access(target.c_str(), W_OK) != 0) cannot_write(path, errno);
  if (!is_special(target)) const temporary probe(target, path);
}

void write_whole(const std::string& path, std::string_view text) {
  const auto target = target_of(path);
  if (is_special(target)) {
    const int out = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (out < 0) cannot_write(path, errno);
    const int error = write_all(out, text);
    ::close(out);
    if (error != 0) cannot_write(path, error);
    return;
  }
  temporary file(target, path);
  if (const int error = write_all(file.descriptor(), text); error != 0) cannot_write(path, error);
  if (const int error = file.rename_to(target); error != 0) cannot_write(path, error);
}

}  // namespace faultline::cli

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Random sequences of calls, the same on every system: two files, four descriptors, four windows of mapped memory, two buffers.
///
/// What systems may answer differently is left out, by what the sequence itself knows of its memory:
///   - transfers between a file and the same pages of it in memory (any mix of old and new bytes is right);
///   - stores through a shared mapping past the end of the file (the host zeroes them when it likes);
///   - a write past the end whose first byte cannot be had (some hosts move the end);
///   - SEEK_DATA and SEEK_HOLE after a write of which nothing could be had (some hosts have made room for it);
///   - mprotect of what is not all mapped (some systems change a part of it).
#include "posix/system.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace faultline::posix {

enum class fsx_kind : std::uint8_t {
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
  seek_data,
  ftruncate,
  fsync,
  evict,
  map,
  unmap,
  protect,
  sync,
  load,
  store,
};

/// Numbers mean what the call makes of them, modulo what there is.
struct fsx_call {
  fsx_kind kind{};
  std::uint32_t a = 0, b = 0, c = 0, d = 0, e = 0;
};

/// A sequence of that many calls; the same for the same seed everywhere.
[[nodiscard]] std::vector<fsx_call> random_calls(std::uint64_t seed, std::size_t count);

/// The call as an initializer: for fsx_found.cpp.
[[nodiscard]] std::string as_source(const fsx_call& c);

/// What a call gave, and what there was to be seen after it.
struct fsx_note {
  std::string call;  ///< "pwrite(fd1, buffer+4090, 20, 8190)"
  std::string gave;
  std::uint64_t state = 0;  ///< hash of sizes, contents, offsets and memory
  friend bool operator==(const fsx_note& x, const fsx_note& y) {
    return x.gave == y.gave && x.state == y.state;
  }
};

struct fsx_options {
  bool whole_buffers = false;  ///< leave out transfers of which a part of the buffer cannot be had
  /// A policy has the whole buffer before it reads, though less may be read. So leave out reads into private mappings of files: pages
  /// were copied that the read does not reach, and these no longer show later writes to their file (POSIX leaves it open whether they
  /// do). And do not ask for holes that a shared mapping shows: they were made room for.
  bool has_whole_buffer = false;
  /// Leave out reads into a private mapping of the page that is read, too: the fault waits for the page that the copy keeps busy.
  bool busy_pages = false;
  bool seek_data = false;          ///< SEEK_DATA and SEEK_HOLE: the host's blocks are as large as pages
  std::uint32_t memory_every = 8;  ///< look at all memory after so many calls: it takes long
};

/// Does the calls; `notes` has those that came to an end.
void play(system& s, const std::vector<fsx_call>& calls, const fsx_options& how,
          std::vector<fsx_note>& notes);

/// The fewest of the calls for which `differs` still holds. \pre it holds for all of them
[[nodiscard]] std::vector<fsx_call> minimised(
    std::vector<fsx_call> calls, const std::function<bool(const std::vector<fsx_call>&)>& differs);

/// splitmix64: the same on every compiler.
class fsx_random {
 public:
  explicit fsx_random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t operator()() noexcept {
    auto z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint32_t below(std::uint32_t n) noexcept { return static_cast<std::uint32_t>((*this)() % n); }

 private:
  std::uint64_t state_;
};

}  // namespace faultline::posix

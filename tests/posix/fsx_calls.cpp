// SPDX-License-Identifier: BSD-2-Clause
#include "posix/fsx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace faultline::posix {

std::vector<fsx_call> random_calls(std::uint64_t seed, std::size_t count) {
  struct share {
    fsx_kind kind;
    std::uint32_t of;
  };
  constexpr std::array shares{
      share{fsx_kind::open, 7},      share{fsx_kind::close, 2},     share{fsx_kind::dup, 3},
      share{fsx_kind::read, 6},      share{fsx_kind::write, 6},     share{fsx_kind::pread, 6},
      share{fsx_kind::pwrite, 8},    share{fsx_kind::readv, 4},     share{fsx_kind::writev, 4},
      share{fsx_kind::preadv, 4},    share{fsx_kind::pwritev, 4},   share{fsx_kind::lseek, 5},
      share{fsx_kind::seek_data, 2}, share{fsx_kind::ftruncate, 4}, share{fsx_kind::fsync, 2},
      share{fsx_kind::evict, 3},     share{fsx_kind::map, 8},       share{fsx_kind::unmap, 2},
      share{fsx_kind::protect, 3},   share{fsx_kind::sync, 2},      share{fsx_kind::load, 6},
      share{fsx_kind::store, 9},
  };
  const auto all = std::accumulate(shares.begin(), shares.end(), 0U,
                                   [](std::uint32_t sum, const share& s) { return sum + s.of; });
  fsx_random next(seed);
  std::vector<fsx_call> calls(count);
  for (auto& c : calls) {
    auto at = next.below(all);
    for (const auto& [kind, of] : shares) {
      c.kind = kind;
      if (at < of) break;
      at -= of;
    }
    for (auto* n : {&c.a, &c.b, &c.c, &c.d, &c.e}) *n = next.below(1U << 20U);
  }
  return calls;
}

std::string as_source(const fsx_call& c) {
  constexpr std::array names{"open",      "close",     "dup",    "read",   "write",   "pread",
                             "pwrite",    "readv",     "writev", "preadv", "pwritev", "lseek",
                             "seek_data", "ftruncate", "fsync",  "evict",  "map",     "unmap",
                             "protect",   "sync",      "load",   "store"};
  return fmt::format("{{fsx_kind::{}, {}, {}, {}, {}, {}}},", names.at(static_cast<std::size_t>(c.kind)), c.a,
                     c.b, c.c, c.d, c.e);
}

std::vector<fsx_call> minimised(std::vector<fsx_call> calls,
                                const std::function<bool(const std::vector<fsx_call>&)>& differs) {
  for (auto chunk = (calls.size() + 1) / 2; chunk > 0;) {
    bool smaller = false;
    for (std::size_t at = 0; at < calls.size();) {
      auto fewer = calls;
      const auto end = std::min(at + chunk, fewer.size());
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at),
                  fewer.begin() + static_cast<std::ptrdiff_t>(end));
      if (differs(fewer)) {
        calls = std::move(fewer);
        smaller = true;
      } else {
        at += chunk;
      }
    }
    if (!smaller) chunk /= 2;
  }
  return calls;
}

}  // namespace faultline::posix

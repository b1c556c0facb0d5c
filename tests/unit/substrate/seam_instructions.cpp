// SPDX-License-Identifier: BSD-2-Clause
// Runs one of the pairs so many times, for seam_instructions.cmake to count its instructions.
#include "support/seam_pairs.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAULTLINE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAULTLINE_SANITIZED 1
#endif
#endif

namespace {

namespace seam = faultline::seam;

template <class Mechanism>
int run(std::uint64_t times) {
  seam::have_had_a_thread();
  static seam::repeated<Mechanism> mechanism;
  mechanism.run(times);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef FAULTLINE_SANITIZED
  std::puts("skipped: valgrind cannot run a program with a sanitizer");
  return 77;
#endif
  if (argc == 3) {
    using faultline::native;
    const std::string_view name = argv[1];
    const auto times = std::strtoull(argv[2], nullptr, 10);
    if (name == "refcount_native") return run<seam::refcount_of<native>>(times);
    if (name == "refcount_by_hand") return run<seam::refcount_by_hand>(times);
    if (name == "found_native") return run<seam::found_of<native>>(times);
    if (name == "found_by_hand") return run<seam::found_by_hand>(times);
    if (name == "counter_native") return run<seam::counter_of<native>>(times);
    if (name == "counter_by_hand") return run<seam::counter_by_hand>(times);
  }
  std::fputs("usage: seam_instructions <pair> <times>\n", stderr);
  return 2;
}

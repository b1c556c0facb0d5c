// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A process: an address space and a descriptor table, shared by its threads.
#include <faultline/kern/fdtable.hpp>
#include <faultline/vm/address_space.hpp>

namespace faultline::kern {

template <substrate S, class V>
struct process {
  /// \param shown  the name, lives as long as the run
  process(const char* shown, const vm::map_environment<S>& around, std::size_t descriptors_max)
      : name(shown), map(shown, around), descriptors(shown, descriptors_max) {}
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  const char* const name;
  vm::address_space<S> map;
  fdtable<S, V> descriptors;
  std::uint64_t file_size_limit = byte_range::off_max;  ///< RLIMIT_FSIZE, bytes; fixed once the tasks run
};

}  // namespace faultline::kern

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// struct thread: one for each task that makes system calls.
#include <faultline/kern/process.hpp>
#include <faultline/vm/thread_state.hpp>

namespace faultline::kern {

template <substrate S, class V>
struct thread : vm::thread_state<S> {
  explicit thread(process<S, V>& of) : vm::thread_state<S>(of.map), proc(of) {}

  process<S, V>& proc;
};

}  // namespace faultline::kern

// SPDX-License-Identifier: BSD-2-Clause
#include "interrupt.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include <unistd.h>

namespace faultline::cli {

namespace {
volatile std::sig_atomic_t caught = 0;
constexpr char clear_line[] = {'\r', 27, '[', 'K', 0};  // ESC [ K
}  // namespace

void catch_interrupt() {
  struct sigaction act {};
  act.sa_handler = [](int) { caught = 1; };
  act.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&act.sa_mask);
  ::sigaction(SIGINT, &act, nullptr);
}

bool interrupted() noexcept { return caught != 0; }

progress::progress(std::string what)
    : what_(std::move(what)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      next_(start_ + std::chrono::milliseconds(500)) {}

bool progress::keep_going(std::uint64_t executions) {
  if (terminal_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_) {
      next_ = now + std::chrono::milliseconds(200);
      show(fmt::format("{}: {} executions, {:.0f} s", what_, executions,
                       std::chrono::duration<double>(now - start_).count()));
    }
  }
  return !interrupted();
}

void progress::show(const std::string& text) {
  if (!terminal_) return;
  fmt::print(stderr, "{}{}", clear_line, text);
  std::fflush(stderr);
  shown_ = true;
}

void progress::clear() {
  if (shown_) fmt::print(stderr, "{}", clear_line);
  shown_ = false;
}

}  // namespace faultline::cli

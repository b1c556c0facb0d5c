// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The table of POSIX answers: a situation, the calls, and what they give.
#include "posix/system.hpp"

#include <concepts>
#include <span>
#include <string>
#include <string_view>

namespace faultline::posix {

/// What the calls gave, in order: "r=10 at=10".
class notes {
 public:
  void operator()(std::string_view name, const outcome& o) { (*this)(name, text(o)); }
  void operator()(std::string_view name, std::string_view value) {
    if (!all_.empty()) all_ += ' ';
    all_.append(name).append("=").append(value);
  }
  void operator()(std::string_view name, std::same_as<bool> auto value) {
    (*this)(name, std::string_view(value ? "yes" : "no"));
  }
  [[nodiscard]] const std::string& all() const noexcept { return all_; }

 private:
  std::string all_;
};

struct row {
  std::string_view id;  ///< of cases/posix-semantics; X: our own
  std::string_view situation;
  void (*body)(system& s, notes& n);
  std::string_view right;                    ///< the model's answer, and the host's
  std::string_view host{};                   ///< the host's, where it differs
  std::string_view vn_io_fault{};            ///< that policy's, where it differs: FreeBSD's answer to faults
  kern::parameters parameters{host_like()};  ///< of the model
  bool on_host = true;
};

[[nodiscard]] std::span<const row> io_rows();
[[nodiscard]] std::span<const row> buffer_rows();
[[nodiscard]] std::span<const row> mapping_rows();

/// "abcdefg...": `n` letters, so that each byte tells where it is from.
[[nodiscard]] std::string letters(std::uint64_t n, char first = 'a');

}  // namespace faultline::posix

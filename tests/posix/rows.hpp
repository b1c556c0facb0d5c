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
  std::string_view right;          ///< the model's answer, and the host's
  std::string_view host{};         ///< the host's, where it differs; " | " where versions of it differ
  std::string_view vn_io_fault{};  ///< that policy's, where it differs: FreeBSD's answer to faults
  kern::parameters parameters{host_like()};  ///< of the model
  bool on_host = true;
};

[[nodiscard]] std::span<const row> io_rows();
[[nodiscard]] std::span<const row> buffer_rows();
[[nodiscard]] std::span<const row> mapping_rows();
[[nodiscard]] std::span<const row> own_rows();

/// \name For the bodies of rows
/// \{

/// "abcdefg...": `n` letters, so that each byte tells where it is from.
[[nodiscard]] std::string letters(std::uint64_t n, char first = 'a');
/// "ab": a page of a, a page of b.
[[nodiscard]] std::string pages_of(const system& s, std::string_view firsts);
/// "ok" where the address does not matter.
[[nodiscard]] std::string succeeds(const outcome& o);
/// "zeros", or what else is there.
[[nodiscard]] std::string zero_or(const std::string& seen);
/// The value in pages.
[[nodiscard]] outcome in_pages(const system& s, const outcome& o);

/// A new file "f", open.
[[nodiscard]] std::int64_t opened(system& s, std::string_view contents, kern::open_flags how = kern::o_rdwr);
/// The offset.
[[nodiscard]] outcome at(system& s, std::int64_t fd);
/// Memory of which the last `good` bytes before a page that is not mapped begin here.
[[nodiscard]] std::uint64_t ends_after(system& s, std::uint64_t good, std::uint64_t pages = 1);
/// A mapping from that page of the file on.
[[nodiscard]] std::uint64_t mapped(system& s, std::int64_t fd, std::uint64_t pages, kern::map_flags how = {},
                                   vm::protection rights = vm::protection::read_write,
                                   std::uint64_t first_page = 0);

inline constexpr kern::map_flags shared{};
inline constexpr kern::map_flags copy{.shared = false, .private_copy = true};
inline constexpr kern::map_flags anonymous{.shared = false, .private_copy = true, .anonymous = true};
inline constexpr kern::map_flags copy_fixed{.shared = false, .private_copy = true, .fixed = true};
/// \}

}  // namespace faultline::posix

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Modelled failures are values: an errno name, or a value of the call.
#include <cerrno>
#include <cstdint>
#include <utility>

namespace faultline {

/// The errno of a system call. The numbers are the host's, so that a model and its host can be compared.
enum class [[nodiscard]] errc : int{
    ok = 0,
    eperm = EPERM,
    enoent = ENOENT,
    eintr = EINTR,
    eio = EIO,
    enxio = ENXIO,
    ebadf = EBADF,
    enomem = ENOMEM,
    eacces = EACCES,
    efault = EFAULT,
    ebusy = EBUSY,
    eexist = EEXIST,
    enodev = ENODEV,
    enotdir = ENOTDIR,
    eisdir = EISDIR,
    einval = EINVAL,
    emfile = EMFILE,
    efbig = EFBIG,
    enospc = ENOSPC,
    espipe = ESPIPE,
    edeadlk = EDEADLK,
    eoverflow = EOVERFLOW,
};

/// All of them.
inline constexpr errc every_errc[] = {
    errc::ok,     errc::eperm,   errc::enoent,  errc::eintr,    errc::eio,    errc::enxio,
    errc::ebadf,  errc::enomem,  errc::eacces,  errc::efault,   errc::ebusy,  errc::eexist,
    errc::enodev, errc::enotdir, errc::eisdir,  errc::einval,   errc::emfile, errc::efbig,
    errc::enospc, errc::espipe,  errc::edeadlk, errc::eoverflow};

/// The name a manual page uses: "EFAULT"; "0" for ok.
[[nodiscard]] constexpr const char* name_of(errc e) noexcept {
  switch (e) {
    case errc::ok:
      return "0";
    case errc::eperm:
      return "EPERM";
    case errc::enoent:
      return "ENOENT";
    case errc::eintr:
      return "EINTR";
    case errc::eio:
      return "EIO";
    case errc::enxio:
      return "ENXIO";
    case errc::ebadf:
      return "EBADF";
    case errc::enomem:
      return "ENOMEM";
    case errc::eacces:
      return "EACCES";
    case errc::efault:
      return "EFAULT";
    case errc::ebusy:
      return "EBUSY";
    case errc::eexist:
      return "EEXIST";
    case errc::enodev:
      return "ENODEV";
    case errc::enotdir:
      return "ENOTDIR";
    case errc::eisdir:
      return "EISDIR";
    case errc::einval:
      return "EINVAL";
    case errc::emfile:
      return "EMFILE";
    case errc::efbig:
      return "EFBIG";
    case errc::enospc:
      return "ENOSPC";
    case errc::espipe:
      return "ESPIPE";
    case errc::edeadlk:
      return "EDEADLK";
    case errc::eoverflow:
      return "EOVERFLOW";
  }
  return "E?";
}

/// A value, or the errno that says why there is none.
template <class T>
class [[nodiscard]] result {
 public:
  constexpr result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  constexpr result(errc error) : error_(error) {}          // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr bool ok() const noexcept { return error_ == errc::ok; }
  [[nodiscard]] constexpr errc error() const noexcept { return error_; }
  /// \pre ok()
  [[nodiscard]] constexpr const T& value() const noexcept { return value_; }
  [[nodiscard]] constexpr T value_or(T other) const { return ok() ? value_ : std::move(other); }

 private:
  T value_{};
  errc error_ = errc::ok;
};

}  // namespace faultline

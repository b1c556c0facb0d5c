// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The axis "io": what brackets a read, a write or a truncation of a regular file.
///
/// A policy is a procedure: it may lock and sleep. It is called with the offset lock held (if the offset is implicit) and
/// nothing else, and reaches the file through vn_read, vn_write and vn_truncate, which take and drop the vnode lock.
#include <faultline/kern/vn_rw.hpp>

#include <concepts>
#include <string_view>

namespace faultline::kern {

/// What a policy may know of the kernel it runs in.
struct io_context {
  std::size_t page_size = 4096;
  std::size_t hold_pages =
      16;  ///< io_hold_cnt: the most whole pages held at a time; two more for partial ends
};

/// How the file was opened and called.
struct io_request {
  bool explicit_offset = false;  ///< FOF_OFFSET: pread, pwrite
  vfs::io_flags flags{};
};

/// What a transfer gives back that meets a user page which cannot be had.
enum class answer_to_fault : std::uint8_t {
  by_io,        ///< as the kernel of the I/O policy does
  short_count,  ///< the count of what was done, if any; a write keeps it (POSIX leaves the choice open; Linux)
  error,        ///< EFAULT; the offset counts what was done, but a write is undone (FreeBSD: IO_UNIT)
};

template <class P, class S, class V>
concept io_policy = substrate<S> && requires(const P& p, const io_context& k, vm::thread_state<S>& td, V& vp,
                                             vfs::uio& u, const io_request& how, std::uint64_t size) {
  { P::name } -> std::convertible_to<std::string_view>;
  { p.fault_answer } -> std::convertible_to<answer_to_fault>;
  { p.read(k, td, vp, u, how) } -> std::same_as<errc>;
  { p.write(k, td, vp, u, how) } -> std::same_as<errc>;
  { p.truncate(k, td, vp, size, how) } -> std::same_as<errc>;
};

/// Any I/O policy, as a value. Made inside an execution (it lies in its arena); copies share the policy.
template <substrate S, class V>
class any_io {
  struct interface {
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual answer_to_fault answer() const = 0;
    virtual errc read(const io_context&, vm::thread_state<S>&, V&, vfs::uio&, const io_request&) const = 0;
    virtual errc write(const io_context&, vm::thread_state<S>&, V&, vfs::uio&, const io_request&) const = 0;
    virtual errc truncate(const io_context&, vm::thread_state<S>&, V&, std::uint64_t,
                          const io_request&) const = 0;

   protected:
    ~interface() = default;
  };
  template <class P>
  struct wrapped final : interface {
    explicit wrapped(P p) : policy(std::move(p)) {}
    [[nodiscard]] std::string_view name() const override { return P::name; }
    [[nodiscard]] answer_to_fault answer() const override { return policy.fault_answer; }
    errc read(const io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u,
              const io_request& how) const override {
      return policy.read(k, td, vp, u, how);
    }
    errc write(const io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u,
               const io_request& how) const override {
      return policy.write(k, td, vp, u, how);
    }
    errc truncate(const io_context& k, vm::thread_state<S>& td, V& vp, std::uint64_t size,
                  const io_request& how) const override {
      return policy.truncate(k, td, vp, size, how);
    }
    P policy;
  };

 public:
  static constexpr std::string_view name = "any";

  template <class P>
  requires(!std::same_as<P, any_io>) && io_policy<P, S, V> any_io(
                                            P policy)  // NOLINT(google-explicit-constructor): a policy is one
      : policy_(S::template make<wrapped<P>>(std::move(policy))),
  fault_answer(policy_->answer()) {}

  [[nodiscard]] std::string_view policy_name() const { return policy_->name(); }
  errc read(const io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u, const io_request& how) const {
    return policy_->read(k, td, vp, u, how);
  }
  errc write(const io_context& k, vm::thread_state<S>& td, V& vp, vfs::uio& u, const io_request& how) const {
    return policy_->write(k, td, vp, u, how);
  }
  errc truncate(const io_context& k, vm::thread_state<S>& td, V& vp, std::uint64_t size,
                const io_request& how) const {
    return policy_->truncate(k, td, vp, size, how);
  }

 private:
  const interface* policy_;

 public:
  answer_to_fault fault_answer;
};

}  // namespace faultline::kern

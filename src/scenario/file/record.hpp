// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// A scenario file's calls in the terms of the model that `linearizable files` holds them against.
#include "scenario/file/model.hpp"

#include <faultline/scenario/specification/files.hpp>
#include <faultline/sim/operation.hpp>

#include <string_view>

namespace faultline::scenario::file {

/// The files, processes and open descriptors that the tasks find.
[[nodiscard]] specification::files specification_of(const model& m);
/// The tasks that have recorded calls.
[[nodiscard]] sim::task_set callers_of(const model& m);
/// \param fd  that its descriptor's name stands for; \param data  what a write takes
/// \pre is_recorded(what.kind)
[[nodiscard]] specification::files::call as_specified(const call& what, std::size_t process, fd_number fd,
                                                      std::string_view data);
/// \param text  the result as it is shown: "8", "ok", "EBADF"; \param bytes  what a read gave
[[nodiscard]] specification::files::result as_specified(std::string_view text, std::string_view bytes);
[[nodiscard]] bool is_read(call_kind k) noexcept;
[[nodiscard]] bool is_write(call_kind k) noexcept;

}  // namespace faultline::scenario::file

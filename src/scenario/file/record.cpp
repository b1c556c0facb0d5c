// SPDX-License-Identifier: BSD-2-Clause
#include "scenario/file/record.hpp"

#include <faultline/substrate/simulated.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace faultline::scenario::file {

using specification::files;

bool is_read(call_kind k) noexcept {
  return k == call_kind::read || k == call_kind::pread || k == call_kind::readv || k == call_kind::preadv;
}
bool is_write(call_kind k) noexcept {
  return k == call_kind::write || k == call_kind::pwrite || k == call_kind::writev || k == call_kind::pwritev;
}

bool is_recorded(call_kind k) noexcept {
  switch (k) {
    case call_kind::open:
    case call_kind::close:
    case call_kind::dup:
    case call_kind::lseek:
    case call_kind::ftruncate:
    case call_kind::truncate:
    case call_kind::fstat:
      return true;
    default:
      return is_read(k) || is_write(k);
  }
}

files specification_of(const model& m) {
  files all({.file_size_max = m.kernel.file_size_max,
             .descriptors = m.kernel.descriptors,
             .append_moves_pwrite = m.kernel.append_moves_pwrite});
  for (const auto& f : m.files) (void)all.add_file(f.contents);
  for (const auto& p : m.processes) {
    const auto process = all.add_process();
    for (const auto& d : p.descriptors) {
      if (d.file) (void)all.open(process, *d.file, d.how);
    }
  }
  return all;
}

sim::task_set callers_of(const model& m) {
  sim::task_set callers = 0;
  for (std::size_t i = 0; i < m.tasks.size(); ++i) {
    const auto& calls = m.tasks[i].calls;
    if (std::any_of(calls.begin(), calls.end(), [](const call& c) { return is_recorded(c.kind); }))
      callers |= sim::only(static_cast<sim::task_id>(i));
  }
  return callers;
}

files::call as_specified(const call& what, std::size_t process, fd_number fd, std::string_view data) {
  files::call made{.process = process,
                   .fd = raw(fd),
                   .file = what.file,
                   .how = what.open_how,
                   .offset = what.offset,
                   .data = std::pmr::string(data, &simulated::memory()),
                   .shown = what.shown};
  for (const auto& piece : what.buffers) made.bytes += piece.size;
  switch (what.kind) {
    case call_kind::open:
      made.what = files::op::open;
      break;
    case call_kind::close:
      made.what = files::op::close;
      break;
    case call_kind::dup:
      made.what = files::op::dup;
      break;
    case call_kind::read:
    case call_kind::readv:
      made.what = files::op::read;
      break;
    case call_kind::write:
    case call_kind::writev:
      made.what = files::op::write;
      break;
    case call_kind::pread:
    case call_kind::preadv:
      made.what = files::op::pread;
      break;
    case call_kind::pwrite:
    case call_kind::pwritev:
      made.what = files::op::pwrite;
      break;
    case call_kind::lseek:
      made.what = files::op::lseek;
      made.from = static_cast<files::whence>(what.whence);
      break;
    case call_kind::ftruncate:
    case call_kind::truncate:
      made.what = files::op::ftruncate;
      break;
    default:
      made.what = files::op::size;
      break;
  }
  return made;
}

files::result as_specified(std::string_view text, std::string_view bytes) {
  files::result gave{.bytes = std::pmr::string(bytes, &simulated::memory())};
  if (text == "ok") return gave;
  const auto number = std::from_chars(text.data(), text.data() + text.size(), gave.value);
  if (number.ec == std::errc{}) return gave;
  const auto* const error = std::find_if(std::begin(every_errc), std::end(every_errc),
                                         [text](errc e) { return name_of(e) == text; });
  gave.error = error == std::end(every_errc) ? errc::eio : *error;
  return gave;
}

}  // namespace faultline::scenario::file

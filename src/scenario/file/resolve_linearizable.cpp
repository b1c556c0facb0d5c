// SPDX-License-Identifier: BSD-2-Clause
// `linearizable files`: what a history of calls cannot judge is refused, at the call that is in the way.
#include "scenario/file/record.hpp"
#include "scenario/file/resolve.hpp"

#include <faultline/sim/linearizable.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace faultline::scenario::file {

namespace {

/// Pieces of memory that transfers may use: they are compared with each other.
constexpr std::size_t pieces_max = 2000;

/// Memory that a call uses.
struct use {
  std::size_t process = 0;
  std::size_t task = 0;
  user_range where;
  bool changes = false;  ///< else its bytes are taken
  bool transfer = false;
  const call* what = nullptr;
};

bool meet(const use& a, const use& b) {
  return a.process == b.process && a.where.memory == b.where.memory &&
         a.where.offset < b.where.offset + b.where.size && b.where.offset < a.where.offset + a.where.size;
}

class judge {
 public:
  judge(const model& m, const std::string& origin, place line) : m_(m), origin_(origin), line_(line) {}
  void look();

 private:
  [[noreturn]] void refuse(place at, const std::string& why) const {
    throw file_error(origin_, at.line, at.column,
                     fmt::format("{}; change it, or leave out the line \"linearizable files\"", why));
  }
  [[nodiscard]] std::optional<std::size_t> file_of(const task_made& t, std::size_t descriptor) const;
  void look_at_call(const task_made& t, const call& one) const;
  void look_at_buffer(const use& u) const;
  void look_at_sharing() const;
  void look_at_room() const;

  const model& m_;
  const std::string& origin_;
  place line_;
  std::vector<bool> changed_{};  // files that calls change
  std::vector<use> uses_{};
};

/// The file of a descriptor, whether it was there before or made by a call of the task.
std::optional<std::size_t> judge::file_of(const task_made& t, std::size_t descriptor) const {
  if (const auto& d = m_.processes[t.process].descriptors[descriptor]; d.file) return d.file;
  for (const auto& one : t.calls) {
    if (one.kind == call_kind::open && one.descriptor == descriptor) return one.file;
    if (one.kind == call_kind::dup && one.other_descriptor == descriptor) return file_of(t, one.descriptor);
  }
  return {};
}

void judge::look_at_call(const task_made& t, const call& one) const {
  const auto& p = m_.processes[t.process];
  if (t.forever && is_recorded(one.kind))
    refuse(one.at, fmt::format("{} goes on for ever, and a history has an end", t.name));
  if (one.kind == call_kind::fail) refuse(one.at, "the files of a history are on a disk without errors");
  if (one.kind == call_kind::munmap || one.kind == call_kind::mprotect)
    refuse(one.at, "memory that may go away makes transfers short, which a history has no model of");
  if (one.kind == call_kind::mmap && one.fixed)
    refuse(one.at, "memory that is laid over other memory has no bytes of its own to be judged by");
  if (one.kind == call_kind::lseek && one.whence > kern::whence::end)
    refuse(one.at, "the model of files does not know holes, which lseek data and hole ask for");
  if (one.buffers.size() > 1024)
    refuse(one.at, "a vector of more than 1024 pieces is an error that has no model");
  if (one.kind == call_kind::store) {
    const auto& m = p.memory[one.buffers[0].memory];
    const bool mapped = m.kind == memory_kind::file && m.mapping == kern::mapping_kind::shared;
    if (mapped || m.kind == memory_kind::made_by_call)
      refuse(one.at, fmt::format("a store to {} may change a file, and is no call", m.name));
  }
}

void judge::look_at_buffer(const use& u) const {
  const auto& p = m_.processes[u.process];
  const auto& m = p.memory[u.where.memory];
  const auto& at = u.what->at;
  if (m.kind == memory_kind::made_by_call) {
    refuse(
        at,
        fmt::format(
            "{} is made by a call; transfers are judged of memory that the process has: buffer, zeros, map",
            m.name));
  }
  if (std::any_of(p.memory.begin(), p.memory.end(),
                  [](const auto& other) { return other.fixed.has_value(); }))
    refuse(at,
           fmt::format("{} has memory laid over other memory, which has no bytes of its own to be judged by",
                       p.name));
  if (!vm::allows(m.rights, u.changes ? vm::protection::write : vm::protection::read))
    refuse(at, fmt::format("{} may not be {}: the transfer fails", m.name, u.changes ? "written" : "read"));
  if (u.where.offset > m.size || u.where.size > m.size - u.where.offset)
    refuse(at, fmt::format("the transfer goes past the {} bytes of {}, and fails half-way", m.size, m.name));
  if (m.kind != memory_kind::file) return;
  const auto& f = m_.files[m.file];
  if (u.changes && m.mapping == kern::mapping_kind::shared)
    refuse(at, fmt::format("a read into {} changes file {} by itself", m.name, f.name));
  if (changed_[m.file])
    refuse(at,
           fmt::format(
               "{} shows file {}, which calls change: what is transferred is not known when the call is made",
               m.name, f.name));
  const auto page = m_.kernel.page_size;
  const auto end = (f.contents.size() + page - 1) / page * page;
  if (u.where.size != 0 && m.offset + u.where.offset + u.where.size > end)
    refuse(at, fmt::format("the transfer goes past the end of file {}, and fails half-way", f.name));
}

/// What a buffer holds while a call takes it, or when a read has returned, is its task's affair alone.
void judge::look_at_sharing() const {
  for (const auto& a : uses_) {
    if (!a.transfer) continue;
    for (const auto& b : uses_) {
      const bool pieces = a.what == b.what && &a != &b && a.changes;
      if (!meet(a, b) || !(a.changes || b.changes) || (a.task == b.task && !pieces)) continue;
      const auto& name = m_.processes[a.process].memory[a.where.memory].name;
      if (pieces) refuse(a.what->at, fmt::format("two pieces of a read are the same bytes of {}", name));
      refuse(a.what->at, fmt::format("{} is used by tasks {} and {}; give each a buffer of its own", name,
                                     m_.tasks[a.task].name, m_.tasks[b.task].name));
    }
  }
}

/// No write may come to the end of the disk or of what a file may be: how far it gets is the I/O policy's affair.
void judge::look_at_room() const {
  const auto page = m_.kernel.page_size;
  const auto most = m_.kernel.file_size_max;
  std::uint64_t written = 0;
  std::uint64_t far = 0;
  std::uint64_t moved = 0;
  std::uint64_t blocks = 0;
  std::uint64_t buffer = 1;
  std::uint64_t largest = 0;
  for (const auto& f : m_.files) {
    blocks += f.contents.size() / page + 1;
    buffer = std::max<std::uint64_t>(buffer, f.mount.block_pages);
    largest = std::max<std::uint64_t>(largest, f.contents.size());
  }
  for (const auto& t : m_.tasks) {
    for (const auto& one : t.calls) {
      const auto offset = static_cast<std::uint64_t>(std::max<std::int64_t>(one.offset, 0));
      if (one.kind == call_kind::lseek) moved += std::min(offset, most);
      if (!is_write(one.kind) && one.kind != call_kind::ftruncate && one.kind != call_kind::truncate)
        continue;
      if (offset < most) far = std::max(far, offset);  // else it fails as a whole
      std::uint64_t size = 0;
      for (const auto& r : one.buffers) size += r.size;
      written += size;
      if (is_write(one.kind)) blocks += size / page + 2 * buffer;
    }
  }
  if (largest + written + far + moved > most)
    refuse(line_,
           fmt::format(
               "a write could come to file-size-max, {}, and be short; give the kernel line a larger one",
               most));
  if (blocks > m_.kernel.disk_blocks_max)
    refuse(line_,
           fmt::format("the writes could fill the disk of {} blocks; give the kernel line more disk-blocks",
                       m_.kernel.disk_blocks_max));
}

void judge::look() {
  changed_.resize(m_.files.size());
  std::size_t recorded = 0;
  for (std::size_t i = 0; i < m_.tasks.size(); ++i) {
    const auto& t = m_.tasks[i];
    for (const auto& one : t.calls) {
      look_at_call(t, one);
      recorded += is_recorded(one.kind) ? 1U : 0U;
      const bool cuts = one.kind == call_kind::ftruncate || one.kind == call_kind::truncate;
      if (one.kind == call_kind::open && one.open_how.truncate) changed_[one.file] = true;
      if (is_write(one.kind) || cuts) {
        if (const auto f = file_of(t, one.descriptor)) changed_[*f] = true;
      }
      const bool moves = is_read(one.kind) || is_write(one.kind);
      if (!moves && one.kind != call_kind::store) continue;
      for (auto r : one.buffers) {
        if (one.kind == call_kind::store) r.size = one.text.size();
        uses_.push_back({.process = t.process,
                         .task = i,
                         .where = r,
                         .changes = !is_write(one.kind),
                         .transfer = moves,
                         .what = &one});
      }
    }
  }
  if (recorded > sim::linearizable_calls_max) {
    refuse(line_, fmt::format("the tasks have {} calls on files, and a history of {} can be checked",
                              recorded, sim::linearizable_calls_max));
  }
  std::size_t pieces = 0;
  for (const auto& u : uses_) pieces += u.transfer ? 1U : 0U;
  if (pieces > pieces_max)
    refuse(line_, fmt::format("the transfers have {} pieces of memory, and {} can be looked at", pieces,
                              pieces_max));
  for (const auto& p : m_.processes) {
    if (p.file_size_limit)
      refuse(line_, fmt::format("process {} has a limit, which makes writes short", p.name));
  }
  for (const auto& u : uses_) {
    if (u.transfer) look_at_buffer(u);
  }
  look_at_sharing();
  look_at_room();
}

}  // namespace

void resolver::check_linearizable() const { judge(out_.program, origin_, linearizable_).look(); }

}  // namespace faultline::scenario::file

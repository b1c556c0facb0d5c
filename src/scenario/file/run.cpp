// SPDX-License-Identifier: BSD-2-Clause
// Interprets a scenario file on a kernel. Whatever a task keeps lies in the execution's arena: a task may be abandoned anywhere.
#include "scenario/file/model.hpp"
#include "scenario/file/record.hpp"
#include "scenario/setting.hpp"

#include <faultline/sim/recorder.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory_resource>

namespace faultline::scenario::file {

namespace {

using text_value = std::pmr::string;

struct counter {
  std::string_view name;
  std::uint64_t vm::io_statistics::*value;
};
constexpr std::array counters{
    counter{"bypassed", &vm::io_statistics::bypassed}, counter{"chunks", &vm::io_statistics::chunks},
    counter{"fast-path", &vm::io_statistics::fast_path}, counter{"slow-path", &vm::io_statistics::slow_path}};

/// What one process has at run time.
struct process_state {
  process_state(process& made, std::pmr::memory_resource& memory)
      : proc(&made), descriptors(&memory), addresses(&memory) {}
  process* proc;
  std::pmr::vector<fd_number> descriptors;
  std::pmr::vector<user_address> addresses;
};

struct task_state {
  explicit task_state(thread& its, std::pmr::memory_resource& memory) : td(&its), results(&memory) {}
  thread* td;
  std::pmr::vector<text_value> results;       ///< of the calls that were done
  simulated::atomic<bool>* killed = nullptr;  ///< a fatal signal is pending; null: nobody sends one
};

class interpreter {
 public:
  interpreter(const model& what, kernel& made);

  void run(std::size_t task);
  void run_forever(std::size_t task);
  void check() const;

 private:
  void make_memory(const process_made& from, process_state& p);
  [[nodiscard]] text_value perform(const call& what, task_state& t, process_state& p);
  [[nodiscard]] text_value record(const call& what, task_state& t, process_state& p);
  [[nodiscard]] text_value transfer(const call& what, task_state& t, process_state& p);
  [[nodiscard]] text_value access(const call& what, task_state& t, process_state& p);
  [[nodiscard]] text_value map(const call& what, task_state& t, process_state& p);
  [[nodiscard]] text_value value_of(const subject& s) const;

  [[nodiscard]] static user_address address(const process_state& p, const user_range& r) {
    return p.addresses[r.memory] + r.offset;
  }
  [[nodiscard]] std::string bytes_of(const call& what, const process_state& p, std::uint64_t most) const;
  static text_value text(errc e) {
    return text_value{e == errc::ok ? "ok" : name_of(e), &simulated::memory()};
  }
  static text_value text(std::uint64_t n) {
    return text_value{fmt::format_int(n).c_str(), &simulated::memory()};
  }
  static text_value text(const result<std::uint64_t>& r) {
    return r.ok() ? text(r.value()) : text(r.error());
  }

  const model& what_;
  kernel& k_;
  std::pmr::vector<kernel::vnode*> files_{&simulated::memory()};
  std::pmr::vector<process_state> processes_{&simulated::memory()};
  std::pmr::vector<task_state> tasks_{&simulated::memory()};
  using files = specification::files;
  sim::history<files> calls_{&simulated::memory()};
  sim::recorder<files>* recorder_ = nullptr;  ///< of a scenario that wants it
};

interpreter::interpreter(const model& what, kernel& made) : what_(what), k_(made) {
  auto& memory = simulated::memory();
  for (const auto& f : what.files) {
    auto& node = k_.make_file(f.name, f.contents, f.mount);
    for (const auto& [first, last] : f.holes) k_.make_hole(node, page_index{first}, last - first);
    for (const auto& [first, last] : f.cached) k_.make_resident(node, page_index{first}, last - first);
    files_.push_back(&node);
  }
  for (const auto& p : what.processes) {
    auto& state = processes_.emplace_back(k_.make_process(p.name), memory);
    if (p.file_size_limit) k_.set_file_size_limit(*state.proc, *p.file_size_limit);
    for (const auto& d : p.descriptors) {
      state.descriptors.push_back(d.file ? k_.open_file(*state.proc, what.files[*d.file].name, d.how)
                                         : fd_number{-1});
    }
    make_memory(p, state);
  }
  for (const auto& t : what.tasks) {
    auto& state = tasks_.emplace_back(k_.make_thread(*processes_[t.process].proc), memory);
    state.results.reserve(t.calls.size());
    if (t.may_be_killed) {
      state.killed = simulated::make<simulated::atomic<bool>>(false);
      simulated::name(*state.killed, "signal");
    }
  }
  if (what.linearizable) recorder_ = simulated::make<sim::recorder<files>>(calls_, callers_of(what));
}

void interpreter::make_memory(const process_made& from, process_state& p) {
  for (const auto& m : from.memory) {
    std::optional<user_address> at;
    if (m.fixed) at = address(p, *m.fixed);
    user_address made{};
    if (m.kind == memory_kind::file) {
      made = k_.map_file(*p.proc, *files_[m.file], m.rights, m.offset, m.size, at, m.mapping);
    } else if (m.kind == memory_kind::buffer) {
      made = k_.map_buffer(*p.proc, m.contents, at, m.rights);
    } else if (m.kind == memory_kind::zeros) {
      made = k_.map_zeros(*p.proc, m.size, at, m.rights);
    }
    p.addresses.push_back(made);
  }
  for (const auto& r : from.mapped) k_.make_mapped(*p.proc, address(p, r), r.size);
}

void interpreter::run(std::size_t task) {
  auto& t = tasks_[task];
  auto& p = processes_[what_.tasks[task].process];
  for (const auto& next : what_.tasks[task].calls) {
    // A signal is looked at on the way back to user mode. No sleep of this kernel is interruptible: vnode locks, range locks,
    // offset locks, page busy and the disk wait without PCATCH.
    if (t.killed != nullptr && t.killed->load()) return;
    const bool recorded = recorder_ != nullptr && is_recorded(next.kind);
    t.results.push_back(recorded ? record(next, t, p) : perform(next, t, p));
    const std::string_view got = t.results.back();
    if (!next.accepted.empty() &&
        std::find(next.accepted.begin(), next.accepted.end(), got) == next.accepted.end()) {
      sim::world::here().fail(fmt::format("{}: {} gave {}, not {}", what_.tasks[task].name, next.shown, got,
                                          fmt::join(next.accepted, " or ")));
    }
  }
}

void interpreter::run_forever(std::size_t task) {
  auto& t = tasks_[task];
  for (;;) {
    for (const auto& next : what_.tasks[task].calls)
      (void)perform(next, t, processes_[what_.tasks[task].process]);
    simulated::relax();
  }
}

/// What the buffers of a transfer hold, at most so many bytes. No scheduling point.
std::string interpreter::bytes_of(const call& what, const process_state& p, std::uint64_t most) const {
  std::string all;
  for (const auto& r : what.buffers) {
    const auto n = std::min(r.size, most - all.size());
    all += k_.user_contents(*p.proc, address(p, r), n);
  }
  return all;
}

/// perform(), in the history. Nobody else changes the buffers (resolve_linearizable.cpp).
text_value interpreter::record(const call& what, task_state& t, process_state& p) {
  const auto fd = what.descriptor < p.descriptors.size() ? p.descriptors[what.descriptor] : fd_number{-1};
  const auto process = what_.tasks[static_cast<std::size_t>(&t - tasks_.data())].process;
  constexpr auto all = ~std::uint64_t{0};
  // A statement of its own: no memory but the arena's may be owned while the task can be abandoned.
  auto made = as_specified(what, process, fd, is_write(what.kind) ? bytes_of(what, p, all) : std::string());
  return recorder_->call(
      std::move(made), [&] { return perform(what, t, p); },
      [&](const text_value& gave) {
        auto seen = as_specified(std::string_view(gave), {});
        if (is_read(what.kind)) seen = as_specified(std::string_view(gave), bytes_of(what, p, seen.value));
        return seen;
      });
}

text_value interpreter::perform(const call& what, task_state& t, process_state& p) {
  const auto fd = what.descriptor < p.descriptors.size() ? p.descriptors[what.descriptor] : fd_number{-1};
  const auto descriptor = [&](std::size_t which, const result<fd_number>& r) {
    if (!r.ok()) return text(r.error());
    p.descriptors[which] = r.value();
    return text(static_cast<std::uint64_t>(raw(r.value())));
  };
  switch (what.kind) {
    case call_kind::open:
      return descriptor(what.descriptor, k_.open(*t.td, what_.files[what.file].name, what.open_how));
    case call_kind::dup:
      return descriptor(what.other_descriptor, k_.dup(*t.td, fd));
    case call_kind::close:
      return text(k_.close(*t.td, fd));
    case call_kind::lseek:
      return text(k_.lseek(*t.td, fd, what.offset, what.whence));
    case call_kind::ftruncate:
    case call_kind::truncate:
      return text(k_.ftruncate(*t.td, fd, what.offset));
    case call_kind::fstat:
      return text(k_.fstat_size(*t.td, fd));
    case call_kind::fsync:
      return text(k_.fsync(*t.td, fd));
    case call_kind::mmap:
      return map(what, t, p);
    case call_kind::munmap:
      return text(k_.munmap(*t.td, address(p, what.buffers[0]), what.buffers[0].size));
    case call_kind::mprotect:
      return text(k_.mprotect(*t.td, address(p, what.buffers[0]), what.buffers[0].size, what.rights));
    case call_kind::msync:
      return text(k_.msync(*t.td, address(p, what.buffers[0]), what.buffers[0].size, what.sync_how));
    case call_kind::load:
    case call_kind::store:
      return access(what, t, p);
    case call_kind::evict: {
      const bool gone = what.evicts_memory ? k_.evict(*t.td, *p.proc, address(p, what.buffers[0]))
                                           : k_.evict(*t.td, *files_[what.file], page_index{what.page});
      return text_value{gone ? "gone" : "kept", &simulated::memory()};
    }
    case call_kind::fail:
    case call_kind::heal:
      k_.set_device_error(what.device);
      return text(errc::ok);
    case call_kind::kill:
      tasks_[what.task].killed->store(true);
      return text(errc::ok);
    default:
      return transfer(what, t, p);
  }
}

text_value interpreter::transfer(const call& what, task_state& t, process_state& p) {
  const auto fd = p.descriptors[what.descriptor];
  std::pmr::vector<vfs::iovec> pieces(&simulated::memory());
  for (const auto& r : what.buffers) pieces.push_back({address(p, r), r.size});
  const auto one = pieces.empty() ? vfs::iovec{} : pieces.front();
  switch (what.kind) {
    case call_kind::read:
      return text(k_.read(*t.td, fd, one.base, one.size));
    case call_kind::write:
      return text(k_.write(*t.td, fd, one.base, one.size));
    case call_kind::pread:
      return text(k_.pread(*t.td, fd, one.base, one.size, what.offset));
    case call_kind::pwrite:
      return text(k_.pwrite(*t.td, fd, one.base, one.size, what.offset));
    case call_kind::readv:
      return text(k_.readv(*t.td, fd, pieces));
    case call_kind::writev:
      return text(k_.writev(*t.td, fd, pieces));
    case call_kind::preadv:
      return text(k_.preadv(*t.td, fd, pieces, what.offset));
    default:
      return text(k_.pwritev(*t.td, fd, pieces, what.offset));
  }
}

text_value interpreter::access(const call& what, task_state& t, process_state& p) {
  auto& memory = simulated::memory();
  const auto at = address(p, what.buffers[0]);
  auto signal = kern::user_signal::none;
  std::pmr::vector<std::byte> bytes(static_cast<std::size_t>(what.buffers[0].size), &memory);
  if (what.kind == call_kind::load) {
    signal = k_.load(*t.td, at, bytes);
  } else {
    signal = k_.store(*t.td, at, std::as_bytes(std::span{what.text}));
  }
  if (signal != kern::user_signal::none)
    return text_value{signal == kern::user_signal::sigbus ? "SIGBUS" : "SIGSEGV", &memory};
  if (what.kind == call_kind::store) return text(errc::ok);
  text_value seen{"\"", &memory};
  seen += escaped({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  seen += '"';
  return seen;
}

text_value interpreter::map(const call& what, task_state& t, process_state& p) {
  const auto fd = what.map_how.anonymous ? fd_number{-1} : p.descriptors[what.descriptor];
  const auto at = what.fixed ? address(p, *what.fixed) : user_address{};
  const auto size = what_.processes[what_.tasks[static_cast<std::size_t>(&t - tasks_.data())].process]
                        .memory[what.memory]
                        .size;
  const auto made = k_.mmap(*t.td, at, size, what.rights, what.map_how, fd, what.offset);
  if (!made.ok()) return text(made.error());
  p.addresses[what.memory] = made.value();
  return text(errc::ok);
}

text_value interpreter::value_of(const subject& s) const {
  auto& memory = simulated::memory();
  const auto shown = [&](const std::string& bytes) { return text_value{bytes, &memory}; };
  switch (s.kind) {
    case subject_kind::file:
      return shown(k_.file_contents(*files_[s.file]));
    case subject_kind::disk:
      return shown(k_.disk_contents(what_.files[s.file].name));
    case subject_kind::size:
      return text(k_.file_size(*files_[s.file]));
    case subject_kind::memory: {
      const auto& p = processes_[s.process];
      return shown(
          k_.user_contents(*p.proc, p.addresses[s.memory], what_.processes[s.process].memory[s.memory].size));
    }
    case subject_kind::counter:
      return text(counter_value(s.counter, k_.statistics()));
  }
  return text(errc::ok);
}

/// Are the bytes these records, each once, in any order?
bool made_of(std::string_view bytes, std::vector<std::string_view>& records) {
  if (records.empty()) return bytes.empty();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto record = records[i];
    const auto before = records.begin() + static_cast<std::ptrdiff_t>(i);
    if (!bytes.starts_with(record) || std::find(records.begin(), before, record) != before) continue;
    records.erase(records.begin() + static_cast<std::ptrdiff_t>(i));
    const bool rest = made_of(bytes.substr(record.size()), records);
    records.insert(records.begin() + static_cast<std::ptrdiff_t>(i), record);
    if (rest) return true;
  }
  return false;
}

/// "a" or "b"
std::string quoted(const std::vector<std::string>& values) {
  std::string out;
  for (const auto& v : values) out += fmt::format("{}\"{}\"", out.empty() ? "" : " or ", escaped(v));
  return out;
}

void interpreter::check() const {
  auto& w = sim::world::here();
  for (const auto& s : what_.observed) w.observe(s.shown, escaped(value_of(s)));
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    for (std::size_t i = 0; i < tasks_[t].results.size(); ++i) {
      const auto& label = what_.tasks[t].calls[i].label;
      std::string_view result = tasks_[t].results[i];
      if (label.empty()) continue;
      if (result.starts_with('"')) result = result.substr(1, result.size() - 2);
      w.observe(label, result);
    }
  }
  bool endless = false;
  for (sim::task_id t = 0; t < what_.tasks.size(); ++t) {
    if (!w.finished(t) && !what_.tasks[t].forever) return;
    endless |= what_.tasks[t].forever;
  }
  if (recorder_ != nullptr) recorder_->check(specification_of(what_));
  for (const auto& i : what_.invariants) {
    const auto value = value_of(i.what);
    if (!i.made_of.empty()) {
      std::vector<std::string_view> records(i.made_of.begin(), i.made_of.end());
      if (!made_of(value, records))
        w.fail(fmt::format("{} is \"{}\", which is not each record once", i.what.shown, escaped(value)));
    } else if (std::find(i.one_of.begin(), i.one_of.end(), std::string_view(value)) == i.one_of.end()) {
      w.fail(fmt::format("{} is \"{}\" in the end, not {}", i.what.shown, escaped(value), quoted(i.one_of)));
    }
  }
  if (!endless) expect_nothing_held(k_);  // else it may be in the midst of something
}

}  // namespace

std::vector<std::string_view> counter_names() {
  std::vector<std::string_view> names;
  names.reserve(counters.size());
  for (const auto& c : counters) names.push_back(c.name);
  return names;
}

std::uint64_t counter_value(std::string_view name, const vm::io_statistics& all) {
  const auto at =
      std::find_if(counters.begin(), counters.end(), [&](const auto& c) { return c.name == name; });
  return at == counters.end() ? 0 : all.*(at->value);
}

sim::program interpret(std::shared_ptr<const model> what, const policies& chosen) {
  return [what = std::move(what), chosen](sim::execution& e) {
    auto& s = e.make<interpreter>(*what, make_kernel(e, chosen, what->kernel));
    for (std::size_t i = 0; i < what->tasks.size(); ++i) {
      if (what->tasks[i].forever) {
        e.spawn_daemon(what->tasks[i].name, [&s, i] { s.run_forever(i); });
      } else {
        e.spawn(what->tasks[i].name, [&s, i] { s.run(i); });
      }
    }
    e.at_end([&s] { s.check(); });
  };
}

}  // namespace faultline::scenario::file

namespace faultline::scenario {

scenario parse(std::string_view text, const std::string& origin) {
  auto [model, made] = file::resolve(file::tokens_of(text, origin), origin);
  made.program = [shared = std::make_shared<const file::model>(std::move(model))](const policies& chosen) {
    return file::interpret(shared, chosen);
  };
  return made;
}

}  // namespace faultline::scenario

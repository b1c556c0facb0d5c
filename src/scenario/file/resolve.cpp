// SPDX-License-Identifier: BSD-2-Clause
#include "scenario/file/resolve.hpp"

#include "scenario/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace faultline::scenario::file {

namespace {

constexpr std::array<std::string_view, 18> statements{
    "name",        "summary", "thread",       "cases",   "axes",    "stock",
    "granularity", "kernel",  "file",         "cached",  "process", "task",
    "adversary",   "finally", "linearizable", "observe", "expect",  "faultline-scenario"};

}  // namespace

void resolver::fresh(const cursor& c, place at, const std::string& name) const {
  if (name.find_first_of("./") != std::string::npos)
    c.fail(at, fmt::format("the name {} has a . or a /; use letters, digits, _ and -", name));
  if (name == "disk" || name == "size" || name == "all" || name == "anonymous")
    c.fail(at, fmt::format("{} is a word of the language; choose another name", name));
}

std::size_t resolver::file_named(cursor& c) const {
  const auto begin = c.here();
  const auto& name = c.a_word("the name of a file");
  const auto& files = out_.program.files;
  const auto at = std::find_if(files.begin(), files.end(), [&](const auto& f) { return f.name == name; });
  if (at == files.end()) {
    c.fail(begin, files.empty() ? fmt::format("there is no file {} before this line", name)
                                : unknown("file", name, names_of(files, &file_made::name)));
  }
  return static_cast<std::size_t>(at - files.begin());
}

vm::protection resolver::rights(cursor& c) const {
  static constexpr std::array<std::string_view, 4> valid{"read", "write", "read-write", "none"};
  const auto word = c.one_of("protection", valid);
  if (word == "read") return vm::protection::read;
  if (word == "write") return vm::protection::write;
  return word == "none" ? vm::protection::none : vm::protection::read_write;
}

kern::open_flags resolver::open_flags(cursor& c) const {
  static constexpr std::array<std::string_view, 3> valid{"rdonly", "wronly", "rdwr"};
  const auto word = c.one_of("way to open", valid);
  kern::open_flags how{.read = word != "wronly", .write = word != "rdonly"};
  while (!c.done() && c.at(token_kind::word)) {
    if (c.word("append")) {
      how.append = true;
    } else if (c.word("trunc")) {
      how.truncate = true;
    } else {
      c.fail("after the way to open may come append and trunc");
    }
  }
  return how;
}

void resolver::header(cursor c) {
  if (!c.word("faultline-scenario")) c.fail("a scenario file begins with: faultline-scenario 1");
  if (c.a_number("the version of the language", 1'000'000) != 1)
    c.fail(c.last(), "this program reads version 1 of the language");
  c.finish();
}

resolved resolver::run(const std::vector<line>& lines) {
  out_.info.info.axes = {"io", "vnode"};
  out_.info.info.stock = {{"io", "vnode-locked"}, {"vnode", "shared"}};
  out_.program.kernel.page_size = 4;
  out_.program.kernel.file_size_max = file_size_max;
  if (lines.empty())
    throw file_error(origin_, 1, 1, "the file is empty; it begins with: faultline-scenario 1");
  header(cursor(lines.front(), origin_, 1));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    cursor c(lines[i], origin_, out_.program.kernel.page_size);
    if (!lines[i].indented) {
      in_ = block::none;
      statement(c);
    } else if (in_ == block::process) {
      process_line(c);
    } else if (in_ == block::task) {
      call_line(c);
    } else {
      c.fail("an indented line belongs to a process, task or adversary line before it");
    }
  }
  complete(lines.back().end);
  return std::move(out_);
}

void resolver::statement(cursor& c) {
  const auto begin = c.here();
  const auto word = c.one_of("statement", statements);
  auto& info = out_.info.info;
  for (const std::string_view once :
       {"name", "summary", "thread", "axes", "stock", "granularity", "kernel", "observe", "linearizable"}) {
    if (word != once) continue;
    if (seen_.find(fmt::format("{} ", word)) != std::string::npos)
      c.fail(begin, fmt::format("there is a {} line already", word));
    seen_ += fmt::format("{} ", word);
  }
  if (word == "name") {
    info.name = c.a_word("the scenario's name");
  } else if (word == "summary") {
    info.summary = c.a_text("one sentence");
  } else if (word == "thread") {
    info.thread = static_cast<int>(c.a_number("the thread", 5));
  } else if (word == "cases") {
    do {
      info.cases.push_back(c.a_word("a case"));
    } while (!c.done());
  } else if (word == "axes" || word == "stock") {
    policies_of_scenario(c, word == "stock");
  } else if (word == "granularity") {
    static constexpr std::array<std::string_view, 2> valid{"coarse", "fine"};
    info.grain = c.one_of("granularity", valid) == "fine" ? sim::granularity::fine : sim::granularity::coarse;
  } else if (word == "memory") {
    info.memory = memory_model(c);
  } else if (word == "kernel") {
    settings(c);
  } else if (word == "file") {
    a_file(c);
  } else if (word == "cached") {
    cached(c);
  } else if (word == "process") {
    process(c);
  } else if (word == "task" || word == "adversary") {
    task(c, word == "adversary");
  } else if (word == "finally") {
    invariant_line(c);
  } else if (word == "observe") {
    observe(c);
  } else if (word == "linearizable") {
    if (!c.word("files")) c.fail("there is one model that calls can be held against: linearizable files");
    out_.program.linearizable = true;
    linearizable_ = begin;
  } else if (word == "expect") {
    expect(c);
  } else {
    c.fail(begin, "the version stands in the first line only");
  }
  c.finish();
}

void resolver::policies_of_scenario(cursor& c, bool stock) {
  auto& info = out_.info.info;
  if (!out_.info.expected.empty()) c.fail("axes and stock come before the first expect line");
  if (stock) {
    do {
      policy(c, info.stock, false);
      (void)c.sign(",");
    } while (!c.done());
    return;
  }
  info.axes.clear();
  std::vector<std::string_view> valid;
  for (const auto& a : axes()) valid.push_back(a.name);
  do {
    const auto begin = c.here();
    const std::string name(c.one_of("policy axis", valid));
    if (std::find(info.axes.begin(), info.axes.end(), name) != info.axes.end())
      c.fail(begin, fmt::format("axis {} is named twice", name));
    info.axes.push_back(name);
  } while (!c.done());
  if (std::find(info.axes.begin(), info.axes.end(), "io") == info.axes.end())
    c.fail("the axes of a scenario with system calls include io");
  std::erase_if(info.stock, [&](const auto& choice) {
    return std::find(info.axes.begin(), info.axes.end(), choice.first) == info.axes.end();
  });
  for (const auto& name : info.axes) info.stock.emplace(name, find_axis(name)->values.front().name);
}

void resolver::settings(cursor& c) {
  if (kernel_fixed_) c.fail("the kernel line comes before files, processes and tasks");
  auto& k = out_.program.kernel;
  static constexpr std::array<std::string_view, 9> valid{
      "page-size",       "hold-pages",          "descriptors",
      "map-entries-max", "disk-blocks",         "zero-page",
      "file-size-max",   "append-moves-pwrite", "truncation-keeps-private-copies"};
  do {
    const auto what = c.one_of("kernel parameter", valid);
    c.the_sign("=", what);
    const auto begin = c.here();
    if (what == "page-size") {
      k.page_size = static_cast<std::size_t>(c.a_number(what, page_size_max));
      if (k.page_size == 0 || (k.page_size & (k.page_size - 1)) != 0)
        c.fail(begin, "page-size is a power of two");
    } else if (what == "hold-pages") {
      k.hold_pages = static_cast<std::size_t>(c.a_number(what, 4096));
      if (k.hold_pages == 0) c.fail(begin, "hold-pages is 1 or more");
    } else if (what == "descriptors") {
      k.descriptors = static_cast<std::size_t>(c.a_number(what, 4096));
    } else if (what == "map-entries-max") {
      k.map_entries_max = static_cast<std::size_t>(c.a_number(what, 65530));
      if (k.map_entries_max == 0) c.fail(begin, "map-entries-max is 1 or more");
    } else if (what == "disk-blocks") {
      k.disk_blocks_max = static_cast<std::size_t>(c.a_number(what, 1U << 20U));
    } else if (what == "file-size-max") {
      k.file_size_max = c.a_number(what, file_size_most);
    } else if (what == "zero-page") {
      k.zero_page = c.yes_or_no(what);
    } else if (what == "append-moves-pwrite") {
      k.append_moves_pwrite = c.yes_or_no(what);
    } else {
      k.truncation_keeps_private_copies = c.yes_or_no(what);
    }
    (void)c.sign(",");
  } while (!c.done());
}

void resolver::a_file(cursor& c) {
  kernel_fixed_ = true;
  const auto begin = c.here();
  file_made f;
  f.name = c.a_word("the name of a file");
  fresh(c, begin, f.name);
  auto& files = out_.program.files;
  if (std::any_of(files.begin(), files.end(), [&](const auto& other) { return other.name == f.name; }))
    c.fail(begin, fmt::format("there is a file {} already", f.name));
  if (files.size() == names_max) c.fail(begin, fmt::format("there may be {} files at most", names_max));
  const auto page = out_.program.kernel.page_size;
  const auto room = [&] { return file_size_max - f.contents.size(); };
  while (!c.done() && !c.at_setting()) {
    const auto at = c.here();
    if (c.at(token_kind::text)) {
      const auto& text = c.a_text("contents");
      if (text.size() > room()) c.fail(at, fmt::format("a file may have {} bytes at most", file_size_max));
      f.contents += text;
      continue;
    }
    const bool hole = c.word("hole");
    if (!hole && !c.at(token_kind::number))
      c.fail("the contents of a file are pieces: \"text\", N pages \"text\", or hole N pages");
    const auto pages = c.a_number("pages", room() / page);
    if (!c.word("pages") && !c.word("page")) c.fail("after the number comes: pages");
    if (f.contents.size() % page != 0)
      c.fail(at, fmt::format("pages begin at a multiple of {} bytes; the pieces before have {}", page,
                             f.contents.size()));
    const auto first = f.contents.size() / page;
    if (hole) {
      f.holes.emplace_back(first, first + pages);
      f.contents.append(static_cast<std::size_t>(pages) * page, '\0');
    } else {
      const auto text = c.a_text("what fills the pages");
      if (text.empty()) c.fail(c.last(), "pages are filled with a text that is not empty");
      for (std::uint64_t i = 0; i < pages * page; ++i)
        f.contents += text[static_cast<std::size_t>(i) % text.size()];
    }
  }
  static constexpr std::array<std::string_view, 2> valid{"block-pages", "no-iopf"};
  while (!c.done()) {
    const auto what = c.one_of("setting of a file", valid);
    c.the_sign("=", what);
    if (what == "block-pages") {
      const auto at = c.here();
      f.mount.block_pages = static_cast<std::uint32_t>(c.a_number(what, 256));
      if (f.mount.block_pages == 0) c.fail(at, "a buffer has 1 page or more");
    } else {
      f.mount.no_iopf = c.yes_or_no(what);
    }
  }
  files.push_back(std::move(f));
}

void resolver::cached(cursor& c) {
  auto& f = out_.program.files[file_named(c)];
  const auto page = out_.program.kernel.page_size;
  const auto count = (f.contents.size() + page - 1) / page;
  if (c.word("all")) {
    f.cached.emplace_back(0, count);
    return;
  }
  do {
    const auto begin = c.here();
    const auto first = c.a_number("a page, or all", file_size_max);
    auto last = first + 1;
    if (c.sign("..")) last = c.a_number("the page behind the last", file_size_max);
    if (first >= last || last > count) {
      c.fail(begin, fmt::format("{} has {} page{}: from 0 to {}, and FIRST..LAST is without LAST", f.name,
                                count, count == 1 ? "" : "s", count == 0 ? 0 : count - 1));
    }
    f.cached.emplace_back(first, last);
  } while (!c.done());
}

void resolver::process(cursor& c) {
  kernel_fixed_ = true;
  const auto begin = c.here();
  process_made p;
  p.name = c.a_word("the name of a process");
  fresh(c, begin, p.name);
  auto& all = out_.program.processes;
  if (std::any_of(all.begin(), all.end(), [&](const auto& other) { return other.name == p.name; }))
    c.fail(begin, fmt::format("there is a process {} already", p.name));
  if (all.size() == tasks_max) c.fail(begin, fmt::format("there may be {} processes at most", tasks_max));
  all.push_back(std::move(p));
  in_ = block::process;
}

void resolver::process_line(cursor& c) {
  auto& p = out_.program.processes.back();
  static constexpr std::array<std::string_view, 6> valid{"open", "map", "buffer", "zeros", "mapped", "limit"};
  const auto begin = c.here();
  const auto what = c.one_of("line of a process", valid);
  if (p.memory.size() + p.descriptors.size() >= names_max)
    c.fail(begin, fmt::format("a process may have {} names at most", names_max));
  if (what == "open") {
    descriptor_line(c, p);
  } else if (what == "mapped") {
    auto r = address(c, p);
    const auto whole = p.memory[r.memory].size;
    r.size = c.done() ? whole - std::min(whole, r.offset) : c.a_size("bytes", memory_size_max);
    if (r.size == 0 || r.offset > whole || r.size > whole - r.offset) {
      c.fail(begin,
             fmt::format("{} has {} bytes; what is mapped lies in them", p.memory[r.memory].name, whole));
    }
    const auto& m = p.memory[r.memory];
    if (!vm::allows(m.rights, vm::protection::read))
      c.fail(begin, fmt::format("{} may not be read, so it cannot be mapped beforehand", m.name));
    if (m.kind == memory_kind::file) {
      const auto page = out_.program.kernel.page_size;
      const auto pages = (out_.program.files[m.file].contents.size() + page - 1) / page;
      if ((m.offset + r.offset + r.size - 1) / page >= pages)
        c.fail(begin, fmt::format("{} goes past the end of {}, where there are no pages", m.name,
                                  out_.program.files[m.file].name));
    }
    p.mapped.push_back(r);
  } else if (what == "limit") {
    if (!c.word("file-size")) c.fail("there is one limit: file-size");
    p.file_size_limit = c.a_size("bytes", byte_range::off_max);
  } else {
    memory_line(c, p,
                what == "map"      ? memory_kind::file
                : what == "buffer" ? memory_kind::buffer
                                   : memory_kind::zeros);
  }
  c.finish();
}

void resolver::descriptor_line(cursor& c, process_made& p) {
  const auto begin = c.here();
  descriptor_made d;
  d.name = c.a_word("the name of a descriptor");
  fresh(c, begin, d.name);
  if (std::any_of(p.descriptors.begin(), p.descriptors.end(),
                  [&](const auto& o) { return o.name == d.name; }))
    c.fail(begin, fmt::format("{} has a descriptor {} already", p.name, d.name));
  c.the_sign("=", "open NAME = FILE rdonly|wronly|rdwr");
  d.file = file_named(c);
  d.how = open_flags(c);
  if (d.how.truncate)
    c.fail(c.last(),
           "trunc cuts the file when a task opens it; here, give the file the contents it shall have");
  if (p.descriptors.size() >= out_.program.kernel.descriptors)
    c.fail(begin, fmt::format("a process has {} descriptors", out_.program.kernel.descriptors));
  p.descriptors.push_back(std::move(d));
}

void resolver::memory_line(cursor& c, process_made& p, memory_kind kind) {
  const auto begin = c.here();
  memory_made m;
  m.kind = kind;
  m.name = c.a_word("a name for the memory");
  fresh(c, begin, m.name);
  if (std::any_of(p.memory.begin(), p.memory.end(), [&](const auto& other) { return other.name == m.name; }))
    c.fail(begin, fmt::format("{} has memory {} already", p.name, m.name));
  c.the_sign("=", "a name of memory");
  const auto page = out_.program.kernel.page_size;
  if (kind == memory_kind::file) {
    m.file = file_named(c);
    m.rights = rights(c);
    if (c.word("private")) m.mapping = kern::mapping_kind::private_copy;
  } else if (kind == memory_kind::buffer) {
    m.contents = c.a_text("the contents");
    m.size = m.contents.size();
    if (m.size > memory_size_max)
      c.fail(c.last(), fmt::format("memory may have {} bytes at most", memory_size_max));
    if (c.at_word("read")) m.rights = rights(c);
  } else {
    m.size = c.a_size("bytes", memory_size_max);
    if (c.at(token_kind::word) && !c.at_setting()) m.rights = rights(c);
  }
  static constexpr std::array<std::string_view, 3> of_file{"offset", "size", "at"};
  static constexpr std::array<std::string_view, 1> of_memory{"at"};
  while (!c.done()) {
    const auto what = kind == memory_kind::file ? c.one_of("setting of a mapping", of_file)
                                                : c.one_of("setting of memory", of_memory);
    c.the_sign("=", what);
    const auto at = c.here();
    if (what == "offset") {
      m.offset = c.a_size(what, file_size_max);
      if (m.offset % page != 0)
        c.fail(at, fmt::format("the offset of a mapping is a multiple of the page size, {}", page));
    } else if (what == "size") {
      m.size = c.a_size(what, memory_size_max);
    } else {
      m.fixed = address(c, p);
      if (m.fixed->offset % page != 0)
        c.fail(at, fmt::format("a fixed address is a multiple of the page size, {}, from its name on", page));
    }
  }
  if (kind == memory_kind::file && m.size == 0) {
    const auto bytes = out_.program.files[m.file].contents.size();
    m.size = bytes - std::min<std::uint64_t>(bytes, m.offset);
  }
  if (m.size == 0) c.fail(begin, "memory of no bytes: give it a size");
  p.memory.push_back(std::move(m));
}

void resolver::task(cursor& c, bool adversary) {
  kernel_fixed_ = true;
  const auto begin = c.here();
  auto& all = out_.program.tasks;
  task_made t;
  t.name = c.a_word("the name of a task");
  fresh(c, begin, t.name);
  if (std::any_of(all.begin(), all.end(), [&](const auto& other) { return other.name == t.name; }))
    c.fail(begin, fmt::format("there is a task {} already", t.name));
  if (all.size() == tasks_max) c.fail(begin, fmt::format("there may be {} tasks at most", tasks_max));
  auto& processes = out_.program.processes;
  if (adversary) {
    t.process = processes.size();
    processes.push_back({.name = t.name});
    t.forever = c.word("forever");
  } else {
    if (!c.word("in")) c.fail(fmt::format("task {} needs its process: task {} in PROCESS", t.name, t.name));
    const auto at = c.here();
    const auto& name = c.a_word("the name of a process");
    const auto p =
        std::find_if(processes.begin(), processes.end(), [&](const auto& one) { return one.name == name; });
    if (p == processes.end()) {
      c.fail(at, processes.empty() ? fmt::format("there is no process {} before this line", name)
                                   : unknown("process", name, names_of(processes, &process_made::name)));
    }
    t.process = static_cast<std::size_t>(p - processes.begin());
  }
  all.push_back(std::move(t));
  adversary_ = adversary;
  in_ = block::task;
}

void resolver::complete(place end) {
  const auto missing = [&](const char* what) { throw file_error(origin_, end.line, end.column, what); };
  if (out_.info.info.name.empty()) missing("a name line is missing");
  if (out_.info.info.summary.empty()) missing("a summary line is missing: summary \"one sentence\"");
  const auto& tasks = out_.program.tasks;
  if (std::all_of(tasks.begin(), tasks.end(), [](const auto& t) { return t.forever; }))
    missing("there is no task");
  const auto& k = out_.program.kernel;
  std::size_t blocks = 0;
  for (const auto& f : out_.program.files) blocks += f.contents.size() / k.page_size + 1;
  if (blocks > k.disk_blocks_max) missing("the files need more blocks than disk-blocks has");
  for (const auto& p : out_.program.processes) {
    if (p.memory.size() * 2 > k.map_entries_max + 1)
      missing("the processes have more memory than map-entries-max bears");
  }
  for (const auto& t : tasks) {
    for (const auto& one : t.calls) {
      for (const auto& seen : out_.program.observed) {
        if (seen.shown == one.label) missing("a label has the name of something that is observed");
      }
      out_.program.kernel.reclaim |= one.kind == call_kind::evict;
      out_.program.kernel.inject_errors |= one.kind == call_kind::fail || one.kind == call_kind::heal;
    }
  }
  if (out_.program.linearizable) check_linearizable();
}

resolved resolve(const std::vector<line>& lines, const std::string& origin) {
  return resolver(origin).run(lines);
}

}  // namespace faultline::scenario::file

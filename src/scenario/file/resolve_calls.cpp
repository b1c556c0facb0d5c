// SPDX-License-Identifier: BSD-2-Clause
// The calls of tasks.
#include "scenario/file/resolve.hpp"

#include "scenario/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace faultline::scenario::file {

namespace {

struct call_name {
  std::string_view name;
  call_kind kind;
  std::string_view operands;
};
constexpr std::array calls{
    call_name{"close", call_kind::close, "FD"},
    call_name{"dup", call_kind::dup, "NEW = FD"},
    call_name{"evict", call_kind::evict, "FILE PAGE, or evict ADDRESS"},
    call_name{"fail", call_kind::fail, "reads|writes|all"},
    call_name{"fstat", call_kind::fstat, "FD"},
    call_name{"fsync", call_kind::fsync, "FD"},
    call_name{"ftruncate", call_kind::ftruncate, "FD SIZE"},
    call_name{"heal", call_kind::heal, ""},
    call_name{"kill", call_kind::kill, "TASK"},
    call_name{"load", call_kind::load, "ADDRESS BYTES"},
    call_name{"lseek", call_kind::lseek, "FD OFFSET set|cur|end|data|hole"},
    call_name{"mmap", call_kind::mmap,
              "NEW = FD|anonymous PROTECTION shared|private SIZE [offset=N] [at=ADDRESS] [no-replace]"},
    call_name{"mprotect", call_kind::mprotect, "ADDRESS SIZE PROTECTION"},
    call_name{"msync", call_kind::msync, "ADDRESS SIZE [async] [invalidate]"},
    call_name{"munmap", call_kind::munmap, "ADDRESS SIZE"},
    call_name{"open", call_kind::open, "NEW = FILE rdonly|wronly|rdwr [append] [trunc]"},
    call_name{"pread", call_kind::pread, "FD ADDRESS BYTES at OFFSET"},
    call_name{"preadv", call_kind::preadv, "FD [ADDRESS BYTES, ...] at OFFSET"},
    call_name{"pwrite", call_kind::pwrite, "FD ADDRESS BYTES at OFFSET"},
    call_name{"pwritev", call_kind::pwritev, "FD [ADDRESS BYTES, ...] at OFFSET"},
    call_name{"read", call_kind::read, "FD ADDRESS BYTES"},
    call_name{"readv", call_kind::readv, "FD [ADDRESS BYTES, ...]"},
    call_name{"store", call_kind::store, "ADDRESS \"text\""},
    call_name{"truncate", call_kind::truncate, "FILE SIZE"},
    call_name{"write", call_kind::write, "FD ADDRESS BYTES"},
    call_name{"writev", call_kind::writev, "FD [ADDRESS BYTES, ...]"},
};

bool is_vector(call_kind k) {
  return k == call_kind::readv || k == call_kind::writev || k == call_kind::preadv || k == call_kind::pwritev;
}
/// Or only that it worked.
bool gives_number(call_kind k) {
  switch (k) {
    case call_kind::open:
    case call_kind::dup:
    case call_kind::read:
    case call_kind::write:
    case call_kind::pread:
    case call_kind::pwrite:
    case call_kind::readv:
    case call_kind::writev:
    case call_kind::preadv:
    case call_kind::pwritev:
    case call_kind::lseek:
    case call_kind::fstat:
      return true;
    default:
      return false;
  }
}
bool has_offset(call_kind k) {
  return k == call_kind::pread || k == call_kind::pwrite || k == call_kind::preadv || k == call_kind::pwritev;
}

}  // namespace

void resolver::call_line(cursor& c) {
  auto& t = out_.program.tasks.back();
  if (t.calls.size() == calls_max) c.fail(fmt::format("a task may have {} calls at most", calls_max));
  call what;
  what.shown = c.shown();
  auto begin = c.here();
  auto word = c.a_word("a call");
  if (c.sign(":")) {
    what.label = word;
    fresh(c, begin, what.label);
    for (const auto& other : out_.program.tasks) {
      for (const auto& o : other.calls) {
        if (o.label == what.label) c.fail(begin, fmt::format("the label {} is used already", what.label));
      }
    }
    begin = c.here();
    word = c.a_word("a call");
  }
  const auto named =
      std::find_if(calls.begin(), calls.end(), [&](const auto& known) { return known.name == word; });
  if (named == calls.end()) c.fail(begin, unknown("call", word, names_of(calls, &call_name::name)));
  what.kind = named->kind;
  what.at = begin;
  if (c.done() && !named->operands.empty())
    c.fail(fmt::format("{} takes: {} {}", word, word, named->operands));
  operands(c, what);
  accepted(c, what);
  if (t.forever && (!what.label.empty() || !what.accepted.empty()))
    c.fail(begin, "a call that is made for ever has no label and no result");
  c.finish();
  t.calls.push_back(std::move(what));
}

std::size_t resolver::descriptor(cursor& c) {
  const auto& p = its_process();
  const auto begin = c.here();
  const auto& name = c.a_word("the name of a descriptor");
  const auto at =
      std::find_if(p.descriptors.begin(), p.descriptors.end(), [&](const auto& d) { return d.name == name; });
  if (at == p.descriptors.end()) {
    c.fail(begin, p.descriptors.empty() ? fmt::format("{} has no descriptors", p.name)
                                        : unknown(fmt::format("descriptor of {}", p.name), name,
                                                  names_of(p.descriptors, &descriptor_made::name)));
  }
  own(c, begin, at->name, at->made_by);
  return static_cast<std::size_t>(at - p.descriptors.begin());
}

/// What a call makes is its task's alone: another task could not know whether it is there yet.
void resolver::own(const cursor& c, place at, const std::string& name,
                   std::optional<std::size_t> made_by) const {
  const auto& tasks = out_.program.tasks;
  if (made_by && *made_by + 1 != tasks.size())
    c.fail(at, fmt::format("{} is made by a call of task {}, and only that task can use it", name,
                           tasks[*made_by].name));
}

std::size_t resolver::new_descriptor(cursor& c) {
  auto& p = its_process();
  const auto begin = c.here();
  const auto& name = c.a_word("a name for the descriptor");
  fresh(c, begin, name);
  if (std::any_of(p.descriptors.begin(), p.descriptors.end(), [&](const auto& d) { return d.name == name; }))
    c.fail(begin, fmt::format("{} has a descriptor {} already", p.name, name));
  c.the_sign("=", "a new name");
  p.descriptors.push_back({.name = name, .file = {}, .how = {}, .made_by = out_.program.tasks.size() - 1});
  return p.descriptors.size() - 1;
}

user_range resolver::address(cursor& c, process_made& p) {
  const auto begin = c.here();
  const auto& name = c.a_word("a name of memory");
  const auto at =
      std::find_if(p.memory.begin(), p.memory.end(), [&](const auto& m) { return m.name == name; });
  if (at == p.memory.end()) {
    c.fail(begin, p.memory.empty() ? fmt::format("{} has no memory before this line", p.name)
                                   : unknown(fmt::format("memory of {}", p.name), name,
                                             names_of(p.memory, &memory_made::name)));
  }
  own(c, begin, at->name, at->made_by);
  user_range r{.memory = static_cast<std::size_t>(at - p.memory.begin())};
  if (c.sign("+")) r.offset = c.a_size("bytes", transfer_max);
  return r;
}

user_range resolver::range(cursor& c, std::uint64_t most) {
  auto r = address(c, its_process());
  r.size = c.a_size("bytes", most);
  return r;
}

void resolver::operands(cursor& c, call& what) {
  switch (what.kind) {
    case call_kind::close:
    case call_kind::fstat:
    case call_kind::fsync:
      what.descriptor = descriptor(c);
      return;
    case call_kind::dup:
      what.other_descriptor = new_descriptor(c);
      what.descriptor = descriptor(c);
      return;
    case call_kind::open:
      what.descriptor = new_descriptor(c);
      what.file = file_named(c);
      what.open_how = open_flags(c);
      return;
    case call_kind::ftruncate:
      what.descriptor = descriptor(c);
      what.offset = c.a_signed_size("a size");
      return;
    case call_kind::lseek: {
      static constexpr std::array<std::string_view, 5> valid{"set", "cur", "end", "data", "hole"};
      what.descriptor = descriptor(c);
      what.offset = c.a_signed_size("an offset");
      const auto from = c.one_of("whence", valid);
      what.whence = static_cast<kern::whence>(std::find(valid.begin(), valid.end(), from) - valid.begin());
      return;
    }
    case call_kind::load:
      what.buffers = {range(c, access_max)};
      return;
    case call_kind::store:
      what.buffers = {address(c, its_process())};
      what.text = c.a_text("what is stored");
      if (what.text.size() > access_max)
        c.fail(c.last(), fmt::format("a store has {} bytes at most", access_max));
      return;
    case call_kind::munmap:
    case call_kind::mprotect:
    case call_kind::msync:
      what.buffers = {range(c, transfer_max)};
      if (what.kind == call_kind::mprotect) what.rights = rights(c);
      if (what.kind == call_kind::msync) {
        if (c.word("async")) what.sync_how = {.sync = false, .async = true};
        if (c.word("invalidate")) what.sync_how.invalidate = true;
      }
      return;
    case call_kind::mmap:
      mmap_operands(c, what);
      return;
    case call_kind::evict:
    case call_kind::truncate:
    case call_kind::fail:
    case call_kind::heal:
    case call_kind::kill:
      system_operands(c, what);
      return;
    default:
      transfer_operands(c, what);
  }
}

void resolver::transfer_operands(cursor& c, call& what) {
  what.descriptor = descriptor(c);
  if (!is_vector(what.kind)) {
    what.buffers = {range(c, transfer_max)};
  } else {
    c.the_sign("[", "a vector");
    while (!c.at_sign("]")) {
      if (what.buffers.size() == 1100)
        c.fail("a vector may have 1100 pieces here, and 1024 in a call that works");
      what.buffers.push_back(range(c, transfer_max));
      if (!c.sign(",")) break;
    }
    c.the_sign("]", "a vector");
  }
  if (!has_offset(what.kind)) return;
  if (!c.word("at")) c.fail("the offset is missing: at OFFSET");
  what.offset = c.a_signed_size("an offset");
}

void resolver::mmap_operands(cursor& c, call& what) {
  auto& p = its_process();
  const auto begin = c.here();
  memory_made made;
  made.kind = memory_kind::made_by_call;
  made.made_by = out_.program.tasks.size() - 1;
  made.name = c.a_word("a name for the memory");
  fresh(c, begin, made.name);
  if (std::any_of(p.memory.begin(), p.memory.end(), [&](const auto& m) { return m.name == made.name; }))
    c.fail(begin, fmt::format("{} has memory {} already", p.name, made.name));
  c.the_sign("=", "a new name");
  what.map_how.anonymous = c.word("anonymous");
  if (!what.map_how.anonymous) what.descriptor = descriptor(c);
  what.rights = rights(c);
  static constexpr std::array<std::string_view, 2> kinds{"shared", "private"};
  what.map_how.private_copy = c.one_of("kind of mapping", kinds) == "private";
  what.map_how.shared = !what.map_how.private_copy;
  made.size = c.a_size("bytes", memory_size_max);
  while (!c.done() && c.at(token_kind::word)) {
    if (c.word("no-replace")) {
      what.map_how.no_replace = true;
    } else if (c.word("offset")) {
      c.the_sign("=", "offset");
      what.offset = c.a_signed_size("an offset");
    } else if (c.word("at")) {
      c.the_sign("=", "at");
      what.fixed = address(c, p);
      what.map_how.fixed = true;
    } else {
      c.fail("a mapping may have: offset=N, at=ADDRESS, no-replace");
    }
  }
  if (what.map_how.no_replace && !what.fixed) c.fail(c.last(), "no-replace goes with at=ADDRESS");
  what.map_how.fixed = what.map_how.fixed && !what.map_how.no_replace;
  what.memory = p.memory.size();
  p.memory.push_back(std::move(made));
}

void resolver::system_operands(cursor& c, call& what) {
  auto& tasks = out_.program.tasks;
  if (what.kind == call_kind::evict) {
    const auto& memory = its_process().memory;
    what.evicts_memory =
        std::any_of(memory.begin(), memory.end(), [&](const auto& m) { return c.at_word(m.name); });
    if (what.evicts_memory) {
      what.buffers = {address(c, its_process())};
    } else {
      what.file = file_named(c);
      what.page = c.a_number("a page", file_size_max);
    }
  } else if (what.kind == call_kind::truncate) {
    what.file = file_named(c);
    what.offset = c.a_signed_size("a size");
    auto& p = its_process();
    p.descriptors.push_back(
        {.name = "." + out_.program.files[what.file].name,  // a name that no line can have
         .file = what.file,
         .how = kern::o_rdwr});
    what.descriptor = p.descriptors.size() - 1;
  } else if (what.kind == call_kind::fail) {
    static constexpr std::array<std::string_view, 3> valid{"reads", "writes", "all"};
    const auto which = c.one_of("kind of request", valid);
    what.device = {.reads = which != "writes", .writes = which != "reads"};
  } else if (what.kind == call_kind::kill) {
    const auto begin = c.here();
    const auto& name = c.a_word("the name of a task");
    const auto at = std::find_if(tasks.begin(), tasks.end(), [&](const auto& t) { return t.name == name; });
    if (at == tasks.end()) c.fail(begin, unknown("task", name, names_of(tasks, &task_made::name)));
    if (at->forever) c.fail(begin, fmt::format("{} goes on for ever; there is nothing to kill", name));
    at->may_be_killed = true;
    what.task = static_cast<std::size_t>(at - tasks.begin());
  }
}

void resolver::accepted(cursor& c, call& what) const {
  if (c.sign("...")) return;  // a hint for readers: somebody else comes in between
  if (!c.sign("->")) return;
  const bool memory = what.kind == call_kind::load || what.kind == call_kind::store;
  do {
    const auto begin = c.here();
    if (what.kind == call_kind::load && c.at(token_kind::text)) {
      const auto& text = c.a_text("bytes");
      if (text.size() != what.buffers.front().size)
        c.fail(begin,
               fmt::format("the load has {} bytes, this text {}", what.buffers.front().size, text.size()));
      what.accepted.push_back('"' + escaped(text) + '"');
    } else if (c.at(token_kind::number)) {
      if (memory)
        c.fail(begin, what.kind == call_kind::load ? "a load gives \"text\", SIGSEGV or SIGBUS"
                                                   : "a store gives ok, SIGSEGV or SIGBUS");
      const auto value = c.a_number("a result", ~std::uint64_t{0});
      if (value != 0 && !gives_number(what.kind))
        c.fail(begin, fmt::format("this call gives ok or an error, not {}", value));
      what.accepted.push_back(gives_number(what.kind) ? std::to_string(value) : "ok");
    } else {
      const std::string_view word = c.a_word("a result");
      const bool known_errno = std::any_of(std::begin(every_errc), std::end(every_errc),
                                           [&](errc e) { return e != errc::ok && name_of(e) == word; });
      const bool signal = word == "SIGSEGV" || word == "SIGBUS";
      if (memory ? !signal && !(word == "ok" && what.kind == call_kind::store)
                 : !known_errno && word != "ok" &&
                       !(what.kind == call_kind::evict && (word == "gone" || word == "kept"))) {
        c.fail(begin, memory ? fmt::format("{} is no result of an access; there are SIGSEGV and SIGBUS", word)
                             : fmt::format(
                                   "{} is no result of {}; there are numbers, ok, and errors such as EFAULT",
                                   word, what.kind == call_kind::evict ? "evict (or gone, kept)" : "a call"));
      }
      if (word == "ok" && gives_number(what.kind))
        c.fail(begin, "this call gives a number or an error, not ok");
      what.accepted.emplace_back(word);
    }
  } while (c.sign("|"));
}

}  // namespace faultline::scenario::file

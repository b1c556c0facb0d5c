// SPDX-License-Identifier: BSD-2-Clause
// The calls on the model: one task of a simulated kernel.
#include "posix/shared.hpp"
#include "unit/kern/alone.hpp"

#include <sstream>

namespace faultline::posix {

namespace {

class model final : public system {
 public:
  explicit model(test::alone& on) : model(on.k, on.process, on.td) {}
  model(test::kernel& k, test::kernel::process& p, test::kernel::thread& td) : k_(k), p_(p), td_(td) {}

  [[nodiscard]] std::uint64_t page() const override { return k_.tunables().page_size; }

  void make(std::string_view name, std::string_view bytes) override { k_.make_file(name, bytes); }
  [[nodiscard]] std::string contents(std::string_view name) override { return k_.file_contents(name); }
  void evict(std::string_view name) override {
    auto& file = k_.find(name);
    const auto pages = k_.file_contents(name).size() / page() + 1;
    for (std::uint64_t i = 0; i < pages; ++i) (void)k_.evict(td_, file, page_index{i});
  }
  void limit_file_size(std::uint64_t bytes) override { k_.set_file_size_limit(p_, bytes); }

  std::uint64_t buffer(std::string_view bytes) override { return raw(k_.map_buffer(p_, bytes)); }
  std::uint64_t zeros(std::uint64_t bytes) override { return raw(k_.map_zeros(p_, bytes)); }
  std::uint64_t reserve(std::uint64_t pages) override {
    next_ += (pages + 2) * page();
    return next_ - (pages + 1) * page();
  }
  [[nodiscard]] std::string load(std::uint64_t at, std::uint64_t size) override {
    std::string all(static_cast<std::size_t>(size), '\0');
    const auto signal = k_.load(td_, user_address{at}, std::as_writable_bytes(std::span{all}));
    return signal == kern::user_signal::none ? all : text_of(signal);
  }
  std::string store(std::uint64_t at, std::string_view bytes) override {
    return text_of(k_.store(td_, user_address{at}, std::as_bytes(std::span{bytes.data(), bytes.size()})));
  }

  outcome open(std::string_view name, kern::open_flags how) override {
    const auto fd = k_.open(td_, name, how);
    return fd.ok() ? outcome{raw(fd.value())} : outcome{0, fd.error()};
  }
  outcome close(std::int64_t fd) override { return of(k_.close(td_, number(fd))); }
  outcome dup(std::int64_t fd) override {
    const auto other = k_.dup(td_, number(fd));
    return other.ok() ? outcome{raw(other.value())} : outcome{0, other.error()};
  }
  outcome read(std::int64_t fd, std::uint64_t at, std::uint64_t size) override {
    return of(k_.read(td_, number(fd), user_address{at}, size));
  }
  outcome write(std::int64_t fd, std::uint64_t at, std::uint64_t size) override {
    return of(k_.write(td_, number(fd), user_address{at}, size));
  }
  outcome pread(std::int64_t fd, std::uint64_t at, std::uint64_t size, std::int64_t offset) override {
    return of(k_.pread(td_, number(fd), user_address{at}, size, offset));
  }
  outcome pwrite(std::int64_t fd, std::uint64_t at, std::uint64_t size, std::int64_t offset) override {
    return of(k_.pwrite(td_, number(fd), user_address{at}, size, offset));
  }
  outcome readv(std::int64_t fd, const std::vector<piece>& pieces) override {
    return of(k_.readv(td_, number(fd), vector_of(pieces)));
  }
  outcome writev(std::int64_t fd, const std::vector<piece>& pieces) override {
    return of(k_.writev(td_, number(fd), vector_of(pieces)));
  }
  outcome preadv(std::int64_t fd, const std::vector<piece>& pieces, std::int64_t offset) override {
    return of(k_.preadv(td_, number(fd), vector_of(pieces), offset));
  }
  outcome pwritev(std::int64_t fd, const std::vector<piece>& pieces, std::int64_t offset) override {
    return of(k_.pwritev(td_, number(fd), vector_of(pieces), offset));
  }
  outcome lseek(std::int64_t fd, std::int64_t offset, kern::whence from) override {
    return of(k_.lseek(td_, number(fd), offset, from));
  }
  outcome ftruncate(std::int64_t fd, std::int64_t size) override {
    return of(k_.ftruncate(td_, number(fd), size));
  }
  outcome fsync(std::int64_t fd) override { return of(k_.fsync(td_, number(fd))); }
  outcome size(std::int64_t fd) override { return of(k_.fstat_size(td_, number(fd))); }
  outcome mmap(std::uint64_t at, std::uint64_t size, vm::protection rights, kern::map_flags flags,
               std::int64_t fd, std::int64_t offset) override {
    const auto where = k_.mmap(td_, user_address{at}, size, rights, flags, number(fd), offset);
    return where.ok() ? outcome{static_cast<std::int64_t>(raw(where.value()))} : outcome{0, where.error()};
  }
  outcome munmap(std::uint64_t at, std::uint64_t size) override {
    return of(k_.munmap(td_, user_address{at}, size));
  }
  outcome mprotect(std::uint64_t at, std::uint64_t size, vm::protection rights) override {
    return of(k_.mprotect(td_, user_address{at}, size, rights));
  }
  outcome msync(std::uint64_t at, std::uint64_t size, kern::msync_flags how) override {
    return of(k_.msync(td_, user_address{at}, size, how));
  }

 private:
  static fd_number number(std::int64_t fd) { return fd_number{static_cast<int>(fd)}; }
  static outcome of(errc e) { return {0, e}; }
  static outcome of(const result<std::uint64_t>& r) {
    return r.ok() ? outcome{static_cast<std::int64_t>(r.value())} : outcome{0, r.error()};
  }
  static std::string text_of(kern::user_signal signal) {
    if (signal == kern::user_signal::none) return "ok";
    return signal == kern::user_signal::sigbus ? "SIGBUS" : "SIGSEGV";
  }
  static std::vector<vfs::iovec> vector_of(const std::vector<piece>& pieces) {
    std::vector<vfs::iovec> v;
    for (const auto& p : pieces) v.push_back({user_address{p.at}, p.size});
    return v;
  }

  test::kernel& k_;
  test::kernel::process& p_;
  test::kernel::thread& td_;
  std::uint64_t next_ = std::uint64_t{1} << 40U;  // far behind what the kernel picks itself
};

}  // namespace

kern::parameters host_like() {
  kern::parameters p;
  p.reclaim = true;
  p.zero_page = true;
  return p;
}

std::string on_model(std::string_view io, kern::parameters p, const std::function<void(system&)>& body) {
  const auto r = test::run_alone(p, io, [&body](test::alone& on) {
    model s(on);
    body(s);
  });
  if (r.verdict == sim::verdict::clean) return {};
  std::ostringstream out;
  out << r;
  return out.str();
}

shared_ends on_model(std::string_view io, kern::parameters p, const shared_row& row) {
  struct state {
    place where{};
    std::array<outcome, 3> gave{};
    std::size_t tasks = 0;
    std::size_t done = 0;
  };
  sim::options how;
  how.executions_max = 200'000;
  const auto r = sim::explore(how, [&](sim::execution& e) {
    auto& k = e.make<test::kernel>(p, test::io_named(io));
    auto& process = k.make_process("p");
    auto& first = e.make<model>(k, process, k.make_thread(process));
    auto& all = e.make<state>();
    all.where = row.set_up(first);
    for (std::size_t i = 0; i < row.tasks.size() && row.tasks.at(i) != nullptr; ++i) {
      ++all.tasks;
      auto& own = e.make<model>(k, process, k.make_thread(process));
      e.spawn(std::string(1, static_cast<char>('A' + i)), [&row, &own, &all, i] {
        all.gave.at(i) = row.tasks.at(i)(own, all.where);
        ++all.done;
      });
    }
    e.at_end([&row, &e, &k, &first, &all] {
      if (all.done != all.tasks) return;
      e.here().check(k.account().none(), "a page or a lock was left held");
      notes n;
      row.end(first, all.where, all.gave, n);
      e.here().observe("end", n.all());
    });
  });
  shared_ends seen;
  for (const auto& [end, count] : r.outcomes) seen.ends.insert(end.substr(std::string_view("end=").size()));
  if (r.verdict != sim::verdict::clean || !r.complete) {
    std::ostringstream out;
    out << r;
    seen.defect = out.str();
  }
  return seen;
}

}  // namespace faultline::posix

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Set-up and checks of kern::kernel: what scenarios do before the tasks run, and after.
#include <faultline/kern/kernel.hpp>

namespace faultline::kern {

template <substrate S, class Config>
kernel<S, Config>::kernel(const parameters& p, io policy)
    : parameters_(p),
      io_(std::move(policy)),
      context_{.page_size = p.page_size, .hold_pages = p.hold_pages},
      disk_(p.page_size, p.disk_blocks_max, p.inject_errors),
      nodes_(&S::memory()),
      processes_(&S::memory()),
      threads_(&S::memory()) {
  S::check(p.page_size > 0 && (p.page_size & (p.page_size - 1)) == 0, "page size: a power of two");
  if (!p.zero_page) return;
  zero_page_ = S::template make<vm::page<S>>(p.page_size, page_index{0}, "zero page", p.reclaim);
  zero_page_->valid = zero_page_->unmanaged = true;
}

template <substrate S, class Config>
auto kernel<S, Config>::make_file(std::string_view name, std::string_view contents, vfs::mount_flags mount)
    -> vnode& {
  S::check(nodes_.find(name) == nodes_.end(), "make_file: the name is taken");
  const vfs::file_environment around{
      .page_size = parameters_.page_size,
      .lock_mode = parameters_.vnode_sharing,
      .reclaim = parameters_.reclaim,
      .truncation_keeps_private_copies = parameters_.truncation_keeps_private_copies};
  auto* node = S::template make<vnode>(around, disk_, S::keep(name), mount, contents.size());
  for (std::size_t at = 0; at < contents.size(); at += parameters_.page_size) {
    const auto block = contents.substr(at, parameters_.page_size);
    node->blocks.push_back(disk_.add(std::as_bytes(std::span{block.data(), block.size()})));
  }
  nodes_.emplace(name, node);
  return *node;
}

template <substrate S, class Config>
void kernel<S, Config>::make_hole(vnode& file, page_index first, std::uint64_t count) {
  for (auto i = raw(first); i < raw(first) + count && i < file.blocks.size(); ++i) {
    S::check(file.object.peek(page_index{i}) == nullptr, "make_hole: the page is cached");
    file.blocks[static_cast<std::size_t>(i)].reset();
  }
}

template <substrate S, class Config>
auto kernel<S, Config>::make_process(std::string_view name) -> process& {
  const vm::map_environment<S> around{.page_size = parameters_.page_size,
                                      .entries_max = parameters_.map_entries_max,
                                      .reclaim = parameters_.reclaim,
                                      .zero_page = zero_page_};
  auto* p = S::template make<process>(S::keep(name), around, parameters_.descriptors);
  processes_.push_back(p);
  return *p;
}

template <substrate S, class Config>
auto kernel<S, Config>::make_thread(process& of) -> thread& {
  threads_.push_back(S::template make<thread>(of));
  return *threads_.back();
}

template <substrate S, class Config>
fd_number kernel<S, Config>::open_file(process& p, std::string_view name, open_flags how) {
  const auto fd = p.descriptors.install_new(*S::template make<description>(find(name), how));
  S::check(fd.ok(), "open_file: no descriptor is free");
  return fd.value();
}

template <substrate S, class Config>
user_address kernel<S, Config>::map_file(process& p, vnode& file, vm::protection rights, std::uint64_t offset,
                                         std::uint64_t size, std::optional<user_address> fixed,
                                         mapping_kind how) {
  if (size == 0) size = file_size(file) - offset;
  const auto at = p.map.map({.where = fixed,
                             .size = size,
                             .object = &file.object,
                             .offset = offset,
                             .rights = rights,
                             .private_copy = how == mapping_kind::private_copy});
  S::check(at.ok() && size > 0 && offset % parameters_.page_size == 0,
           "map_file: no room, no bytes, or not page aligned");
  return at.value();
}

template <substrate S, class Config>
user_address kernel<S, Config>::map_anonymous(process& p, std::uint64_t size,
                                              std::optional<user_address> fixed, vm::protection rights) {
  const auto at = p.map.map({.where = fixed, .size = size, .rights = rights});
  S::check(at.ok() && size > 0, "anonymous memory: no room or no bytes");
  return at.value();
}

template <substrate S, class Config>
user_address kernel<S, Config>::map_zeros(process& p, std::uint64_t size, std::optional<user_address> fixed,
                                          vm::protection rights) {
  return map_anonymous(p, size, fixed, rights);
}

template <substrate S, class Config>
user_address kernel<S, Config>::map_buffer(process& p, std::string_view contents,
                                           std::optional<user_address> fixed, vm::protection rights) {
  const auto at = map_anonymous(p, contents.size(), fixed, rights);
  auto& object = *p.map.peek(at)->object;
  for (std::size_t first = 0; first < contents.size(); first += parameters_.page_size) {
    const auto piece = contents.substr(first, parameters_.page_size);
    auto& m = *object.io_grab(page_index{first / parameters_.page_size}, false, false).m;
    S::write(*m.bytes, 0, std::as_bytes(std::span{piece.data(), piece.size()}));
    m.dirty.set();
    vm::page_unwire(m);
  }
  make_mapped(p, at, contents.size());
  return at;
}

template <substrate S, class Config>
void kernel<S, Config>::make_resident(vnode& file, page_index first, std::uint64_t count) {
  for (auto i = raw(first); i < raw(first) + count; ++i) {
    const auto m = file.bread_page(page_index{i}, false);
    S::check(m.ok(), "make_resident: the device failed");
    vm::page_unwire(*m.value());
  }
}

template <substrate S, class Config>
void kernel<S, Config>::make_mapped(process& p, user_address at, std::uint64_t size) {
  thread td{p};
  const auto last = raw(at) + size - 1;
  for (auto page = p.map.page_of(at); page <= last / parameters_.page_size; ++page) {
    const auto how =
        vm::vm_fault_hold<S>(td, user_address{page * parameters_.page_size}, vm::protection::read, nullptr);
    S::check(how == vm::fault_result::success, "make_mapped: the fault failed");
  }
}

template <substrate S, class Config>
std::string_view kernel<S, Config>::page_contents(const vnode* file, const vm::vm_object<S>& object,
                                                  page_index index) const {
  const auto text = [](std::span<const std::byte> bytes) {
    return std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  };
  const auto* m = object.peek(index);
  if (m != nullptr && m->valid) return text(S::peek(*m->bytes));
  if (file == nullptr || raw(index) >= file->blocks.size()) return {};
  const auto& block = file->blocks[static_cast<std::size_t>(raw(index))];
  return block ? text(disk_.peek(*block)) : std::string_view{};
}

template <substrate S, class Config>
std::string kernel<S, Config>::file_contents(const vnode& file) const {
  const auto size = static_cast<std::size_t>(file_size(file));
  std::string all;
  for (std::uint64_t i = 0; all.size() < size; ++i) {
    auto piece = std::string(page_contents(&file, file.object, page_index{i}));
    piece.resize(parameters_.page_size);  // zeros: a hole
    all += piece;
  }
  all.resize(size);
  return all;
}

template <substrate S, class Config>
std::string kernel<S, Config>::disk_contents(std::string_view name) const {
  const auto& file = *nodes_.at(key(name));
  const auto size = static_cast<std::size_t>(file_size(file));
  std::string all;
  for (std::size_t i = 0; all.size() < size; ++i) {
    std::string piece;
    if (i < file.blocks.size() && file.blocks[i]) {
      const auto bytes = disk_.peek(*file.blocks[i]);
      piece.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    piece.resize(parameters_.page_size);  // zeros: a hole
    all += piece;
  }
  all.resize(size);
  return all;
}

template <substrate S, class Config>
std::string kernel<S, Config>::user_contents(const process& p, user_address at, std::uint64_t size) const {
  std::string all;
  for (auto address = raw(at); address < raw(at) + size; ++address) {
    const auto entry = p.map.peek(user_address{address});
    char seen = '?';
    if (entry) {
      const auto* object = entry->object;
      const auto offset = entry->offset_of(address);
      page_index index{offset / parameters_.page_size};
      if (const auto* copy = object->peek(index);
          object->backing() != nullptr && (copy == nullptr || !copy->valid)) {
        index = object->in_backing(index);
        object = object->backing();
      }
      const vnode* file = nullptr;
      for (const auto& [name, node] : nodes_) {
        if (&node->object == object) file = node;
      }
      const auto page = page_contents(file, *object, index);
      const auto in_page = static_cast<std::size_t>(offset % parameters_.page_size);
      const bool past_end = file != nullptr && raw(index) * parameters_.page_size >= file_size(*file);
      if (!past_end) seen = in_page < page.size() ? page[in_page] : char{};
    }
    all += seen;
  }
  return all;
}

template <substrate S, class Config>
leftovers kernel<S, Config>::account() const {
  leftovers left;
  const auto add = [&left](const vm::vm_object<S>& object) {
    left.paging_in_progress += object.paging_in_progress();
    for (const auto* m : object.every_page()) {
      left.held_pages += m->holds.peek();
      left.wired_pages += m->wires.peek();
      left.busy_pages += m->busy.held() ? 1U : 0U;
      const auto uses = m->holds.peek() + m->wires.peek() + (object.peek(m->index) == m ? 1U : 0U);
      left.lost_pages += m->users.peek() != uses ? 1U : 0U;
    }
  };
  if (zero_page_ != nullptr) {
    left.held_pages += zero_page_->holds.peek();
    left.lost_pages += zero_page_->users.peek() != zero_page_->holds.peek() + 1 ? 1U : 0U;
  }
  for (const auto& [name, node] : nodes_) {
    add(node->object);
    left.vnode_locks += node->lock.held() ? 1U : 0U;
    left.range_locks += node->rangelock.in_use() ? 1U : 0U;
  }
  for (const auto* p : processes_) {
    for (const auto* object : p->map.every_object()) add(*object);
    left.map_locks += p->map.locked() ? 1U : 0U;
    for (const auto* fp : p->descriptors.every_file()) left.offset_locks += fp->offset_lock.held() ? 1U : 0U;
  }
  return left;
}

}  // namespace faultline::kern

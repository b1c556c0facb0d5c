// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The system calls of kern::kernel, and user code's loads and stores.
///
/// Lock order: offset lock -> what the I/O policy takes -> vnode -> map -> object.
/// Source: POSIX.1-2017; FreeBSD sys/kern/sys_generic.c (dofileread, dofilewrite), vfs_vnops.c (vn_seek, foffset_lock),
/// sys/vm/vm_mmap.c (kern_mmap), sys/kern/subr_trap.c.
#include <faultline/kern/kernel.hpp>
#include <faultline/vm/pageout.hpp>

namespace faultline::kern {

template <substrate S, class Config>
auto kernel<S, Config>::fget(thread& td, fd_number fd, bool open_flags::*right) -> description* {
  auto* fp = td.proc.descriptors.get(fd);
  return fp != nullptr && (right == nullptr || fp->flags.*right) ? fp : nullptr;
}

template <substrate S, class Config>
result<fd_number> kernel<S, Config>::open(thread& td, std::string_view name, open_flags how) {
  typename S::frame f{"open"};
  const auto node = nodes_.find(name);
  if (node == nodes_.end()) return errc::enoent;
  if (how.truncate) {
    const io_request cut{.explicit_offset = true, .flags = {.size_max = parameters_.file_size_max}};
    if (const errc e = io_.truncate(context_, td, *node->second, 0, cut); e != errc::ok) return e;
  }
  const auto fd = td.proc.descriptors.install_new(*S::template make<description>(*node->second, how));
  S::progress();
  return fd;
}

template <substrate S, class Config>
errc kernel<S, Config>::close(thread& td, fd_number fd) {
  typename S::frame f{"close"};
  const errc error = td.proc.descriptors.remove(fd);
  S::progress();
  return error;
}

template <substrate S, class Config>
result<fd_number> kernel<S, Config>::dup(thread& td, fd_number fd) {
  typename S::frame f{"dup"};
  auto* fp = fget(td, fd, nullptr);
  if (fp == nullptr) return errc::ebadf;
  const auto other = td.proc.descriptors.install(*fp);
  S::progress();
  return other;
}

template <substrate S, class Config>
errc kernel<S, Config>::run(thread& td, description& fp, vfs::uio& u, bool explicit_offset) {
  const bool append = fp.flags.append && (!explicit_offset || parameters_.append_moves_pwrite);
  const io_request how{.explicit_offset = explicit_offset,
                       .flags = {.append = append,
                                 .unit = !short_count_wins(),
                                 .size_max = parameters_.file_size_max,
                                 .size_limit = td.proc.file_size_limit}};
  // Every range that is locked ends at offset + resid.
  if (!append && (u.offset > byte_range::off_max || u.resid > byte_range::off_max - u.offset))
    return errc::einval;
  if (u.direction == vfs::uio_direction::read) return io_.read(context_, td, fp.vnode, u, how);
  const auto wanted = u.resid;
  const errc error = io_.write(context_, td, fp.vnode, u, how);
  const bool reached_limit = error == errc::efbig && u.resid < wanted;  // in a later piece of the call
  return reached_limit ? errc::ok : error;
}

template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::transfer(const char* call, thread& td, fd_number fd,
                                                  std::span<const vfs::iovec> buffers,
                                                  std::optional<std::int64_t> offset,
                                                  vfs::uio_direction direction) {
  constexpr std::size_t iov_max = 1024;
  const bool reads = direction == vfs::uio_direction::read;
  auto* fp = fget(td, fd, reads ? &open_flags::read : &open_flags::write);
  if (fp == nullptr) return errc::ebadf;
  if ((offset && *offset < 0) || buffers.size() > iov_max) return errc::einval;
  typename S::frame f{call, fp->vnode.name};

  vfs::uio u{S::memory()};
  u.direction = direction;
  for (const auto& piece : buffers) {
    if (piece.size > byte_range::off_max - u.resid) return errc::einval;
    u.resid += piece.size;
    u.iov.push_back(piece);
  }
  const auto wanted = u.resid;
  errc error = errc::ok;
  if (wanted != 0 && offset) {
    u.offset = static_cast<std::uint64_t>(*offset);
    error = run(td, *fp, u, true);
  } else if (wanted != 0) {
    fp->offset_lock.acquire({});
    u.offset = S::get(fp->offset);
    const bool across = S::keeps(offset_lock);
    if (!across) fp->offset_lock.release();
    error = run(td, *fp, u, false);
    if (!across) fp->offset_lock.acquire({});
    // An append that did nothing leaves the offset (Linux), or at the end that it went to (FreeBSD).
    const bool stays = error != errc::ok && u.resid == wanted && short_count_wins();
    if (!stays) S::set(fp->offset, u.offset);
    fp->offset_lock.release();
  }
  S::progress();
  const auto done = wanted - u.resid;
  if (error != errc::ok && !(done > 0 && short_count_wins())) return error;
  return done;
}

template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::read(thread& td, fd_number fd, user_address buffer,
                                              std::uint64_t size) {
  const vfs::iovec one{buffer, size};
  return transfer("read", td, fd, {&one, 1}, {}, vfs::uio_direction::read);
}
template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::write(thread& td, fd_number fd, user_address buffer,
                                               std::uint64_t size) {
  const vfs::iovec one{buffer, size};
  return transfer("write", td, fd, {&one, 1}, {}, vfs::uio_direction::write);
}
template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::pread(thread& td, fd_number fd, user_address buffer,
                                               std::uint64_t size, std::int64_t offset) {
  const vfs::iovec one{buffer, size};
  return transfer("pread", td, fd, {&one, 1}, offset, vfs::uio_direction::read);
}
template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::pwrite(thread& td, fd_number fd, user_address buffer,
                                                std::uint64_t size, std::int64_t offset) {
  const vfs::iovec one{buffer, size};
  return transfer("pwrite", td, fd, {&one, 1}, offset, vfs::uio_direction::write);
}
template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::readv(thread& td, fd_number fd,
                                               std::span<const vfs::iovec> buffers) {
  return transfer("readv", td, fd, buffers, {}, vfs::uio_direction::read);
}
template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::writev(thread& td, fd_number fd,
                                                std::span<const vfs::iovec> buffers) {
  return transfer("writev", td, fd, buffers, {}, vfs::uio_direction::write);
}

template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::preadv(thread& td, fd_number fd, std::span<const vfs::iovec> buffers,
                                                std::int64_t offset) {
  return transfer("preadv", td, fd, buffers, offset, vfs::uio_direction::read);
}
template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::pwritev(thread& td, fd_number fd,
                                                 std::span<const vfs::iovec> buffers, std::int64_t offset) {
  return transfer("pwritev", td, fd, buffers, offset, vfs::uio_direction::write);
}

/// FIOSEEKDATA, FIOSEEKHOLE. \errors ENXIO
template <substrate S, class Config>
errc kernel<S, Config>::seek_data(thread& td, vnode& vp, std::uint64_t from, bool data,
                                  std::uint64_t& found) {
  vp.lock.acquire(td.locks, access::shared);
  const auto size = S::get(vp.size);
  found = from < size ? vp.seek(from, data) : size;
  vp.lock.release(td.locks);
  return from >= size || (data && found == size) ? errc::enxio : errc::ok;
}

template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::lseek(thread& td, fd_number fd, std::int64_t offset, whence from) {
  auto* fp = fget(td, fd, nullptr);
  if (fp == nullptr) return errc::ebadf;
  if (from > whence::hole) return errc::einval;
  typename S::frame f{"lseek", fp->vnode.name};
  fp->offset_lock.acquire({});
  errc error = errc::ok;
  std::uint64_t target = 0;
  if (from == whence::data || from == whence::hole) {
    error = offset < 0
                ? errc::enxio
                : seek_data(td, fp->vnode, static_cast<std::uint64_t>(offset), from == whence::data, target);
  } else {
    std::uint64_t base = 0;
    if (from == whence::current) base = S::get(fp->offset);
    if (from == whence::end) base = vn_size(td, fp->vnode);
    const auto distance = offset < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(offset)
                                     : static_cast<std::uint64_t>(offset);
    if (offset < 0 && distance > base) error = errc::einval;
    if (offset >= 0 && distance > byte_range::off_max - base) error = errc::eoverflow;
    target = offset < 0 ? base - distance : base + distance;
  }
  if (error == errc::ok) S::set(fp->offset, target);
  fp->offset_lock.release();
  S::progress();
  if (error != errc::ok) return error;
  return target;
}

template <substrate S, class Config>
errc kernel<S, Config>::ftruncate(thread& td, fd_number fd, std::int64_t size) {
  auto* fp = fget(td, fd, nullptr);
  if (fp == nullptr) return errc::ebadf;
  if (size < 0 || !fp->flags.write) return errc::einval;
  if (static_cast<std::uint64_t>(size) > td.proc.file_size_limit) return errc::efbig;
  typename S::frame f{"ftruncate", fp->vnode.name};
  const io_request how{.explicit_offset = true, .flags = {.size_max = parameters_.file_size_max}};
  const errc error = io_.truncate(context_, td, fp->vnode, static_cast<std::uint64_t>(size), how);
  S::progress();
  return error;
}

template <substrate S, class Config>
result<std::uint64_t> kernel<S, Config>::fstat_size(thread& td, fd_number fd) {
  auto* fp = fget(td, fd, nullptr);
  if (fp == nullptr) return errc::ebadf;
  typename S::frame f{"fstat", fp->vnode.name};
  const auto size = vn_size(td, fp->vnode);
  S::progress();
  return size;
}

template <substrate S, class Config>
errc kernel<S, Config>::fsync(thread& td, fd_number fd) {
  auto* fp = fget(td, fd, nullptr);
  if (fp == nullptr) return errc::ebadf;
  typename S::frame f{"fsync", fp->vnode.name};
  const errc error = vn_fsync(td, fp->vnode);
  S::progress();
  return error;
}

template <substrate S, class Config>
result<user_address> kernel<S, Config>::mmap(thread& td, user_address at, std::uint64_t size,
                                             vm::protection rights, map_flags flags, fd_number fd,
                                             std::int64_t offset) {
  typename S::frame f{"mmap"};
  const auto page = parameters_.page_size;
  const bool placed = flags.fixed || flags.no_replace;
  if (flags.anonymous) offset = 0;
  if (size == 0 || offset < 0 || static_cast<std::uint64_t>(offset) % page != 0) return errc::einval;
  if (flags.shared == flags.private_copy) return errc::einval;
  if (placed && raw(at) % page != 0) return errc::einval;
  const auto first = static_cast<std::uint64_t>(offset);
  vm::map_request<S> wanted{.where = placed ? std::optional{at} : std::nullopt,
                            .replace = !flags.no_replace,
                            .size = size,
                            .offset = first,
                            .rights = rights,
                            .private_copy = flags.private_copy};
  if (!flags.anonymous) {
    auto* fp = fget(td, fd, nullptr);
    if (fp == nullptr) return errc::ebadf;
    if (!fp->flags.read) return errc::eacces;
    if (flags.shared && !fp->flags.write) {
      if (vm::allows(rights, vm::protection::write)) return errc::eacces;
      wanted.rights_max = vm::protection::read;
    }
    wanted.object = &fp->vnode.object;
  }
  if (size > byte_range::off_max - first || td.map->round_page(size) < size) return errc::eoverflow;
  const auto where = td.map->map(wanted);
  S::progress();
  return where;
}

template <substrate S, class Config>
errc kernel<S, Config>::munmap(thread& td, user_address at, std::uint64_t size) {
  typename S::frame f{"munmap"};
  constexpr auto user_max = vm::address_space<S>::user_max;
  if (size == 0 || raw(at) % parameters_.page_size != 0) return errc::einval;
  if (raw(at) > user_max || size > user_max - raw(at)) return errc::einval;
  const errc error = td.map->unmap(at, at + td.map->round_page(size));
  S::progress();
  return error;
}

template <substrate S, class Config>
errc kernel<S, Config>::mprotect(thread& td, user_address at, std::uint64_t size, vm::protection rights) {
  typename S::frame f{"mprotect"};
  constexpr auto user_max = vm::address_space<S>::user_max;
  if (raw(at) % parameters_.page_size != 0) return errc::einval;
  if (raw(at) > user_max || size > user_max - raw(at)) return errc::enomem;
  const errc error = td.map->protect(at, at + td.map->round_page(size), rights);
  S::progress();
  return error;
}

/// Lock order: the map is dropped before the vnode is asked for, and looked at again after.
template <substrate S, class Config>
errc kernel<S, Config>::msync(thread& td, user_address at, std::uint64_t size, msync_flags how) {
  typename S::frame f{"msync"};
  const auto page = parameters_.page_size;
  constexpr auto user_max = vm::address_space<S>::user_max;
  if (raw(at) % page != 0 || (how.sync && how.async)) return errc::einval;
  if (raw(at) > user_max || size > user_max - raw(at)) return errc::enomem;
  const auto last = raw(at) + td.map->round_page(size);
  errc error = errc::ok;
  for (auto next = raw(at); next < last && error == errc::ok;) {
    td.map->read_lock();
    const auto entry = td.map->lookup(user_address{next});
    td.map->read_unlock();
    if (!entry) {
      error = errc::enomem;
      break;
    }
    const auto end = std::min(last, entry->last);
    const page_index first{entry->offset_of(next) / page};
    if (how.sync && entry->object->file() != nullptr) {
      error = vn_fsync(td, *entry->object->file(), first, page_index{raw(first) + (end - next) / page});
    }
    next = end;
  }
  S::progress();
  return error;
}

template <substrate S, class Config>
bool kernel<S, Config>::evict(thread& td, vnode& file, page_index index) {
  const bool gone = vm::pageout_page<S>(td, file.object, index);
  S::progress();
  return gone;
}

template <substrate S, class Config>
bool kernel<S, Config>::evict(thread& td, process& p, user_address at) {
  p.map.read_lock();
  const auto entry = p.map.lookup(at);
  if (entry) entry->object->reference();
  p.map.read_unlock();
  if (!entry) return false;
  auto& object = *entry->object;
  const page_index index{entry->offset_of(raw(at)) / parameters_.page_size};
  bool gone = vm::pageout_page<S>(td, object, index);
  if (!gone && object.backing() != nullptr && !object.resident(index))
    gone = vm::pageout_page<S>(td, *object.backing(), object.in_backing(index));
  object.deallocate();
  S::progress();
  return gone;
}

/// Pieces of one page each: translates, faults, tries again. `access_page(bytes, at, size, live)` does the access.
template <substrate S, class Config>
template <class Access>
user_signal kernel<S, Config>::user_copy(thread& td, user_address at, std::uint64_t size,
                                         vm::protection wanted, Access&& access_page) {
  while (size > 0) {
    const auto in_page = raw(at) % parameters_.page_size;
    const auto n = std::min(size, parameters_.page_size - in_page);
    auto* translation = td.map->pm.translate(td.map->page_of(at), wanted);
    if (translation == nullptr) {
      ++td.traps;
      switch (vm::vm_fault<S>(td, at, wanted)) {
        case vm::fault_result::success:
          continue;
        case vm::fault_result::invalid_address:
        case vm::fault_result::protection_failure:
          return user_signal::sigsegv;
        case vm::fault_result::out_of_bounds:
        case vm::fault_result::pager_error:
          return user_signal::sigbus;
      }
    }
    auto& m = *translation->target;
    const bool done = access_page(*m.bytes, static_cast<std::size_t>(in_page), static_cast<std::size_t>(n),
                                  [translation, wanted] { return translation->use(wanted); });
    vm::page_drop(m);
    if (!done) continue;
    at = at + n;
    size -= n;
  }
  return user_signal::none;
}

template <substrate S, class Config>
user_signal kernel<S, Config>::load(thread& td, user_address at, std::span<std::byte> to) {
  typename S::frame f{"load"};
  const auto signal = user_copy(td, at, to.size(), vm::protection::read,
                                [&](sub::racy_bytes<S>& bytes, std::size_t from, std::size_t n, auto live) {
                                  if (!S::read_if(live, bytes, from, to.first(n))) return false;
                                  to = to.subspan(n);
                                  return true;
                                });
  S::progress();
  return signal;
}

template <substrate S, class Config>
user_signal kernel<S, Config>::store(thread& td, user_address at, std::span<const std::byte> from) {
  typename S::frame f{"store"};
  const auto signal = user_copy(td, at, from.size(), vm::protection::write,
                                [&](sub::racy_bytes<S>& bytes, std::size_t to, std::size_t n, auto live) {
                                  if (!S::write_if(live, bytes, to, from.first(n))) return false;
                                  from = from.subspan(n);
                                  return true;
                                });
  S::progress();
  return signal;
}

template <substrate S, class Config>
user_access kernel<S, Config>::load(thread& td, user_address at) {
  user_access seen;
  seen.signal = load(td, at, std::span{&seen.value, 1});
  return seen;
}

template <substrate S, class Config>
user_access kernel<S, Config>::store(thread& td, user_address at, std::byte value) {
  return {.signal = store(td, at, std::span<const std::byte>{&value, 1}), .value = {}};
}

}  // namespace faultline::kern

// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// Bytes that others may write while they are copied, natively: user memory and page contents.
///
/// memcpy would be a data race, and the compiler may use that (read a byte twice, say). So shared bytes are accessed by
/// relaxed atomic words, with atomic bytes at the ragged ends; on x86-64 a long copy is `rep movsb`, as in a kernel's
/// copyin(): an instruction that C++ knows nothing about, and as fast as memcpy from a page on (4 KiB in L1: 35 ns against
/// 38; sixteen scattered pages: 17.8 against 18.2 GiB/s; by words: 11.4). Under a sanitizer all goes by words, so that it
/// sees the accesses.
///
/// What a reader sees of a copy that goes on is any mixture of old and new bytes. Short copies (under string_copy_min)
/// change each aligned word at once; nobody should need that. (A word and one of its bytes accessed at the same time are
/// not covered by the C++ standard; every machine we build for defines it.)
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define FAULTLINE_SEEN_BY_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FAULTLINE_SEEN_BY_SANITIZER 1
#endif

namespace faultline::racy {

using word = std::uint64_t;
inline constexpr std::size_t grain = sizeof(word);

#if defined(__x86_64__) && !defined(FAULTLINE_SEEN_BY_SANITIZER)
inline constexpr bool has_string_copy = true;
inline void string_copy(void* to, const void* from, std::size_t n) noexcept {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
#else
inline constexpr bool has_string_copy = false;
inline void string_copy(void* to, const void* from, std::size_t n) noexcept { std::memcpy(to, from, n); }
#endif
#undef FAULTLINE_SEEN_BY_SANITIZER

/// From here on `rep movsb` has made up for its start.
inline constexpr std::size_t string_copy_min = 129;

/// Part [at, at + n) of the bytes of an array of words: ragged head, whole words, ragged tail.
struct part {
  std::size_t head;  ///< bytes before the first whole word
  std::size_t words;
  std::size_t tail;
  part(std::size_t at, std::size_t n) noexcept {
    const std::size_t to_boundary = (grain - at % grain) % grain;
    head = to_boundary < n ? to_boundary : n;
    words = (n - head) / grain;
    tail = (n - head) % grain;
  }
};

[[nodiscard]] inline std::atomic_ref<unsigned char> byte_at(const word* array, std::size_t at) noexcept {
  return std::atomic_ref(reinterpret_cast<unsigned char*>(const_cast<word*>(array))[at]);
}
[[nodiscard]] inline std::atomic_ref<word> word_at(const word* array, std::size_t at) noexcept {
  return std::atomic_ref(const_cast<word*>(array)[at / grain]);
}

/// Shared bytes to memory of the caller alone.
inline void read(unsigned char* to, const word* from, std::size_t at, std::size_t n) noexcept {
  if (has_string_copy && n >= string_copy_min) {
    string_copy(to, reinterpret_cast<const unsigned char*>(from) + at, n);
    return;
  }
  constexpr auto relaxed = std::memory_order_relaxed;
  part p(at, n);
  for (; p.head != 0; --p.head) *to++ = byte_at(from, at++).load(relaxed);
  for (; p.words >= 4; p.words -= 4, at += 4 * grain, to += 4 * grain) {
    const word four[4] = {word_at(from, at).load(relaxed), word_at(from, at + grain).load(relaxed),
                          word_at(from, at + 2 * grain).load(relaxed),
                          word_at(from, at + 3 * grain).load(relaxed)};
    std::memcpy(to, four, sizeof four);
  }
  for (; p.words != 0; --p.words, at += grain, to += grain) {
    const word one = word_at(from, at).load(relaxed);
    std::memcpy(to, &one, sizeof one);
  }
  for (; p.tail != 0; --p.tail) *to++ = byte_at(from, at++).load(relaxed);
}

/// Memory of the caller alone to shared bytes.
inline void write(word* to, std::size_t at, const unsigned char* from, std::size_t n) noexcept {
  if (has_string_copy && n >= string_copy_min) {
    string_copy(reinterpret_cast<unsigned char*>(to) + at, from, n);
    return;
  }
  constexpr auto relaxed = std::memory_order_relaxed;
  part p(at, n);
  for (; p.head != 0; --p.head) byte_at(to, at++).store(*from++, relaxed);
  for (; p.words != 0; --p.words, at += grain, from += grain) {
    word one;
    std::memcpy(&one, from, sizeof one);
    word_at(to, at).store(one, relaxed);
  }
  for (; p.tail != 0; --p.tail) byte_at(to, at++).store(*from++, relaxed);
}

/// Shared bytes to shared bytes, which may overlap.
inline void copy(word* to, std::size_t to_at, const word* from, std::size_t from_at, std::size_t n) noexcept {
  const bool backward = to == from && to_at > from_at && to_at < from_at + n;
  if (has_string_copy && n >= string_copy_min && !backward) {
    string_copy(reinterpret_cast<unsigned char*>(to) + to_at,
                reinterpret_cast<const unsigned char*>(from) + from_at, n);
    return;
  }
  unsigned char between[string_copy_min - 1];
  for (std::size_t left = n; left != 0;) {
    const std::size_t now = left < sizeof between ? left : sizeof between;
    const std::size_t done = backward ? left - now : n - left;
    read(between, from, from_at + done, now);
    write(to, to_at + done, between, now);
    left -= now;
  }
}

inline void fill(word* to, std::size_t at, std::size_t n, unsigned char value) noexcept {
  unsigned char pattern[string_copy_min - 1];
  std::memset(pattern, value, n < sizeof pattern ? n : sizeof pattern);
  while (n != 0) {
    const std::size_t now = n < sizeof pattern ? n : sizeof pattern;
    write(to, at, pattern, now);
    at += now;
    n -= now;
  }
}

}  // namespace faultline::racy

// SPDX-License-Identifier: BSD-2-Clause
// Random calls on the model and on the host: each must give the same, and leave the same.
//
// FAULTLINE_FSX_CALLS=n for more than 100,000 calls in all; FAULTLINE_FSX_SEED=n to begin elsewhere.
#include "posix/fsx.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/vfs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace faultline::posix {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const given = std::getenv(name);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

constexpr std::size_t calls_in_a_sequence = 100;

/// Does the host keep holes as the model does? What others answer to SEEK_DATA is theirs to say.
bool blocks_are_pages() {
  constexpr auto ext4 = 0xef53;
  struct statfs about {};
  return statfs(std::filesystem::temp_directory_path().c_str(), &about) == 0 && about.f_type == ext4 &&
         about.f_bsize == sysconf(_SC_PAGESIZE);
}

std::vector<fsx_note> on_host(const std::vector<fsx_call>& calls, const fsx_options& how) {
  const auto host = make_host();
  std::vector<fsx_note> notes;
  play(*host, calls, how, notes);
  return notes;
}

std::vector<fsx_note> on_the_model(std::string_view io, const std::vector<fsx_call>& calls,
                                   const fsx_options& how) {
  auto p = host_like();
  p.append_moves_pwrite = true;
  std::vector<fsx_note> notes;
  const auto defect = on_model(io, p, [&](system& s) { play(s, calls, how, notes); });
  if (!defect.empty()) notes.push_back({.call = "in the end", .gave = defect});
  return notes;
}

/// The calls up to the first difference, and what it is.
std::string difference(const std::vector<fsx_note>& host, const std::vector<fsx_note>& model) {
  std::string out;
  for (std::size_t i = 0; i < std::max(host.size(), model.size()); ++i) {
    const auto* h = i < host.size() ? &host[i] : nullptr;
    const auto* m = i < model.size() ? &model[i] : nullptr;
    out += fmt::format("  {}\n", h != nullptr ? h->call : m->call);
    if (h != nullptr && m != nullptr && *h == *m) continue;
    out +=
        fmt::format("    host:  {}{}\n", h != nullptr ? h->gave : "nothing",
                    h != nullptr && m != nullptr && h->gave == m->gave ? ", but what is there differs" : "");
    out += fmt::format("    model: {}\n", m != nullptr ? m->gave : "nothing");
    return out;
  }
  return {};
}

/// For `found`.
std::string source_of(const std::vector<fsx_call>& calls) {
  std::string out;
  for (const auto& c : calls) out += "  " + as_source(c) + "\n";
  return out;
}

/// What random calls have found, as printed. Minimised.
struct found_before {
  const char* what;
  std::vector<fsx_call> calls;
};
const std::array found{
    found_before{"a hole whose page is cached is data once the file grows behind it",
                 {{fsx_kind::ftruncate, 609407, 974369, 568757, 578054, 557072},
                  {fsx_kind::store, 694261, 761109, 902926, 1009308, 844385},
                  {fsx_kind::open, 700692, 784777, 991045, 153755, 737920},
                  {fsx_kind::pwrite, 303937, 950381, 299395, 622174, 116426},
                  {fsx_kind::seek_data, 195068, 490159, 788195, 702026, 831288}}},
};

fsx_options options_for(std::string_view io) {
  return {.whole_buffers = io == "vn-io-fault",  // its answer to faults is its own
          .has_whole_buffer = io == "prefault" || io == "vn-io-fault",
          .busy_pages = io == "page-busy",
          .seek_data = blocks_are_pages()};
}

class Fsx : public testing::TestWithParam<const char*> {};

TEST_P(Fsx, model_and_host_agree) {
  const std::string io = GetParam();
  auto how = options_for(io);
  const auto calls_in_all = from_environment("FAULTLINE_FSX_CALLS", 100'000) / 4;
  const auto first_seed = from_environment("FAULTLINE_FSX_SEED", 1);
  std::printf("%s: %llu calls from seed %llu on\n", io.c_str(), static_cast<unsigned long long>(calls_in_all),
              static_cast<unsigned long long>(first_seed));
  for (std::uint64_t i = 0; i * calls_in_a_sequence < calls_in_all; ++i) {
    auto calls = random_calls(first_seed + i, calls_in_a_sequence);
    const auto differs = [&](const std::vector<fsx_call>& some) {
      return on_host(some, how) != on_the_model(io, some, how);
    };
    if (!differs(calls)) continue;
    how.memory_every = 1;
    calls = minimised(std::move(calls), differs);
    FAIL() << "seed " << first_seed + i << ", minimised to " << calls.size() << " calls:\n"
           << difference(on_host(calls, how), on_the_model(io, calls, how)) << source_of(calls);
  }
}

TEST_P(Fsx, model_and_host_agree_on_what_was_found_before) {
  const std::string io = GetParam();
  auto how = options_for(io);
  how.memory_every = 1;
  for (const auto& [what, calls] : found)
    EXPECT_EQ(difference(on_host(calls, how), on_the_model(io, calls, how)), "") << what;
}
INSTANTIATE_TEST_SUITE_P(Io, Fsx, testing::Values("vnode-locked", "prefault", "page-busy", "vn-io-fault"),
                         [](const auto& i) {
                           std::string name = i.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(FsxCalls, mostly_do_something_and_come_to_each_error) {
  struct of_kind {
    int all = 0;
    int left_out = 0;
  };
  std::map<fsx_kind, of_kind> kinds;
  std::map<std::string, int> ends;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto calls = random_calls(seed, calls_in_a_sequence);
    const auto notes = on_the_model("vnode-locked", calls, {.seek_data = true});
    ASSERT_EQ(notes.size(), calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      auto& k = kinds[calls[i].kind];
      ++k.all;
      k.left_out += notes[i].gave == "left out" ? 1 : 0;
      ++ends[notes[i].gave];
    }
  }
  EXPECT_EQ(kinds.size(), static_cast<std::size_t>(fsx_kind::store) + 1);
  for (const auto& [kind, n] : kinds) {
    EXPECT_GE(n.all, 50) << "kind " << static_cast<int>(kind);
    EXPECT_LE(n.left_out, kind == fsx_kind::seek_data ? n.all * 9 / 10 : n.all * 2 / 5)
        << "kind " << static_cast<int>(kind);
  }
  for (const char* end : {"EFAULT", "EBADF", "EINVAL", "EACCES", "ENXIO", "SIGSEGV", "SIGBUS"})
    EXPECT_GE(ends[end], 10) << end;
  EXPECT_LE(ends["EFAULT"] + ends["EBADF"] + ends["SIGSEGV"], 2000) << "of 5000 calls";
}

TEST(FsxMinimiser, finds_the_few_calls_that_matter) {
  // "Differs" where a file that was cut is written to later: two calls are enough.
  const auto differs = [](const std::vector<fsx_call>& calls) {
    bool cut = false;
    for (const auto& c : calls) {
      if (c.kind == fsx_kind::ftruncate) cut = true;
      if (cut && c.kind == fsx_kind::pwrite) return true;
    }
    return false;
  };
  auto calls = random_calls(7, 500);
  ASSERT_TRUE(differs(calls));
  calls = minimised(std::move(calls), differs);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].kind, fsx_kind::ftruncate);
  EXPECT_EQ(calls[1].kind, fsx_kind::pwrite);
}

TEST(FsxReference, a_kernel_that_is_wrong_is_found_and_told_in_a_few_calls) {
  // Against itself, but O_APPEND: one of the two moves pwrite, as Linux does.
  const auto posix = [](const std::vector<fsx_call>& calls) {
    std::vector<fsx_note> notes;
    (void)on_model("vnode-locked", host_like(), [&](system& s) { play(s, calls, {}, notes); });
    return notes;
  };
  const auto differs = [&](const std::vector<fsx_call>& calls) {
    return posix(calls) != on_the_model("vnode-locked", calls, {});
  };
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    auto calls = random_calls(seed, calls_in_a_sequence);
    if (!differs(calls)) continue;
    calls = minimised(std::move(calls), differs);
    EXPECT_LE(calls.size(), 3U) << difference(posix(calls), on_the_model("vnode-locked", calls, {}));
    return;
  }
  FAIL() << "100 sequences, and no pwrite on O_APPEND told the two apart";
}

}  // namespace
}  // namespace faultline::posix

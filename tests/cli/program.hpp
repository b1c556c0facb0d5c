// SPDX-License-Identifier: BSD-2-Clause
#pragma once
/// \file
/// The built program, run as a user would.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include <sys/wait.h>
#include <unistd.h>

namespace faultline::test {

struct outcome {
  int status = -1;  ///< of exit(); -1 if a signal ended it
  std::string out;
  std::string err;
};

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A directory that is removed with all that is in it.
class scratch {
 public:
  scratch() {
    auto name = (std::filesystem::path(testing::TempDir()) / "faultline-cli-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// \param arguments  as in a shell
/// \param before     words before the program: "timeout -s INT 1"
inline outcome run(const std::string& arguments, const std::string& before = "") {
  const scratch here;
  const auto errors = here / "stderr";
  const auto command = before + " '" FAULTLINE_PROGRAM "' " + arguments + " 2>'" + errors + "'";
  outcome result;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) != 0;)
    result.out.append(part.data(), n);
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.err = contents(errors);
  return result;
}

}  // namespace faultline::test

// SPDX-License-Identifier: BSD-2-Clause
// Rows of the table that take two threads: on the host they are run, each beside the scenario in which the model is explored. Here
// the host's kernel says that the values which the scenario allows are the right ones.
#include <faultline/scenario/scenario.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace faultline {
namespace {

/// A scenario of that name explores the same in the model, and expects it to be clean under some policy.
void expect_explored(std::string_view name) {
  const auto* s = scenario::find(name);
  ASSERT_NE(s, nullptr) << name;
  bool clean = false;
  for (const auto& row : s->expected) clean |= row.verdict == sim::verdict::clean && row.complete;
  EXPECT_TRUE(clean) << name;
}

class temporary_file {
 public:
  explicit temporary_file(std::string_view bytes) {
    path_ = (std::filesystem::temp_directory_path() / "faultline-shared-XXXXXX").string();
    fd_ = ::mkstemp(path_.data());
    EXPECT_EQ(::pwrite(fd_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] int open_again(int flags) const { return ::open(path_.c_str(), flags); }
  [[nodiscard]] std::string contents() const {
    const int fd = open_again(O_RDONLY);
    std::string all(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(fd, all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
    ::close(fd);
    return all;
  }

 private:
  std::string path_;
  int fd_ = -1;
};

/// Both at once, as nearly as threads can.
template <class One, class Two>
void together(One&& one, Two&& two) {
  std::atomic<int> ready{0};
  const auto meet = [&ready] {
    ready.fetch_add(1);
    while (ready.load() < 2) std::this_thread::yield();
  };
  std::thread other([&] {
    meet();
    two();
  });
  meet();
  one();
  other.join();
}

const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

TEST(Shared, S24_overlapping_writes_are_never_mixed) {
  expect_explored("vn-io-fault/writers-overlap");
  const std::string x(16 * page, 'x');
  const std::string y(16 * page, 'y');
  const temporary_file f(x);
  for (int i = 0; i < 200; ++i) {
    together([&] { EXPECT_EQ(::pwrite(f.fd(), x.data(), x.size(), 0), static_cast<ssize_t>(x.size())); },
             [&] { EXPECT_EQ(::pwrite(f.fd(), y.data(), y.size(), 0), static_cast<ssize_t>(y.size())); });
    const auto all = f.contents();
    ASSERT_TRUE(all == x || all == y) << "round " << i;
  }
}

TEST(Shared, S23_a_read_beside_a_write_sees_old_or_new_bytes_only) {
  // Whole reads are what range locks are for; hosts without them may mix, but byte by byte nothing else shows.
  expect_explored("vn-io-fault/torn-read");
  const std::string x(16 * page, 'x');
  const std::string y(16 * page, 'y');
  const temporary_file f(x);
  for (int i = 0; i < 200; ++i) {
    std::string seen(x.size(), '?');
    together(
        [&] { (void)!::pwrite(f.fd(), i % 2 == 0 ? y.data() : x.data(), x.size(), 0); },
        [&] { EXPECT_EQ(::pread(f.fd(), seen.data(), seen.size(), 0), static_cast<ssize_t>(seen.size())); });
    ASSERT_EQ(seen.find_first_not_of("xy"), std::string::npos);
  }
}

TEST(Shared, S25_each_record_of_two_appenders_is_there_once) {
  expect_explored("vn-io-fault/two-appenders");
  const temporary_file f("");
  const int one = f.open_again(O_WRONLY | O_APPEND);
  const int two = f.open_again(O_WRONLY | O_APPEND);
  constexpr int records = 1000;
  const auto append = [](int fd, char c) {
    const std::string record(64, c);
    for (int i = 0; i < records; ++i) ASSERT_EQ(::write(fd, record.data(), record.size()), 64);
  };
  together([&] { append(one, 'x'); }, [&] { append(two, 'y'); });
  const auto all = f.contents();
  ASSERT_EQ(all.size(), 2U * records * 64U);
  int of_one = 0;
  for (std::size_t at = 0; at < all.size(); at += 64) {
    ASSERT_EQ(all.substr(at, 64), std::string(64, all[at])) << "a torn record";
    of_one += all[at] == 'x' ? 1 : 0;
  }
  EXPECT_EQ(of_one, records);
  ::close(one);
  ::close(two);
}

TEST(Shared, S26_two_writers_of_one_description_never_write_at_one_place) {
  expect_explored("vn-io-fault/shared-offset");
  const temporary_file f("");
  const int same = ::dup(f.fd());
  constexpr int records = 1000;
  const auto write = [](int fd, char c) {
    const std::string record(64, c);
    for (int i = 0; i < records; ++i) ASSERT_EQ(::write(fd, record.data(), record.size()), 64);
  };
  together([&] { write(f.fd(), 'x'); }, [&] { write(same, 'y'); });
  EXPECT_EQ(f.contents().size(), 2U * records * 64U);
  ::close(same);
}

TEST(Shared, S27_two_readers_of_one_description_get_every_byte_once) {
  expect_explored("vn-io-fault/shared-offset-read");
  std::string numbers;
  for (int i = 0; i < 2000; ++i) numbers += std::string(reinterpret_cast<const char*>(&i), sizeof i);
  const temporary_file f(numbers);
  std::vector<int> one;
  std::vector<int> two;
  const auto read = [&](std::vector<int>& into) {
    int n = 0;
    while (::read(f.fd(), &n, sizeof n) == sizeof n) into.push_back(n);
  };
  together([&] { read(one); }, [&] { read(two); });
  std::set<int> all(one.begin(), one.end());
  all.insert(two.begin(), two.end());
  EXPECT_EQ(one.size() + two.size(), 2000U);
  EXPECT_EQ(all.size(), 2000U);
}

TEST(Shared, S28_the_size_is_the_larger_of_two_ends) {
  expect_explored("vn-io-fault/extending-writes");
  const std::string bytes(page, 'x');
  for (int i = 0; i < 300; ++i) {
    const temporary_file f("");
    together(
        [&] {
          EXPECT_EQ(::pwrite(f.fd(), bytes.data(), page, static_cast<off_t>(2 * page)),
                    static_cast<ssize_t>(page));
        },
        [&] { EXPECT_EQ(::pwrite(f.fd(), bytes.data(), page, 0), static_cast<ssize_t>(page)); });
    ASSERT_EQ(f.contents().size(), 3 * page);
  }
}

TEST(Shared, S50_a_write_whose_source_is_cut_is_full_or_short) {
  expect_explored("vn-io-fault/source-shrinks");
  for (int i = 0; i < 200; ++i) {
    const temporary_file source(std::string(4 * page, 's'));
    const temporary_file f("");
    void* const m = ::mmap(nullptr, 4 * page, PROT_READ, MAP_SHARED, source.fd(), 0);
    ssize_t wrote = -1;
    together([&] { wrote = ::pwrite(f.fd(), m, 4 * page, 0); },
             [&] { EXPECT_EQ(::ftruncate(source.fd(), static_cast<off_t>(page)), 0); });
    ASSERT_GE(wrote, static_cast<ssize_t>(page)) << "the first page stays";
    ASSERT_EQ(f.contents().size(), static_cast<std::size_t>(wrote));
    ::munmap(m, 4 * page);
  }
}

TEST(Shared, S51_a_write_whose_buffer_is_unmapped_is_full_short_or_efault) {
  expect_explored("vn-io-fault/source-unmapped");
  for (int i = 0; i < 200; ++i) {
    const temporary_file f("");
    void* const m = ::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ssize_t wrote = -1;
    int error = 0;
    together(
        [&] {
          wrote = ::pwrite(f.fd(), m, 4 * page, 0);
          error = errno;
        },
        [&] { EXPECT_EQ(::munmap(m, 4 * page), 0); });
    if (wrote < 0) {
      ASSERT_EQ(error, EFAULT);
      wrote = 0;
    }
    ASSERT_EQ(f.contents().size(), static_cast<std::size_t>(wrote));
  }
}

// One thread alone has handlers, and is in an access, at a time.
sigjmp_buf back;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
void on_signal(int number) { siglongjmp(back, number); }

/// The byte, or minus the signal.
int touched(const volatile char* at) {
  if (const int number = sigsetjmp(back, 1); number != 0) return -number;
  return *at;
}

class Touch : public testing::Test {
 protected:
  Touch() {
    struct sigaction handler {};
    handler.sa_handler = on_signal;
    sigaction(SIGSEGV, &handler, &segv_);
    sigaction(SIGBUS, &handler, &bus_);
  }
  ~Touch() override {
    sigaction(SIGSEGV, &segv_, nullptr);
    sigaction(SIGBUS, &bus_, nullptr);
  }

 private:
  struct sigaction segv_ {};
  struct sigaction bus_ {};
};

TEST_F(Touch, S112_beside_munmap_is_the_value_or_sigsegv) {
  expect_explored("vn-io-fault/touch-unmap");
  const temporary_file f(std::string(page, 'a'));
  for (int i = 0; i < 500; ++i) {
    // A region of our own around it, so that nobody else maps there meanwhile.
    auto* const region =
        static_cast<char*>(::mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    void* const m = ::mmap(region + page, page, PROT_READ, MAP_SHARED | MAP_FIXED, f.fd(), 0);
    int seen = 0;
    together([&] { seen = touched(static_cast<const char*>(m)); },
             [&] {
               (void)::mmap(region + page, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
             });
    ASSERT_TRUE(seen == 'a' || seen == -SIGSEGV) << seen;
    ::munmap(region, 3 * page);
  }
}

TEST_F(Touch, S113_beside_truncation_is_the_value_zero_or_sigbus) {
  expect_explored("vn-io-fault/touch-truncate");
  const temporary_file f(std::string(page, 'a'));
  const auto* const m = static_cast<const char*>(::mmap(nullptr, page, PROT_READ, MAP_SHARED, f.fd(), 0));
  for (int i = 0; i < 500; ++i) {
    const std::string bytes(page, 'a');
    ASSERT_EQ(::pwrite(f.fd(), bytes.data(), page, 0), static_cast<ssize_t>(page));
    int seen = 0;
    together([&] { seen = touched(m); },
             [&] {
               EXPECT_EQ(::ftruncate(f.fd(), 0), 0);
               EXPECT_EQ(::ftruncate(f.fd(), static_cast<off_t>(page)), 0);
             });
    ASSERT_TRUE(seen == 'a' || seen == 0 || seen == -SIGBUS) << seen;
    ASSERT_EQ(touched(m), 0) << "an old byte came back";
  }
  ::munmap(const_cast<char*>(m), page);
}

}  // namespace
}  // namespace faultline

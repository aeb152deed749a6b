// SPDX-License-Identifier: MIT
// What a process and its children use, compared with getrusage() and with what the process did.
#include "base/process/posix_tree_usage.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

using namespace ddlrun;

namespace {

std::uint64_t own_cpu_ms() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec * 1000 + time.tv_usec / 1000);
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

void spin(std::uint64_t ms) {
  const std::uint64_t end = own_cpu_ms() + ms;
  while (own_cpu_ms() < end) {
  }
}

// A child that does something and then waits until the end of the test.
class Worker {
 public:
  explicit Worker(const std::function<void()>& work) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      work();
      [[maybe_unused]] const ssize_t n = ::write(ready[1], "", 1);
      while (true) ::pause();
    }
    char byte = 0;
    [[maybe_unused]] const ssize_t n = ::read(ready[0], &byte, 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Worker() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

}  // namespace

TEST_SUITE_BEGIN("base/process/posix_tree_usage");

TEST_CASE("CPU time of a process, and of a child that has ended") {
  const Worker worker([] {
    spin(150);
    if (::fork() == 0) {
      spin(150);
      ::_exit(0);
    }
    ::wait(nullptr);
  });
  const std::uint64_t used = read_tree_usage(worker.pid()).cpu_ms;
  CHECK(used >= 270);
  CHECK(used < 600);
}

TEST_CASE("memory and bytes") {
  constexpr std::size_t bytes = 64u << 20;
  const Worker worker([] {
    char* const block = new char[bytes];
    std::memset(block, 1, bytes);
    const int null = ::open("/dev/null", O_WRONLY);
    [[maybe_unused]] const ssize_t n = ::write(null, block, bytes);
  });
  const TreeUsage usage = read_tree_usage(worker.pid());
  CHECK(usage.resident_bytes > bytes);
  CHECK(usage.resident_bytes < 3 * bytes);  // AddressSanitizer of GCC 14 takes as much again
  CHECK(usage.io_bytes >= bytes);
  CHECK(usage.io_bytes < 2 * bytes);
}

TEST_CASE("a stopped process below") {
  const Worker worker([] {
    if (::fork() == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (true) ::raise(SIGSTOP);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  CHECK(read_tree_usage(worker.pid()).stopped);
  CHECK_FALSE(read_tree_usage(::getpid()).cpu_ms == 0);
}

TEST_CASE("a process that is not there") { CHECK(read_tree_usage(1 << 29) == TreeUsage()); }

TEST_CASE("/proc/net/dev: the interfaces that count") {
  const char* const text =
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "
      "colls "
      "carrier compressed\n"
      "    lo: 9999      10    0    0    0     0          0         0     9999      10    0    0    0     0  "
      "     "
      "0          0\n"
      "  eth0: 1000       7    0    0    0     0          0         0     2000       8    0    0    0     0  "
      "     "
      "0          0\n"
      "  ib0:30 1 0 0 0 0 0 0 40 1 0 0 0 0 0 0\n";
  const HostTraffic all = parse_traffic(text, [](const std::string& name) { return name != "lo"; });
  CHECK(all == HostTraffic{1030, 2040});
  CHECK(parse_traffic(text, [](const std::string& name) { return name == "ib0"; }) == HostTraffic{30, 40});
  CHECK(parse_traffic("nonsense\n a: 1\n", [](const std::string&) { return true; }) == HostTraffic());
}

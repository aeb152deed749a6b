// SPDX-License-Identifier: MIT
// In which files the code of real processes runs: one that computes, one that sleeps, one that does not
// exist.
#include "base/process/posix_code_samples.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ddlrun;
using std::chrono::milliseconds;

namespace {

// A child that runs `program` until the test ends.
class ForkedChild {
 public:
  explicit ForkedChild(void (*program)()) : pid_(::fork()) {
    if (pid_ != 0) return;
    while (true) program();
  }
  ForkedChild(const ForkedChild&) = delete;
  ForkedChild& operator=(const ForkedChild&) = delete;
  ~ForkedChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace

TEST_SUITE_BEGIN("base/process/posix_code_samples");

TEST_CASE("a process that computes is in its own file, one that sleeps in none") {
  const ForkedChild computes([] {
    for (volatile int i = 0; i < 1'000'000;) i = i + 1;
  });
  const ForkedChild sleeps([] { ::pause(); });
  CodeSamples samples;
  for (int i = 0; i < 50 && samples["unit_base"] < 20; ++i) {  // other programs may have the cores
    for (const auto& [name, count] : sample_code(computes.pid(), 50, milliseconds(100)))
      samples[name] += count;
  }
  if (samples.size() == 1 && samples["unit_base"] == 0) {
    MESSAGE("skipped: the kernel permits no samples here");
    return;
  }
  std::size_t all = 0;
  for (const auto& [name, count] : samples) all += count;
  CHECK(samples["unit_base"] >= 20);
  CHECK(samples["unit_base"] * 10 >= all * 9);
  CHECK(sample_code(sleeps.pid(), 50, milliseconds(50)).empty());
  CHECK(sample_code(1 << 30, 50, milliseconds(50)).empty());
}

TEST_SUITE_END();

// SPDX-License-Identifier: MIT
// Conversations and functions in children, with real processes.
#include "base/os/posix_system.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

using namespace ddlrun;
using std::chrono::milliseconds;

namespace {

std::shared_ptr<const std::string> text(std::string value) {
  return std::make_shared<const std::string>(std::move(value));
}

std::vector<ProcessResult> run_sessions(const std::vector<ExpectSession>& sessions, SessionWindow window = {},
                                        milliseconds limit = milliseconds(5000)) {
  PosixProcesses processes;
  ProcessLimits limits;
  limits.timeout = limit;
  std::vector<ProcessResult> results(sessions.size());
  processes.run_sessions(sessions, limits, window, [&](std::size_t index, ProcessResult&& result) {
    results[index] = std::move(result);
  });
  return results;
}

}  // namespace

TEST_SUITE_BEGIN("base/process/posix_expect_session");

TEST_CASE("a child is answered when it asks, and only then") {
  const Command command{"sh", "-c", "echo noise; echo give; read a; echo got $a; echo more; cat"};
  const auto results =
      run_sessions({{command, "", {{"more", text("rest\n"), true}, {"give", text("one\n"), false}}}});
  CHECK(results[0].ok());
  CHECK(results[0].out == "noise\ngive\ngot one\nmore\nrest\n");
  REQUIRE(results[0].replied.size() == 2);
  CHECK(results[0].replied[0].after == "give");
  CHECK(results[0].replied[1].after == "more");
}

TEST_CASE("a large input reaches the child whole") {
  std::string large(3u << 20, 'x');
  large += "end";
  const auto results = run_sessions(
      {{{"sh", "-c", "echo go; head -c 3145728 >/dev/null; cat"}, "", {{"go", text(large), true}}}});
  CHECK(results[0].ok());
  CHECK(results[0].out == "go\nend");
}

TEST_CASE("a child that ends without reading does not end us") {
  const auto results =
      run_sessions({{{"sh", "-c", "echo go; exit 3"}, "", {{"go", text(std::string(1u << 20, 'x')), true}}}});
  CHECK(results[0].exit_status == 3);
}

TEST_CASE("no more than per_target run at once at one target, others go on") {
  // Each holds a lock file of its target's count: more than one at once would see it.
  const std::string directory = "/tmp/ddlrun-converse-test." + std::to_string(::getpid());
  const auto holding = [&](const char* seconds) {
    std::vector<ExpectSession> sessions;
    for (int i = 0; i < 12; ++i) {
      const std::string target = i % 2 == 0 ? "even" : "odd";
      sessions.push_back(
          {{"sh", "-c",
            "if mkdir \"$0.$1\" 2>/dev/null; then sleep $2; rmdir \"$0.$1\"; echo alone; else echo crowd; fi",
            directory, target, seconds},
           target,
           {}});
    }
    return sessions;
  };
  const auto count_alone = [](const std::vector<ProcessResult>& results) {
    return std::count_if(results.begin(), results.end(), [](const auto& r) { return r.out == "alone\n"; });
  };
  CHECK(count_alone(run_sessions(holding("0.02"), {12, 1})) == 12);
  CHECK(count_alone(run_sessions(holding("1"), {12, 6})) < 12);  // the test itself can see a crowd
}

TEST_CASE("a child that ignores TERM is killed, and its silence costs no one else") {
  const auto results = run_sessions({{{"sh", "-c", "trap '' TERM; while :; do sleep 1; done"}, "", {}},
                                     {{"sh", "-c", "echo fine"}, "", {}}},
                                    {}, milliseconds(300));
  CHECK(results[0].timed_out);
  CHECK(results[0].exit_status == 124);
  CHECK(results[1].out == "fine\n");
}

TEST_CASE("silence ends a child, output that goes on does not") {
  PosixProcesses processes;
  ProcessLimits limits;
  limits.timeout = milliseconds(20'000);
  limits.silence = milliseconds(700);
  const std::vector<ExpectSession> sessions{
      {{"sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done"}, "", {}},
      {{"sh", "-c", "echo one; sleep 15"}, "", {}}};
  std::vector<ProcessResult> results(2);
  processes.run_sessions(sessions, limits, {}, [&](std::size_t index, ProcessResult&& result) {
    results[index] = std::move(result);
  });
  CHECK(!results[0].timed_out);
  CHECK(results[0].out.ends_with("8\n"));
  CHECK(results[1].timed_out);
  CHECK(results[1].out == "one\n");
}

TEST_CASE("no session starts when there are enough") {
  PosixProcesses processes;
  std::size_t ended = 0;
  const std::vector<ExpectSession> sessions(20, ExpectSession{{"true"}, "", {}});
  processes.run_sessions(sessions, {}, {2, 2, [&] { return ended >= 3; }},
                         [&](std::size_t, ProcessResult&&) { ++ended; });
  CHECK(ended >= 3);
  CHECK(ended <= 5);
}

TEST_CASE("a program that is not there") {
  const auto results = run_sessions({{{"ddlrun-no-such-program"}, "", {}}});
  CHECK(results[0].exit_status == 127);
  CHECK(results[0].start_error == "No such file or directory");
}

TEST_CASE("the start of a child costs no more when the program has much memory") {
  // Processor time: other programs on the machine do not count.
  const auto used = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::duration_cast<milliseconds>(std::chrono::seconds(time.tv_sec) +
                                                    std::chrono::nanoseconds(time.tv_nsec));
  };
  const auto fastest_start = [&] {
    auto fastest = milliseconds::max();
    for (int round = 0; round < 4; ++round) {
      const milliseconds begin = used();
      run_sessions(std::vector(20, ExpectSession{{"true"}, "", {}}), {1, 1});
      fastest = std::min(fastest, used() - begin);
    }
    return fastest;
  };
  const milliseconds small = fastest_start();
  const std::string memory(512u << 20, 'm');  // fork would copy 1 MiB of page tables at each start
  CHECK(memory.back() == 'm');
  CHECK(fastest_start() < 2 * small + milliseconds(20));
}

TEST_CASE("a child has the signals of a fresh program, and we keep ours") {
  const auto before = ::signal(SIGUSR1, [](int) {});
  sigset_t blocked, mask;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR2);
  ::sigprocmask(SIG_BLOCK, &blocked, &mask);
  const auto results = run_sessions({{{"cat", "/proc/self/status"}, "", {}}});
  for (const char* line : {"\nSigBlk:\t0000000000000000\n", "\nSigCgt:\t0000000000000000\n"})
    CHECK(results[0].out.find(line) != std::string::npos);
  sigset_t now;
  ::sigprocmask(SIG_SETMASK, &mask, &now);
  CHECK(::sigismember(&now, SIGUSR2) == 1);
  CHECK(::sigismember(&now, SIGUSR1) == 0);
  const bool is_ours = ::signal(SIGUSR1, before) != SIG_DFL;
  CHECK(is_ours);
}

TEST_CASE("functions in children: text, exception, crash and hang are one result each") {
  PosixProcesses processes;
  const std::vector<std::pair<ChildFunction, milliseconds>> functions{
      {[] { return std::string(300'000, 'a'); }, milliseconds(5000)},
      {[]() -> std::string { throw std::runtime_error("no such disk"); }, milliseconds(5000)},
      {[]() -> std::string {
         ::raise(SIGKILL);
         return "";
       },
       milliseconds(5000)},
      {[]() -> std::string {
         std::this_thread::sleep_for(std::chrono::seconds(60));
         return "";
       },
       milliseconds(100)},
  };
  const auto results = processes.run_functions(functions);
  CHECK(results[0].out.size() == 300'000);
  CHECK(results[1].err == "no such disk");
  CHECK(results[1].exit_status == 70);
  CHECK(results[2].signal == SIGKILL);
  CHECK(results[3].timed_out);
}

TEST_SUITE_END();

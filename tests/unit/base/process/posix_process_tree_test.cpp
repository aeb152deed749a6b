// SPDX-License-Identifier: MIT
// Everything below a process: found, sampled, ended; with real processes that try to get away.
#include "base/process/posix_process_tree.hpp"

#include "base/os/posix_system.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace ddlrun;
using std::chrono::milliseconds;

namespace {

bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 300; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

// A name for `sleep`'s argument that no one else uses.
std::string own_seconds(int offset) { return std::to_string(100'000 + ::getpid() % 100'000 * 10 + offset); }

int count_sleepers(const std::string& seconds) {
  PosixProcesses processes;
  const auto result =
      processes.run({"/bin/sh", "-c", "grep -lzx -- \"$0\" /proc/[0-9]*/cmdline 2>/dev/null | wc -l",
                     "[" + seconds.substr(0, 1) + "]" + seconds.substr(1)},
                    {});
  return std::stoi(result.out);
}

}  // namespace

TEST_SUITE_BEGIN("base/process/posix_process_tree");

TEST_CASE("the line of /proc/PID/stat") {
  struct Row {
    const char* text;
    pid_t pid;
    char state;
    const char* name;
    std::uint64_t start;
  };
  for (const Row& row :
       {Row{"812 (train) S 7 812 812 0 -1 4194560 1 0 0 0 30 4 0 0 20 0 1 0 5551 9 9\n", 812, 'S', "train",
            5551},
        Row{"9 (a) R (b c) T 7 812 812 0 -1 4194560 1 0 0 0 30 4 0 0 20 0 1 0 77 9\n", 9, 'T', "a)_R_(b_c",
            77},
        Row{"4294967308 (train) S 7 812 812 0 -1 4194560 1 0 0 0 30 4 0 0 20 0 1 0 5551 9 9\n", -1, '?', "",
            0},  // no pid: too large
        Row{"", -1, '?', "", 0}, Row{"812 (train) S 7", -1, '?', "", 0}, Row{"x (y) S", -1, '?', "", 0}}) {
    CAPTURE(row.text);
    const Process process = as_process(parse_process_stat(row.text));
    CHECK(process.id.pid == row.pid);
    CHECK(process.state == row.state);
    CHECK(process.id.start == row.start);
    if (row.pid > 0) CHECK(process.name == row.name);
  }
  CHECK(read_process(::getpid()).id.pid == ::getpid());
  CHECK(read_process(::getpid()).parent == ::getppid());
}

TEST_CASE("a signal reaches only the process that was meant") {
  PosixProcesses processes;
  const ProcessId self = read_process(::getpid()).id;
  ::signal(SIGUSR1, SIG_DFL);
  CHECK_FALSE(signal_process({self.pid, self.start + 1}, SIGUSR1));  // would end us
  CHECK_FALSE(signal_process({1 << 22, 1}, SIGUSR1));
  CHECK(signal_process(self, 0));
  CHECK(read_process(::getpid()).id == self);
}

TEST_CASE("nothing of a guarded run stays behind, whatever it does") {
  struct Row {
    const char* what;
    std::string script;  // $0 is the number of seconds
    int status;
  };
  const std::vector<Row> rows{
      {"leaves a child", "sleep $0 & exit 0", 0},
      {"leaves one in a session of its own", "setsid sleep $0 & exit 7", 7},
      {"leaves a daemon", "(setsid sh -c \"sleep $0 & sleep $0 & exit\" &); sleep 0.3; kill -9 $$", 137},
      {"deaf to TERM",
       "trap '' TERM; (setsid sh -c \"trap '' TERM; while :; do sleep $0; done\" &); sleep 0.3", 0},
      {"stopped", "sleep $0 & kill -STOP $!; exit 3", 3},
  };
  int offset = 0;
  for (const Row& row : rows) {
    CAPTURE(row.what);
    PosixProcesses processes;
    const std::string seconds = own_seconds(offset++);
    const auto result = processes.run_guarded({"/bin/sh", "-c", row.script, seconds}, {}, {});
    CHECK(result.exit_status == row.status);
    CHECK(count_sleepers(seconds) == 0);
  }
}

TEST_CASE("a guarded run: lines, environment, ticks, a signal from the tick, a missing program") {
  PosixProcesses processes;
  std::string lines;
  int ticks = 0;
  RunHooks hooks;
  hooks.on_stderr_line = [&](std::string_view line) { lines += std::string(line) + "|"; };
  std::vector<std::string> below;
  std::optional<std::uint64_t> written;
  hooks.tick = [&](const ChildView& child) {
    below = child.below;
    written = child.bytes_written;
    return ++ticks == 2 ? SIGTERM : 0;
  };
  const auto result =
      processes.run_guarded({"/bin/sh", "-c", "echo \"$X\" >&2; sleep 30 & wait"}, {{"X", "y z"}}, hooks);
  CHECK(lines == "y z\n|");
  CHECK(ticks == 2);
  CHECK(below == std::vector<std::string>{"sleep"});
  CHECK(written == 4);
  CHECK(result.signal == SIGTERM);
  CHECK(result.exit_status == 128 + SIGTERM);
  CHECK(processes.run_guarded({"/no/such/program"}, {}, {}).start_error == "No such file or directory");
}

TEST_CASE("a guardian that is killed ends the run, and the result has that as its cause") {
  PosixProcesses processes;
  RunHooks hooks;
  int cleared = 0, program = 0;
  hooks.after_all = [&](int child) { cleared = child; };
  hooks.tick = [&](const ChildView&) {
    const auto below = find_descendants(::getpid());
    if (below.size() < 2) return 0;
    program = below[1].id.pid;
    ::kill(below[0].id.pid, SIGKILL);
    return 0;
  };
  const ProcessResult result = processes.run_guarded({"/bin/sh", "-c", "sleep 30; true"}, {}, hooks);
  CHECK(result.guard_was_killed);
  CHECK(result.exit_status == 128 + SIGKILL);
  CHECK(cleared == program);
  CHECK(becomes_true([] { return find_descendants(::getpid()).empty(); }));
  CHECK_FALSE(processes.run_guarded({"/bin/true"}, {}, {}).guard_was_killed);
}

TEST_CASE("a tree's sample reports work, sleep and a stop") {
  PosixProcesses processes;
  RunHooks hooks;
  struct Row {
    std::string script;
    char state;
    bool works;
  };
  for (const Row& row : {Row{"sleep 30; true", 'S', false}, Row{"sleep 30 & kill -STOP $!; wait", 'T', false},
                         Row{"sh -c 'while :; do :; done'; true", 'R', true}}) {
    CAPTURE(row.script);
    TreeSnapshot first, second;
    int ticks = 0;
    hooks.tick = [&](const ChildView&) {
      const auto below = find_descendants(::getpid());  // the guardian, then the program
      if (below.size() < 2) return 0;
      ++ticks;
      if (ticks == 2) first = read_tree_snapshot(below[1].id.pid);
      if (ticks < 3) return 0;
      second = read_tree_snapshot(below[1].id.pid);
      return SIGKILL;
    };
    processes.run_guarded({"/bin/sh", "-c", row.script}, {}, hooks);
    CHECK(second.state == row.state);
    CHECK((second.cpu_ns != first.cpu_ns) == row.works);
    CHECK(becomes_true([] { return find_descendants(::getpid()).empty(); }));
  }
}

TEST_CASE("a tree's sample counts calls, and names the program that a shell waits for, not a fork") {
  PosixProcesses processes;
  RunHooks hooks;
  TreeSnapshot sample;
  hooks.tick = [&](const ChildView&) {
    const auto below =
        find_descendants(::getpid());  // the guardian, the shell, sleep and a fork of the shell
    if (below.size() < 4) return 0;
    sample = read_tree_snapshot(below[1].id.pid);
    return sample.name == "sleep" ? SIGKILL : 0;
  };
  processes.run_guarded({"/bin/sh", "-c", "read x < /proc/self/stat; sleep 30 | (read x; true); true"}, {},
                        hooks);
  CHECK(sample.name == "sleep");
  CHECK(sample.io.reads > 0);
  CHECK(sample.io.bytes >= sample.io.calls());
  CHECK(sample.io_of.size() == 3);  // the shell, its fork and sleep
  CHECK(sample.io_of.contains(sample.pid));
  CHECK(sample.main_ns > 0);
  CHECK(sample.main_ns <= sample.cpu_ns);
  CHECK_FALSE(sample.has_gpu);
}

TEST_SUITE_END();

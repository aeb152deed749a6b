// SPDX-License-Identifier: MIT
#include "base/os/posix_system.hpp"
#include "base/text/error.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/process/processes");

TEST_CASE("a captured child reports how it ended") {
  PosixProcesses processes;
  const auto sh = [&](const char* script, ProcessLimits limits = {}) {
    return processes.run({"/bin/sh", "-c", script}, limits);
  };
  CHECK(sh("echo out; echo err >&2").out == "out\n");
  CHECK(sh("echo out; echo err >&2").err == "err\n");
  CHECK(sh("exit 7").exit_status == 7);
  CHECK(sh("kill -9 $$").signal == SIGKILL);
  CHECK(sh("kill -9 $$").exit_status == 128 + SIGKILL);
  CHECK(sh("read x; echo \"[$x]\"").out == "[]\n");  // stdin is empty, not ours
  const ProcessResult missing = processes.run({"/no/such/program"}, {});
  CHECK(missing.start_error == "No such file or directory");
  CHECK_FALSE(missing.ok());
}

TEST_CASE("limits hold: time ends the whole group, memory and output are bounded") {
  PosixProcesses processes;
  ProcessLimits limits;
  limits.timeout = std::chrono::milliseconds(200);
  const auto before = std::chrono::steady_clock::now();
  const auto result = processes.run({"/bin/sh", "-c", "sleep 60 & sleep 60"}, limits);
  CHECK(result.timed_out);
  CHECK(result.exit_status == 124);
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(5));

  const auto stubborn = processes.run({"/bin/sh", "-c", "trap '' TERM; while :; do :; done"}, limits);
  CHECK(stubborn.timed_out);

  limits = {};
  limits.output_bytes = 1000;
  const auto loud = processes.run({"/bin/sh", "-c", "head -c 100000 /dev/zero"}, limits);
  CHECK(loud.out.size() == 1000);
  CHECK(loud.truncated);
  CHECK(loud.exit_status == 0);
}

TEST_CASE("many children run side by side, results in order") {
  PosixProcesses processes;
  std::vector<Command> commands;
  for (int i = 0; i < 40; ++i) commands.push_back({"/bin/sh", "-c", "sleep 0.2; echo " + std::to_string(i)});
  const auto before = std::chrono::steady_clock::now();
  const auto results = processes.run_many(commands, {}, 20);
  const auto elapsed = std::chrono::steady_clock::now() - before;
  for (int i = 0; i < 40; ++i) CHECK(results[static_cast<std::size_t>(i)].out == std::to_string(i) + "\n");
  CHECK(elapsed < std::chrono::seconds(6));  // one after the other takes 8 s and more, side by side 0.4
}

TEST_CASE("a child in the foreground gets our signals, its stderr comes in lines") {
  PosixProcesses processes;
  std::vector<std::string> lines;
  RunHooks hooks;
  hooks.on_stderr_line = [&](std::string_view line) {
    lines.emplace_back(line);
    if (line == "ready\n") ::kill(::getpid(), SIGTERM);  // to us: it must arrive there
  };
  const auto result = processes.run_guarded(
      {"/bin/sh", "-c", "trap 'echo got >&2; exit 3' TERM; echo ready >&2; while :; do sleep 0.05; done"},
      {{"X", "y z"}}, hooks);
  CHECK(result.exit_status == 3);
  CHECK(lines == std::vector<std::string>{"ready\n", "got\n"});
  lines.clear();
  processes.run_guarded({"/bin/sh", "-c", "printf '%s\\nrest' \"$X\" >&2"}, {{"X", "y z"}}, hooks);
  CHECK(lines == std::vector<std::string>{"y z\n", "rest"});
}

TEST_CASE("a file is written whole or not at all") {
  PosixFiles files;
  const std::string directory = files.make_directory("/tmp/ddlrun-test-");
  const std::string path = directory + "/f";
  files.write(path, "one");
  files.write(path, std::string("two\0x", 5));
  CHECK(files.read(path, 100) == std::string("two\0x", 5));
  CHECK_THROWS_AS(files.read(path, 4), Error);
  CHECK_THROWS_AS(files.read(directory + "/none", 4), Error);
  CHECK_THROWS_AS(files.write(directory + "/no/such/directory/f", "x"), Error);
  files.make_directories(directory + "/a/b");
  CHECK(files.exists(directory + "/a/b"));
  PosixProcesses().run({"rm", "-r", directory}, {});
}

TEST_SUITE_END();

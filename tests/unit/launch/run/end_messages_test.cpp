// SPDX-License-Identifier: MIT
#include "launch/run/end_messages.hpp"

#include "launch/run/last_lines.hpp"

#include <doctest/doctest.h>
#include <signal.h>

using namespace ddlrun;
using namespace ddlrun::launch;

TEST_SUITE_BEGIN("launch/run/end_messages");

TEST_CASE("a guard that was killed, and a launcher that was or that crashed") {
  ProcessResult result;
  result.signal = SIGSEGV;
  Message message = killed_launcher_message(result, "mpirun");
  CHECK(message.what.starts_with("mpirun itself was ended by signal 11 (SIGSEGV)"));
  CHECK(message.hint.find("free -m") == 0);
  result.signal = SIGKILL;
  CHECK(killed_launcher_message(result, "mpirun").hint != message.hint);
  result.guard_was_killed = true;
  message = killed_launcher_message(result, "mpirun");
  CHECK(message.where == "ddlrun-guard");
}

TEST_CASE("a host that was not reached: its own words, and which host to examine") {
  DaemonLoss lost;
  CHECK(unreached_message("mpiexec", {"n1", "n2"}, lost).hint ==
        "ddlrun doctor 'n[1-2]'; then the same again");
  lost.refusal = "n2: Permission denied (publickey).";
  lost.refused = "n2";
  const Message message = unreached_message("mpiexec", {"n1", "n2"}, lost);
  CHECK(message.what == "mpiexec did not reach a host: n2: Permission denied (publickey).");
  CHECK(message.hint == "ddlrun doctor n2; then the same again");
}

TEST_CASE("last lines: of each rank the newest ten, without blank ones") {
  LastLines last;
  for (int i = 0; i < 12; ++i) last.take_of(3, "line " + std::to_string(i) + "\n");
  last.take_of(3, "\n");
  CHECK(last.lines_of(3).size() == 10);
  CHECK(last.lines_of(3).front() == "line 2");
  CHECK(last.lines_of(3).back() == "line 11");
  CHECK(last.lines_of(4).empty());
  CHECK(last.empty());
}

TEST_SUITE_END();

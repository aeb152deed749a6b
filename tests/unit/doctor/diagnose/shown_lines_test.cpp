// SPDX-License-Identifier: MIT
#include "doctor/diagnose/shown_lines.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/shown_lines");

namespace {

// PyTorch 1.13 with Gloo under Open MPI 4.1.4; rank 2 called sys.exit(3).
std::string closed_by_peer(const std::string& lead) {
  std::string text;
  for (const char* line :
       {"Traceback (most recent call last):", "  File \"/w/exit3.py\", line 31, in <module>",
        "    loss.backward(); opt.step()", "    ^^^^^^^^^^^^^^^",
        "  File \"/usr/lib/python3/dist-packages/torch/_tensor.py\", line 488, in backward",
        "    torch.autograd.backward(",
        "  File \"/usr/lib/python3/dist-packages/torch/autograd/__init__.py\", line 197, in backward",
        "    Variable._execution_engine.run_backward(  # Calls into the C++ engine to run the backward pass",
        "RuntimeError: [./gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.83.1.4]:52368"})
    text += lead + line + "\n";
  return text;
}

std::string mpirun_end(int status) {
  return "--------------------------------------------------------------------------\n"
         "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
         "the job to be terminated. The first process to do so was:\n\n  Process name: [[51407,1],2]\n  Exit "
         "code:    " +
         std::to_string(status) +
         "\n--------------------------------------------------------------------------\n";
}

}  // namespace

TEST_CASE("of a stack of Python the exception is shown, and that a rank ended by itself") {
  const std::string log = "epoch 3 loss 6.87739\n" + closed_by_peer("") + closed_by_peer("");
  const Diagnosis found = diagnose_text(log + mpirun_end(3), {3, LogSource::mpirun});
  CHECK(found.verdict == Verdict::unknown);
  CHECK(found.only_consequences);
  REQUIRE_FALSE(found.salient_lines.empty());
  for (const LogLine& line : found.salient_lines) {
    CAPTURE(line.text);
    CHECK((line.text.starts_with("RuntimeError: ") || line.text.starts_with("epoch ")));
  }
  const std::string text = render_diagnosis(found);
  CHECK(text.find("rank 2 ended with exit status 3 by itself, without an error of its own") !=
        std::string::npos);
  CHECK(text.find("errors of the other ranks, which are consequences:\n") != std::string::npos);
  // Words of the rank itself come first.
  const Diagnosis own = diagnose_text("ERROR: the configuration lacks a key: lr\n" + log + mpirun_end(3),
                                      {3, LogSource::mpirun});
  REQUIRE(own.cause);
  CHECK(own.cause->title.find("lacks a key") != std::string::npos);
  // Python's own status after an exception: perhaps the rank that printed one.
  CHECK_FALSE(diagnose_text(log + mpirun_end(1), {1, LogSource::mpirun}).only_consequences);
  const Diagnosis tagged =
      diagnose_text(closed_by_peer("[1,0]<stderr>:") + closed_by_peer("[1,1]<stderr>:") + mpirun_end(3),
                    {3, LogSource::mpirun});
  const auto names_rank = [&](const std::string& lead) {
    return std::ranges::any_of(tagged.salient_lines,
                               [&](const LogLine& line) { return line.text.starts_with(lead); });
  };
  CHECK(names_rank("rank 0: RuntimeError: "));
  CHECK(names_rank("rank 1: RuntimeError: "));
}

TEST_CASE("what ddlrun itself quoted is no evidence") {
  const std::string end =
      "ddlrun: rank 2 on node4 failed first: it exited with status 3\n"
      "ddlrun: the job ended with status 3; run directory /w/run.15\n";
  const std::string quoted =
      "ddlrun: no known failure matches:\nthe most likely error lines:\n  | Traceback (most recent call "
      "last):\n"
      "  | RuntimeError: CUDA error: out of memory\n"
      "ddlrun: if they do not show why, check the hosts: ddlrun doctor node4\n";
  const std::string diagnosed =
      "ddlrun: what the output says:\ncause: a host of the rankfile\nevidence:\n"
      "  stderr:4: ModuleNotFoundError: No module named 'x'\n";
  for (const std::string& log : {end + quoted, diagnosed + end}) {
    CAPTURE(log);
    const Diagnosis found = diagnose_text("epoch 1\n" + log, {3, LogSource::unknown});
    CHECK_FALSE(found.cause);
    for (const LogLine& line : found.salient_lines) CHECK(line.text.find("| ") == std::string::npos);
  }
  // What follows such a report counts again.
  const Diagnosis next =
      diagnose_text(diagnosed + end + "RuntimeError: CUDA error: out of memory\n", {1, LogSource::unknown});
  CHECK(next.cause);
}

TEST_CASE("what shells, ssh, modules and logins print is no likely line, and no cause") {
  const std::string noise =
      "Warning: Permanently added 'node2' (ED25519) to the list of known hosts.\n"
      "Loading cuda/12.1\n  Loading requirement: gcc/12.2.0\n"
      "Lmod is automatically replacing \"gcc/11\" with \"gcc/12\".\n"
      "* Welcome. Unauthorized access is prohibited. *\n"
      "/etc/profile.d/lang.sh: line 19: warning: setlocale: LC_CTYPE: cannot change locale (C.UTF-8): No "
      "such "
      "file or directory\n"
      "bash: cannot set terminal process group (-1): Inappropriate ioctl for device\n"
      "bash: no job control in this shell\n"
      "bash: initialize_job_control: setpgid: Operation not permitted\n"
      "[h1:7] plm:rsh: Warning: setpgid(9,9) failed in parent with errno=Permission denied(13)\n"
      "tput: No value for $TERM and no -T specified\n"
      "ssh: setsockopt TCP_NODELAY: Operation not permitted\n"
      "mesg: ttyname failed: Inappropriate ioctl for device\n";
  const Diagnosis alone = diagnose_text(noise, {3, LogSource::unknown});
  CHECK_FALSE(alone.cause);
  CHECK(exit_code(diagnose_text(noise)) == 0);
  const std::string own = "the mesh of the solver is inverted (error)";
  const Diagnosis found = diagnose_text(noise + own + "\n", {3, LogSource::unknown});
  REQUIRE(found.salient_lines.size() == 1);
  CHECK(found.salient_lines.front().text == own);
  // A program's own words stay.
  for (const char* line :
       {"Loading data/train.bin failed", "solve: cannot set the terminal: Inappropriate ioctl"}) {
    CAPTURE(line);
    const Diagnosis program = diagnose_text(std::string(line) + "\n", {3, LogSource::unknown});
    CHECK((program.cause || !program.salient_lines.empty()));
  }
}

TEST_CASE("what doctor reports of a host is no output of the program") {
  // As the script of `ddlrun submit` prints it where a check fails.
  const std::string report =
      "fail  SLURM-02  commands of Slurm\n  at    n1\n"
      "  is    sinfo: fatal: Could not establish a configuration source\n"
      "  why   cannot connect to server pbs1 (errno=15034)\n  try   there:\n          sinfo\n";
  const std::string end = "ddlrun job: a check of this host failed: nothing is started\n";
  const Diagnosis diagnosis = diagnose_text(report + end);
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->id == "O9");
  for (const Finding& finding : diagnosis.also_seen) {
    CHECK(finding.id != "G22");
    CHECK(finding.id != "F33");
  }
  // The same words of a program are a cause.
  const Diagnosis own = diagnose_text("sinfo: fatal: Could not establish a configuration source\n");
  REQUIRE(own.cause);
  CHECK(own.cause->id == "G22");
}

TEST_SUITE_END();

// SPDX-License-Identifier: MIT
// Remedies fit the program and the surroundings that the log or the job shows.
#include "doctor/diagnose/run_traits.hpp"

#include "doctor/diagnose/job_diagnosis.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"
#include "doctor/diagnose/words.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

namespace {

using Texts = std::vector<std::string>;

// The number of the first remedy with this text; the number of remedies where none has it.
std::size_t place_of_text(const Diagnosis& diagnosis, std::string_view text) {
  REQUIRE(diagnosis.cause);
  const Texts& remedies = diagnosis.cause->remedies;
  const auto found =
      std::ranges::find_if(remedies, [&](const std::string& remedy) { return has(remedy, text); });
  return static_cast<std::size_t>(found - remedies.begin());
}

bool advises(const Diagnosis& diagnosis, std::string_view text) {
  return place_of_text(diagnosis, text) < diagnosis.cause->remedies.size();
}

Diagnosis of_program(Diagnosis diagnosis, const Texts& program) {
  JobContext job;
  job.program = program;
  return fit_to_job(std::move(diagnosis), job, *builtin_signatures());
}

const std::string segfault = "mpirun noticed that process rank 1 with PID 0 on node h1 exited on signal 11\n";
const std::string thread_left = "terminate called without an active exception\n";

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/run_traits");

TEST_CASE("the stack of a crash: gdb under the launcher, Python's own handler first for Python") {
  const Diagnosis unknown = diagnose_text(segfault);
  CHECK(unknown.cause->id == "E2");
  CHECK(place_of_text(unknown, "-- gdb -batch -return-child-result ") == 0);
  CHECK(advises(unknown, "PYTHONFAULTHANDLER=1"));
  for (const char* removed : {"coredumpctl", "ulimit -c"}) CHECK_FALSE(advises(unknown, removed));

  const Diagnosis compiled = of_program(unknown, {"./solve"});
  CHECK(advises(compiled, "--args ./solve ..."));
  CHECK_FALSE(advises(compiled, "PYTHONFAULTHANDLER"));
  const Diagnosis script = of_program(unknown, {"python3", "train.py"});
  CHECK(place_of_text(script, "PYTHONFAULTHANDLER=1") == 0);
  CHECK(advises(script, "--args python3 train.py ..."));
  CHECK(advises(of_program(unknown, {"bash", "run.sh"}), "PYTHONFAULTHANDLER"));
  // A compiled program that contains Python: the log counts.
  const Diagnosis embedded = diagnose_text("Fatal Python error: Aborted\n" + segfault);
  CHECK(advises(of_program(embedded, {"./solve"}), "PYTHONFAULTHANDLER"));
}

TEST_CASE("an aborted thread: advice for C++ is for programs without Python") {
  const Diagnosis unknown = diagnose_text(thread_left);
  CHECK(unknown.cause->id == "R110");
  CHECK(advises(unknown, "join() each thread"));
  CHECK_FALSE(advises(unknown, "TORCH_SHOW_CPP_STACKTRACES"));
  const Diagnosis python = of_program(unknown, {"python3", "train.py"});
  CHECK(place_of_text(python, "PYTHONFAULTHANDLER=1") == 0);
  CHECK_FALSE(advises(python, "join() each thread"));
  CHECK(place_of_text(of_program(unknown, {"./solve"}), "join() each thread") == 0);
  const Diagnosis torch = diagnose_text(
      "/env/lib/python3.11/site-packages/torch/cuda/__init__.py:1: UserWarning: x\n" + thread_left);
  CHECK(place_of_text(torch, "PYTHONFAULTHANDLER=1") == 0);
  CHECK(advises(torch, "TORCH_SHOW_CPP_STACKTRACES=1"));
  CHECK(advises(torch, "destroy_process_group()"));
  CHECK_FALSE(advises(torch, "join() each thread"));
}

TEST_CASE("a variable of Slurm is for logs of Slurm, a container's command is first where one is named") {
  CHECK_FALSE(advises(diagnose_text(segfault), "SLURM_PMIX_FENCE"));
  CHECK(advises(diagnose_text("srun: error: h1: task 1: Segmentation fault\n"), "SLURM_PMIX_FENCE"));

  const std::string full =
      "UserWarning: shm_open\nERROR: Unexpected bus error encountered in worker. This "
      "might be caused by insufficient shared memory (shm).\n";
  CHECK(place_of_text(diagnose_text("started in a container\n" + full), "docker run ") == 0);
  const Diagnosis plain = diagnose_text(full);
  CHECK(place_of_text(plain, "docker run ") + 1 == plain.cause->remedies.size());
}

TEST_CASE("a job that launch ended at a stall: the status says so, and nothing advises it again") {
  const std::string note =
      "ddlrun: note: all 2 ranks have used almost no CPU time and moved no bytes for 2 s: "
      "process 7 (python3) of rank 0 on h1 sleeps in hrtimer_nanosleep\n";
  const RunStatus limit{124, LogSource::mpirun};
  const Diagnosis ended = diagnose_text(note + "ddlrun: the job is ended, as --on-stall end asks\n", limit);
  CHECK(ended.status_meaning == "the job stalled, and --on-stall end ended it");
  CHECK(ended.cause->id == "O8");
  CHECK_FALSE(advises(ended, "--on-stall end"));
  const Diagnosis waited = diagnose_text(note, limit);
  CHECK(waited.status_meaning == "a time limit was reached, or --on-stall end ended a job that stalled");
  CHECK(advises(waited, "--on-stall end"));
}

TEST_CASE("a remedy stays where all are for other runs") {
  Texts only{"join() each thread   # of compiled code"};
  RunTraits python;
  python.is_python = true;
  fit_to_traits(only, python);
  CHECK(only == Texts{"join() each thread   # of compiled code"});
}

TEST_CASE("gdb reports a crash: the rank's own line and its function are the cause") {
  const Diagnosis found = diagnose_text(
      "[1] Program received signal SIGSEGV, Segmentation fault.\n"
      "[1] 0x0000555555555155 in sum_row (p=0x0) at segv.c:3\n"
      "[1] 3\tstatic int sum_row(int* p){ return p[3]; }\n"
      "[1] #0  0x0000555555555155 in sum_row (p=0x0) at segv.c:3\n"
      "[1] #1  0x00005555555551ae in main () at segv.c:4\n"
      "[0] [Inferior 1 (process 31608) exited normally]\n"
      "[0] No stack.\n",
      {255, LogSource::mpirun});
  REQUIRE(found.cause);
  CHECK(found.cause->id == "E2");
  CHECK(found.cause->title == "a rank crashed (SIGSEGV) in sum_row (segv.c:3)");
  CHECK(found.cause->place.rank == 1);
  CHECK_FALSE(advises(found, "gdb -batch"));
}

TEST_SUITE_END();

// SPDX-License-Identifier: MIT
#include "schedulers/job/scheduler.hpp"
#include "tests/unit/schedulers/recorded.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ddlrun;
using namespace ddlrun::schedulers;
using tests::answered;

namespace {

// What `qstat --version` says: OpenPBS, Torque, Slurm's wrapper (its usage), Grid Engine.
const ProcessResult kOpenPbs = answered("pbs_version = 23.06.06\n");
const ProcessResult kTorque =
    answered("", 0, "Version: 6.1.2\nCommit: 661e092552de43a785c15d39a3634a541d86898e\n");
const ProcessResult kWrapper =
    answered("", 2, "Unknown option: version\nUsage:\n    qstat [-f] [-a|-i|-n|-r]\n");
const ProcessResult kGridEngine = answered("", 1, "error: unknown option \"--version\"\nSGE 8.1.9\n");

}  // namespace

TEST_SUITE_BEGIN("schedulers/job/detect");

TEST_CASE("the scheduler of a machine") {
  struct Row {
    std::string what;
    std::set<std::string> tools;
    EnvVars environment;
    ProcessResult qstat;
    int slurm_answers, pbs_answers;  // exit statuses
    std::optional<SchedulerKind> kind;
  };
  const std::set<std::string> pbs = {"qsub", "qstat"}, both = {"qsub", "qstat", "sbatch"};
  const Row rows[] = {
      {"nothing", {}, {}, {}, 0, 0, {}},
      {"Slurm", {"sbatch"}, {}, {}, 0, 0, SchedulerKind::slurm},
      {"Slurm and its wrappers", both, {}, kWrapper, 0, 0, SchedulerKind::slurm},
      {"OpenPBS", pbs, {}, kOpenPbs, 0, 0, SchedulerKind::pbs},
      {"Torque", pbs, {}, kTorque, 0, 0, SchedulerKind::torque},
      {"Grid Engine", pbs, {}, kGridEngine, 0, 0, {}},
      {"both, Slurm answers", both, {}, kOpenPbs, 0, 255, SchedulerKind::slurm},
      {"both, PBS answers", both, {}, kOpenPbs, 1, 0, SchedulerKind::pbs},
      {"both, none answers", both, {}, kOpenPbs, 1, 255, SchedulerKind::slurm},
      {"both, in a job of PBS", both, {{"PBS_JOBID", "0.minsky1"}}, kOpenPbs, 0, 0, SchedulerKind::pbs},
      {"both, in a job of Slurm", both, {{"SLURM_JOB_ID", "3"}}, kOpenPbs, 1, 0, SchedulerKind::slurm},
      {"Slurm with its PBS plug-in",
       both,
       {{"SLURM_JOB_ID", "3"}, {"PBS_JOBID", "3"}},
       kWrapper,
       0,
       0,
       SchedulerKind::slurm},
      {"qsub without qstat", {"qsub"}, {}, {}, 0, 0, {}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    const tests::FakeAsk ask{{{"qstat --version", row.qstat},
                              {"scontrol ping", answered("", row.slurm_answers)},
                              {"qstat -B", answered("", row.pbs_answers)}}};
    const auto found = [&](const std::string& tool) { return row.tools.contains(tool); };
    CHECK(detect_scheduler(found, row.environment, ask) == row.kind);
  }
}

TEST_CASE("each kind has its scheduler") {
  CHECK(make_scheduler(SchedulerKind::slurm)->name() == "slurm");
  CHECK(make_scheduler(SchedulerKind::pbs)->name() == "pbs");
  CHECK(make_scheduler(SchedulerKind::torque)->name() == "torque");
  CHECK(make_scheduler(SchedulerKind::local)->name() == "local");
}

TEST_CASE("variables of the shell that would override the script") {
  const EnvVars shell = {
      {"PATH", "/bin"},           {"SBATCH_PARTITION", "debug"}, {"SLURM_CONF", "/etc/x"},
      {"SLURM_JOB_ID", "3"},      {"SLURM_MEM_PER_CPU", "100"},  {"SLURMX", "1"},
      {"SRUN_CPUS_PER_TASK", ""}, {"PBS_DPREFIX", "#XX"},        {"PBS_DEFAULT", "server"}};
  using Names = std::vector<std::string>;
  CHECK(make_scheduler(SchedulerKind::slurm)->overriding_variables(shell) ==
        Names{"SBATCH_PARTITION", "SLURM_JOB_ID", "SLURM_MEM_PER_CPU", "SRUN_CPUS_PER_TASK"});
  CHECK(make_scheduler(SchedulerKind::pbs)->overriding_variables(shell) == Names{"PBS_DPREFIX"});
  CHECK(make_scheduler(SchedulerKind::torque)->overriding_variables(shell) ==
        Names{"PBS_DPREFIX", "SBATCH_PARTITION", "SLURM_JOB_ID", "SLURM_MEM_PER_CPU"});
  CHECK(make_scheduler(SchedulerKind::local)->overriding_variables(shell).empty());
}

TEST_SUITE_END();

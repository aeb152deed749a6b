// SPDX-License-Identifier: MIT
#include "doctor/diagnose/job_diagnosis.hpp"

#include "doctor/diagnose/signatures_yaml.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

namespace {

Diagnosis with_remedies(std::vector<std::string> remedies, SignatureClass kind = SignatureClass::primary) {
  Diagnosis diagnosis;
  diagnosis.cause.emplace();
  diagnosis.cause->kind = kind;
  diagnosis.cause->title = "of the log";
  diagnosis.cause->remedies = std::move(remedies);
  return diagnosis;
}

std::vector<std::string> fitted(std::vector<std::string> remedies, const JobContext& job) {
  return fit_to_job(with_remedies(std::move(remedies)), job, *builtin_signatures()).cause->remedies;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/job_diagnosis");

TEST_CASE("remedies name the job, and no command of a scheduler that it does not have") {
  const Texts both{"qstat -xf JOB; sacct -j JOB -o State   # what the scheduler knows",
                   "scontrol show job JOB", "cat $PBS_NODEFILE; scontrol show hostnames   # the names",
                   "mpirun --mca a b ..."};
  JobContext job{LogSource::pbs, "12[3].pbs01", "", "", false};
  CHECK(fitted(both, job) == Texts{"qstat -xf '12[3].pbs01'   # what the scheduler knows",
                                   "cat $PBS_NODEFILE   # the names", "mpirun --mca a b ..."});
  job = {LogSource::slurm, "12", "", "", false};
  CHECK(fitted(both, job) == Texts{"sacct -j 12 -o State   # what the scheduler knows",
                                   "scontrol show job 12", "scontrol show hostnames   # the names",
                                   "mpirun --mca a b ..."});
  CHECK(fitted(both, {}) == both);
  // At least one remedy stays.
  job.scheduler = LogSource::pbs;
  CHECK(fitted({"sacct -j JOB"}, job) == Texts{"sacct -j JOB"});
  CHECK(fitted({"MY_JOB=1 ./x   # JOB: a number"}, job) == Texts{"MY_JOB=1 ./x   # JOB: a number"});
}

TEST_CASE("the rank on each line is an option of submit") {
  const JobContext job{LogSource::pbs, "1.pbs01", "ddlrun submit", "", false};
  for (const char* typed : {"mpirun --tag-output", "srun --label", "ddlrun launch --rank-output prefix"}) {
    CHECK(fitted({std::string(typed) + " ...   # which rank"}, job) ==
          Texts{"ddlrun submit --rank-output prefix ...   # which rank"});
    CHECK(fitted({"read the last lines of rank 1: " + std::string(typed) + " ..."}, job) ==
          Texts{"read the last lines of rank 1: ddlrun submit --rank-output prefix ..."});
  }
  Diagnosis unknown;
  unknown.verdict = Verdict::unknown;
  const std::string text = render_diagnosis(fit_to_job(unknown, job, *builtin_signatures()));
  CHECK(text.find("mpirun") == std::string::npos);
  CHECK(text.find("ddlrun submit --rank-output prefix") != std::string::npos);
}

TEST_CASE("in a job of submit a remedy has its options, its program and no advice that it follows already") {
  JobContext job{LogSource::slurm, "7", "ddlrun submit", "", false, true, {"./t", "-x"}};
  CHECK(fitted({"ddlrun launch --stall-timeout 60 --on-stall end ...", "PROGRAM --help",
                "qsub -l walltime=HH:MM:SS ...   # more", "ddlrun launch --verify ..."},
               job) ==
        Texts{"./t --help", "ddlrun submit --walltime HH:MM:SS ...   # more", "ddlrun submit --verify ..."});
  job.ends_stalls = false;
  CHECK(fitted({"ddlrun launch --stall-timeout 60 --on-stall end ..."}, job) ==
        Texts{"ddlrun submit --stall-timeout 60 --on-stall end ..."});
}

TEST_CASE("the scheduler's report of an end is the cause where the log has none, or where it is certain") {
  JobContext job{LogSource::pbs, "7.pbs01", "", "was cancelled: terminated by ddl@node1", true};
  const auto cause_of = [&](SignatureClass kind) {
    return fit_to_job(with_remedies({"x"}, kind), job, *builtin_signatures()).cause->title;
  };
  CHECK(cause_of(SignatureClass::primary) == "the job was cancelled: terminated by ddl@node1");
  job.is_certain = false;
  CHECK(cause_of(SignatureClass::primary) == "of the log");
  CHECK(cause_of(SignatureClass::fact) == "the job was cancelled: terminated by ddl@node1");
  Diagnosis empty;
  empty.salient_lines = {{"log", 1, "site: any"}};
  empty = fit_to_job(empty, job, *builtin_signatures());
  REQUIRE(empty.cause);
  CHECK(empty.cause->id == scheduler_end_id);
  CHECK(empty.cause->remedies.back() == "ddlrun resubmit 7.pbs01   # the same job again");
  CHECK(empty.salient_lines.empty());
  CHECK(exit_code(empty) == 1);
}

TEST_CASE("remedies that name another scheduler's tools are left out") {
  const JobContext pbs{LogSource::pbs, "", "", "", false}, slurm{LogSource::slurm, "", "", "", false};
  const auto kept = [](const JobContext& job, const std::string& remedy) {
    const auto left = fitted({"mend it", remedy}, job);
    return left.size() == 2 ? left[1] : std::string();
  };
  for (const char* remedy : {"export SLURM_PMIX_FENCE=ring   # if it is now and then", "srun python3 PROGRAM",
                             "as many GPUs as the program wants (--gres=gpu:N, -n N), or lower its option",
                             "time srun hostname; scontrol show job JOB", "#SBATCH --mem=64G"}) {
    CAPTURE(remedy);
    CHECK(kept(pbs, remedy).empty());
    CHECK(kept(slurm, remedy) == remedy);
  }
  for (const char* remedy :
       {"export PBS_TMPDIR=/tmp", "add select=2:mem=64gb", "qsub -l walltime=HH:MM:SS ..."}) {
    CAPTURE(remedy);
    CHECK(kept(slurm, remedy).empty());
    CHECK(kept(pbs, remedy) == remedy);
  }
  // For both, for neither, and words that only look so.
  for (const char* remedy : {"#SBATCH --mem=64G, or #PBS -l select=1:mem=64gb", "ulimit -c unlimited",
                             "python3 mysrun.py --no-gres-check", "pip install seff-tools"}) {
    CAPTURE(remedy);
    CHECK(kept(pbs, remedy) == remedy);
    CHECK(kept(slurm, remedy) == remedy);
  }
  CHECK(kept(pbs, "nvidia-smi   # in the job: srun nvidia-smi") == "nvidia-smi");
}

TEST_CASE("a failure of all ranks is at none of them alone") {
  const std::string missing =
      "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK "
      "expected, "
      "but not set\n";
  const std::string log =
      "[1] " + missing + "[0] " + missing + "ddlrun: rank 0 on node3 failed first: it exited with status 1\n";
  RunStatus end{1, LogSource::mpirun};
  end.ranks = 2;
  const std::string report = render_diagnosis(diagnose_text(log, end));
  CAPTURE(report);
  CHECK(report.find("[T65]\n") != std::string::npos);
  CHECK(report.find("at: all 2 ranks; the lines are those of rank 1\n") != std::string::npos);
  CHECK(report.find("first to fail: rank 0 on node3") != std::string::npos);
}

TEST_CASE("a task that pbsdsh starts fails, and pbsdsh and the job end with 0") {
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\nValueError: bad rate\n";
  const RunStatus well{0, LogSource::pbs};
  const Diagnosis lost = diagnose_text(
      traceback + "pbsdsh: task 0x00000001 exit status 1\npbsdsh: task 0x00000002 exit status 0\n", well);
  CHECK(lost.verdict == Verdict::cause_found);
  CHECK(lost.end.status == 1);
  CHECK(exit_code(lost) == 1);
  CHECK(render_diagnosis(lost).find("cause: ValueError: bad rate") != std::string::npos);
  CHECK(exit_code(diagnose_text("pbsdsh: task 0x00000001 exit status 3\n", well)) == 1);
  CHECK(exit_code(diagnose_text("pbsdsh: task 0x00000001 exit status 0\n", well)) == 0);
  // Without the line of pbsdsh the status counts, and the error is not passed over.
  const Diagnosis survived = diagnose_text(traceback, well);
  CHECK(exit_code(survived) == 0);
  CHECK(render_diagnosis(survived).find("no trouble") == std::string::npos);
  CHECK(render_diagnosis(survived).starts_with("exit status 0 in spite of errors, in a log of 3 lines"));
}

TEST_SUITE_END();

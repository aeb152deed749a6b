// SPDX-License-Identifier: MIT
#include "launch/run/run_remedies.hpp"

#include "doctor/diagnose/signatures_yaml.hpp"

#include <doctest/doctest.h>

#include <regex>

using namespace ddlrun;
using launch::fit_remedies;
using launch::LauncherKind;

TEST_SUITE_BEGIN("launch/run/run_remedies");

TEST_CASE("a remedy has options of the run's launcher, and hosts of the run") {
  struct Row {
    LauncherKind launcher;
    std::string failed_host, remedy, fitted;
  };
  const std::string none = "ddlrun doctor 'h[1-2]'";
  const std::vector<Row> rows{
      {LauncherKind::open_mpi, "h2", "mpirun --mca pml ob1 ...", "mpirun --mca pml ob1 ..."},
      {LauncherKind::open_mpi, "", "dmesg -T | tail   # on HOST", "dmesg -T | tail   # on each host"},
      {LauncherKind::ssh, "h2", "dmesg -T | tail   # on HOST", "dmesg -T | tail   # on h2"},
      {LauncherKind::ssh, "$(touch x)", "dmesg -T | tail   # on HOST", "dmesg -T | tail   # on each host"},
      {LauncherKind::ssh, "-oProxyCommand=x", "ssh HOST true", "for h in h1 h2; do ssh $h true; done"},
      {LauncherKind::ssh, "h2", "mpirun --mca pml ob1 ...", none},
      {LauncherKind::ssh, "h2", "leave out --mca pml ucx", none},
      {LauncherKind::ssh, "h2", "which mpirun; ldd PROGRAM", none},
      {LauncherKind::ssh, "h2", "ulimit -s unlimited   # before mpirun", "ulimit -s unlimited"},
      {LauncherKind::ssh, "h2", "module load; mpirun -x LD_LIBRARY_PATH ...",
       "module load; ddlrun launch -x LD_LIBRARY_PATH ..."},
      {LauncherKind::ssh, "h2", "mpirun ... valgrind PROGRAM", "ddlrun launch ... valgrind PROGRAM"},
      {LauncherKind::ssh, "h2", "mpirun -n 1 -H h2 ls -l 'a b'   # as the job sees it",
       "ssh h2 'ls -l '\\''a b'\\'''   # as the job sees it"},
      {LauncherKind::srun, "h2", "mpirun -n 1 -H h2 ls -l x", "srun -n 1 -w h2 ls -l x"},
      {LauncherKind::srun, "h2", "mpirun --mca pml ob1 --mca btl tcp,self ...   # without UCX",
       "ddlrun launch -x OMPI_MCA_pml=ob1 -x OMPI_MCA_btl=tcp,self ...   # without UCX"},
      {LauncherKind::srun, "h2", "mpirun --bind-to none ...", none},
      {LauncherKind::open_mpi, "h2", "torchrun --nnodes=2 --nproc_per_node=4 PROGRAM", none},
      {LauncherKind::ssh, "", "ssh HOST 'echo $PATH'", "for h in h1 h2; do ssh $h 'echo $PATH'; done"},
      {LauncherKind::ssh, "", "for h in HOSTS; do ssh $h true; done", "for h in h1 h2; do ssh $h true; done"},
      {LauncherKind::ssh, "", "ddlrun doctor HOSTS", none},
      {LauncherKind::ssh, "h2", "wc -l HOSTFILE; echo $HOST", "wc -l HOSTFILE; echo $HOST"},
      {LauncherKind::ssh, "h2", "export SLURM_PMIX_FENCE=ring   # under srun", none},
      {LauncherKind::srun, "h2", "srun --mpi=pmi2 ...", "srun --mpi=pmi2 ..."},
      {LauncherKind::ssh, "h2", "qstat -xf JOB; sacct -j JOB", none},
  };
  for (const Row& row : rows) {
    CAPTURE(row.remedy);
    CHECK(fit_remedies({row.remedy}, {row.launcher, {"h1", "h2"}, row.failed_host, false}) ==
          std::vector<std::string>{row.fitted});
  }
  CHECK(fit_remedies({"qstat -xf JOB"}, {LauncherKind::srun, {"h1"}, "", true}).front() == "qstat -xf JOB");
}

TEST_CASE("a remedy names the port that the ranks got") {
  const std::vector<std::string> remedies{"ss -ltnp | grep 29500   # on HOST: whose is it?"};
  CHECK(fit_remedies(remedies, {LauncherKind::ssh, {"h1"}, "h1", false, "23456"}).front() ==
        "ss -ltnp | grep 23456   # on h1: whose is it?");
  CHECK(fit_remedies(remedies, {LauncherKind::ssh, {"h1"}, "h1", false}).front().find("29500") !=
        std::string::npos);
}

TEST_CASE("of a job of submit the remedies are options of submit") {
  Environment environment;
  CHECK(launch::job_context(environment).scheduler == diagnose::LogSource::unknown);
  environment.variables = {{"PBS_JOBID", "7.pbs01"}};
  diagnose::JobContext job = launch::job_context(environment);
  CHECK(job.scheduler == diagnose::LogSource::pbs);
  CHECK(job.id == "7.pbs01");
  CHECK(job.tagging().empty());
  environment.variables = {{"SLURM_JOB_ID", "9"}, {"DDLRUN_JOB_ID", "8_1"}};
  job = launch::job_context(environment);
  CHECK(job.scheduler == diagnose::LogSource::slurm);
  CHECK(job.id == "8_1");
  CHECK(job.tagging() == "ddlrun submit --rank-output prefix");
}

TEST_CASE("outside a job the parts of a remedy that name a scheduler are left out") {
  struct Row {
    std::string remedy, fitted;
  };
  const std::string none = "ddlrun doctor h1";
  for (const Row& row : {
           Row{"srun --exclude=h1 ...   # without that host", none},
           Row{"more memory from the scheduler (--mem, -l mem=), fewer ranks per host",
               "more memory, fewer ranks per host"},
           Row{"squeue -u $USER; ls -lt   # does an older job still run here?",
               "ls -lt   # does an older job still run here?"},
           Row{"ulimit -n 65536   # before the program starts; for good: LimitNOFILE of slurmd",
               "ulimit -n 65536   # before the program starts"},
           Row{"sbatch --mem=... ; or fewer tasks per node", "fewer tasks per node"},
           Row{"export FI_PSM3_UUID=$(uuidgen)   # under srun, for psm3", none},
           Row{"for h in $(scontrol show hostnames); do ssh $h free; done", none},
           Row{"ddlrun launch --mem-bind bind ...", "ddlrun launch --mem-bind bind ..."},
           Row{"docker run --gpus all ...", "docker run --gpus all ..."},
       }) {
    CAPTURE(row.remedy);
    for (const LauncherKind launcher : {LauncherKind::ssh, LauncherKind::open_mpi})
      CHECK(fit_remedies({row.remedy}, {launcher, {"h1"}, "", false}).front() == row.fitted);
    CHECK(fit_remedies({row.remedy}, {LauncherKind::open_mpi, {"h1"}, "", true}).front() == row.remedy);
  }
}

TEST_CASE("what makes an exception of one rank end all ranks, of a Python script without a framework") {
  const auto remedy = [](const std::vector<std::string>& program,
                         frameworks::Framework framework = frameworks::Framework::none) {
    return launch::remedy_for_exception(program, framework);
  };
  CHECK(
      remedy({"/usr/bin/python3", "-u", "mpi.py", "raise"}) ==
      "ddlrun launch ... -- /usr/bin/python3 -u -m mpi4py mpi.py raise   # with mpi4py: an exception of one "
      "rank then ends all ranks");
  CHECK(remedy({"python3", "train.py"}, frameworks::Framework::pytorch).empty());
  CHECK(remedy({"python3", "-m", "mpi4py", "train.py"}).empty());
  CHECK(remedy({"python3", "-c", "x"}).empty());
  CHECK(remedy({"./train"}).empty());
  CHECK(remedy({"bash", "run.sh"}).empty());
}

TEST_CASE("no remedy of any signature names a scheduler outside a job") {
  const std::regex scheduler(
      R"((^|[^A-Za-z_$-])(srun|sbatch|salloc|squeue|sacct|sacctmgr|scontrol|sinfo|scancel|qsub|qstat|qdel|)"
      R"(pbsnodes|pbs_mom|tracejob|bsub|slurmd|munge)([^A-Za-z_]|$)|SLURM_|SBATCH|PBS|--mem[=, )]|--gres|)"
      R"(--gpus-per|--cpus-per-task|--ntasks|--mpi=|-l (mem|select|walltime))");
  std::size_t remedies = 0, kept = 0;
  for (const diagnose::Signature& signature : diagnose::builtin_signatures()->signatures) {
    for (const std::string& remedy : signature.remedies) {
      for (const LauncherKind launcher : {LauncherKind::ssh, LauncherKind::open_mpi}) {
        const std::string fitted = fit_remedies({remedy}, {launcher, {"h1"}, "", false}).front();
        CAPTURE(signature.id);
        CAPTURE(remedy);
        CAPTURE(fitted);
        CHECK_FALSE(std::regex_search(fitted, scheduler));
        if (launcher == LauncherKind::ssh) continue;  // which leaves out those of mpirun too
        ++remedies;
        kept += fitted == "ddlrun doctor h1" ? 0 : 1;
      }
    }
  }
  CHECK(kept * 10 > remedies * 8);
}

TEST_SUITE_END();

// SPDX-License-Identifier: MIT
#include "scripts_known.hpp"

using namespace ddlrun::schedulers;

namespace {

JobSpec base_job(SchedulerKind kind, ddlrun::topology::Dims dims, ddlrun::Command program) {
  JobSpec job;
  job.scheduler = kind;
  job.dims = dims;
  job.program = std::move(program);
  job.workdir = "/scratch/me/run";
  return job;
}

JobSpec slurm_gpus() {
  JobSpec job =
      base_job(SchedulerKind::slurm, {4, 2, 2, 1}, {"python", "train.py", "--name", "it's \"4x4\""});
  job.name = "resnet50";
  job.threads = 5;
  job.hardware_threads_per_core = 8;
  job.gpus_per_node = 4;
  job.gpu_type = "v100";
  job.walltime_seconds = 4 * 3600;
  job.queue = "gpu";
  job.account = "lab42";
  job.modules = {"cuda/11.4", "openmpi/4.1.4"};
  job.conda = "torch";
  job.environment = {"NCCL_DEBUG=INFO", "WANDB_MODE"};
  job.data = Staging{"/scratch/me/imagenet", "/local/imagenet"};
  job.signal = {"USR1", 300};
  job.requeue.wanted = true;
  job.mail = "me@example.org";
  job.mail_events = "end,fail";
  return job;
}

JobSpec slurm_array() {
  JobSpec job = base_job(SchedulerKind::slurm, {2, 1, 1, 1}, {"./sweep"});
  job.threads = 8;
  job.runner = Runner::srun;
  job.doctor = DoctorLevel::off;
  job.affinity = "libgomp";
  job.exclusive = false;
  job.memory_bytes = 64ull << 30;
  job.array = ArrayRange{0, 9, 1, 2, {}};
  job.dependencies = {{"afterok", "1234"}};
  job.constraint = "skylake";
  job.container = Container{"/scratch/me/torch.sif", "apptainer", {"/scratch:/scratch"}};
  return job;
}

JobSpec pbs_knl() {
  JobSpec job = base_job(SchedulerKind::pbs, {1, 2, 2, 1}, {"caffe", "train", "--solver=solver.prototxt"});
  job.name = "caffe-googlenet";
  job.cores_per_node = 68;
  job.reserved_cores = 8;
  job.threads = 60;
  job.walltime_seconds = 4 * 3600;
  job.queue = "normal";
  job.application = "caffe";
  job.modules = {"gcc/8.3.0", "openmpi/3.1.0"};
  job.affinity = "libomp";
  job.doctor = DoctorLevel::warn;
  return job;
}

JobSpec pbs_hosts() {
  JobSpec job = base_job(SchedulerKind::pbs, {2, 2, 1, 1}, {"./train"});
  job.cores_per_node = 16;
  job.gpus_per_node = 2;
  job.memory_bytes = (100ull << 30) + 1;
  job.hosts = {"minsky1", "minsky2"};
  job.walltime_seconds = 3600;
  job.signal = {"USR2", 600};
  job.requeue = {true, 2};
  job.environment = {"DATA", "LIST=a,b"};
  job.setup = {"ulimit -s unlimited"};
  job.order = ddlrun::topology::RankOrder::packed;
  return job;
}

JobSpec torque_array() {
  JobSpec job = base_job(SchedulerKind::torque, {4, 2, 1, 1}, {"./train"});
  job.threads = 2;
  job.gpus_per_node = 4;
  job.array = ArrayRange{0, 8, 2, 2, {}};
  return job;
}

JobSpec local_venv() {
  JobSpec job = base_job(SchedulerKind::local, {2, 2, 1, 1}, {"--epochs", "3"});
  job.hosts = {"h1", "h2"};
  job.venv = "/home/me/my venv";
  job.walltime_seconds = 7200;
  return job;
}

// A job that runs here, without ddlrun.
JobSpec living(SchedulerKind kind, const std::string& directory, const std::string& line) {
  JobSpec job = base_job(kind, {1, 1, 1, 1}, {"bash", "-c", line});
  job.workdir = directory;
  job.runner = Runner::none;
  job.doctor = DoctorLevel::off;
  return job;
}

// Its own lines clear away what they made, end at an error, and trap EXIT in a subshell too.
JobSpec trapping(SchedulerKind kind, const std::string& directory, const std::string& line) {
  JobSpec job = living(kind, directory, line);
  job.setup = {"set -e", "trap 'echo \"cleared $?\" >>left; exit 0' EXIT",
               "(trap 'echo inner >>left' EXIT; true)", "[ ! -e missing ]"};
  return job;
}

std::vector<std::pair<std::string, JobSpec>> living_jobs(const std::string& directory) {
  const SchedulerKind local = SchedulerKind::local, slurm = SchedulerKind::slurm, pbs = SchedulerKind::pbs;
  JobSpec waits =
      living(local, directory,
             "trap 'echo saved >>log; exit 75' USR1; echo up >>log; sleep 5 >/dev/null 2>&1 & wait");
  waits.walltime_seconds = 20;
  waits.signal = {"USR1", 19};
  waits.requeue = {true, 2};
  JobSpec interrupted =
      living(slurm, directory,
             "trap 'echo caught >>log; exit 7' INT; echo up >>log; sleep 5 >/dev/null 2>&1 & wait");
  interrupted.signal = {"INT", 60};
  JobSpec ended =
      living(slurm, directory,
             "trap 'echo ended >>log; exit 9' TERM; echo up >>log; sleep 5 >/dev/null 2>&1 & wait");
  ended.requeue.wanted = true;
  JobSpec again = living(slurm, directory, "exit 75");
  again.requeue = {true, 2};
  JobSpec pbs_again = living(pbs, directory, "exit 75");
  pbs_again.requeue = {true, 2};
  pbs_again.environment = {"DATA", "B=1"};
  pbs_again.dependencies = {{"afterok", "1.server"}};
  JobSpec limit = living(local, directory, "sleep 30");
  limit.walltime_seconds = 1;
  JobSpec task = living(slurm, directory, "echo $DDLRUN_ARRAY_INDEX; exit 3");
  task.array = ArrayRange{0, 9, 1, 0, {}};
  JobSpec nowhere = living(local, directory + "/nowhere", "true");
  JobSpec no_ddlrun = living(local, directory, "true");
  no_ddlrun.doctor = DoctorLevel::stop;
  no_ddlrun.ddlrun = "/nowhere/ddlrun";
  JobSpec sick = living(local, directory, "echo started");
  sick.doctor = DoctorLevel::stop;
  sick.ddlrun = directory + "/ddlrun";
  JobSpec warned = sick;
  warned.doctor = DoctorLevel::warn;
  JobSpec copied = living(local, directory, "cat \"$DDLRUN_DATA/part/x\"");
  copied.data = Staging{directory + "/from here", directory + "/to $there"};
  JobSpec stubborn =
      living(slurm, directory,
             "trap 'echo caught >>log' USR1; echo up >>log; for i in 1 2 3 4; do sleep 0.3; done; exit 5");
  JobSpec trap_again = trapping(local, directory, "exit 75");
  trap_again.requeue = {true, 1};
  JobSpec trap_term = ended;
  trap_term.setup = {"trap 'echo cleared >>log' TERM EXIT"};
  return {{"life_trap_term", trap_term},
          {"life_trap_local", trapping(local, directory, "exit 6")},
          {"life_trap_slurm", trapping(slurm, directory, "exit 6")},
          {"life_trap_pbs", trapping(pbs, directory, "exit 6")},
          {"life_trap_again", trap_again},
          {"life_resumes", waits},
          {"life_interrupted", interrupted},
          {"life_ended", ended},
          {"life_again", again},
          {"life_pbs_again", pbs_again},
          {"life_limit", limit},
          {"life_task", task},
          {"life_nowhere", nowhere},
          {"life_no_ddlrun", no_ddlrun},
          {"life_sick", sick},
          {"life_warned", warned},
          {"life_copied", copied},
          {"life_stubborn", stubborn}};
}

}  // namespace

std::vector<std::pair<std::string, JobSpec>> known_jobs(const std::string& directory) {
  std::vector<std::pair<std::string, JobSpec>> jobs{
      {"slurm_gpus", slurm_gpus()}, {"slurm_array", slurm_array()},   {"pbs_knl", pbs_knl()},
      {"pbs_hosts", pbs_hosts()},   {"torque_array", torque_array()}, {"local_venv", local_venv()}};
  for (auto& job : living_jobs(directory)) jobs.push_back(std::move(job));
  return jobs;
}

// SPDX-License-Identifier: MIT
// Directives of the three dialects; expected lines are from sbatch(1), qsub(1) and the centres' own pages.
#include "base/text/error.hpp"
#include "schedulers/job/script_forms.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

const JobDirectory job_dir{"/scratch/me/job"};

JobSpec job_of(SchedulerKind kind) {
  JobSpec job;
  job.scheduler = kind;
  job.dims = {1, 2, 2, 1};
  job.cores_per_node = 68;
  job.threads = 60;
  job.program = {"./train"};
  job.workdir = "/scratch/me";
  return job;
}

Script render(const JobSpec& job, const templates::SiteProfile& site = {}) {
  if (job.scheduler == SchedulerKind::slurm) return render_slurm(job, job_dir, site);
  return job.scheduler == SchedulerKind::pbs ? render_pbs(job, job_dir, site)
                                             : render_torque(job, job_dir, site);
}

bool has(const Script& script, const std::string& line) {
  return std::find(script.directives.begin(), script.directives.end(), line) != script.directives.end();
}

struct DirectiveRow {
  SchedulerKind kind;
  std::function<void(JobSpec&)> change;
  std::string line;  // "": refused
};

constexpr SchedulerKind slurm = SchedulerKind::slurm, pbs = SchedulerKind::pbs,
                        torque = SchedulerKind::torque;

// Each row's line is in the script; an empty one: the job is refused.
void check_directives(const std::vector<DirectiveRow>& rows) {
  for (const DirectiveRow& row : rows) {
    JobSpec job = job_of(row.kind);
    row.change(job);
    CAPTURE(row.line);
    if (row.line.empty())
      CHECK_THROWS_AS(render(job), Error);
    else
      CHECK(has(render(job), row.line));
  }
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/job/script_directives");

TEST_CASE("the shape in each dialect") {
  const std::vector<DirectiveRow> rows{
      {slurm, [](JobSpec&) {}, "--nodes=4"},
      {slurm, [](JobSpec&) {}, "--cpus-per-task=60"},
      {slurm, [](JobSpec& job) { job.hardware_threads_per_core = 4; }, "--cpus-per-task=240"},
      {slurm, [](JobSpec& job) { job.dims.gpus_per_node = 4; }, "--ntasks-per-node=4"},
      // Slurm 24.11.5 never starts 70 tasks with --overcommit on 68 CPUs (Resources), but one task of 68 CPUs
      {slurm, [](JobSpec& job) { job.dims.gpus_per_node = 100, job.shared_cpus = 68; },
       "--ntasks-per-node=1"},
      {slurm, [](JobSpec& job) { job.dims.gpus_per_node = 100, job.shared_cpus = 68; }, "--cpus-per-task=68"},
      {slurm, [](JobSpec& job) { job.gpus_per_node = 4; }, "--gpus-per-node=4"},
      {slurm, [](JobSpec& job) { job.gpus_per_node = 4, job.gpu_type = "v100"; }, "--gpus-per-node=v100:4"},
      {slurm, [](JobSpec& job) { job.memory_bytes = 8ull << 30; }, "--mem=8G"},
      {slurm, [](JobSpec& job) { job.memory_bytes = (8ull << 30) + 1; }, "--mem=8193M"},
      {slurm,
       [](JobSpec& job) {
         job.hosts = {"n1", "n2", "n3", "n4"};
       },
       "--nodelist=n1,n2,n3,n4"},
      {pbs, [](JobSpec&) {}, "-l select=4:ncpus=68:mpiprocs=1:ompthreads=60"},
      {pbs, [](JobSpec&) {}, "-l place=scatter:excl"},
      {pbs, [](JobSpec& job) { job.exclusive = false; }, "-l place=scatter"},
      {pbs, [](JobSpec& job) { job.threads = 0; }, "-l select=4:ncpus=68:mpiprocs=1:ompthreads=68"},
      {pbs, [](JobSpec& job) { job.threads = 0, job.dims.gpus_per_node = 34; },
       "-l select=4:ncpus=68:mpiprocs=34:ompthreads=2"},
      {pbs, [](JobSpec& job) { job.gpus_per_node = 2, job.memory_bytes = 1ull << 30; },
       "-l select=4:ncpus=68:mpiprocs=1:ompthreads=60:ngpus=2:mem=1gb"},
      {pbs,
       [](JobSpec& job) {
         job.dims = {1, 2, 1, 1}, job.hosts = {"n1", "n2"};
       },
       "-l select=1:ncpus=68:mpiprocs=1:ompthreads=60:host=n1+1:ncpus=68:mpiprocs=1:ompthreads=60:host=n2"},
      {pbs, [](JobSpec& job) { job.constraint = "cpu_type=knl"; },
       "-l select=4:ncpus=68:mpiprocs=1:ompthreads=60:cpu_type=knl"},
      {pbs, [](JobSpec& job) { job.constraint = "knl"; }, ""},
      {pbs, [](JobSpec& job) { job.constraint = "a=b+1:ncpus=9"; }, ""},
      {pbs, [](JobSpec& job) { job.gpus_per_node = 1, job.gpu_type = "a:ncpus=9"; }, ""},
      {torque, [](JobSpec&) {}, "-l nodes=4:ppn=68"},
      {torque, [](JobSpec& job) { job.gpus_per_node = 2, job.constraint = "knl"; },
       "-l nodes=4:knl:ppn=68:gpus=2"},
      {torque,
       [](JobSpec& job) {
         job.dims = {1, 2, 1, 1}, job.hosts = {"n1", "n2"};
       },
       "-l nodes=n1:ppn=68+n2:ppn=68"},
      {torque,
       [](JobSpec& job) {
         job.dims = {1, 1, 1, 1}, job.memory_bytes = 1ull << 30;
       },
       "-l mem=1gb"},
  };
  check_directives(rows);
}

TEST_CASE("place, payer and life in each dialect") {
  const std::vector<DirectiveRow> rows{
      {slurm, [](JobSpec& job) { job.walltime_seconds = 360000; }, "--time=100:00:00"},
      {slurm, [](JobSpec& job) { job.queue = "normal,debug"; }, "--partition=normal,debug"},
      {slurm, [](JobSpec& job) { job.queue = "a b"; }, ""},
      {slurm, [](JobSpec& job) { job.project = "p1"; }, "--wckey=p1"},
      {slurm, [](JobSpec& job) { job.application = "caffe"; }, "--comment=caffe"},
      {slurm,
       [](JobSpec& job) {
         job.array = ArrayRange{0, 9, 2, 3, {}};
       },
       "--array=0-9:2%3"},
      {slurm,
       [](JobSpec& job) {
         job.array = ArrayRange{0, 0, 1, 4, {ArrayRange{6, 6, 1, 0, {}}, ArrayRange{16, 32, 4, 0, {}}}};
       },
       "--array=0,6,16-32:4%4"},
      {slurm,
       [](JobSpec& job) {
         job.array = ArrayRange{0, 9, 1, 0, {}};
       },
       "--output=/scratch/me/job/output.%a.log"},
      {slurm, [](JobSpec& job) { job.output = "logs/%j.out"; }, "--output=/scratch/me/logs/%j.out"},
      {slurm, [](JobSpec& job) { job.output = "/x/%x.out"; }, ""},
      {slurm,
       [](JobSpec& job) {
         job.dependencies = {{"afterok", "7;west"}, {"after", "8"}};
       },
       "--dependency=afterok:7,after:8"},
      {slurm, [](JobSpec& job) { job.mail = "me@x.org", job.mail_events = "begin"; }, "--mail-type=BEGIN"},
      {slurm, [](JobSpec& job) { job.mail = "me@x.org", job.mail_events = "never"; }, ""},
      {slurm,
       [](JobSpec& job) {
         job.signal = {"TERM", 90};
       },
       "--signal=B:USR1@90"},
      {slurm, [](JobSpec& job) { job.requeue.wanted = true; }, "--requeue"},
      {slurm, [](JobSpec&) {}, "--open-mode=append"},
      {slurm, [](JobSpec& job) { job.directives = {"--exclude=n7"}; }, "--exclude=n7"},
      {pbs, [](JobSpec& job) { job.walltime_seconds = 360000; }, "-l walltime=100:00:00"},
      {pbs, [](JobSpec& job) { job.application = "caffe"; }, "-A caffe"},
      {pbs, [](JobSpec& job) { job.application = "caffe", job.account = "x"; }, ""},
      {pbs, [](JobSpec& job) { job.project = "p1"; }, "-P p1"},
      {pbs, [](JobSpec& job) { job.reservation = "R12"; }, "-q R12"},
      {pbs, [](JobSpec& job) { job.reservation = "R12", job.queue = "normal"; }, ""},
      {pbs, [](JobSpec& job) { job.qos = "high"; }, ""},
      {pbs, [](JobSpec& job) { job.runner = Runner::srun; }, ""},
      {pbs,
       [](JobSpec& job) {
         job.array = ArrayRange{0, 9, 2, 3, {}};
       },
       "-J 0-9:2%3"},
      {pbs,
       [](JobSpec& job) {
         job.array = ArrayRange{0, 9, 1, 0, {}};
       },
       "-o /scratch/me/job/scheduler.^array_index^.log"},
      {pbs,
       [](JobSpec& job) {
         job.array = ArrayRange{0, 9, 1, 0, {}};
       },
       "-r y"},
      {pbs,
       [](JobSpec& job) {
         job.array = ArrayRange{3, 3, 1, 0, {}};
       },
       "-J 3-4:2"},
      {pbs,
       [](JobSpec& job) {
         job.array = ArrayRange{0, 9, 1, 0, {}}, job.requeue.wanted = true;
       },
       ""},
      {pbs,
       [](JobSpec& job) {
         job.dependencies = {{"afterok", "7.s"}, {"afterany", "8.s"}};
       },
       "-W depend=afterok:7.s,afterany:8.s"},
      {pbs, [](JobSpec& job) { job.mail = "me@x.org", job.mail_events = "begin,fail"; }, "-m ba"},
      {pbs, [](JobSpec& job) { job.output = "host:/x"; }, ""},
      {pbs,
       [](JobSpec& job) {
         job.environment = {"A", "B=1,2", "A"};
       },
       "-v A"},
      {pbs, [](JobSpec& job) { job.signal.before_seconds = 60; }, ""},
      {pbs, [](JobSpec&) {}, "-r n"},
      {torque,
       [](JobSpec& job) {
         job.array = ArrayRange{0, 4, 2, 0, {}};
       },
       "-t 0,2,4"},
      {torque, [](JobSpec& job) { job.project = "p1"; }, ""},
  };
  check_directives(rows);
}

TEST_CASE("what a site wants is in every script, and -V in none") {
  templates::SiteProfile site;
  site.application_directive = "--comment={}";
  site.directives = {"-W sandbox=PRIVATE"};
  site.preamble = {"export SITE=1"};
  JobSpec job = job_of(pbs);
  job.application = "caffe";
  job.account = "lab";
  const Script script = render(job, site);
  CHECK(has(script, "--comment=caffe"));
  CHECK(has(script, "-W sandbox=PRIVATE"));
  CHECK(std::find(script.body.begin(), script.body.end(), "export SITE=1") != script.body.end());
  for (const std::string& line : script.directives) CHECK_FALSE(line.starts_with("-V"));
  site.directives = {"-q x\n#PBS -V"};
  CHECK_THROWS_AS(render(job, site), Error);
  site.directives = {};
  site.application_directive = "-A";
  CHECK_THROWS_AS(render(job, site), Error);
}

TEST_CASE("a script's text refuses a directive of two lines") {
  Script script;
  script.sentinel = "#SBATCH";
  script.directives = {"--a\n#SBATCH --b"};
  CHECK_THROWS_AS(script.text(), Error);
}

TEST_CASE("what cannot be started is refused") {
  JobSpec job = job_of(slurm);
  job.program = {};
  CHECK_NOTHROW(render(job));  // the bundled trainer
  job.runner = Runner::none;
  CHECK_THROWS_AS(render(job), Error);
  job = job_of(slurm);
  job.container = Container{"-image", "apptainer", {}};
  CHECK_THROWS_AS(render(job), Error);
  job = job_of(slurm);
  job.modules = {"-intel"};
  CHECK_THROWS_AS(render(job), Error);
  job = job_of(slurm);
  job.setup = {"echo\r"};
  CHECK_THROWS_AS(render(job), Error);
  job = job_of(slurm);
  job.signal.name = "KILL";
  CHECK_THROWS_AS(render(job), Error);
  job = job_of(SchedulerKind::local);
  job.array = ArrayRange{0, 1, 1, 0, {}};
  CHECK_THROWS_AS(render_local(job, job_dir, {}), Error);
}

TEST_CASE("a user's template gets the job's words") {
  JobSpec job = job_of(slurm);
  job.environment = {"A=secret"};
  const auto values = template_values(job, job_dir);
  CHECK(values.at("launch") ==
        std::vector<std::string>{"ddlrun", "launch", "1x2x2", "--threads", "60", "-x", "A", "--", "./train"});
  CHECK(values.at("nodes") == std::vector<std::string>{"4"});
  CHECK(values.at("account").empty());
  CHECK(values.at("array").empty());
  job.array = ArrayRange{2, 2, 1, 0, {}};
  CHECK(template_values(job, job_dir).at("array") == std::vector<std::string>{"2-2"});
  job.scheduler = SchedulerKind::pbs;  // qsub of OpenPBS 23.06 refuses 2-2
  CHECK(template_values(job, job_dir).at("array") == std::vector<std::string>{"2-3:2"});
}

TEST_SUITE_END();

// SPDX-License-Identifier: MIT
// Requests that are refused before a script is made.
#include "schedulers/client/job_options.hpp"
#include "schedulers/client/scheduler_access.hpp"
#include "schedulers/client/submitted_job.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::schedulers;

namespace {

struct Requested : tests::FakeSystem {
  System system = interfaces();
  JobOptions options;

  Requested() {
    environment.workdir = "/work";
    environment.variables["HOME"] = "/home/none";
    options.slurm = true;
    options.dims = "4x2";
    options.flags = {{"walltime", {"1h"}}, {"name", {"lenet"}}};
    options.program = {"./train"};
  }
};

}  // namespace

TEST_SUITE_BEGIN("schedulers/client/job_request");

TEST_CASE("a template of another scheduler: its placeholders are nothing for convert") {
  Requested job;
  job.options.flags["template"] = {"my.pbs"};
  job.files.files["/work/my.pbs"] = "#!/bin/bash\n#PBS -N {{name|pbs}}\n{{launch|sh}}\n";
  JobRequest wanted = load_job_request(job.system, job.options, ask_once(job.system));
  REQUIRE(wanted.parsed.errors.size() == 1);
  CHECK(wanted.parsed.errors[0].hint ==
        "--pbs; or a template with #SBATCH lines, as examples/site/templates/plain.sh of ddlrun");
  job.files.files["/work/my.pbs"] = "#!/bin/bash\n#PBS -N a\n./train\n";
  wanted = load_job_request(job.system, job.options, ask_once(job.system));
  REQUIRE(wanted.parsed.errors.size() == 1);
  CHECK(wanted.parsed.errors[0].hint == "--pbs; or ddlrun convert --to slurm my.pbs");
}

TEST_CASE("OMP_NUM_THREADS beside another number of threads is refused in the words of the user") {
  Requested job;
  job.options.flags["cores_per_node"] = {"60"};
  const auto refusal = [&](const std::string& entry, const std::string& threads) {
    job.options.flags["environment"] = {entry};
    job.options.flags.erase("threads");
    if (!threads.empty()) job.options.flags["threads"] = {threads};
    const JobRequest wanted = load_job_request(job.system, job.options, ask_once(job.system));
    if (wanted.parsed.errors.empty()) return std::string();
    const Message& error = wanted.parsed.errors.front();
    return error.where + " | " + error.what + " | " + error.hint;
  };
  CHECK(
      refusal("OMP_NUM_THREADS=8", "") ==
      "--environment | --environment OMP_NUM_THREADS=8 contradicts the 15 threads that a rank has, as submit "
      "chose by the cores of a node | --threads 8   # instead of OMP_NUM_THREADS");
  CHECK(refusal("OMP_NUM_THREADS=8,2", "15").ends_with("| --threads 15   # instead of OMP_NUM_THREADS"));
  CHECK(refusal("OMP_NUM_THREADS=15", "").empty());
  CHECK(refusal("OMP_NUM_THREADS=8", "8").empty());
  job.environment.variables["OMP_NUM_THREADS"] = "3";
  CHECK(refusal("OMP_NUM_THREADS", "15")
            .find("OMP_NUM_THREADS=3 contradicts the 15 threads that a rank has, by --threads") !=
        std::string::npos);
  job.options.flags["runner"] = {"none"};
  CHECK(refusal("OMP_NUM_THREADS=8", "15").empty());
}

TEST_CASE("a template without output: the line to add is one whose log can be followed") {
  Requested fake;
  JobRef job;
  job.id = "7.server";
  job.dir = "/work/ddlrun-jobs/a";
  job.scheduler = SchedulerKind::pbs;
  fake.files.files["/work/ddlrun-jobs/a/template"] = "#!/bin/bash\n#PBS -N {{name|pbs}}\n";
  CHECK(why_no_log(fake.system, job, "logs").hint ==
        "exec >>{{output|sh}} 2>&1   # in the template, next time");
  job.scheduler = SchedulerKind::slurm;
  CHECK(why_no_log(fake.system, job, "logs").hint.starts_with("#SBATCH --output={{output|sbatch}}"));
}

TEST_SUITE_END();

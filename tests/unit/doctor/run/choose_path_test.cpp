// SPDX-License-Identifier: MIT
// doctor's own path to the nodes of a Slurm job, where srun starts a step on n1 alone.
#include "doctor/run/choose_path.hpp"

#include "base/os/self_executable.hpp"
#include "base/text/text.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::doctor;

namespace {

struct InSlurmJob : tests::FakeSystem {
  InSlurmJob() {
    environment.variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n[1-2]"}, {"PATH", "/bin"}};
    files.files["/bin/srun"] = "";
    for (const OwnFile& file : read_own_binary().files) files.files[file.path] = "binary";
    processes.answer = [](const Command& command) {
      const std::string words = join(command, " ");
      const bool is_trial = command.back() == "true";
      ProcessResult result;
      if (is_trial && words.find("--nodelist=n1 ") != std::string::npos) return result;
      result.exit_status = 1;
      result.err = is_trial ? "srun: error: Required node not available" : "Connection refused";
      return result;
    };
  }
  std::size_t count_runs(const std::string& part) const {
    std::size_t count = 0;
    for (const Command& command : processes.ran)
      if (join(command, " ").find(part) != std::string::npos && command.back() != "true") ++count;
    return count;
  }
};

}  // namespace

TEST_SUITE_BEGIN("doctor/run/choose_path");

TEST_CASE("srun where it starts a step, ssh elsewhere; a host that neither reaches has both reasons") {
  InSlurmJob job;
  System system = job.interfaces();
  DoctorRequest request;
  request.hosts = {"n1", "n2"};
  choose_path(system, request);
  CHECK(request.paths == std::vector<Via>{Via::srun});
  CHECK(request.step_failures.size() == 1);
  const Gathered gathered = gather_from_hosts(system, request);
  CHECK(job.count_runs("--nodelist=n1 ") == 1);
  CHECK(job.count_runs("--nodelist=n2 ") == 0);
  CHECK(job.count_runs(" -- n2 ") == 1);
  CHECK(job.count_runs(" -- n1 ") == 0);
  REQUIRE(gathered.by_path.size() == 1);
  CHECK(gathered.by_path[0][0].reach.via == Via::srun);
  CHECK(gathered.by_path[0][1].reach.via == Via::ssh);
  CHECK(gathered.by_path[0][1].reach.problem ==
        "Connection refused; by srun: srun: error: Required node not available");
}

TEST_CASE("ssh outside of a job, and for a host of no job of ours") {
  InSlurmJob job;
  System system = job.interfaces();
  DoctorRequest request;
  request.hosts = {"n1", "n9"};
  choose_path(system, request);
  CHECK(request.paths == std::vector<Via>{Via::ssh});
  CHECK(request.step_failures.empty());
  CHECK(job.processes.ran.empty());
}

TEST_SUITE_END();

// SPDX-License-Identifier: MIT
// By which path the nodes of a Slurm job are reached; srun, ssh and slurmctld are a table.
#include "topology/sources/slurm_step.hpp"

#include "base/text/text.hpp"
#include "tests/support/fake_system.hpp"
#include "topology/machine_json.hpp"
#include "topology/sources/job_machines.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::topology;

namespace {

// What Slurm 22.05 prints; as seen on real nodes.
const std::string busy = "srun: error: Unable to create step for job 1: Requested nodes are busy";
const std::string refused = "ssh: connect to host n2 port 22: Connection refused";

// Inside a job on n[1-2], as salloc leaves it on a login node.
struct InJob : tests::FakeSystem {
  std::string down;  // a node on which srun starts nothing
  bool ssh_is_open = false;

  InJob() {
    environment.variables = {{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", "n[1-2]"}, {"PATH", "/bin:/opt"}};
    files.files["/opt/srun"] = "";
    processes.answer = [this](const Command& command) { return answer(command); };
  }
  ProcessResult answer(const Command& command) const {
    const std::string words = join(command, " ");
    const bool is_step = words.find("srun --overlap") != std::string::npos;
    const bool is_down = !down.empty() && words.find(down) != std::string::npos;
    ProcessResult result;
    if (is_step ? !is_down : ssh_is_open) {
      result.out = render_machine_json(regular_machine(1, 4, 1, "this host"));
    } else {
      result.exit_status = 1;
      result.err = (is_step ? busy : refused) + "\nddlrun: error: the host did not answer\n  try: x\n";
    }
    return result;
  }
};

}  // namespace

TEST_SUITE_BEGIN("topology/sources/slurm_step");

TEST_CASE("srun is the path inside a Slurm job that has all hosts, and no process starts to find that") {
  struct Row {
    const char* what;
    std::vector<std::string> hosts;
    EnvVars more;  // an empty value: the variable is not set
    bool by_srun;
  };
  for (const Row& row : {
           Row{"nodes of the job", {"n1", "n2"}, {}, true},
           Row{"this host and a node", {"here", "n2"}, {{"SLURM_JOB_NODELIST", "here,n2"}}, true},
           Row{"outside of a job", {"n1", "n2"}, {{"SLURM_JOB_ID", ""}}, false},
           Row{"no node list", {"n1"}, {{"SLURM_JOB_NODELIST", ""}}, false},
           Row{"a node list that cannot be read", {"n1"}, {{"SLURM_JOB_NODELIST", "n[1-"}}, false},
           Row{"a host of another job", {"n1", "n3"}, {}, false},
           Row{"another name of a node", {"ib1"}, {}, false},
           Row{"this host alone", {"here"}, {{"SLURM_JOB_NODELIST", "here"}}, false},
           Row{"no srun", {"n1"}, {{"PATH", "/bin"}}, false},
           Row{"mpirun by ssh", {"n1"}, {{"OMPI_MCA_plm", "rsh"}}, false},
           Row{"Open MPI 5 by ssh", {"n1"}, {{"PRTE_MCA_plm", "^slurm"}}, false},
           Row{"mpirun by srun", {"n1"}, {{"OMPI_MCA_plm", "slurm"}}, true},
           Row{"GPUs by node", {"n1"}, {{"SLURM_GPUS_PER_NODE", "2"}}, true},
           Row{"GPUs by task", {"n1"}, {{"SLURM_GPUS_PER_TASK", "1"}}, false},
           Row{"GPUs by task, Slurm 23.11", {"n1"}, {{"SLURM_TRES_PER_TASK", "cpu=4,gres/gpu=1"}}, false},
           Row{"processors by task, Slurm 24.05", {"n1"}, {{"SLURM_TRES_PER_TASK", "cpu=4"}}, true},
           Row{"GPUs of the whole job", {"n1"}, {{"SLURM_GPUS", "4"}}, false},
           Row{"a job of PBS", {"n1"}, {{"SLURM_JOB_ID", ""}, {"PBS_NODEFILE", "/nodes"}}, false},
       }) {
    CAPTURE(row.what);
    InJob job;
    for (const auto& [name, value] : row.more) {
      job.environment.variables[name] = value;
      if (value.empty()) job.environment.variables.erase(name);
    }
    System system = job.interfaces();
    CHECK(has_slurm_path(system, row.hosts) == row.by_srun);
    CHECK(job.processes.ran.empty());
    CHECK(find_step_hosts(system, row.hosts).reached.empty() != row.by_srun);
    CHECK(job.processes.ran.size() == (row.by_srun ? 1 : 0));
  }
}

TEST_CASE("a step of one task on each host takes nothing from others, and no variable of the job shapes it") {
  const EnvVars environment{{"SLURM_CPUS_PER_TASK", "4"}, {"SLURM_LABELIO", "1"}, {"SLURM_JOB_ID", "7"}};
  const auto left_out = find_step_variables(environment);
  CHECK(left_out == std::vector<std::string>{"SLURM_CPUS_PER_TASK", "SLURM_LABELIO"});
  const std::string words = join(plan_step_command(left_out, {"n1", "n2"}), " ");
  CHECK(words.starts_with("env -u SLURM_CPUS_PER_TASK -u SLURM_LABELIO srun --overlap "));
  for (const char* word : {"--nodes=2", "--ntasks=2", "--nodelist=n1,n2", "--mem=0", "--mpi=none"})
    CHECK(words.find(word) != std::string::npos);
  CHECK(plan_step_command({}, {"n1"}).front() == "srun");
}

TEST_CASE("a node where no step starts is found, and one line reports it") {
  InJob job;
  job.down = "n2";
  System system = job.interfaces();
  const StepHosts found = find_step_hosts(system, {"n1", "n2"});
  CHECK(found.reached == std::set<std::string>{"n1"});
  REQUIRE(found.failures.size() == 1);
  CHECK(found.failures.contains("n2"));
  CHECK(std::ranges::count(job.err, '\n') == 1);
  CHECK(job.err.starts_with("ddlrun: srun starts no step on n2 ("));
  CHECK(job.err.ends_with("): ssh is used there\n"));
  for (const Command& command : job.processes.ran)  // slurmctld keeps no step of it waiting
    CHECK(std::ranges::find(command, "--immediate=5") != command.end());
}

TEST_CASE("where srun starts a step on none of the first 32 hosts, the others are not tried") {
  InJob job;
  job.environment.variables["SLURM_JOB_NODELIST"] = "n[100-199]";
  job.down = "n1";
  System system = job.interfaces();
  std::vector<std::string> hosts;
  for (int i = 100; i < 200; ++i) hosts.push_back("n" + std::to_string(i));
  const StepHosts found = find_step_hosts(system, hosts);
  CHECK(found.reached.empty());
  CHECK(found.failures.size() == 100);
  CHECK(job.processes.ran.size() == 1 + 32);
}

TEST_CASE("machines come by srun, of other hosts by ssh; where both fail, the error names both reasons") {
  InJob open;
  System system = open.interfaces();
  CHECK(find_job_machines(system, {"n1", "n2"}, {}, Unprobed::refuse).machine_of_host.size() == 2);
  for (const Command& command : open.processes.ran)
    CHECK(join(command, " ").find("ssh -o") == std::string::npos);

  InJob half;
  half.down = "n2";
  half.ssh_is_open = true;
  System half_system = half.interfaces();
  const auto remotes = machines_of_hosts(half_system, {"n1", "n2"}, "", HostPath::automatic);
  REQUIRE(remotes.size() == 2);
  CHECK(remotes[0].machine->source == "srun n1");
  CHECK(remotes[1].machine->source == "ssh n2");
  CHECK_FALSE(remotes[0].lacks_step);
  CHECK(remotes[1].lacks_step);

  InJob closed;
  closed.down = "n";
  System closed_system = closed.interfaces();
  try {
    find_job_machines(closed_system, {"n1", "n2"}, {}, Unprobed::refuse);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unreachable);
    CHECK(error.message().where.find(refused) != std::string::npos);
    CHECK(error.message().where.find("; by srun: ") != std::string::npos);
  }
}

TEST_CASE("a launcher that needs ssh reads the hosts over ssh") {
  InJob job;
  job.ssh_is_open = true;
  System system = job.interfaces();
  find_job_machines(system, {"n1", "n2"}, {}, Unprobed::refuse, "", HostPath::ssh);
  CHECK(job.processes.ran.size() == 2);
  for (const Command& command : job.processes.ran)
    CHECK(join(command, " ").find("ssh -o") != std::string::npos);
}

TEST_CASE("the hint for a host that ssh alone may reach names doctor's path by ssh") {
  InJob job;
  System system = job.interfaces();
  try {
    find_job_machines(system, {"n1", "n2"}, {}, Unprobed::refuse, "", HostPath::ssh);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.message().hint.starts_with("ddlrun doctor --via ssh n1, "));
  }
}

TEST_SUITE_END();

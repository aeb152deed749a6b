// SPDX-License-Identifier: MIT
#include "doctor/checks/software.hpp"
#include "tests/support/doctor_input.hpp"
#include "tests/support/doctor_run.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;
using ddlrun::tests::DoctorInput;
using ddlrun::tests::find_one;
using ddlrun::tests::run_check;

namespace {

void set_mpi(HostReport& host, const std::string& version, const std::string& prefix = "/usr") {
  const bool five = version[0] >= '5';
  host.facts.set("mpi.vendor", "Open MPI");
  host.facts.set("mpi.version", version);
  host.facts.set("mpi.version_source", prefix + "/lib/libopen-pal.so");
  host.facts.set("mpi.program.mpirun", prefix + "/bin/mpirun");
  host.facts.set("mpi.real.mpirun", prefix + "/bin/orterun");
  host.facts.set(five ? "mpi.program.prted" : "mpi.program.orted",
                 prefix + (five ? "/bin/prted" : "/bin/orted"));
  host.facts.set(five ? "mpi.real.prted" : "mpi.real.orted", prefix + (five ? "/bin/prted" : "/bin/orted"));
  host.facts.set_unknown(five ? "mpi.program.orted" : "mpi.program.prted", "not in PATH");
  if (!five) host.facts.set("mpi.daemon_version", version);
  host.facts.set("mpi.search_path", "/usr/bin:/bin");
}

void no_mpi(HostReport& host) {
  for (const char* name : {"mpi.program.mpirun", "mpi.program.orted", "mpi.program.prted"})
    host.facts.set_unknown(name, "not in PATH");
  host.facts.set_unknown("mpi.version", "no mpirun in PATH");
  host.facts.set_unknown("mpi.vendor", "no MPI in PATH");
  host.facts.set("mpi.search_path", "/usr/games");
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_mpi");

TEST_CASE("SSH-05: the daemon that this mpirun starts") {
  DoctorInput input;
  set_mpi(input.driver_host, "4.1.4");
  set_mpi(input.add("same"), "4.1.4");
  set_mpi(input.add("other-place"), "4.1.4", "/opt/ompi");
  set_mpi(input.add("other-release"), "4.0.7", "/opt/ompi");
  no_mpi(input.add("none"));
  input.add("not-asked");
  const auto findings = run_check("SSH-05", input);
  const Finding& bad = find_one(findings, Verdict::fail);
  CHECK(bad.hosts == std::vector<std::string>{"none"});
  CHECK(bad.observed.find("no orted") != std::string::npos);
  CHECK(bad.observed.find("/usr/games") != std::string::npos);
  CHECK(bad.remedy.commands == std::vector<std::string>{into_bashrc("export PATH=/usr/bin:$PATH")});
  CHECK(find_one(findings, Verdict::warn).hosts == std::vector<std::string>{"other-place"});
  CHECK(find_one(findings, Verdict::skip).hosts == std::vector<std::string>{"not-asked"});
}

TEST_CASE("SSH-05: Open MPI 5 and later want prted; a driver host without mpirun wants nothing") {
  for (const char* release : {"5.0.3", "6.0.0rc2"}) {
    DoctorInput input;
    set_mpi(input.driver_host, release);
    set_mpi(input.add("h1"), release);
    set_mpi(input.add("h2"), "4.1.4");
    CHECK(find_one(run_check("SSH-05", input), Verdict::fail).hosts == std::vector<std::string>{"h2"});
  }
  DoctorInput without;
  no_mpi(without.driver_host);
  no_mpi(without.add("h1"));
  CHECK(find_one(run_check("SSH-05", without), Verdict::skip).observed.find("no mpirun on the driver host") !=
        std::string::npos);
}

TEST_CASE(
    "SSH-05: a driver host without mpirun is a fault where a job is to be started or the hosts have it") {
  DoctorInput input;
  no_mpi(input.driver_host);
  no_mpi(input.add("h1"));
  input.job.program = {"./train"};
  const Finding bare = find_one(run_check("SSH-05", input), Verdict::fail);
  CHECK(bare.remedy.on_driver_host);
  CHECK(bare.remedy.commands[0].starts_with("apt-get install -y openmpi-bin"));
  input.job.program.clear();
  for (const char* host : {"h2", "h3", "h4"}) set_mpi(input.add(host), "4.1.4", "/opt/mpi");
  CHECK(find_one(run_check("SSH-05", input), Verdict::fail).remedy.commands ==
        std::vector<std::string>{into_bashrc("export PATH=/opt/mpi/bin:$PATH")});
  set_mpi(input.host("h2"), "4.1.4", "/tmp/evil");  // the first, but not what most have
  CHECK(find_one(run_check("SSH-05", input), Verdict::fail).expected == "mpirun, as on h3, h4");
  no_mpi(input.host("h4"));
  const Finding doubtful = find_one(run_check("SSH-05", input), Verdict::fail);
  CHECK(doubtful.remedy.commands.empty());
  CHECK(doubtful.remedy.note.starts_with("no command, as it is reported by h2 only"));
  set_mpi(input.host("h2"), "4.1.4");
  no_mpi(input.host("h3"));
  input.driver_host.facts.set("mpi.search_path", "/usr/local/bin:/usr/bin:/bin");
  const Finding finding = find_one(run_check("SSH-05", input), Verdict::fail);
  CHECK(finding.expected == "mpirun, as on h2");
  CHECK(finding.remedy.needs_root);
  CHECK(finding.remedy.commands[0].starts_with("apt-get install -y openmpi-bin"));
  DoctorInput not_asked;
  set_mpi(not_asked.add("h1"), "4.1.4");
  CHECK(run_check("SSH-05", not_asked)[0].verdict == Verdict::skip);
}

TEST_CASE("SSH-05: a directory that is searched already is not searched twice") {
  for (const char* prefix : {"/usr", "/opt/ompi"}) {
    CAPTURE(prefix);
    DoctorInput input;
    set_mpi(input.driver_host, "4.1.4", prefix);
    no_mpi(input.add("h1"));
    input.host("h1").facts.set("mpi.search_path", std::string("/usr/local/bin:") + prefix + "/bin:/bin");
    const Finding finding = find_one(run_check("SSH-05", input), Verdict::fail);
    CHECK(finding.remedy.commands[0].find("PATH") == std::string::npos);
    CHECK(finding.remedy.note.find("4.1.4") != std::string::npos);
    CHECK(finding.remedy.needs_root == finding.remedy.commands[0].starts_with("apt-get install"));
  }
}

TEST_CASE("SSH-05: a directory that is a link is not another installation") {
  DoctorInput input;
  set_mpi(input.driver_host, "4.1.4");
  HostReport& host = input.add("h1");
  set_mpi(host, "4.1.4");
  host.facts.set("mpi.program.orted", "/bin/orted");
  CHECK(run_check("SSH-05", input)[0].verdict == Verdict::pass);
}

TEST_CASE("MPI-01: releases") {
  struct Row {
    const char *driver_host, *host;
    Verdict verdict;
  };
  for (const Row& row : {Row{"4.1.4", "4.1.4", Verdict::pass}, Row{"4.1.4", "4.1.5", Verdict::fail},
                         Row{"4.1.4", "4.0.7", Verdict::fail}, Row{"4.1.4", "5.0.3", Verdict::fail},
                         Row{"5.0.3", "5.0.3", Verdict::pass}, Row{"5.0.3", "5.0.5", Verdict::warn},
                         Row{"5.0.3", "5.1.0", Verdict::fail}}) {
    CAPTURE(row.driver_host);
    CAPTURE(row.host);
    DoctorInput input;
    set_mpi(input.driver_host, row.driver_host);
    set_mpi(input.add("h1"), row.host, "/opt/x");
    const auto findings = run_check("MPI-01", input);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].verdict == row.verdict);
    if (row.verdict != Verdict::pass) {
      CHECK(findings[0].observed.find(row.host) != std::string::npos);
      CHECK(findings[0].observed.find("/opt/x") != std::string::npos);
      CHECK(findings[0].expected.find(row.driver_host) != std::string::npos);
    }
  }
}

TEST_CASE("MPI-01: another daemon than mpirun, another vendor, none at all") {
  DoctorInput input;
  set_mpi(input.driver_host, "4.1.4");
  set_mpi(input.add("h1"), "4.1.4");
  HostReport& mixed = input.add("h2");
  set_mpi(mixed, "4.1.4");
  mixed.facts.set("mpi.daemon_version", "4.0.7");
  HostReport& intel = input.add("h3");
  set_mpi(intel, "4.1.4");
  intel.facts.set("mpi.vendor", "Intel MPI");
  no_mpi(input.add("h4"));
  const auto findings = run_check("MPI-01", input);
  REQUIRE(findings.size() == 4);
  CHECK(findings[1].verdict == Verdict::fail);
  CHECK(findings[1].observed.find("orted 4.0.7") != std::string::npos);
  CHECK(findings[2].verdict == Verdict::fail);
  CHECK(findings[3].verdict == Verdict::skip);
  DoctorInput empty;
  no_mpi(empty.add("h1"));
  CHECK(find_one(run_check("MPI-01", empty), Verdict::skip).hosts.empty());
}

TEST_CASE("MPI-02: the library of the program and the mpirun beside it") {
  struct Row {
    const char *library, *vendor, *version;
    Verdict verdict;
  };
  for (const Row& row : {Row{"/usr/lib/libmpi.so.40.30.4", "Open MPI", "4.1.4", Verdict::pass},
                         Row{"/usr/lib/libmpi.so.40.20.7", "Open MPI", "4.1.4", Verdict::warn},
                         Row{"/usr/lib/libmpi.so.40.40.1", "Open MPI", "5.0.1", Verdict::pass},
                         Row{"/opt/intel/libmpi.so.12.0.0", "Open MPI", "4.1.4", Verdict::fail},
                         Row{"/opt/intel/libmpi.so.12.0.0", "Intel MPI", "2021.9.0", Verdict::pass},
                         Row{"/usr/lib/libmpi.so.40.30.4", "MPICH", "4.0.2", Verdict::fail},
                         Row{"/usr/lib/libmpich.so.12.2.1", "Open MPI", "4.1.4", Verdict::fail},
                         Row{"/usr/lib/libmpi.so", "Open MPI", "4.1.4", Verdict::pass}}) {
    CAPTURE(row.library);
    CAPTURE(row.vendor);
    DoctorInput input;
    input.job.program = {"./train"};
    HostReport& host = input.add("h1");
    host.facts.set("program.libmpi", row.library);
    host.facts.set("mpi.vendor", row.vendor);
    host.facts.set("mpi.version", row.version);
    const auto findings = run_check("MPI-02", input);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].verdict == row.verdict);
  }
  DoctorInput input;
  input.add("h1").facts.set_unknown("program.libmpi", "the program is linked to no MPI library");
  CHECK(run_check("MPI-02", input)[0].observed.find("no program") != std::string::npos);
  input.job.program = {"./train"};
  CHECK(run_check("MPI-02", input)[0].observed == "the program is linked to no MPI library");
}

TEST_CASE("MPI-03: CUDA support matters where the job requests it") {
  DoctorInput input;
  HostReport& host = input.add("h1");
  CHECK(run_check("MPI-03", input)[0].verdict == Verdict::skip);
  host.facts.set("mpi.cuda_support", "false");
  CHECK(run_check("MPI-03", input)[0].verdict == Verdict::pass);
  input.job.environment["UCX_TLS"] = "rc,cuda_copy";
  CHECK(run_check("MPI-03", input)[0].verdict == Verdict::warn);
  host.facts.set("mpi.cuda_support", "true");
  CHECK(run_check("MPI-03", input)[0].verdict == Verdict::pass);
}

TEST_CASE("MPI-05: pmix under Slurm") {
  DoctorInput input;
  CHECK(run_check("MPI-05", input)[0].verdict == Verdict::skip);
  input.job.allocation_source = "SLURM_JOB_NODELIST";
  CHECK(run_check("MPI-05", input)[0].verdict == Verdict::skip);  // srun was not asked
  input.driver_host.facts.set_list("scheduler.slurm.mpi", {"MPI plugin types are...", "none", "pmi2"});
  CHECK(run_check("MPI-05", input)[0].verdict == Verdict::warn);
  input.driver_host.facts.set_list("scheduler.slurm.mpi", {"none"});
  CHECK(run_check("MPI-05", input)[0].verdict == Verdict::fail);
  set_mpi(input.driver_host, "4.1.4");
  CHECK(run_check("MPI-05", input)[0].verdict == Verdict::pass);
  input.driver_host.facts.set_list("scheduler.slurm.mpi", {"pmix_v4", "pmix"});
  CHECK(run_check("MPI-05", input)[0].observed == "srun supports pmix");
}

TEST_CASE("MPI-09: root, where a job would be started") {
  DoctorInput input;
  CHECK(run_check("MPI-09", input)[0].verdict == Verdict::skip);
  set_mpi(input.driver_host, "4.1.4");
  input.driver_host.facts.set("environment.uid", 1000);
  CHECK(run_check("MPI-09", input)[0].verdict == Verdict::pass);
  input.driver_host.facts.set("environment.uid", 0);
  input.driver_host.facts.set("environment.root_allowed", "no");
  CHECK(run_check("MPI-09", input)[0].verdict == Verdict::skip);
  input.job.program = {"./train"};
  CHECK(run_check("MPI-09", input)[0].verdict == Verdict::fail);
  input.driver_host.facts.set("environment.root_allowed", "yes");
  CHECK(run_check("MPI-09", input)[0].verdict == Verdict::pass);
}

TEST_CASE("MPI-10: a longer time-out delays the warning, as measured") {
  DoctorInput input;
  CHECK(run_check("MPI-10", input)[0].verdict == Verdict::skip);
  input.job.checkpoint_dir = "/scratch/c";
  CHECK(run_check("MPI-10", input)[0].verdict == Verdict::skip);
  input.job.environment["OMPI_MCA_odls_base_sigkill_timeout"] = "1";
  CHECK(run_check("MPI-10", input)[0].verdict == Verdict::skip);
  input.job.environment["OMPI_MCA_odls_base_sigkill_timeout"] = "8";
  CHECK(run_check("MPI-10", input)[0].verdict == Verdict::warn);
}

TEST_CASE("MPI-07: where no Open MPI was found its files are unknown, not missing") {
  DoctorInput input;
  for (const char* name : {"h1", "h2", "h3", "h4"}) {
    HostReport& host = input.add(name);
    set_mpi(host, "4.1.4");
    host.facts.set("environment.settings", "");
    host.facts.set_list("mpi.parameter_files", {"/etc/openmpi/openmpi-mca-params.conf: btl = ^openib"});
  }
  no_mpi(input.host("h3"));
  input.host("h3").facts.set("mpi.parameter_files", "");
  input.host("h4").facts.set("mpi.parameter_files", "");
  input.host("h4").failed_gatherers["mpi"] = "Resource temporarily unavailable";
  const auto findings = run_check("MPI-07", input);
  for (const Finding& finding : findings) {
    CAPTURE(finding.observed);
    CHECK(finding.verdict != Verdict::fail);
  }
  CHECK(std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.verdict == Verdict::skip && finding.hosts == std::vector<std::string>{"h3"};
  }));
}

TEST_CASE("MPI-07: -x of a variable that is not set") {
  DoctorInput input;
  input.job.exports = {"NOTSET", "SET"};
  input.job.environment["SET"] = "";
  CHECK(find_one(run_check("MPI-07", input), Verdict::warn).observed == "-x NOTSET: not set here");
  input.job.environment["NOTSET"] = "1";
  CHECK(run_check("MPI-07", input).empty());
}

TEST_CASE("MPI-07: settings that differ between hosts, and those of the driver host alone") {
  DoctorInput input;
  for (const char* name : {"h1", "h2", "h3", "h4"}) {
    input.add(name).facts.set_list("environment.settings", {"NCCL_DEBUG=WARN"});
    input.host(name).facts.set_list("mpi.parameter_files",
                                    {"/etc/openmpi/openmpi-mca-params.conf: btl = ^uct"});
  }
  input.driver_host.facts.set_list(
      "environment.settings", {"NCCL_DEBUG=WARN", "OMPI_MCA_btl=tcp,self", "I_MPI_HYDRA_BOOTSTRAP=slurm"});
  auto findings = run_check("MPI-07", input);
  CHECK(find_one(findings, Verdict::pass).hosts.size() == 4);
  CHECK(findings.size() == 1);

  input.host("h2").facts.set_list("environment.settings",
                                  {"NCCL_DEBUG=WARN", "OMPI_MCA_btl_tcp_if_include=eth7"});
  input.host("h3").facts.set_list("mpi.parameter_files", {"/etc/openmpi/openmpi-mca-params.conf: btl = ^uct",
                                                          "/home/u/.openmpi/mca-params.conf: coll = ^tuned"});
  input.host("h4").facts.set_list("mpi.parameter_files", {});
  findings = run_check("MPI-07", input);
  REQUIRE(findings.size() == 4);
  CHECK(findings[1].hosts == std::vector<std::string>{"h2"});
  CHECK(findings[1].observed == "only here: OMPI_MCA_btl_tcp_if_include=eth7");
  CHECK(findings[1].remedy.commands[0].find("unset OMPI_MCA_btl_tcp_if_include") != std::string::npos);
  CHECK(findings[2].remedy.commands ==
        std::vector<std::string>{"sed -i '/^ *coll *=/d' /home/u/.openmpi/mca-params.conf"});
  CHECK(findings[3].observed == "missing here: /etc/openmpi/openmpi-mca-params.conf: btl = ^uct");

  DoctorInput head_only;
  head_only.add("h1").facts.set_list("environment.settings", {});
  head_only.driver_host.facts.set_list("environment.settings", {"NCCL_IB_DISABLE=1", "UCX_TLS=tcp"});
  CHECK(find_one(run_check("MPI-07", head_only), Verdict::warn).observed ==
        "set on the driver host only: NCCL_IB_DISABLE, UCX_TLS");
  head_only.job.exports = {"NCCL_IB_DISABLE", "UCX_TLS"};
  CHECK(run_check("MPI-07", head_only).size() == 1);
  DoctorInput inside;
  inside.add("h1").reach.via = Via::srun;
  CHECK(run_check("MPI-07", inside)[0].verdict == Verdict::skip);
}

TEST_CASE("SEC-01: names of secrets behind -x") {
  DoctorInput input;
  input.driver_host.facts.set_list("environment.secrets", {"HF_TOKEN"});
  CHECK(run_check("SEC-01", input)[0].verdict == Verdict::pass);
  input.job.exports = {"NCCL_DEBUG", "HF_TOKEN"};
  const auto findings = run_check("SEC-01", input);
  CHECK(findings[0].verdict == Verdict::warn);
  CHECK(findings[0].observed == "-x HF_TOKEN");
  input.driver_host.facts.set("environment.PBS_JOBID", "1.pbs");
  CHECK(run_check("SEC-01", input)[0].verdict == Verdict::fail);
  input.job.of_submit = true;
  CHECK(run_check("SEC-01", input)[0].verdict == Verdict::warn);
}

TEST_SUITE_END();

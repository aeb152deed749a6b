// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "doctor/checks/system.hpp"
#include "tests/unit/doctor/one_check.hpp"

using namespace ddlrun;
using namespace ddlrun::doctor;
using namespace ddlrun::tests;

namespace {

const Job no_job;

FactTable memlock(const std::string& soft, const std::string& rdma = "0") {
  return {{"limit.memlock.soft", soft}, {"limit.memlock.hard", soft}, {"devices.rdma", rdma}};
}
FactTable nofile(const std::string& soft) {
  return {{"limit.nofile.soft", soft}, {"limit.nofile.hard", soft}};
}
FactTable shm(std::uint64_t total_mib, std::uint64_t free_mib, const std::string& gpus = "0") {
  return {{"shm.total_bytes", std::to_string(total_mib << 20)},
          {"shm.free_bytes", std::to_string(free_mib << 20)},
          {"devices.nvidia", gpus}};
}

Job slurm_job() {
  Job job;
  job.allocation_source = "SLURM_JOB_NODELIST";
  return job;
}

bool has_command(const Finding& finding, const std::string& part) {
  for (const std::string& command : finding.remedy.commands) {
    if (command.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_limits");

TEST_CASE("limits: verdicts at both sides of each threshold") {
  check_rows({
      // 64 KiB is what the posts' job died with; 8 MiB is the default of every current distribution.
      {"LIM-01", "pass", memlock("unlimited", "2"), no_job},
      {"LIM-01", "pass", memlock("8388608"), no_job},
      {"LIM-01", "pass", memlock("65537"), no_job},
      {"LIM-01", "fail", memlock("65536"), no_job},
      {"LIM-01", "fail", memlock("8388608", "1"), no_job},
      {"LIM-01", "fail", memlock("8388608"), with(no_job, "UCX_TLS", "rc,sm,self")},
      {"LIM-01", "pass", memlock("8388608"), with(no_job, "UCX_TLS", "tcp,sm,self")},
      {"LIM-01", "fail", memlock("8388608"), with(no_job, "OMPI_MCA_btl", "self,openib")},
      {"LIM-01", "pass", memlock("8388608"), with(no_job, "OMPI_MCA_btl", "^openib")},
      {"LIM-01", "fail", memlock("8388608"), with(no_job, "NCCL_IB_HCA", "mlx5_0")},
      {"LIM-01", "skip", {}, no_job},
      {"LIM-01", "skip", memlock("much"), no_job},
      {"LIM-02", "skip", memlock("65536"), no_job},
      {"LIM-02", "skip", memlock("8388608"), slurm_job()},  // nofile is not known
      {"LIM-03", "pass", nofile("1024"), job_of(8)},
      {"LIM-03", "warn", nofile("1023"), job_of(8)},
      {"LIM-03", "warn", nofile("512"), job_of(8)},
      {"LIM-03", "fail", nofile("511"), job_of(8)},
      {"LIM-03", "fail", nofile("256"), no_job},
      {"LIM-03", "pass", nofile("1024"), job_of(4, 1, 448)},  // 128 + 2*448 = 1024
      {"LIM-03", "warn", nofile("1024"), job_of(4, 1, 449)},
      {"LIM-03", "fail", nofile("1024"), job_of(4, 1, 897)},  // 128 + 897 = 1025
      {"LIM-03", "pass", nofile("unlimited"), job_of(4, 1, 100000)},
      {"LIM-03", "skip", {}, no_job},
      {"LIM-05", "pass", {{"limit.nproc.soft", "unlimited"}}, job_of(4, 8)},
      {"LIM-05", "pass", {{"limit.nproc.soft", "384"}}, job_of(4, 8)},  // 4*(2*8+16)+256
      {"LIM-05", "warn", {{"limit.nproc.soft", "383"}}, job_of(4, 8)},
      {"LIM-05", "warn", {{"limit.nproc.soft", "64"}}, job_of(4, 8)},  // 4*(8+8)
      {"LIM-05", "fail", {{"limit.nproc.soft", "63"}}, job_of(4, 8)},
      {"LIM-05",
       "fail",
       {{"limit.nproc.soft", "9999"}, {"cgroup.pids.max", "100"}, {"cgroup.pids.used", "50"}},
       job_of(4, 8)},
      {"LIM-05",
       "pass",
       {{"limit.nproc.soft", "9999"}, {"cgroup.pids.max", "900"}, {"cgroup.pids.used", "50"}},
       job_of(4, 8)},
      {"LIM-05", "skip", {}, no_job},
      {"LIM-06", "pass", {{"limit.stack.soft", "8388608"}}, no_job},
      {"LIM-06", "warn", {{"limit.stack.soft", "8388607"}}, no_job},
      {"LIM-06", "warn", {{"limit.stack.soft", "2097152"}}, no_job},
      {"LIM-06", "fail", {{"limit.stack.soft", "2097151"}}, no_job},
      {"LIM-06", "pass", {{"limit.stack.soft", "unlimited"}}, no_job},
      {"LIM-06", "warn", {{"limit.stack.soft", "unlimited"}, {"devices.nvidia", "1"}}, no_job},
      {"LIM-06", "skip", {}, no_job},
      {"LIM-07", "pass", shm(12000, 12000), job_of(4)},
      {"LIM-07", "fail", shm(64, 64), no_job},
      {"LIM-07", "pass", shm(65 + 128, 128), no_job},
      {"LIM-07", "warn", shm(256, 127), no_job},
      {"LIM-07", "fail", shm(256, 15), no_job},
      {"LIM-07", "pass", shm(1024, 256), job_of(16)},
      {"LIM-07", "warn", shm(1024, 255), job_of(16)},
      {"LIM-07", "fail", shm(1024, 127), job_of(16)},
      {"LIM-07", "warn", shm(1024, 511, "8"), job_of(8)},
      {"LIM-07", "pass", shm(1024, 512, "8"), job_of(8)},
      {"LIM-07", "skip", {}, no_job},
      {"LIM-15", "pass", {{"limit.core.soft", "0"}}, job_of(4)},
      {"LIM-15", "skip", {}, job_of(4)},
  });
}

TEST_CASE("core files: only what can fill the disk is reported") {
  FactTable facts{{"limit.core.soft", "unlimited"},
                  {"kernel.core_pattern", "core"},
                  {"mem.total_bytes", std::to_string(64ull << 30)},
                  {"disk.work.free_bytes", std::to_string(10ull << 30)}};
  CHECK(verdict_of("LIM-15", facts, job_of(4)) == "warn");
  CHECK(verdict_of("LIM-15", facts) == "pass");  // no one said that ranks run here
  facts["disk.work.free_bytes"] = std::to_string(32ull << 30);
  CHECK(verdict_of("LIM-15", facts, job_of(4)) == "pass");
  facts["disk.work.free_bytes"] = "0";
  facts["kernel.core_pattern"] = "|/usr/share/apport/apport %p";
  CHECK(verdict_of("LIM-15", facts, job_of(4)) == "pass");
}

TEST_CASE("LIM-02: Slurm hands the submitter's soft limits on") {
  struct Row {
    const char *memlock, *nofile, *rdma, *verdict;
  };
  for (const Row& row : {Row{"8388608", "1024", "0", "pass"}, Row{"8388608", "1024", "1", "fail"},
                         Row{"65536", "1024", "0", "fail"}, Row{"unlimited", "1024", "1", "pass"},
                         Row{"unlimited", "256", "0", "fail"}}) {
    CAPTURE(row.memlock);
    CAPTURE(row.rdma);
    const FactTable facts{{"limit.memlock.soft", row.memlock},
                          {"limit.memlock.hard", "unlimited"},
                          {"limit.nofile.soft", row.nofile},
                          {"limit.nofile.hard", "524288"},
                          {"devices.rdma", row.rdma}};
    const Finding finding = evaluate_one("LIM-02", facts, slurm_job());
    CHECK(verdict_name(finding.verdict) == row.verdict);
    if (finding.verdict == Verdict::fail) CHECK(finding.remedy.on_driver_host);
    CHECK(verdict_of("LIM-02", facts, no_job, Via::srun) == row.verdict);
  }
}

TEST_CASE("the remedy for a limit fits the path by which it came") {
  FactTable facts = memlock("65536");
  SUBCASE("sshd that hands its own limit on") {
    facts.insert({{"limit.daemon", "sshd"},
                  {"limit.daemon.pid", "812"},
                  {"limit.daemon.pid_file", "/run/sshd.pid"},
                  {"limit.daemon.memlock.soft", "65536"},
                  {"limit.daemon.memlock.hard", "8388608"},
                  {"limit.daemon.unit", "ssh.service"}});
    const Finding finding = evaluate_one("LIM-01", facts);
    CHECK(finding.remedy.needs_root);
    CHECK(finding.remedy.commands ==
          std::vector<std::string>{
              "printf '* - memlock unlimited\\nroot - memlock unlimited\\n' > "
              "/etc/security/limits.d/zz-ddlrun-memlock.conf",
              "mkdir -p /etc/systemd/system/ssh.service.d && printf '[Service]\\nLimitMEMLOCK=infinity\\n' > "
              "/etc/systemd/system/ssh.service.d/ddlrun-memlock.conf && systemctl daemon-reload",
              "prlimit --memlock=unlimited:unlimited --pid \"$(cat /run/sshd.pid)\" || "
              "prlimit --memlock=8388608: --pid \"$(cat /run/sshd.pid)\""});
  }
  SUBCASE("a limit and a process that are no numbers are in no command") {
    facts.insert({{"limit.daemon", "sshd"},
                  {"limit.daemon.pid", "812"},
                  {"limit.daemon.memlock.soft", "65536"},
                  {"limit.daemon.memlock.hard", "8388608;>P1"}});
    CHECK(has_command(evaluate_one("LIM-01", facts), "prlimit --memlock=unlimited:unlimited --pid 812"));
    CHECK_FALSE(has_command(evaluate_one("LIM-01", facts), ">P1"));
    facts["limit.daemon.pid"] = "812;>P2";
    CHECK_FALSE(has_command(evaluate_one("LIM-01", facts), "prlimit"));
  }
  SUBCASE("sshd without bound: something on the way lowers it") {
    facts.insert(
        {{"limit.daemon", "sshd"}, {"limit.daemon.pid", "812"}, {"limit.daemon.memlock.soft", "unlimited"}});
    const Finding finding = evaluate_one("LIM-01", facts);
    CHECK(has_command(finding, "/etc/security/limits.d/"));
    CHECK_FALSE(has_command(finding, "prlimit"));
    // sshd_config(5), UsePAM; the unit of sshd is ssh.service on Debian, sshd.service elsewhere.
    CHECK(finding.remedy.note.find("sshd -T | grep -i usepam") != std::string::npos);
    CHECK(finding.remedy.note.find("systemctl edit ssh (Debian) or sshd: [Service] LimitMEMLOCK=infinity") !=
          std::string::npos);
  }
  SUBCASE("slurmd") {
    facts.insert({{"limit.daemon", "slurmd"}, {"limit.daemon.pid", "99"}});
    const Finding finding = evaluate_one("LIM-01", facts);
    CHECK(has_command(finding, "/etc/systemd/system/slurmd.service.d/ddlrun-memlock.conf"));
    CHECK(has_command(finding, "systemctl restart slurmd.service"));
    CHECK(finding.remedy.note.find("PropagateResourceLimitsExcept=MEMLOCK") != std::string::npos);
  }
  SUBCASE("Slurm hands the submitter's limit on") {
    const Finding finding = evaluate_one("LIM-01", facts, no_job, Via::srun);  // the driver host has the same
    CHECK(finding.remedy.commands == std::vector<std::string>{"ulimit -S -l \"$(ulimit -H -l)\""});
    CHECK(finding.remedy.on_driver_host);
  }
  SUBCASE("a container") {
    facts["limit.container"] = "yes";
    CHECK(evaluate_one("LIM-01", facts).remedy.note.find("docker run --ulimit memlock=-1") !=
          std::string::npos);
  }
  SUBCASE("units of limits.conf: the stack in KiB") {
    const Finding finding = evaluate_one("LIM-06", {{"limit.stack.soft", "1048576"}});
    CHECK(has_command(finding, "* - stack 8192\\n"));
  }
  SUBCASE("open files: a number") {
    const Finding finding = evaluate_one("LIM-03", nofile("256"));
    CHECK(has_command(finding, "* - nofile 131072\\n"));
  }
}

TEST_CASE("a finding names both numbers") {
  const Finding finding = evaluate_one(
      "LIM-01", {{"limit.memlock.soft", "65536"}, {"limit.memlock.hard", "8388608"}, {"devices.rdma", "2"}});
  CHECK(finding.observed == "memlock 64 KiB (hard 8 MiB), 2 RDMA devices");
  CHECK(finding.expected == "unlimited");
  CHECK(finding.why.find("completion queue (CQ)") != std::string::npos);
}

TEST_CASE("units") {
  CHECK(render_bytes(0) == "0 bytes");
  CHECK(render_bytes(1023) == "1023 bytes");
  CHECK(render_bytes(65536) == "64 KiB");
  CHECK(render_bytes(1536) == "1.5 KiB");
  CHECK(render_bytes(8ull << 20) == "8 MiB");
  CHECK(render_bytes(UINT64_MAX) == "16777216.0 TiB");
  CHECK(render_limit("unlimited", true) == "unlimited");
}

TEST_CASE("hosts that are alike share a finding") {
  DoctorInput input;
  for (const char* host : {"h1", "h2", "h3", "h4"}) set_facts(input.add(host), memlock("8388608"));
  set_facts(input.host("h2"), memlock("65536"));
  set_facts(input.host("h4"), memlock("65536"));
  const auto findings = run_system_check("LIM-01", input);
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].verdict == Verdict::fail);
  CHECK(findings[1].hosts == std::vector<std::string>{"h2", "h4"});
}

TEST_SUITE_END();

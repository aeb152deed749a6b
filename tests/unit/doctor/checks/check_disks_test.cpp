// SPDX-License-Identifier: MIT
#include "tests/unit/doctor/one_check.hpp"

using namespace ddlrun::doctor;
using namespace ddlrun::tests;

namespace {

FactTable disk(const std::string& role, double total_gib, double free_gib) {
  const std::string fact = "disk." + role + ".";
  const auto bytes = [](double gib) {
    return std::to_string(static_cast<std::uint64_t>(gib * (1ull << 30)));
  };
  return {{fact + "path", "/" + role},
          {fact + "state", "ok"},
          {fact + "existing", "/" + role},
          {fact + "total_bytes", bytes(total_gib)},
          {fact + "free_bytes", bytes(free_gib)},
          {fact + "inodes", "100000"},
          {fact + "free_inodes", "90000"},
          {fact + "read_only", "no"},
          {fact + "writable", "yes"},
          {fact + "mount", "/" + role},
          {fact + "milliseconds", "0"},
          {fact + "fs", "ext4"}};
}
FactTable changed(FactTable facts, const std::string& name, const std::string& value) {
  facts[name] = value;
  return facts;
}
FactTable both(FactTable a, const FactTable& b) {
  a.insert(b.begin(), b.end());
  return a;
}
FactTable tmpdir(std::size_t length) { return {{"start.tmpdir", "/" + std::string(length - 1, 'x')}}; }

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_disks");

TEST_CASE("disks: verdicts at both sides of each threshold") {
  constexpr double mib = 1.0 / 1024;
  check_rows({
      {"DISK-01", "pass", disk("tmp", 252, 77)},
      {"DISK-01", "fail", disk("tmp", 1, 63 * mib)},
      {"DISK-01", "pass", disk("tmp", 0.5, 64 * mib)},  // a small tmpfs, 88 % used
      {"DISK-01", "warn", disk("tmp", 1, 64 * mib)},    // 94 % used and less than 1 GiB
      {"DISK-01", "pass", disk("work", 20000, 1000)},   // 95 % used, but a tebibyte is left
      {"DISK-01", "warn", disk("work", 1000, 9)},       // 99 % used and less than 10 GiB
      {"DISK-01", "pass", disk("work", 1000, 11)},
      {"DISK-01", "fail", disk("checkpoint", 1, 255 * mib)},
      {"DISK-01", "pass", disk("checkpoint", 1, 256 * mib)},
      {"DISK-01", "fail", changed(disk("work", 100, 90), "disk.work.free_inodes", "999")},
      {"DISK-01", "pass", changed(disk("work", 100, 90), "disk.work.free_inodes", "1000")},
      {"DISK-01", "pass",
       changed(changed(disk("work", 100, 90), "disk.work.inodes", "0"), "disk.work.free_inodes", "0")},
      {"DISK-01", "fail", both(disk("tmp", 1, 0), disk("work", 252, 77))},
      {"DISK-01", "skip", {}},
      {"DISK-02", "pass", disk("tmp", 252, 77)},
      {"DISK-02", "fail", changed(disk("work", 252, 77), "disk.work.read_only", "yes")},
      {"DISK-02",
       "fail",
       {{"disk.work.path", "/work"}, {"disk.work.state", "hung"}, {"disk.work.mount", "/work"}}},
      {"DISK-02", "pass", changed(disk("tmp", 252, 77), "disk.tmp.milliseconds", "1000")},
      {"DISK-02", "warn", changed(disk("tmp", 252, 77), "disk.tmp.milliseconds", "1001")},
      {"DISK-02", "fail", changed(disk("tmp", 252, 77), "disk.tmp.writable", "no")},
      {"DISK-02", "fail", changed(disk("checkpoint", 252, 77), "disk.checkpoint.writable", "no")},
      {"DISK-02", "pass", changed(disk("work", 252, 77), "disk.work.writable", "no")},
      {"DISK-02", "fail", changed(disk("tmp", 252, 77), "disk.tmp.state", "missing")},
      {"DISK-02", "pass", changed(disk("checkpoint", 252, 77), "disk.checkpoint.state", "missing")},
      {"DISK-02", "skip", {}},
      {"DISK-03", "pass", tmpdir(60)},
      {"DISK-03", "warn", tmpdir(61)},
      {"DISK-03", "warn", tmpdir(75)},
      {"DISK-03", "fail", tmpdir(76)},
      {"DISK-03", "pass", {{"start.tmpdir", ""}}},
      {"DISK-03", "skip", {}},
      {"DISK-04", "skip", {}},
  });
}

TEST_CASE("the worst directory is the one that is reported, with what mends it") {
  const FactTable well = disk("tmp", 252, 77);
  Finding finding =
      evaluate_one("DISK-02", both(well, changed(disk("work", 10, 9), "disk.work.read_only", "yes")));
  CHECK(finding.observed == "/work is mounted read-only at /work");
  CHECK(finding.remedy.commands == std::vector<std::string>{"mount -o remount,rw /work"});
  finding = evaluate_one("DISK-02", both(well, {{"disk.work.path", "/scratch/x"},
                                                {"disk.work.state", "hung"},
                                                {"disk.work.mount", "/scratch"}}));
  CHECK(finding.observed == "/scratch/x does not answer within 2 s");
  CHECK(finding.remedy.commands == std::vector<std::string>{"umount -l /scratch"});
  FactTable memory = changed(disk("tmp", 1, 0), "disk.tmp.fs", "tmpfs");
  finding = evaluate_one("DISK-01", memory);
  CHECK(finding.remedy.commands[0] == "mount -o remount,size=50% /tmp");
  CHECK(finding.observed == "/tmp: 0 bytes free of 1 GiB (100 % used)");
  memory = changed(changed(disk("tmp", 1, 1), "disk.tmp.fs", "tmpfs"), "disk.tmp.free_inodes", "5");
  CHECK(evaluate_one("DISK-01", memory).remedy.commands[0] == "mount -o remount,nr_inodes=1m /tmp");
}

TEST_CASE("the job's TMPDIR counts before the host's") {
  const Finding finding = evaluate_one("DISK-03", tmpdir(20), with({}, "TMPDIR", "/" + std::string(99, 'y')));
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.remedy.on_driver_host);
  CHECK(verdict_of("DISK-03", tmpdir(99), with({}, "TMPDIR", "/tmp")) == "pass");
}

TEST_CASE("KISTI takes jobs from scratch only") {
  Job job;
  const FactTable facts{{"site.kisti", "yes"}, {"user.name", "kim"}};
  CHECK(verdict_of("DISK-04", facts, job) == "skip");
  job.workdir = "/scratch/kim/run";
  CHECK(verdict_of("DISK-04", facts, job) == "pass");
  job.workdir = "/scratch/kimchi";
  CHECK(verdict_of("DISK-04", facts, job) == "fail");
  CHECK(verdict_of("DISK-04", {{"user.name", "kim"}}, job) == "skip");
}

TEST_CASE("DISK-02: what is missing is made, and no system directory gets another owner") {
  const FactTable user{{"user.uid", "2000"}, {"user.name", "kim"}};
  const auto look = [&](const std::string& role, const std::string& path, const std::string& state,
                        const std::string& existing, const std::string& mount) {
    const std::string fact = "disk." + role + ".";
    return both(user, {{fact + "path", path},
                       {fact + "state", state},
                       {fact + "existing", existing},
                       {fact + "writable", "no"},
                       {fact + "mount", mount}});
  };
  struct Row {
    FactTable facts;
    const char *observed, *command;
  };
  for (const Row& row :
       {Row{look("checkpoint", "/nowdir/ck", "missing", "/", "/"), "/nowdir/ck is not there",
            "install -d -o 2000 /nowdir/ck"},
        Row{look("tmp", "/nowdir/tmp", "missing", "/", "/"), "/nowdir/tmp is not there",
            "install -d -o 2000 /nowdir/tmp"},
        Row{look("checkpoint", "/scratch", "ok", "/scratch", "/scratch"),
            "/scratch is not writable for this user", "install -d -o 2000 /scratch/kim"},
        Row{look("checkpoint", "/", "ok", "/", "/"), "/ is not writable for this user",
            "install -d -o 2000 /kim"},
        Row{look("checkpoint", "/usr/share/ck", "ok", "/usr/share/ck", "/"),
            "/usr/share/ck is not writable for this user", "install -d -o 2000 /usr/share/ck/kim"},
        Row{look("checkpoint", "/scratch/run/ck", "ok", "/scratch/run/ck", "/scratch"),
            "/scratch/run/ck is not writable for this user", "chown 2000 /scratch/run/ck"},
        Row{look("tmp", "/tmp", "ok", "/tmp", "/"), "/tmp is not writable for this user",
            "chmod 1777 /tmp"}}) {
    CAPTURE(row.observed);
    const Finding finding = evaluate_one("DISK-02", row.facts);
    CHECK(finding.verdict == Verdict::fail);
    CHECK(finding.observed == row.observed);
    CHECK(finding.remedy.commands == std::vector<std::string>{row.command});
    CHECK(finding.remedy.needs_root);
  }
}

TEST_SUITE_END();

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

HostReport& unreached(DoctorInput& input, const std::string& host, const std::string& kind,
                      const std::string& problem) {
  HostReport& report = input.add(host);
  report.reach.problem = problem;
  report.reach.problem_kind = kind;
  return report;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_ssh");

TEST_CASE("SSH-01: the message of ssh decides the remedy") {
  struct Row {
    const char *kind, *command;
  };
  for (const Row& row : {Row{"no-key", "ssh-copy-id -i /home/u/.ssh/id_rsa.pub h2"},
                         Row{"refused", "systemctl enable --now ssh"}, Row{"timeout", "ping -c 3 h2"},
                         Row{"no-route", "ping -c 3 h2"}, Row{"hung", "systemctl restart ssh"},
                         Row{"agent", "df -h /tmp"}, Row{"other", "ssh -v -o BatchMode=yes h2 true"}}) {
    CAPTURE(row.kind);
    DoctorInput input;
    input.driver_host.facts.set("ssh.key", "/home/u/.ssh/id_rsa");
    input.add("h1");
    unreached(input, "h2", row.kind, "words of ssh about h2");
    const auto findings = run_check("SSH-01", input);
    const Finding& bad = find_one(findings, Verdict::fail);
    CHECK(bad.hosts == std::vector<std::string>{"h2"});
    CHECK(bad.observed == "words of ssh about h2");
    REQUIRE_FALSE(bad.remedy.commands.empty());
    bool has = false;
    for (const auto& command : bad.remedy.commands)
      has = has || command.find(row.command) != std::string::npos;
    CHECK(has);
    CHECK(find_one(findings, Verdict::pass).hosts == std::vector<std::string>{"h1"});
  }
}

TEST_CASE("SSH-01: a name that no one knows is not taught with an address that no one knows") {
  DoctorInput input;
  unreached(input, "nodo9", "unknown-name", "ssh: Could not resolve hostname nodo9");
  Finding finding = find_one(run_check("SSH-01", input), Verdict::fail);
  CHECK(finding.remedy.commands.empty());
  CHECK(finding.remedy.note.find("/etc/hosts") != std::string::npos);
  CHECK(finding.remedy.note.find("did you mean") == std::string::npos);
  input.add("node8");  // another number is another host
  CHECK(run_check("SSH-01", input)[1].remedy.note.find("did you mean") == std::string::npos);
  input.driver_host.facts.set_list("name.known", {"localhost", "node9"});
  CHECK(run_check("SSH-01", input)[1].remedy.note.starts_with("did you mean node9, not nodo9?"));
}

TEST_CASE("SSH-01: a launcher's trouble has no words of ssh") {
  struct Row {
    Via via;
    const char *kind, *command;
    bool ssh;
  };
  for (const Row& row : {Row{Via::srun, "other", "scontrol show node h2", false},
                         Row{Via::srun, "timeout", "scontrol show node h2", false},
                         Row{Via::pbsdsh, "other", "pbsnodes h2", false},
                         Row{Via::mpirun, "other", "mpirun -n 1 --host h2 --bind-to none true", false},
                         Row{Via::mpirun, "no-key", "ssh-copy-id", true}}) {
    CAPTURE(row.command);
    DoctorInput input;
    input.driver_host.facts.set("ssh.key", "/home/u/.ssh/id_rsa");
    unreached(input, "h2", row.kind, "srun: error: Application launch failed").reach.via = row.via;
    const Finding finding = find_one(run_check("SSH-01", input), Verdict::fail);
    CHECK(finding.remedy.commands[0].starts_with(row.command));
    CHECK((finding.expected == "a login without a password") == row.ssh);
  }
}

TEST_CASE("SSH-01: a key that others may read is closed, not copied again") {
  DoctorInput input;
  input.driver_host.facts.set("ssh.key", "/home/u/.ssh/id_rsa");
  input.driver_host.facts.set_list("ssh.mode.keys", {"id_rsa 644"});
  unreached(input, "h2", "no-key", "Permission denied (publickey).");
  const Finding finding = find_one(run_check("SSH-01", input), Verdict::fail);
  CHECK(finding.remedy.commands[0].starts_with("chmod 600"));
  CHECK(finding.why.find("SSH-07") != std::string::npos);
  input.driver_host.facts.set_list("ssh.mode.keys", {"id_rsa 600"});
  CHECK(find_one(run_check("SSH-01", input), Verdict::fail).remedy.commands[0].starts_with("ssh-copy-id"));
}

TEST_CASE("SSH-02: the file of the offending key, out of ssh's whole message") {
  DoctorInput input;
  input.driver_host.facts.set("ssh.home", "/home/u");
  unreached(input, "h3", "changed-host-key", "Host key verification failed.").reach.stderr_text =
      "Add correct host key in /home/u/.ssh/known_hosts to get rid of this message.\\x0d\\x0aOffending "
      "ED25519 "
      "key in /home/u/.ssh/known_hosts:3\\x0d\\x0a";
  CHECK(run_check("SSH-02", input)[0].observed ==
        "the host key is another one than /home/u/.ssh/known_hosts holds");
}

TEST_CASE("SSH-01: many hosts with one trouble are one finding, with names that a shell takes") {
  DoctorInput input;
  for (const char* host : {"h1", "h2", "h3"})
    unreached(input, host, "no-key", std::string("u@") + host + ": Permission denied (publickey).");
  const auto findings = run_check("SSH-01", input);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].hosts.size() == 3);
  CHECK(findings[0].remedy.commands ==
        std::vector<std::string>{"ssh-keygen -t ed25519 -N '' -f ~/.ssh/id_ed25519",
                                 "for h in h1 h2 h3; do ssh-copy-id -i ~/.ssh/id_ed25519.pub \"$h\"; done"});
}

TEST_CASE("SSH-02: an unknown key and a changed one have different remedies") {
  DoctorInput input;
  input.driver_host.facts.set("ssh.home", "/home/u");
  input.add("h1");
  unreached(input, "h2", "unknown-host-key", "Host key verification failed.");
  unreached(input, "h3", "changed-host-key", "Host key verification failed.").reach.stderr_text =
      "Offending ED25519 key in /home/u/.ssh/known_hosts:3\n";
  unreached(input, "h4", "changed-host-key", "Host key verification failed. h4").reach.stderr_text =
      "Offending RSA key in /etc/ssh/ssh_known_hosts:1\n";
  unreached(input, "h5", "timeout", "no answer");
  const auto findings = run_check("SSH-02", input);
  REQUIRE(findings.size() == 5);
  CHECK(find_one(findings, Verdict::skip).hosts == std::vector<std::string>{"h5"});
  CHECK(findings[2].verdict == Verdict::fail);
  CHECK(findings[2].hosts == std::vector<std::string>{"h2"});
  const Remedy& unknown = findings[2].remedy;
  REQUIRE(unknown.commands.size() == 2);
  CHECK(unknown.commands[0] ==
        "ssh-keyscan h2 > ~/.ssh/scanned_host_keys && ssh-keygen -lf ~/.ssh/scanned_host_keys");
  CHECK(unknown.commands[1].find(">> ~/.ssh/known_hosts") != std::string::npos);
  CHECK(unknown.asks_each);
  CHECK(findings[2].remedy.on_driver_host);
  // A changed key is for a person to look into: no command accepts it.
  CHECK(findings[3].remedy.commands.empty());
  CHECK(findings[3].remedy.note.find("ssh-keygen -R h3,") != std::string::npos);
  CHECK(findings[4].remedy.commands.empty());
  CHECK(findings[4].remedy.note.find("ssh-keygen -R h4 -f /etc/ssh/ssh_known_hosts") != std::string::npos);
}

TEST_CASE("SSH-04: noise, at both sides of 4 KiB") {
  struct Row {
    std::uint64_t bytes;
    Verdict verdict;
  };
  for (const Row& row :
       {Row{0, Verdict::pass}, Row{1, Verdict::warn}, Row{4096, Verdict::warn}, Row{4097, Verdict::fail}}) {
    CAPTURE(row.bytes);
    DoctorInput input;
    HostReport& host = input.add("h1");
    host.reach.noise_bytes = row.bytes;
    host.reach.noise_start = "Welcome to the 'cluster'";
    const auto findings = run_check("SSH-04", input);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].verdict == row.verdict);
    if (row.bytes > 0) CHECK(findings[0].observed.find("Welcome") != std::string::npos);
  }
  DoctorInput local;
  local.add("h1").reach.via = Via::local;
  CHECK(run_check("SSH-04", local)[0].verdict == Verdict::skip);
}

TEST_CASE("SSH-06: dropped logins") {
  DoctorInput input;
  input.add("h1");
  input.add("h2").reach.attempts = 3;
  unreached(input, "h3", "kex-reset", "kex_exchange_identification: read: Connection reset by peer")
      .reach.attempts = 3;
  unreached(input, "h4", "refused", "Connection refused");
  const auto findings = run_check("SSH-06", input);
  CHECK(find_one(findings, Verdict::pass).hosts == std::vector<std::string>{"h1"});
  CHECK(find_one(findings, Verdict::warn).observed == "sshd dropped 2 tries before it accepted the login");
  CHECK(find_one(findings, Verdict::fail).hosts == std::vector<std::string>{"h3"});
  CHECK(find_one(findings, Verdict::skip).hosts == std::vector<std::string>{"h4"});
}

TEST_CASE("SSH-07: modes count where they stop ssh") {
  struct Row {
    const char *home, *dir, *authorized, *keys;
    bool refused;
    Verdict verdict;
  };
  for (const Row& row : {Row{"755", "700", "600", "id_ed25519 600", false, Verdict::pass},
                         Row{"755", "755", "644", "id_ed25519 600", true, Verdict::pass},
                         Row{"775", "700", "600", "id_ed25519 600", false, Verdict::pass},
                         Row{"775", "700", "600", "id_ed25519 600", true, Verdict::fail},
                         Row{"755", "770", "600", "id_ed25519 600", true, Verdict::fail},
                         Row{"755", "700", "664", "id_ed25519 600", true, Verdict::fail},
                         Row{"755", "700", "600", "id_ed25519 640", false, Verdict::fail},
                         Row{"755", "700", "600", "id_ed25519 400", false, Verdict::pass}}) {
    CAPTURE(row.home);
    CAPTURE(row.keys);
    CAPTURE(row.refused);
    DoctorInput input;
    input.driver_host.facts.set("ssh.home", "/home/u");
    input.driver_host.facts.set("ssh.mode.home", row.home);
    input.driver_host.facts.set("ssh.mode.directory", row.dir);
    input.driver_host.facts.set("ssh.mode.authorized_keys", row.authorized);
    input.driver_host.facts.set("ssh.mode.keys", row.keys);
    if (row.refused) unreached(input, "h1", "no-key", "Permission denied (publickey)");
    const auto findings = run_check("SSH-07", input);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].verdict == row.verdict);
  }
  CHECK(run_check("SSH-07", DoctorInput())[0].verdict == Verdict::skip);
}

TEST_CASE("SSH-08: forwarding") {
  DoctorInput input;
  CHECK(run_check("SSH-08", input)[0].verdict == Verdict::skip);
  input.driver_host.facts.set_list("ssh.forward", {});
  CHECK(run_check("SSH-08", input)[0].verdict == Verdict::pass);
  input.driver_host.facts.set_list("ssh.forward", {"h1 agent", "h1 X11", "h2 agent", "elsewhere agent"});
  CHECK(run_check("SSH-08", input)[0].verdict == Verdict::pass);  // none of the job's hosts
  for (const char* host : {"h0", "h1", "h2"}) input.add(host);
  const auto findings = run_check("SSH-08", input);
  CHECK(findings[0].verdict == Verdict::warn);
  CHECK(findings[0].hosts == std::vector<std::string>{"h1", "h2"});
  CHECK(findings[0].observed == "ssh forwards X11 and agent to h1, h2");
  CHECK(findings[0].remedy.commands[0].find("ForwardAgent no") != std::string::npos);
}

TEST_CASE("SSH-09: sessions inside and outside of the job's cgroup") {
  DoctorInput input;
  CHECK(run_check("SSH-09", input)[0].verdict == Verdict::skip);
  input.driver_host.facts.set("environment.SLURM_JOB_ID", "77");
  input.add("h1").facts.set("environment.cgroup", "0::/system.slice/slurmstepd.scope/job_77/step_extern");
  input.add("h2").facts.set("environment.cgroup", "0::/system.slice/ssh.service");
  CHECK(run_check("SSH-09", input)[0].verdict ==
        Verdict::skip);  // the driver host is in no such cgroup: none are used
  input.driver_host.facts.set("environment.cgroup", "0::/system.slice/slurmstepd.scope/job_77/step_batch");
  const auto findings = run_check("SSH-09", input);
  CHECK(find_one(findings, Verdict::pass).hosts == std::vector<std::string>{"h1"});
  CHECK(find_one(findings, Verdict::warn).hosts == std::vector<std::string>{"h2"});
}

TEST_SUITE_END();

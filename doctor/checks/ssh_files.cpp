// SPDX-License-Identifier: MIT
// The driver host's own ssh files and settings, and where ssh sessions land inside a Slurm job.
#include "base/text/text.hpp"
#include "doctor/checks/software.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace ddlrun::doctor {

namespace {

// Octal digits as Facts hold them.
unsigned mode_of(std::string_view octal) {
  unsigned mode = 0;
  for (const char c : octal) {
    if (c >= '0' && c <= '7') mode = mode * 8 + static_cast<unsigned>(c - '0');
  }
  return mode;
}

CheckResult evaluate_file_modes(const CheckInput& input) {
  const Facts& facts = input.driver_host.facts;
  if (!facts.text("ssh.home")) return skip(facts.why_missing("ssh.home"));
  std::vector<std::string> loose_keys;
  for (const std::string_view line : facts.list("ssh.mode.keys")) {
    const auto blank = line.rfind(' ');
    if (blank != std::string_view::npos && (mode_of(line.substr(blank + 1)) & 077) != 0)
      loose_keys.emplace_back(line);
  }
  if (!loose_keys.empty()) {
    return fail(fmt::format("private key {} may be read by others", join(loose_keys, ", ")), "600",
                "ssh does not use such a key: \"UNPROTECTED PRIVATE KEY FILE\", then asks for a password",
                driver_host_commands({"chmod 600 $(ls ~/.ssh/id_* | grep -v '\\.pub$')"}));
  }
  std::vector<std::string> writable;
  for (const char* name : {"home", "directory", "authorized_keys"}) {
    const auto mode = facts.text(fmt::format("ssh.mode.{}", name));
    if (mode && (mode_of(*mode) & 022) != 0) writable.push_back(fmt::format("{} {}", name, *mode));
  }
  const bool some_refused = std::any_of(input.hosts.begin(), input.hosts.end(), [](const HostReport& host) {
    return host.reach.problem_kind == "no-key";
  });
  if (writable.empty()) return pass("home, ~/.ssh and keys are closed to others");
  if (!some_refused)
    return pass(fmt::format("{}: writable for others, but no host refused the key", join(writable, ", ")));
  return fail(fmt::format("writable for others: {}", join(writable, ", ")),
              "no write bit for group and others",
              "where the home directory is shared, sshd with StrictModes ignores authorized_keys: \"bad "
              "ownership or modes\"; a host did refuse the key",
              driver_host_commands({"chmod go-w ~ ~/.ssh ~/.ssh/authorized_keys"}));
}

std::vector<Finding> check_file_modes(const CheckInput& input) {
  return single_finding("SSH-07", evaluate_file_modes(input));
}

std::vector<Finding> check_forwarding(const CheckInput& input) {
  const Facts& facts = input.driver_host.facts;
  if (!facts.text("ssh.forward")) return single_finding("SSH-08", skip(facts.why_missing("ssh.forward")));
  std::set<std::string, std::less<>> what, forwarded;
  for (const std::string_view line : facts.list("ssh.forward")) {
    forwarded.emplace(line.substr(0, line.find(' ')));
    what.emplace(line.substr(line.find(' ') + 1));
  }
  std::vector<std::string> hosts;  // other names of a job's host stand for themselves only
  for (const HostReport& host : input.hosts) {
    if (forwarded.count(host.host) > 0) hosts.push_back(host.host);
  }
  if (hosts.empty()) return single_finding("SSH-08", pass("neither agent nor X11 is forwarded"));
  const std::string both = join(std::vector<std::string>(what.begin(), what.end()), " and ");
  Remedy remedy = driver_host_commands(
      {fmt::format(
          "printf 'Host %s\\n  ForwardAgent no\\n  ForwardX11 no\\nHost *\\n' {} | cat - ~/.ssh/config > "
          "~/.ssh/config.new; chmod 600 ~/.ssh/config.new; mv ~/.ssh/config.new ~/.ssh/config",
          quote_shell(join(hosts, " ")))},
      "or for one job: mpirun --mca plm_rsh_args '-o ForwardAgent=no -o ForwardX11=no'");
  CheckResult result =
      warn(fmt::format("ssh forwards {} to {}", both, render_hosts(hosts)), "no forwarding to compute hosts",
           "ddlrun never forwards, but mpirun's own ssh follows your configuration: root on any of these "
           "hosts can use your agent",
           std::move(remedy));
  return single_finding("SSH-08", std::move(result), std::move(hosts));
}

std::vector<Finding> check_adopted(const CheckInput& input) {
  const auto job = text_of(input.driver_host, "environment.SLURM_JOB_ID");
  if (!job) return single_finding("SSH-09", skip("not inside a Slurm allocation"));
  const std::string mark = "job_" + *job;
  if (text_of(input.driver_host, "environment.cgroup").value_or("").find(mark) == std::string::npos)
    return single_finding("SSH-09",
                          skip(fmt::format("this Slurm does not keep job {} in a cgroup of its own", *job)));
  return evaluate_each(
      input, "SSH-09",
      [&](const HostReport& host) {
        if (host.reach.via != Via::ssh) return skip("not reached by ssh");
        const auto cgroup = host.facts.text("environment.cgroup");
        if (!cgroup) return skip(host.facts.why_missing("environment.cgroup"));
        if (cgroup->find(mark) != std::string_view::npos) return pass("ssh sessions belong to the job");
        return warn(
            fmt::format("an ssh session there is outside of job {}", *job), "in the job's cgroup",
            "ranks started by ssh have other limits than the job, are not counted for it, and survive it",
            {{"mpirun --mca plm slurm hostname"},
             false,
             true,
             "let mpirun start its daemons by srun (its default inside a Slurm job), or ask the "
             "administrator for pam_slurm_adopt; doctor --via srun looks by that path"});
      },
      "environment");
}

}  // namespace

std::span<const Check> ssh_file_checks() {
  static constexpr std::array<Check, 3> table{{
      {"SSH-07", "modes of ssh's files", Level::quick, Place::driver_host,
       "ssh ignores a private key that others can read; sshd ignores authorized_keys that others could "
       "write.",
       "stat of ~, ~/.ssh, authorized_keys and id_* on the driver host. pass: closed, or open without a "
       "refusal; "
       "fail: a private key beyond 600, or group or others may write and a host refused the key.",
       "chmod go-w ~; chmod 700 ~/.ssh; chmod 600 ~/.ssh/id_*", check_file_modes},
      {"SSH-08", "agent and X11 forwarding", Level::quick, Place::driver_host,
       "A forwarded agent lets root of any host log in as you elsewhere (CVE-2023-38408 even ran code on the "
       "driver host).",
       "The ssh configuration; where it mentions forwarding, ssh -G for up to 64 hosts. pass: none; warn: "
       "forwarded.",
       "ForwardAgent no and ForwardX11 no for these hosts; ddlrun itself always sets them.",
       check_forwarding},
      {"SSH-09", "ssh sessions inside the job", Level::full, Place::host,
       "Ranks started by ssh past the scheduler have other limits and survive the job.",
       "/proc/self/cgroup of the agent, inside a Slurm allocation that uses cgroups. pass: in the job's; "
       "warn: outside.",
       "mpirun's Slurm launcher or doctor --via srun; pam_slurm_adopt.", check_adopted},
  }};
  return table;
}

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
// Limits are inherited: from the daemon that starts a job's processes, and, by ssh with PAM, from limits.d.
#include "base/text/text.hpp"
#include "doctor/checks/system.hpp"

#include <fmt/format.h>

#include <optional>

namespace ddlrun::doctor {

namespace {

// The unit of limits.conf: memlock and stack in KiB.
std::string limits_conf_value(std::string_view name, const std::string& wanted) {
  const auto number = parse_unsigned(wanted);
  if (!number || (name != "memlock" && name != "stack")) return wanted;
  return std::to_string((*number + 1023) / 1024);
}

std::string limits_conf_line(std::string_view name, const std::string& wanted) {
  const std::string value = limits_conf_value(name, wanted);
  const std::string lines = fmt::format("* - {0} {1}\\nroot - {0} {1}\\n", name, value);
  return fmt::format("printf '{}' > /etc/security/limits.d/zz-ddlrun-{}.conf", lines, name);
}

std::string unit_value(const std::string& wanted) { return wanted == "unlimited" ? "infinity" : wanted; }

std::string unit_lines(const std::string& unit, std::string_view name, const std::string& wanted) {
  const std::string upper = to_upper(name);
  const std::string dir = fmt::format("/etc/systemd/system/{}.d", unit);
  return fmt::format(
      "mkdir -p {0} && printf '[Service]\\nLimit{1}={2}\\n' > {0}/ddlrun-{3}.conf && "
      "systemctl daemon-reload",
      quote_shell(dir), upper, unit_value(wanted), name);
}

// At once, for all that the daemon starts from now on. Where even root may not raise a hard limit (some
// containers), the soft one goes up to it.
void add_daemon_line(Remedy& remedy, const Facts& facts, std::string_view name, const std::string& wanted) {
  const std::string pid_file(facts.text("limit.daemon.pid_file").value_or(""));
  const auto number = facts.number("limit.daemon.pid");
  if (pid_file.empty() && !number) return;
  const std::string pid =
      pid_file.empty() ? std::to_string(*number) : fmt::format("\"$(cat {})\"", quote_shell(pid_file));
  std::string line = fmt::format("prlimit --{}={}:{} --pid {}", name, wanted, wanted, pid);
  const auto soft = facts.text(fmt::format("limit.daemon.{}.soft", name));
  const auto hard = facts.text(fmt::format("limit.daemon.{}.hard", name));
  const bool is_limit = hard && (*hard == "unlimited" || parse_unsigned(*hard));
  if (soft && is_limit && *soft != *hard)
    line += fmt::format(" || prlimit --{}={}: --pid {}", name, *hard, pid);
  remedy.commands.push_back(std::move(line));
}

// Does the limit come from the daemon? Yes where both have the same one.
bool is_inherited(const Facts& facts, std::string_view name) {
  const auto own = facts.text(fmt::format("limit.{}.soft", name));
  const auto theirs = facts.text(fmt::format("limit.daemon.{}.soft", name));
  return own && theirs && *own == *theirs;
}

Remedy scheduler_remedy(const Facts& facts, std::string_view name, const std::string& wanted,
                        std::string_view daemon) {
  Remedy remedy;
  remedy.needs_root = true;
  const std::string fallback = daemon == "slurmd" ? "slurmd.service" : "pbs.service";
  const std::string unit(facts.text("limit.daemon.unit").value_or(fallback));
  remedy.commands = {unit_lines(unit, name, wanted)};
  if (daemon == "slurmd") {
    const std::string upper = to_upper(name);
    remedy.commands.push_back("systemctl restart " + quote_shell(unit));
    remedy.note = fmt::format(
        "Slurm also carries the submit host's soft limits along: `sbatch --propagate=NONE`, or "
        "PropagateResourceLimitsExcept={} in slurm.conf. Restarting slurmd leaves running jobs alone.",
        upper);
  } else {
    add_daemon_line(remedy, facts, name, wanted);
    remedy.note = "the unit's own value counts when pbs_mom is next started";
  }
  return remedy;
}

}  // namespace

Remedy plan_limit_remedy(const HostReport& host, std::string_view name, const std::string& wanted) {
  const Facts& facts = host.facts;
  const std::string daemon(facts.text("limit.daemon").value_or(""));
  if (daemon == "slurmd" || daemon == "pbs_mom") return scheduler_remedy(facts, name, wanted, daemon);
  Remedy remedy;
  remedy.needs_root = true;
  remedy.commands = {limits_conf_line(name, wanted)};
  if (daemon == "sshd") {
    if (const auto unit = facts.text("limit.daemon.unit"))
      remedy.commands.push_back(unit_lines(std::string(*unit), name, wanted));
    if (is_inherited(facts, name)) add_daemon_line(remedy, facts, name, wanted);
    remedy.note =
        "for logins from now on; prlimit lasts until sshd restarts; sshd reads limits.d only with UsePAM "
        "yes: "
        "sshd -T | grep -i usepam";
    if (!facts.text("limit.daemon.unit"))
      remedy.note += fmt::format("; with no: systemctl edit ssh (Debian) or sshd: [Service] Limit{}={}",
                                 to_upper(name), unit_value(wanted));
  } else {
    remedy.note = "log in again afterwards: running shells keep their limits";
  }
  if (facts.is("limit.container", "yes")) {
    remedy.note += fmt::format("; in a container the limit comes from outside: docker run --ulimit {}={}",
                               name, wanted == "unlimited" ? "-1" : wanted);
  }
  return remedy;
}

}  // namespace ddlrun::doctor

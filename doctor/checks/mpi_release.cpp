// SPDX-License-Identifier: MIT
// Which MPI a non-interactive shell of each host finds: its daemon in PATH, and the same release everywhere.
#include "base/text/text.hpp"
#include "doctor/checks/software.hpp"
#include "doctor/model/job.hpp"
#include "doctor/parse/elf.hpp"
#include "doctor/parse/open_mpi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::doctor {

namespace {

std::string dir_of_program(std::string_view path) { return std::string(path.substr(0, path.rfind('/'))); }

// What mpirun of the driver host starts on each host.
std::string daemon_of(const HostReport& driver_host) {
  if (mpi_vendor(driver_host) != "Open MPI") return {};
  return starts_prted(text_of(driver_host, "mpi.version").value_or("")) ? "prted" : "orted";
}

// The driver host's directory in front of PATH, in shells that are not interactive too.
Remedy path_remedy(const std::string& dir) {
  if (!is_command_word(dir))
    return {{},
            false,
            false,
            fmt::format("put {} into PATH there, or load the site's module", printable(dir, 200))};
  return {
      {into_bashrc(fmt::format("export PATH={}:$PATH", dir))},
      false,
      false,
      fmt::format("or load the site's module there. For one job: mpirun --prefix {}", dir_of_program(dir))};
}

bool is_in_path(const HostReport& host, const std::string& dir) {
  const auto dirs = split(host.facts.text("mpi.search_path").value_or(""), ':');
  return std::find(dirs.begin(), dirs.end(), dir) != dirs.end();
}

bool is_system_dir(std::string_view dir) { return dir == "/usr/bin" || dir == "/bin"; }

// The directory is searched and holds nothing: it is to be put there, not to be searched twice.
Remedy install_remedy(const std::string& dir, const std::string& release) {
  if (is_system_dir(dir)) {
    return {{"apt-get install -y openmpi-bin || dnf install -y openmpi"},
            true,
            false,
            fmt::format("it must be the same release{}{}", release.empty() ? "" : ": ", release)};
  }
  return {{fmt::format("ls -l {}", quote_shell(dir))},
          false,
          false,
          fmt::format("Open MPI {} has to be installed or mounted at {}, or another one be given by mpirun "
                      "--prefix",
                      release, printable(dir_of_program(dir), 200))};
}

CheckResult evaluate_path(const CheckInput& input, const HostReport& host, const std::string& daemon) {
  const std::string fact = "mpi.program." + daemon;
  const auto wanted = text_of(input.driver_host, fact);
  const auto here = text_of(host, fact);
  const std::string dir = dir_of_program(
      wanted ? *wanted : input.driver_host.facts.text("mpi.program.mpirun").value_or("/usr/bin/mpirun"));
  if (!here && !host.facts.has(fact)) return skip(host.facts.why_missing(fact));
  if (!here) {
    const std::string release(input.driver_host.facts.text("mpi.version").value_or(""));
    const bool searched = is_in_path(host, dir);
    Remedy remedy = searched ? install_remedy(dir, release) : path_remedy(dir);
    if (!searched)
      remedy.note =
          fmt::format("if {}/{} is there; else install the same Open MPI {} first. ", dir, daemon, release) +
          remedy.note;
    return fail(
        fmt::format("no {} in the PATH of a non-interactive shell: {}", daemon,
                    host.facts.text("mpi.search_path").value_or("")),
        wanted.value_or(daemon),
        fmt::format(
            "mpirun ends with \"{}: command not found\" and \"A daemon died unexpectedly with status 127\"",
            daemon),
        std::move(remedy));
  }
  if (!wanted || *wanted == *here ||
      text_of(input.driver_host, "mpi.real." + daemon) == text_of(host, "mpi.real." + daemon))
    return pass(*here);
  const auto version = text_of(host, "mpi.daemon_version"),
             driver_version = text_of(input.driver_host, "mpi.daemon_version");
  if (version && driver_version && version != driver_version)
    return pass(fmt::format("{}; of another version: see MPI-01", *here));
  return warn(
      fmt::format("{} is {}", daemon, *here), *wanted,
      "another installation than the driver host's, though of the same version: its settings and plug-ins "
      "may differ",
      path_remedy(dir));
}

// A driver host without mpirun starts no job: reported where one is to be started, or where the hosts have
// Open MPI.
CheckResult evaluate_driver_mpirun(const CheckInput& input) {
  const std::string observed = fmt::format("no mpirun on the driver host: {}",
                                           input.driver_host.facts.why_missing("mpi.program.mpirun"));
  const auto groups = group_by_value(input, [](const HostReport& host) {
    const auto path = text_of(host, "mpi.program.mpirun");
    return path && mpi_vendor(host) == "Open MPI" ? std::optional(dir_of_program(*path)) : std::nullopt;
  });
  const bool found = !groups.empty();
  const bool asked = input.driver_host.facts.has("mpi.program.mpirun");
  if (!asked || (!found && !starts_ranks(input.job))) return skip(observed);
  const std::string dir = found ? groups.front().value : "/usr/bin";
  const bool searched = !found || is_in_path(input.driver_host, dir);
  const auto releases =
      group_by_value(input, [](const HostReport& host) { return text_of(host, "mpi.version"); });
  const std::string release = found && !releases.empty() ? releases.front().value : "";
  Remedy remedy = searched ? install_remedy(dir, release) : path_remedy(dir);
  if (!searched)
    remedy.note = fmt::format("if {}/mpirun is there; else install Open MPI {} first", dir, release);
  remedy.on_driver_host = true;
  const std::string sources = found ? render_hosts(groups.front().hosts) : "";
  if (found && !has_majority(groups) && !is_system_dir(dir)) remedy = as_advice(std::move(remedy), sources);
  return fail(fmt::format("{} ({})", observed, input.driver_host.facts.text("mpi.search_path").value_or("")),
              found ? "mpirun, as on " + sources : "mpirun",
              "no job can be started from here: \"mpirun: command not found\"", std::move(remedy));
}

std::vector<Finding> check_path(const CheckInput& input) {
  if (!text_of(input.driver_host, "mpi.program.mpirun"))
    return single_finding("SSH-05", evaluate_driver_mpirun(input));
  const std::string daemon = daemon_of(input.driver_host);
  if (daemon.empty())
    return single_finding("SSH-05", skip(fmt::format("{} starts its helpers by their full path",
                                                     mpi_vendor(input.driver_host))));
  return evaluate_each(
      input, "SSH-05", [&](const HostReport& host) { return evaluate_path(input, host, daemon); }, "mpi");
}

// "Open MPI 4.1.4", or with another orted: "Open MPI 4.1.4 (orted 4.0.7)".
std::optional<std::string> release_of(const HostReport& host) {
  const auto version = text_of(host, "mpi.version");
  const std::string vendor = mpi_vendor(host);
  if (!version || vendor.empty()) return std::nullopt;
  const auto daemon = text_of(host, "mpi.daemon_version");
  const bool other = daemon && host.facts.text("mpi.program.orted") && *daemon != *version &&
                     compare_versions(*version, "5.0") < 0;  // prted has PRRTE's number
  return fmt::format("{} {}{}", vendor, *version, other ? fmt::format(" (orted {})", *daemon) : "");
}

Verdict evaluate_difference(std::string_view wanted, std::string_view seen) {
  const auto a = wanted.find_last_of(' '), b = seen.find_last_of(' ');
  if (wanted.ends_with(')') || seen.ends_with(')') || wanted.substr(0, a) != seen.substr(0, b))
    return Verdict::fail;
  // Until release 4 the daemons compare the whole number and refuse each other.
  const bool old = compare_versions(wanted.substr(a + 1), "5.0") < 0;
  return old || minor_version(wanted.substr(a + 1)) != minor_version(seen.substr(b + 1)) ? Verdict::fail
                                                                                         : Verdict::warn;
}

std::vector<Finding> check_release(const CheckInput& input) {
  const std::vector<ValueGroup> groups = group_by_value(input, release_of);
  const auto driver_release = release_of(input.driver_host);
  if (groups.empty()) return single_finding("MPI-01", skip("no MPI was found on any host"));
  const std::string wanted = driver_release.value_or(groups.front().value);
  const std::string dir = dir_of_program(input.driver_host.facts.text("mpi.program.mpirun").value_or(""));
  return evaluate_each(
      input, "MPI-01",
      [&](const HostReport& host) {
        const auto release = release_of(host);
        if (!release) return skip(fmt::format("{}: see SSH-05", host.facts.why_missing("mpi.version")));
        if (*release == wanted) return pass(wanted);
        CheckResult result =
            fail(fmt::format("{} ({})", *release, host.facts.text("mpi.version_source").value_or("")),
                 wanted + (driver_release ? ", as mpirun on the driver host" : ", as on most"),
                 "the daemons refuse each other (\"Open MPI detected a mismatch in versions between two "
                 "processes\") or misread each other's messages",
                 {{},
                  false,
                  false,
                  "install the same release everywhere, or load the same module in ~/.bashrc above the "
                  "interactive guard"});
        if (dir.starts_with('/')) result.remedy = path_remedy(dir);
        result.verdict = evaluate_difference(wanted, *release);
        return result;
      },
      "mpi");
}

}  // namespace

std::span<const Check> mpi_release_checks() {
  static constexpr std::array<Check, 2> table{{
      {"SSH-05", "mpirun's daemon in PATH", Level::quick, Place::host,
       "mpirun runs `orted` (Open MPI 4) or `prted` (5) on each host in a shell that is not interactive: "
       "PATH of your login does not count there.",
       "PATH of the agent's own environment, searched for orted or prted, beside the driver host's. pass: "
       "the same "
       "file; warn: another one of the same version; fail: none, or no mpirun on the driver host where a job "
       "is to "
       "be started or the hosts have Open MPI.",
       "PATH or the site's module above the interactive guard of ~/.bashrc; mpirun --prefix DIR.",
       check_path},
      {"MPI-01", "one MPI release", Level::quick, Place::host,
       "Daemons of different releases refuse each other, or read past the end of each other's messages.",
       "The release in libopen-pal or libopen-rte that mpirun and orted would load; only if they lack it, "
       "`mpirun --version`. pass: equal on the driver host and all hosts; warn: patch levels differ from "
       "release "
       "5.0 on; fail: anything else.",
       "The same installation first in PATH everywhere.", check_release},
  }};
  return table;
}

}  // namespace ddlrun::doctor

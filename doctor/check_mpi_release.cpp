// SPDX-License-Identifier: MIT
// Which MPI a non-interactive shell of each host finds: its daemon in PATH, and the same release everywhere.
#include "base/text.hpp"
#include "doctor/check_software.hpp"
#include "doctor/elf.hpp"

#include <fmt/format.h>

#include <array>

namespace ddlrun::doctor {

namespace {

std::string folder_of(std::string_view path) { return std::string(path.substr(0, path.rfind('/'))); }

// "4.1.4" -> "4.1"
std::string minor_of(std::string_view version) {
  const auto first = version.find('.');
  return std::string(version.substr(0, version.find('.', first + 1)));
}

std::string vendor_of(const HostReport& host) { return text_of(host, "mpi.vendor").value_or(""); }

// What mpirun of the head starts on each host.
std::string daemon_of(const HostReport& head) {
  if (vendor_of(head) != "Open MPI") return {};
  return text_of(head, "mpi.version").value_or("4").starts_with("5") ? "prted" : "orted";
}

// The head's folder in front of PATH, in shells that are not interactive too.
Remedy path_remedy(const std::string& folder) {
  return {{into_bashrc(fmt::format("export PATH={}:$PATH", folder))},
          false,
          false,
          fmt::format("or load the site's module there. For one job: mpirun --prefix {}", folder_of(folder))};
}

Judgement judge_path(const CheckInput& input, const HostReport& host, const std::string& daemon) {
  const std::string fact = "mpi.program." + daemon;
  const auto wanted = text_of(input.head, fact);
  const auto here = text_of(host, fact);
  const std::string folder =
      folder_of(wanted ? *wanted : input.head.facts.text("mpi.program.mpirun").value_or("/usr/bin/mpirun"));
  if (!here && host.facts.all().count(fact) == 0) return skip(host.facts.why_missing(fact));
  if (!here) {
    Remedy remedy = path_remedy(folder);
    remedy.note = fmt::format("if {}/{} is there; else install the same Open MPI {} first. ", folder, daemon,
                              input.head.facts.text("mpi.version").value_or("")) +
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
      text_of(input.head, "mpi.real." + daemon) == text_of(host, "mpi.real." + daemon))
    return pass(*here);
  const auto version = text_of(host, "mpi.daemon_version"),
             head_version = text_of(input.head, "mpi.daemon_version");
  if (version && head_version && version != head_version)
    return pass(fmt::format("{}; of another version: see MPI-01", *here));
  return warn(fmt::format("{} is {}", daemon, *here), *wanted,
              "another installation than the head's, though of the same version: its settings and plug-ins "
              "may differ",
              path_remedy(folder));
}

std::vector<Finding> check_path(const CheckInput& input) {
  if (!text_of(input.head, "mpi.program.mpirun"))
    return judge_once("SSH-05", skip(fmt::format("no mpirun on the head: {}",
                                                 input.head.facts.why_missing("mpi.program.mpirun"))));
  const std::string daemon = daemon_of(input.head);
  if (daemon.empty())
    return judge_once("SSH-05",
                      skip(fmt::format("{} starts its helpers by their full path", vendor_of(input.head))));
  return judge_each(
      input, "SSH-05", [&](const HostReport& host) { return judge_path(input, host, daemon); }, "mpi");
}

// "Open MPI 4.1.4", or with another orted: "Open MPI 4.1.4 (orted 4.0.7)".
std::optional<std::string> release_of(const HostReport& host) {
  const auto version = text_of(host, "mpi.version");
  const std::string vendor = vendor_of(host);
  if (!version || vendor.empty()) return std::nullopt;
  const auto daemon = text_of(host, "mpi.daemon_version");
  const bool other = daemon && host.facts.text("mpi.program.orted") && *daemon != *version;
  return fmt::format("{} {}{}", vendor, *version, other ? fmt::format(" (orted {})", *daemon) : "");
}

Verdict judge_difference(std::string_view wanted, std::string_view seen) {
  const auto a = wanted.find_last_of(' '), b = seen.find_last_of(' ');
  if (wanted.ends_with(')') || seen.ends_with(')') || wanted.substr(0, a) != seen.substr(0, b))
    return Verdict::fail;
  // Until release 4 the daemons compare the whole number and refuse each other.
  const bool old = compare_versions(wanted.substr(a + 1), "5.0") < 0;
  return old || minor_of(wanted.substr(a + 1)) != minor_of(seen.substr(b + 1)) ? Verdict::fail
                                                                               : Verdict::warn;
}

std::vector<Finding> check_release(const CheckInput& input) {
  const std::vector<ValueGroup> groups = group_by_value(input, release_of);
  const auto of_head = release_of(input.head);
  if (groups.empty()) return judge_once("MPI-01", skip("no MPI was found on any host"));
  const std::string wanted = of_head.value_or(groups.front().value);
  const std::string folder = folder_of(input.head.facts.text("mpi.program.mpirun").value_or(""));
  return judge_each(
      input, "MPI-01",
      [&](const HostReport& host) {
        const auto release = release_of(host);
        if (!release) return skip(fmt::format("{}: see SSH-05", host.facts.why_missing("mpi.version")));
        if (*release == wanted) return pass(wanted);
        Judgement judgement =
            fail(fmt::format("{} ({})", *release, host.facts.text("mpi.version_source").value_or("")),
                 wanted + (of_head ? ", as mpirun on the head" : ", as on most"),
                 "the daemons refuse each other (\"Open MPI detected a mismatch in versions between two "
                 "processes\") or misread each other's messages",
                 {{},
                  false,
                  false,
                  "install the same release everywhere, or load the same module in ~/.bashrc above the "
                  "interactive guard"});
        if (folder.starts_with('/')) judgement.remedy = path_remedy(folder);
        judgement.verdict = judge_difference(wanted, *release);
        return judgement;
      },
      "mpi");
}

constexpr std::array<Check, 2> table{{
    {"SSH-05", "mpirun's daemon in PATH", Level::quick, Place::host,
     "mpirun runs `orted` (Open MPI 4) or `prted` (5) on each host in a shell that is not interactive: PATH "
     "of your login does not count there.",
     "PATH of the agent's own environment, searched for orted or prted, beside the head's. pass: the same "
     "file; warn: another one of the same version; fail: none.",
     "PATH or the site's module above the interactive guard of ~/.bashrc; mpirun --prefix DIR.", check_path},
    {"MPI-01", "one MPI release", Level::quick, Place::host,
     "Daemons of different releases refuse each other, or read past the end of each other's messages.",
     "The release in libopen-pal or libopen-rte that mpirun and orted would load; only where none tells, "
     "`mpirun --version`. pass: equal on the head and all hosts; warn: patch levels differ from release 5.0 "
     "on; fail: anything else.",
     "The same installation first in PATH everywhere.", check_release},
}};

}  // namespace

std::span<const Check> mpi_release_checks() { return table; }

}  // namespace ddlrun::doctor

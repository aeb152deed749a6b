// SPDX-License-Identifier: MIT
// The job's program on every host: there, equal, with its libraries.
#include "base/text/text.hpp"
#include "doctor/checks/software.hpp"
#include "doctor/model/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr const char* no_program = "no program was named (-- PROGRAM ...)";

std::optional<std::string> print_of(const HostReport& host, const std::string& prefix) {
  const auto size = text_of(host, prefix + "size");
  if (!size) return std::nullopt;
  // The build id distinguishes large ELF files whose contents were not read.
  const auto hash = text_of(host, prefix + "hash"), build = text_of(host, prefix + "build_id");
  return fmt::format("{} bytes, {}", *size,
                     hash    ? "contents " + *hash
                     : build ? "build id " + *build
                             : "contents not read");
}

// What is right, and who has something else.
struct Wanted {
  std::string path, print;
  std::string source;  // a host that has it; "" if only the driver host does, or no host
  bool driver_host_has_it = false;
  bool most_have_it = false;         // of at least three hosts
  std::vector<std::string> lacking;  // hosts that answered
};

// From the driver host to the hosts that lack it, else from a host that has it.
Remedy copy(const Wanted& wanted) {
  const std::string note = "or put it on a file system that all hosts share";
  const std::string path = quote_shell(wanted.path);
  const std::string dir = quote_shell(wanted.path.substr(0, wanted.path.rfind('/')));
  if (!wanted.path.starts_with('/') || !is_command_word(wanted.path) ||
      (wanted.source.empty() && !wanted.driver_host_has_it))
    return {{}, false, false, "put the program at the same path on every host, " + note};
  if (!wanted.driver_host_has_it) {
    const Remedy fetch{
        {fmt::format("mkdir -p {} && scp -p {}:{} {}", dir, quote_shell(wanted.source), path, path)},
        false,
        false,
        note};
    return wanted.most_have_it ? fetch : as_advice(fetch, wanted.source);
  }
  std::vector<std::string> hosts;
  for (const std::string& host : wanted.lacking) hosts.push_back(quote_shell(host));
  return {{fmt::format("for h in {}; do ssh -n \"$h\" mkdir -p {} && scp -p {} \"$h\":{}; done",
                       join(hosts, " "), dir, path, path)},
          false,
          true,
          note};
}

// Where no host has it, the host may have another that is meant.
Remedy mend_missing(const CheckInput& input, const HostReport& host, const Wanted& wanted) {
  const auto near = text_of(host, "program.near");
  if (!near || !wanted.source.empty() || wanted.driver_host_has_it) return copy(wanted);
  return {{},
          false,
          true,
          fmt::format(
              "-- {} ...   # it is in PATH there, and {} is not; or put that at the same path on every host",
              quote_shell(*near), printable(input.job.program[0], 60))};
}

Wanted find_wanted(const CheckInput& input) {
  Wanted wanted;
  const auto paths =
      group_by_value(input, [](const HostReport& host) { return text_of(host, "program.path"); });
  wanted.path = paths.empty() ? text_of(input.driver_host, "program.path").value_or("") : paths.front().value;
  const auto prints =
      group_by_value(input, [](const HostReport& host) { return print_of(host, "program."); });
  const std::string driver_release = print_of(input.driver_host, "program.").value_or("");
  wanted.print = prints.empty() ? driver_release : prints.front().value;
  for (const ValueGroup& group : prints) {  // at a tie the driver host's own value decides
    if (group.value == driver_release && group.hosts.size() == prints.front().hosts.size())
      wanted.print = driver_release;
  }
  const auto is_right = [&](const HostReport& host) {
    return text_of(host, "program.path") == wanted.path && print_of(host, "program.") == wanted.print;
  };
  wanted.driver_host_has_it = is_right(input.driver_host);
  wanted.most_have_it = has_majority(prints) && has_majority(paths);
  for (const HostReport& host : input.hosts) {
    if (!host.reach.problem.empty()) continue;
    if (!is_right(host))
      wanted.lacking.push_back(host.host);
    else if (wanted.source.empty())
      wanted.source = host.host;
  }
  return wanted;
}

CheckResult evaluate_same(const CheckInput& input, const HostReport& host, const Wanted& wanted) {
  const auto here = text_of(host, "program.path");
  if (!here && !host.facts.has("program.path")) return skip(host.facts.why_missing("program.path"));
  if (!here) {
    return fail(host.facts.why_missing("program.path"),
                wanted.path.empty() ? input.job.program[0] : wanted.path,
                "mpirun ends with \"was unable to find the specified executable file\"",
                mend_missing(input, host, wanted));
  }
  if (host.facts.is("program.executable", "no")) {
    return fail(
        fmt::format("{} may not be executed", *here), "an execute bit",
        "mpirun ends with \"Permission denied\"",
        {{"chmod +x " + quote_shell(*here)}, false, false, "or name its interpreter: -- python3 train.py"});
  }
  const std::string interpreter = text_of(host, "program.interpreter").value_or("");
  if (interpreter.starts_with("missing: ")) {
    return fail(
        fmt::format("{} needs {}, which does not exist", *here, interpreter.substr(9)), "its interpreter",
        "it cannot be started: \"No such file or directory\", of the program itself",
        {{},
         false,
         false,
         fmt::format("install {}, or build the program on a host of this kind", interpreter.substr(9))});
  }
  const std::string print = print_of(host, "program.").value_or("");
  if (print == wanted.print) return pass(fmt::format("{}, {}", *here, print));
  return fail(fmt::format("{}: {}", *here, print), wanted.print,
              "ranks of two builds wait for each other in different places, or differ in their results",
              copy(wanted));
}

// The script of an interpreter, an image.
void evaluate_files(const CheckInput& input, std::vector<Finding>& findings) {
  const auto files = find_program_files(input.job.program);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string prefix = fmt::format("program.file.{}.", i);
    const auto groups = group_by_value(input, [&](const HostReport& host) { return print_of(host, prefix); });
    if (groups.empty()) continue;  // on no host: perhaps it is no file at all
    for (const HostReport& host : input.hosts) {
      if (!host.reach.problem.empty()) continue;
      const auto print = print_of(host, prefix);
      if (print == groups.front().value || !host.facts.has(prefix + "size")) continue;
      Wanted wanted;
      wanted.source = groups.front().hosts.front();
      wanted.most_have_it = has_majority(groups);
      wanted.path = files[i].starts_with('/') || input.job.workdir.empty()
                        ? files[i]
                        : input.job.workdir + "/" + files[i];
      add_result(findings, "SW-01", host.host,
                 fail(print ? fmt::format("{}: {}", printable(files[i]), *print)
                            : host.facts.why_missing(prefix + "size"),
                      groups.front().value,
                      "ranks of two versions wait for each other in different places, or do not start",
                      copy(wanted)));
    }
  }
}

std::vector<Finding> check_same(const CheckInput& input) {
  if (input.job.program.empty()) return single_finding("SW-01", skip(no_program));
  const Wanted wanted = find_wanted(input);
  std::vector<Finding> findings = evaluate_each(
      input, "SW-01", [&](const HostReport& host) { return evaluate_same(input, host, wanted); }, "programs");
  evaluate_files(input, findings);
  return findings;
}

CheckResult evaluate_libraries(const HostReport& host) {
  if (!host.facts.text("program.path")) return skip(host.facts.why_missing("program.path"));
  if (!host.facts.is("program.kind", "elf"))
    return skip("the program is not an ELF file: its interpreter finds its own libraries");
  const auto missing = host.facts.list("program.missing");
  if (!missing.empty()) {
    const std::string first(missing[0].substr(0, missing[0].find(',')));
    return fail(
        fmt::format("{} not found{}", missing[0],
                    missing.size() > 1 ? fmt::format(", and {} more", missing.size() - 1) : ""),
        "every library found",
        fmt::format("each rank ends with \"error while loading shared libraries: {}\"", first),
        {{},
         false,
         false,
         fmt::format("load the module that brings it, or export its directory: LD_LIBRARY_PATH=... with "
                     "-x LD_LIBRARY_PATH; where it lies: find / -name '{}*' 2>/dev/null",
                     first)});
  }
  const auto homes = host.facts.list("program.home_paths");
  if (!homes.empty())
    return pass(fmt::format("all found; {} is built in and must exist on every host", homes[0]));
  return pass("all found");
}

std::vector<Finding> check_libraries(const CheckInput& input) {
  if (input.job.program.empty()) return single_finding("SW-02", skip(no_program));
  return evaluate_each(input, "SW-02", evaluate_libraries, "programs");
}

}  // namespace

std::span<const Check> program_checks() {
  static constexpr std::array<Check, 2> table{{
      {"SW-01", "the program on every host", Level::quick, Place::host,
       "A program that is missing, or is another build on one host, ends the job late or lets it hang.",
       "argv[0] as PATH or its path finds it, and the script behind an interpreter: size and contents (a "
       "64-bit fingerprint; above 4 MiB size and build id at level quick, contents at full). pass: equal; "
       "fail: missing, not executable, without its interpreter, different. A differing time alone is no "
       "matter.",
       "Copy it to the same path, or use a shared file system.", check_same},
      {"SW-02", "the program's libraries", Level::quick, Place::host,
       "A library that the loader does not find ends every rank of that host.",
       "DT_NEEDED of the program and of what it needs, searched in RPATH, LD_LIBRARY_PATH, RUNPATH, the "
       "loader's cache and directories, without running anything. pass: all found; fail: some not.",
       "module load; -x LD_LIBRARY_PATH.", check_libraries},
  }};
  return table;
}

}  // namespace ddlrun::doctor

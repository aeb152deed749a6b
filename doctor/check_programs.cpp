// SPDX-License-Identifier: MIT
// The job's program on every host: there, equal, with its libraries.
#include "base/text.hpp"
#include "doctor/check_software.hpp"
#include "doctor/job.hpp"

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
  // The build id tells large ELF files apart where the contents were not read.
  const auto hash = text_of(host, prefix + "hash"), build = text_of(host, prefix + "build_id");
  return fmt::format("{} bytes, {}", *size,
                     hash    ? "contents " + *hash
                     : build ? "build id " + *build
                             : "contents not read");
}

// "h1:/path" copied to the same place on the hosts of the finding.
Remedy copy_from(const CheckInput& input, const std::string& path) {
  std::string source;
  for (const HostReport& host : input.hosts) {
    if (host.facts.text("program.path") == path) {
      source = host.host;
      break;
    }
  }
  const bool on_head = text_of(input.head, "program.path") == path;
  const std::string folder = quote_shell(path.substr(0, path.rfind('/')));
  if (!path.starts_with('/') || (source.empty() && !on_head))
    return {{},
            false,
            false,
            "put the program at the same path on every host, or on a file system that all share"};
  const std::string from = on_head ? text_of(input.head, "program.path").value() : "";
  std::vector<std::string> hosts;
  for (const HostReport& host : input.hosts) hosts.push_back(quote_shell(host.host));
  const std::string loop = fmt::format("for h in {}; do ", join(hosts, " "));
  if (on_head)
    return {{loop + fmt::format("ssh \"$h\" mkdir -p {} && scp -p {} \"$h\":{}; done", folder,
                                quote_shell(path), quote_shell(path))},
            false,
            true,
            "or put it on a file system that all hosts share"};
  return {{fmt::format("mkdir -p {} && scp -p {}:{} {}", folder, quote_shell(source), quote_shell(path),
                       quote_shell(path))},
          false,
          false,
          "or put it on a file system that all hosts share"};
}

// The path that most hosts have, else the head's.
std::string common_path(const CheckInput& input) {
  const auto groups =
      group_by_value(input, [](const HostReport& host) { return text_of(host, "program.path"); });
  const auto of_head = text_of(input.head, "program.path");
  return !groups.empty() ? groups.front().value : of_head.value_or("");
}

Judgement judge_same(const CheckInput& input, const HostReport& host, const std::string& path,
                     const std::string& wanted) {
  const auto here = text_of(host, "program.path");
  if (!here && host.facts.all().count("program.path") == 0)
    return skip(host.facts.why_missing("program.path"));
  if (!here) {
    return fail(host.facts.why_missing("program.path"), path.empty() ? input.job.program[0] : path,
                "mpirun ends with \"was unable to find the specified executable file\"",
                copy_from(input, path));
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
        fmt::format("{} wants {}, which is not there", *here, interpreter.substr(9)), "its interpreter",
        "it cannot be started: \"No such file or directory\", of the program itself",
        {{},
         false,
         false,
         fmt::format("install {}, or build the program on a host of this kind", interpreter.substr(9))});
  }
  const std::string print = print_of(host, "program.").value_or("");
  if (print == wanted) return pass(fmt::format("{}, {}", *here, print));
  return fail(fmt::format("{}: {}", *here, print), wanted,
              "ranks of two builds wait for each other in different places, or differ in their results",
              copy_from(input, path));
}

// The script of an interpreter, an image.
void judge_files(const CheckInput& input, std::vector<Finding>& findings) {
  const auto files = find_program_files(input.job.program);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string prefix = fmt::format("program.file.{}.", i);
    const auto groups = group_by_value(input, [&](const HostReport& host) { return print_of(host, prefix); });
    if (groups.empty()) continue;  // on no host: perhaps it is no file at all
    for (const HostReport& host : input.hosts) {
      if (!host.reach.problem.empty()) continue;
      const auto print = print_of(host, prefix);
      if (print == groups.front().value || host.facts.all().count(prefix + "size") == 0) continue;
      const std::string from = groups.front().hosts.front();
      const std::string path = files[i].starts_with('/') || input.job.working_folder.empty()
                                   ? files[i]
                                   : input.job.working_folder + "/" + files[i];
      add_judgement(
          findings, "SW-01", host.host,
          fail(print ? fmt::format("{}: {}", printable(files[i]), *print)
                     : host.facts.why_missing(prefix + "size"),
               groups.front().value,
               "ranks of two versions wait for each other in different places, or do not start",
               {{fmt::format("mkdir -p {} && scp -p {}:{} {}", quote_shell(path.substr(0, path.rfind('/'))),
                             quote_shell(from), quote_shell(path), quote_shell(path))},
                false,
                false,
                "or put it on a file system that all hosts share"}));
    }
  }
}

std::vector<Finding> check_same(const CheckInput& input) {
  if (input.job.program.empty()) return judge_once("SW-01", skip(no_program));
  const std::string path = common_path(input);
  const auto groups =
      group_by_value(input, [](const HostReport& host) { return print_of(host, "program."); });
  const std::string wanted = groups.empty() ? "" : groups.front().value;
  std::vector<Finding> findings = judge_each(
      input, "SW-01", [&](const HostReport& host) { return judge_same(input, host, path, wanted); },
      "programs");
  judge_files(input, findings);
  return findings;
}

Judgement judge_libraries(const HostReport& host) {
  if (!host.facts.text("program.path")) return skip(host.facts.why_missing("program.path"));
  if (!host.facts.is("program.kind", "elf"))
    return skip("the program is not an ELF file: its interpreter finds its own libraries");
  const auto missing = host.facts.list("program.missing");
  if (!missing.empty()) {
    const std::string first(missing[0].substr(0, missing[0].find(',')));
    return fail(fmt::format("{} not found{}", missing[0],
                            missing.size() > 1 ? fmt::format(", and {} more", missing.size() - 1) : ""),
                "every library found",
                fmt::format("each rank ends with \"error while loading shared libraries: {}\"", first),
                {{},
                 false,
                 false,
                 fmt::format("load the module that brings it, or export its folder: LD_LIBRARY_PATH=... with "
                             "-x LD_LIBRARY_PATH; where it lies: find / -name '{}*' 2>/dev/null",
                             first)});
  }
  const auto homes = host.facts.list("program.home_paths");
  if (!homes.empty())
    return pass(fmt::format("all found; {} is built in and must exist on every host", homes[0]));
  return pass("all found");
}

std::vector<Finding> check_libraries(const CheckInput& input) {
  if (input.job.program.empty()) return judge_once("SW-02", skip(no_program));
  return judge_each(input, "SW-02", judge_libraries, "programs");
}

constexpr std::array<Check, 2> table{{
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
     "loader's cache and folders, without running anything. pass: all found; fail: some not.",
     "module load; -x LD_LIBRARY_PATH.", check_libraries},
}};

}  // namespace

std::span<const Check> program_checks() { return table; }

}  // namespace ddlrun::doctor

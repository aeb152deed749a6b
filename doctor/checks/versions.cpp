// SPDX-License-Identifier: MIT
// What the program runs on: system, Python and torch, modules, containers.
#include "base/text/text.hpp"
#include "doctor/checks/software.hpp"
#include "doctor/model/job.hpp"
#include "doctor/parse/elf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::doctor {

namespace {

std::vector<Finding> check_system(const CheckInput& input) {
  const auto machine = [](const HostReport& host) { return text_of(host, "software.machine"); };
  const auto machines = group_by_value(input, machine);
  if (machines.size() > 1) {
    CheckResult words;
    words.why = "a program for one processor does not run on the other: \"Exec format error\"";
    words.remedy.note = "start hosts of one architecture only, or build and launch for each";
    return check_equal(input, "SW-03", Verdict::fail, machine, words, "not gathered");
  }
  const auto releases =
      group_by_value(input, [](const HostReport& host) { return text_of(host, "software.release"); });
  const std::string common = releases.empty() ? "" : releases.front().value;
  return evaluate_each(
      input, "SW-03",
      [&](const HostReport& host) {
        const auto release = text_of(host, "software.release");
        if (!release) return skip(host.facts.why_missing("software.release"));
        const auto glibc = text_of(host, "software.glibc"), needed = text_of(host, "program.glibc");
        if (glibc && needed && compare_versions(*needed, *glibc) > 0) {
          return fail(fmt::format("glibc {}, the program needs {}", *glibc, *needed),
                      fmt::format("glibc {} or newer", *needed),
                      fmt::format("each rank ends with \"version `GLIBC_{}' not found\"", *needed),
                      {{}, false, false, "build the program on the oldest of the hosts, or use a container"});
        }
        if (*release == common)
          return pass(fmt::format("{}, {}, glibc {}", machine(host).value_or(""), *release,
                                  glibc.value_or("unknown")));
        return warn(fmt::format("kernel {}", *release), common,
                    "drivers and their user libraries may differ with it: a first suspect where only this "
                    "host misbehaves",
                    {{"uname -r; uptime"}, false, false, "update and restart it with the others"});
      },
      "programs");
}

bool is_python(const Job& job) {
  return !job.program.empty() && base_name(job.program[0]).starts_with("python");
}

std::optional<std::string> python_of(const HostReport& host) {
  const auto version = text_of(host, "python.version");
  if (!version) return std::nullopt;
  std::string text = "Python " + *version;
  for (const auto& [fact, word] : {std::pair("python.torch", ", torch "), std::pair("python.cuda", ", CUDA "),
                                   std::pair("python.nccl", ", NCCL ")}) {
    if (const auto value = text_of(host, fact)) text += word + *value;
  }
  return text;
}

// "3.11.2" and "3.11.4" differ in the patch level alone.
bool only_patch_differs(const HostReport& a, const HostReport& b) {
  const auto minor = [](const std::string& version) {
    return version.substr(0, version.find('.', version.find('.') + 1));
  };
  for (const char* fact : {"python.torch", "python.cuda", "python.nccl"}) {
    if (text_of(a, fact) != text_of(b, fact)) return false;
  }
  return minor(text_of(a, "python.version").value_or("")) == minor(text_of(b, "python.version").value_or(""));
}

constexpr std::string_view one_environment = "better one environment on a file system that all hosts share";

// A person reads the list before it is installed.
Remedy install_packages(const std::string& host, const std::string& python) {
  constexpr std::string_view list = "~/ddlrun_packages.txt";
  Remedy remedy{{fmt::format("ssh {} {} -m pip freeze > {} && cat {}", quote_shell(host),
                             quote_shell(quote_shell(python)), list, list),
                 fmt::format("{} -m pip install -r {}", quote_shell(python), list)},
                false,
                false,
                fmt::format("the second command installs what {} lists; {}", host, one_environment)};
  remedy.asks_each = true;
  return remedy;
}

std::vector<Finding> check_python(const CheckInput& input) {
  if (!is_python(input.job)) return single_finding("SW-04", skip("the program is not Python"));
  const auto groups = group_by_value(input, python_of);
  if (groups.empty()) return single_finding("SW-04", skip("no host reported its Python: see SW-01"));
  const auto common = std::find_if(input.hosts.begin(), input.hosts.end(), [&](const HostReport& host) {
    return host.host == groups.front().hosts.front();
  });
  return evaluate_each(
      input, "SW-04",
      [&](const HostReport& host) {
        const auto python = python_of(host);
        if (!python) return skip(host.facts.why_missing("python.version"));
        if (*python == groups.front().value) return pass(*python);
        const Remedy remedy =
            has_majority(groups)
                ? install_packages(common->host, input.job.program[0])
                : Remedy{{},
                         false,
                         false,
                         fmt::format("compare the hosts' lists: pip freeze; {}", one_environment)};
        CheckResult result = fail(
            *python, fmt::format("{}, as on {}", groups.front().value, render_hosts(groups.front().hosts)),
            "torch and NCCL of different versions do not talk to each other: the first collective hangs or "
            "is truncated",
            remedy);
        if (only_patch_differs(host, *common)) result.verdict = Verdict::warn;
        return result;
      },
      "python");
}

std::string sorted_modules(const std::string& text) {
  std::vector<std::string> modules;
  for (const std::string_view module : split(text, ':')) modules.emplace_back(module);
  std::sort(modules.begin(), modules.end());
  return join(modules, ":");
}

std::vector<Finding> check_modules(const CheckInput& input) {
  const auto groups =
      group_by_value(input, [](const HostReport& host) { return text_of(host, "environment.modules"); });
  if (groups.empty()) return single_finding("SW-05", skip("the environment of no host is known"));
  const std::string common = groups.front().value;
  return evaluate_each(
      input, "SW-05",
      [&](const HostReport& host) {
        const auto modules = text_of(host, "environment.modules");
        if (!modules) return skip(host.facts.why_missing("environment.modules"));
        if (*modules == common) return pass(common.empty() ? "none loaded" : common);
        Remedy remedy{{},
                      false,
                      false,
                      "load the same modules on all hosts, in ~/.bashrc above the interactive guard, or in "
                      "the job's script"};
        if (has_majority(groups) && is_command_word(common)) {
          std::string words = common;
          std::replace(words.begin(), words.end(), ':', ' ');
          remedy.commands.push_back(into_bashrc("module load " + words));
        }
        CheckResult result =
            fail(modules->empty() ? "no modules" : *modules,
                 common.empty() ? "none, as on most" : common + ", as on most",
                 "programs and libraries of other versions are found there", std::move(remedy));
        if (sorted_modules(*modules) == sorted_modules(common)) result.verdict = Verdict::warn;
        return result;
      },
      "environment");
}

std::vector<Finding> check_container(const CheckInput& input) {
  if (input.job.program.empty() || !is_container_runtime(input.job.program[0]))
    return single_finding("SW-06", skip("the program is not a container runtime"));
  const bool rootless = !input.job.program[0].ends_with("docker");
  return evaluate_each(
      input, "SW-06",
      [&](const HostReport& host) {
        if (!host.facts.text("container.runtime"))
          return fail(host.facts.why_missing("container.runtime"), input.job.program[0],
                      "ranks do not start there",
                      {{}, false, false, "install the same release of it on every host"});
        const std::string image = text_of(host, "container.image").value_or("yes");
        if (image != "yes")
          return fail("image " + image.substr(image.find(' ') + 1) + " is not there",
                      "the image on every host", "ranks do not start there",
                      {{}, false, false, "copy it there, or keep it on a file system that all hosts share"});
        if (rootless && host.facts.number("container.namespaces") == std::uint64_t{0}) {
          return fail(
              "user.max_user_namespaces = 0", "more than 0", "a container without root cannot be made",
              {{"sysctl user.max_user_namespaces=28633"}, true, false, "and in /etc/sysctl.d to keep it"});
        }
        return pass(fmt::format("{}", host.facts.text("container.runtime").value_or("")));
      },
      "environment");
}

}  // namespace

std::span<const Check> version_checks() {
  static constexpr std::array<Check, 4> table{{
      {"SW-03", "architecture, kernel, glibc", Level::quick, Place::host,
       "A program runs on the architecture it was built for, with a glibc not older than the one it was "
       "built with.",
       "uname, glibc's version, the newest GLIBC_ symbol of the program. pass: equal; warn: another kernel "
       "release; fail: another architecture, or glibc too old.",
       "Hosts of one kind; build on the oldest.", check_system},
      {"SW-04", "Python, torch and NCCL", Level::quick, Place::host,
       "torch and NCCL must be the same on all hosts.",
       "Where the program is python: its version, and torch's and NCCL's from their files. pass: equal; "
       "warn: Python's patch level differs; fail: else.",
       "One environment for all.", check_python},
      {"SW-05", "environment modules", Level::quick, Place::host,
       "Hosts with other modules find other programs and libraries.",
       "LOADEDMODULES. pass: equal; warn: another order; fail: different.",
       "The same module lines everywhere.", check_modules},
      {"SW-06", "container runtime and image", Level::quick, Place::host,
       "An image that is missing on one host ends the job there.",
       "Where the program is docker, podman, apptainer, singularity or enroot: its path, image files behind "
       "it, user namespaces. pass: there; fail: missing, or no user namespaces.",
       "Pull the image on each host; sysctl user.max_user_namespaces.", check_container},
  }};
  return table;
}

}  // namespace ddlrun::doctor

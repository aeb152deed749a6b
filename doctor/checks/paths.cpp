// SPDX-License-Identifier: MIT
// PATH-01: the same host reached by several paths (ssh, srun, mpirun) may give a process different limits,
// cores and environment. Where that changes the verdict of another check, the paths are named.
#include "base/text/text.hpp"
#include "doctor/checks/system.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

struct Compared {
  std::string_view fact, label;
  bool is_bytes;
  HostEvaluator evaluate;  // nullptr: shown where it differs, no verdict
};
constexpr std::array<Compared, 7> compared{{{"limit.memlock.soft", "memlock", true, evaluate_memlock},
                                            {"limit.nofile.soft", "nofile", false, evaluate_open_files},
                                            {"shm.total_bytes", "/dev/shm", true, evaluate_shared_memory},
                                            {"cpu.usable", "processors", false, evaluate_cores},
                                            {"start.path", "PATH", false, nullptr},
                                            {"start.library_path", "LD_LIBRARY_PATH", false, nullptr},
                                            {"start.tmpdir", "TMPDIR", false, nullptr}}};

std::vector<const HostReport*> reports_of(const CheckInput& input, const HostReport& host) {
  std::vector<const HostReport*> all{&host};
  for (const auto& path : input.other_paths) {
    for (const HostReport& report : path) {
      if (report.host == host.host && report.reach.problem.empty()) all.push_back(&report);
    }
  }
  return all;
}

std::string compared_value(const HostReport& report, const Compared& one) {
  const auto text = report.facts.text(one.fact);
  if (!text) return "not known";
  return text->empty() ? "not set" : printable(render_limit(*text, one.is_bytes), 80);
}

// "64 KiB by ssh, 8 MiB by srun"; "" where all are equal.
std::string differences(const std::vector<const HostReport*>& reports, const Compared& one) {
  std::string text;
  bool differs = false;
  for (const HostReport* report : reports) {
    differs = differs || report->facts.text(one.fact) != reports[0]->facts.text(one.fact);
    text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", compared_value(*report, one),
                        via_name(report->reach.via));
  }
  return differs ? text : std::string();
}

bool is_worse(Verdict a, Verdict b) {
  return (a == Verdict::fail || a == Verdict::warn) && b != Verdict::fail && a != b;
}

// Of the other paths, those that did not reach the host.
std::vector<const HostReport*> failed_reports(const CheckInput& input, const HostReport& host) {
  std::vector<const HostReport*> failed;
  for (const auto& path : input.other_paths) {
    for (const HostReport& report : path) {
      if (report.host == host.host && !report.reach.problem.empty()) failed.push_back(&report);
    }
  }
  return failed;
}

CheckResult warn_of_failed_paths(const HostReport& host, const std::vector<const HostReport*>& failed) {
  std::string problems;
  std::vector<Via> paths;
  for (const HostReport* report : failed) {
    paths.push_back(report->reach.via);
    problems += fmt::format("{}by {}: {}", problems.empty() ? "" : "; ", via_name(report->reach.via),
                            printable(report->reach.problem, 200));
  }
  Remedy remedy;
  remedy.on_driver_host = true;
  remedy.commands = {
      fmt::format("ddlrun doctor {} --via {}", quote_shell(host.host), join_paths(paths, ","))};
  return warn(problems, "reached by each path of --via", "a job that is started by that path fails here",
              std::move(remedy));
}

CheckResult compare_paths(const CheckInput& input, const HostReport& host) {
  const auto failed = failed_reports(input, host);
  if (!failed.empty()) return warn_of_failed_paths(host, failed);
  const auto reports = reports_of(input, host);
  if (reports.size() < 2) return skip("no other path reached this host");
  std::string shown;
  CheckResult worst = pass("");
  for (const Compared& one : compared) {
    const std::string text = differences(reports, one);
    if (text.empty()) continue;
    shown += fmt::format("{}{}: {}", shown.empty() ? "" : "; ", one.label, text);
    if (one.evaluate == nullptr) continue;
    bool some_pass = false;
    CheckResult bad = pass("");
    for (const HostReport* report : reports) {
      CheckResult result = one.evaluate(input, *report);
      some_pass = some_pass || result.verdict == Verdict::pass;
      if (is_worse(result.verdict, bad.verdict)) bad = std::move(result);
    }
    if (bad.verdict == Verdict::pass || !some_pass || !is_worse(bad.verdict, worst.verdict)) continue;
    bad.observed = fmt::format("{}: {}", one.label, text);
    worst = std::move(bad);
  }
  if (worst.verdict != Verdict::pass) return worst;
  std::string ways;
  for (const HostReport* report : reports)
    ways += fmt::format("{}{}", ways.empty() ? "" : ", ", via_name(report->reach.via));
  return pass(shown.empty() ? "the same by " + ways : shown);
}

std::vector<Finding> check_paths(const CheckInput& input) {
  if (input.other_paths.empty())
    return single_finding("PATH-01",
                          skip("reached by one path only; --via names several: ssh, srun, mpirun"));
  return evaluate_hosts(input, "PATH-01", compare_paths, "");
}

}  // namespace

std::span<const Check> path_checks() {
  static const std::array<Check, 1> table{{
      {"PATH-01", "limits and environment by path", Level::quick, Place::host,
       "What a process may use depends on who starts it: sshd, slurmd and mpirun's daemons hand on limits, "
       "cores and variables of their own. A job that runs by one path dies by another.",
       "memlock, nofile, /dev/shm, processors, PATH, LD_LIBRARY_PATH and TMPDIR of each host by each path "
       "that was requested. warn, fail: a difference that changes the verdict of LIM-01, LIM-03, LIM-07 or "
       "LIM-09; or a path that does not reach the host. pass: all else, the differences shown. skip: one "
       "path only. With several paths it runs whatever --only names.",
       "Mend the path by which the job will run, as in the remedy of the check that it changes.",
       check_paths},
  }};
  return table;
}

}  // namespace ddlrun::doctor

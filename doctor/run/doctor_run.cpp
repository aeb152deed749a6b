// SPDX-License-Identifier: MIT
#include "doctor/run/doctor_run.hpp"

#include "doctor/gather/probe_mpi.hpp"
#include "doctor/gather/probe_stress.hpp"
#include "doctor/run/confirmation.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace ddlrun::doctor {

namespace {

// Started only where it was requested and mpirun is there.
void run_smoke(System& system, const DoctorRequest& request, std::span<const Check> checks,
               Gathered& gathered) {
  const bool chosen = std::any_of(checks.begin(), checks.end(), [](const auto& check) {
    return check.id == "MPI-06" || check.id == "STRESS-01";
  });
  const auto mpirun = gathered.driver_host.facts.text("mpi.program.mpirun");
  if (!chosen || request.choice.level == Level::quick || !mpirun) return;
  SmokeRun run{request.job, {}, request.trainer, std::string(*mpirun)};
  for (const HostReport& host : gathered.by_path[0]) {
    if (host.reach.problem.empty()) run.hosts.push_back(host.host);
  }
  gathered.driver_host.facts.merge(probe_mpi(system, run));
  if (request.choice.level == Level::stress && gathered.driver_host.facts.text("smoke.seconds"))
    gathered.driver_host.facts.merge(probe_stress(system, run));
}

// The checks to run again after `hosts` were asked again: those of their warnings and failures, or all where
// one of them is not there any more.
std::vector<Check> concerned_checks(std::span<const Check> checks, std::span<const Finding> findings,
                                    std::span<const HostReport> reports, std::span<const std::size_t> hosts) {
  std::unordered_set<std::string_view> names;
  bool all_answered = true;
  for (const std::size_t host : hosts) {
    names.insert(reports[host].host);
    all_answered = all_answered && reports[host].reach.problem.empty();
  }
  std::unordered_set<std::string_view> ids;
  for (const Finding& finding : findings) {
    if (finding.verdict != Verdict::fail && finding.verdict != Verdict::warn) continue;
    const auto is_asked = [&](const std::string& host) { return names.contains(host); };
    if (std::ranges::any_of(finding.hosts, is_asked)) ids.insert(finding.id);
  }
  std::vector<Check> concerned;
  std::ranges::copy_if(checks, std::back_inserter(concerned),
                       [&](const Check& check) { return !all_answered || ids.contains(check.id); });
  return concerned;
}

// `findings` with those of the checks `again` replaced, in the order of `checks`.
void replace_findings(std::vector<Finding>& findings, std::span<const Check> checks,
                      std::span<const Check> again, std::vector<Finding> replacement) {
  std::unordered_map<std::string_view, std::size_t> order;
  for (const Check& check : checks) order.emplace(check.id, order.size());
  for (const Check& check : again) std::erase_if(findings, [&](const auto& f) { return f.id == check.id; });
  std::ranges::move(replacement, std::back_inserter(findings));
  std::ranges::stable_sort(findings, {}, [&](const Finding& finding) { return order[finding.id]; });
}

// A finding that rests on a relay's word is checked with an answer of the host itself.
std::vector<Finding> find_and_confirm(System& system, const DoctorRequest& request,
                                      std::span<const Check> checks, Gathered& gathered) {
  constexpr int last_round = 3;
  const std::span<const std::vector<HostReport>> paths(gathered.by_path);
  const CheckInput input{request.job, request.choice.level, gathered.driver_host, gathered.by_path[0],
                         paths.subspan(1)};
  std::vector<std::string> relays;
  for (const HostReport& host : gathered.by_path[0]) relays.push_back(host.reach.relay);
  std::vector<Finding> findings = run_checks(checks, input, request.choice.warn);
  for (int round = 0; round <= last_round; ++round) {
    const auto hosts = hosts_to_confirm(findings, input.hosts, relays, round == last_round);
    if (hosts.empty()) break;
    ask_again(system, request, hosts, gathered);
    const std::vector<Check> again = concerned_checks(checks, findings, input.hosts, hosts);
    replace_findings(findings, checks, again, run_checks(again, input, request.choice.warn));
  }
  return findings;
}

}  // namespace

Examination examine(System& system, const DoctorRequest& request, const BaselineRequest& baseline) {
  const auto begin = std::chrono::steady_clock::now();
  const auto checks = choose_checks(request.choice, all_checks());
  Gathered gathered = gather_from_hosts(system, request);
  run_smoke(system, request, checks, gathered);
  Examination examination;
  examination.findings = find_and_confirm(system, request, checks, gathered);
  examination.level = request.choice.level;
  examination.paths = request.paths;
  const bool is_srun = request.paths.front() == Via::srun;
  if (is_srun && std::ranges::any_of(gathered.by_path[0], [&](const HostReport& report) {
        return request.step_failures.contains(report.host) && report.reach.problem.empty();
      }))
    examination.paths.push_back(Via::ssh);
  examination.hosts = request.hosts;
  for (const HostReport& report : gathered.by_path[0]) {
    if (!report.reach.problem.empty()) examination.unreached.push_back(report.host);
    if (!report.reach.relay.empty()) ++examination.relayed;
    if (report.reach.via == Via::local) ++examination.local;
  }
  for (std::size_t i = 1; i < gathered.by_path.size(); ++i) {
    LostPath lost{request.paths[i], {}};
    for (const HostReport& report : gathered.by_path[i]) {
      if (!report.reach.problem.empty()) lost.hosts.push_back(report.host);
    }
    if (!lost.hosts.empty()) examination.lost.push_back(std::move(lost));
  }
  use_baseline(system, baseline, gathered.by_path[0], examination.findings);
  examination.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return examination;
}

}  // namespace ddlrun::doctor

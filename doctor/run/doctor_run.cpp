// SPDX-License-Identifier: MIT
#include "doctor/run/doctor_run.hpp"

#include "doctor/gather/probe_mpi.hpp"
#include "doctor/gather/probe_stress.hpp"
#include "doctor/run/confirmation.hpp"

#include <algorithm>
#include <chrono>
#include <span>

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

// A finding that rests on a relay's word is checked with an answer of the host itself.
std::vector<Finding> find_and_confirm(System& system, const DoctorRequest& request,
                                      std::span<const Check> checks, Gathered& gathered) {
  constexpr int last_round = 3;
  const std::span<const std::vector<HostReport>> paths(gathered.by_path);
  const CheckInput input{request.job, request.choice.level, gathered.driver_host, gathered.by_path[0],
                         paths.subspan(1)};
  std::vector<std::string> relays;
  for (const HostReport& host : gathered.by_path[0]) relays.push_back(host.reach.relay);
  for (int round = 0;; ++round) {
    std::vector<Finding> findings = run_checks(checks, input, request.choice.warn);
    const auto again = hosts_to_confirm(findings, input.hosts, relays, round == last_round);
    if (again.empty() || round > last_round) return findings;
    ask_again(system, request, again, gathered);
  }
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
  examination.hosts = request.hosts;
  for (const HostReport& report : gathered.by_path[0]) {
    if (!report.reach.problem.empty()) examination.unreached.push_back(report.host);
    if (!report.reach.relay.empty()) ++examination.relayed;
  }
  use_baseline(system, baseline, gathered.by_path[0], examination.findings);
  examination.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return examination;
}

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
#include "doctor/run/doctor_gather.hpp"

#include "base/os/self_executable.hpp"
#include "base/text/error.hpp"
#include "doctor/run/probe_plan.hpp"
#include "topology/sources/job_machines.hpp"
#include "topology/sources/slurm_step.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <random>

namespace ddlrun::doctor {

namespace {

using Steady = std::chrono::steady_clock;

// "12 of 64 hosts", on a terminal after 300 ms, else every 10 s.
class Progress {
 public:
  Progress(System& system, std::size_t all) : system_(system), all_(all) {}
  ~Progress() {
    if (on_screen_) system_.err("\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void count_one() {
    ++done_;
    const bool terminal = system_.environment.stderr_is_terminal;
    const auto now = Steady::now();
    if (now - reported_ < (terminal ? std::chrono::milliseconds(300) : std::chrono::seconds(10))) return;
    reported_ = now;
    on_screen_ = terminal;
    system_.err(
        fmt::format("{}ddlrun: {} of {} hosts{}", terminal ? "\r" : "", done_, all_, terminal ? "" : "\n"));
  }

 private:
  System& system_;
  std::size_t all_, done_ = 0;
  bool on_screen_ = false;
  Steady::time_point reported_ = Steady::now();
};

AgentBinary agent_binary(const Environment& environment) {
  SelfExecutable own = read_own_binary();
  if (own.build_id.empty()) {
    throw Error(ErrorKind::request, {"this ddlrun was linked without a build id, by which hosts identify it",
                                     environment.executable, "link it with -Wl,--build-id"});
  }
  return {environment.executable, own.build_id, own.loader, std::move(own.files)};
}

// A file in the working directory that every host should see soon after it was written (DIR-01).
class TokenFile {
 public:
  TokenFile(System& system, const Job& job) : files_(system.files) {
    if (job.workdir.empty()) return;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    path_ = fmt::format("{}/.ddlrun-doctor-{:x}", job.workdir, now);
    try {
      files_.write(path_, path_ + "\n");
    } catch (const Error&) {
      path_.clear();  // the checks of the working directory report why
    }
  }
  ~TokenFile() {
    try {
      if (!path_.empty()) files_.remove(path_);
    } catch (const Error&) {
    }
  }
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  FileSystem& files_;
  std::string path_;
};

// No other program on the network has it, so none gets an answer of a probe.
std::string make_probe_key() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", source(), source(), source(), source());
}

ProbePlanOptions probe_plan_options(const DoctorRequest& request, const Environment& environment,
                                    bool include_driver_host) {
  return {request.choice.level,
          request.hosts,
          request.groups,
          [&environment](const std::string& host) { return topology::is_this_host(environment, host); },
          environment.host_name,
          include_driver_host,
          static_cast<std::uint64_t>(Steady::now().time_since_epoch().count())};
}

void note_missing(System& system, const ReachSummary& summary) {
  if (summary.missing == 0) return;
  system.err(
      fmt::format("ddlrun: {} of {} hosts did not answer through another host and were asked directly{}\n",
                  summary.missing, summary.missing + summary.relayed,
                  summary.why_missing.empty() ? "" : fmt::format(" ({})", summary.why_missing)));
}

// Reports of equal hosts share their facts.
class SharedFacts {
 public:
  void share(Facts& facts) {
    if (facts.base()) return;  // from a relay
    if (base_) return facts.share(base_);
    base_ = std::make_shared<const FactMap>(facts.all());
    facts.share(base_);
  }

 private:
  std::shared_ptr<const FactMap> base_;
};

}  // namespace

std::size_t most_without_relays(RelayUse use, Level level, Via via, unsigned window) {
  constexpr std::size_t rounds = 4;  // so many windows take about as long as a tree
  if (use == RelayUse::never || level != Level::quick || via != Via::ssh) return FanOut{}.flat_most;
  return use == RelayUse::always ? window : rounds * window;
}

namespace {

// What an examination has in common with the hosts: it lasts as long as they are asked.
struct Common {
  Common(System& system, const Job& job) : token(system, job), probe_key(make_probe_key()) {}
  TokenFile token;
  std::string probe_key;
};

Via path_to(const DoctorRequest& request, Via via, const std::string& host) {
  return via == Via::srun && request.step_failures.contains(host) ? Via::ssh : via;
}

std::vector<ProbeRequest> requests_of(const DoctorRequest& request, const Environment& environment, Via via,
                                      bool with_driver_host, const Common& common) {
  std::vector<ProbeRequest> requests =
      plan_probe_requests(request.job, probe_plan_options(request, environment, with_driver_host));
  for (ProbeRequest& one : requests) {
    one.token_file = common.token.path();
    one.probe_key = common.probe_key;
  }
  for (std::size_t i = 0; i < request.hosts.size(); ++i) {
    if (path_to(request, via, requests[i].host) == Via::ssh) continue;
    requests[i].is_driver_host = false;  // limits by the scheduler's path are its own, on this host too
    if (via == Via::srun && !topology::makes_mpirun_use_ssh(environment))
      requests[i].launch_children.clear();  // mpirun starts its daemons by srun too
  }
  return requests;
}

ReachOptions reach_options(const System& system, const DoctorRequest& request, Via via) {
  ReachOptions options = request.reach;
  options.via = via;
  options.flat_most = most_without_relays(request.relays, request.choice.level, via, options.window);
  if (via == Via::srun) options.step_variables = topology::find_step_variables(system.environment.variables);
  return options;
}

// Asks all hosts by `via`, but by ssh those that srun does not reach.
ReachSummary reach_by(System& system, const DoctorRequest& request, Via via,
                      const std::vector<ProbeRequest>& requests, const AgentBinary& agent,
                      const ReportSink& sink) {
  std::map<Via, std::vector<std::size_t>> parts;
  for (std::size_t i = 0; i < requests.size(); ++i)
    parts[path_to(request, via, requests[i].host)].push_back(i);
  ReachSummary summary;
  for (const auto& [path, indices] : parts) {
    std::vector<ProbeRequest> part;
    for (const std::size_t index : indices) part.push_back(requests[index]);
    const ReachSummary found = reach_hosts(
        system, part, agent, reach_options(system, request, path), [&](std::size_t at, HostReport&& report) {
          const auto failed = request.step_failures.find(report.host);
          if (!report.reach.problem.empty() && failed != request.step_failures.end())
            report.reach.problem += "; by srun: " + failed->second;
          sink(indices[at], std::move(report));
        });
    if (path != Via::srun) summary = found;  // srun has no relays
  }
  return summary;
}

}  // namespace

Gathered gather_from_hosts(System& system, const DoctorRequest& request) {
  const AgentBinary agent = agent_binary(system.environment);
  const Common common(system, request.job);
  Gathered gathered;
  for (const Via via : request.paths) {
    const bool first = gathered.by_path.empty();
    const auto requests = requests_of(request, system.environment, via, first, common);
    std::vector<HostReport> reports(requests.size());
    Progress progress(system, request.hosts.size());
    SharedFacts shared;
    const ReachSummary summary =
        reach_by(system, request, via, requests, agent, [&](std::size_t host, HostReport&& report) {
          shared.share(report.facts);
          reports[host] = std::move(report);
          if (host < request.hosts.size()) progress.count_one();  // the driver host is not one of them
        });
    note_missing(system, summary);
    if (first) {
      gathered.driver_host = std::move(reports.back());
      reports.pop_back();
    }
    gathered.by_path.push_back(std::move(reports));
  }
  return gathered;
}

void ask_again(System& system, const DoctorRequest& request, std::span<const std::size_t> hosts,
               Gathered& gathered) {
  const AgentBinary agent = agent_binary(system.environment);
  const Common common(system, request.job);
  DoctorRequest direct = request;
  direct.relays = RelayUse::never;
  const Via via = request.paths.front();
  const auto all = requests_of(direct, system.environment, via, false, common);
  std::vector<ProbeRequest> requests;
  for (const std::size_t host : hosts) requests.push_back(all[host]);
  reach_by(system, direct, via, requests, agent,
           [&](std::size_t at, HostReport&& report) { gathered.by_path[0][hosts[at]] = std::move(report); });
}

}  // namespace ddlrun::doctor

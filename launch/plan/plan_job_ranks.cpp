// SPDX-License-Identifier: MIT
#include "launch/plan/plan_job_ranks.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "launch/plan/default_ranks.hpp"
#include "launch/plan/job_shape.hpp"
#include "launch/plan/uneven_placement.hpp"
#include "topology/rankfile/rankfile.hpp"
#include "topology/rankfile/rankfile_check.hpp"
#include "topology/rankfile/rankfile_names.hpp"
#include "topology/rankfile/rankfile_reader.hpp"
#include "topology/sources/allocation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ddlrun::launch {

namespace {

using rankfile::CheckContext;
using topology::Dims;
using topology::MachineTopology;

// `name` of this machine if Open MPI accepts it, by the rules of the rankfile check.
std::string own_name(const std::string& name) {
  const bool letter_first = !name.empty() && (name[0] < '0' || name[0] > '9');
  return letter_first && is_host_name(name) && !rankfile::check_host_name(name) ? name : "localhost";
}

void refuse_assumed(const topology::JobMachines& machines) {
  for (const MachineTopology& machine : machines.machines) {
    if (!machine.assumed) continue;
    throw Error(ErrorKind::request,
                {"the cores of the hosts are assumed, not read: nothing is started on a guess",
                 machine.source, "--sockets 2 --cores 8, or --topology FILE"});
  }
}

// Of an allocation for a job on one host: this host if it is allocated, else the first one.
std::string one_of(const std::vector<std::string>& hosts, const Environment& environment) {
  const auto own = std::ranges::find_if(
      hosts, [&](const std::string& host) { return topology::is_this_host(environment, host); });
  return own == hosts.end() ? hosts.at(0) : own_name(*own);
}

// The hosts where none is named: those of the surrounding allocation; else this host. A login node is in no
// allocation, and salloc runs its command there.
std::vector<std::string> unnamed_hosts(System& system, const JobShape& shape,
                                       std::vector<std::string>& remarks) {
  std::optional<topology::Allocation> given;
  if (shape.local_ranks == 0) given = topology::find_allocation(system);
  const bool is_alone = !given || given->hosts.empty();
  if (is_alone && shape.dims && shape.dims->host_count() > 1) {
    const std::string dims = topology::render_dims(*shape.dims);
    throw Error(
        ErrorKind::request,
        {fmt::format("{} needs {} hosts, and none are named", dims, shape.dims->host_count()),
         "this shell, which is in no job of a scheduler",
         fmt::format("ddlrun launch {0} h1,h2,... -- PROGRAM; on a cluster: ddlrun submit {0} -- PROGRAM",
                     dims)});
  }
  if (is_alone)
    return {own_name(system.environment.host_name.substr(0, system.environment.host_name.find('.')))};
  const bool is_part = shape.dims && shape.dims->host_count() == 1 && given->hosts.size() > 1;
  if (!is_part) {
    remarks.push_back(fmt::format("hosts: {} ({})", fold_host_list(given->hosts), given->source));
    if (given->hosts.size() == 1) return {one_of(given->hosts, system.environment)};
    return given->hosts;
  }
  const std::string host = one_of(given->hosts, system.environment);
  remarks.push_back(fmt::format("hosts: {}, as DIMS are for one host; {} ({})", host,
                                fold_host_list(given->hosts), given->source));
  return {host};
}

// As for mpirun, localhost is this host, which the other hosts know by its name only.
void name_this_host(std::vector<std::string>& hosts, const Environment& environment,
                    std::vector<std::string>& remarks) {
  const std::string own = own_name(environment.host_name.substr(0, environment.host_name.find('.')));
  if (hosts.size() < 2 || own == "localhost") return;
  for (std::string& host : hosts) {
    if (host != "localhost" && host != "127.0.0.1" && host != "::1") continue;
    remarks.push_back(fmt::format("hosts: {} is this host, {}", host, own));
    host = own;
  }
}

// "launch 2 h1,h2" may mean 2 ranks on each host, or 2 in all.
[[noreturn]] void refuse_many_hosts(std::uint32_t ranks, const std::vector<std::string>& hosts) {
  const std::string names = printable(fold_host_list(hosts), 200);
  std::string hint = fmt::format("{0}x{1} {2} ({0} on each host)", ranks, hosts.size(), names);
  if (ranks % hosts.size() == 0) hint += fmt::format(", or -n {0} -H {1} ({0} in all)", ranks, names);
  throw Error(ErrorKind::request, {fmt::format("{0} as DIMS is {0} rank{1} on one host, {2} hosts given",
                                               ranks, ranks == 1 ? "" : "s", hosts.size()),
                                   "DIMS", std::move(hint)});
}

std::string directory_to_check(const System& system, const LaunchSpec& spec) {
  return names_workdir(spec.launcher.words) ? std::string() : system.environment.workdir;
}

// Refuses hosts and dims that do not fit each other, with a stand-in machine, before any host is asked.
void check_shape(const JobShape& shape, const JobPlan& job) {
  if (!shape.has_ranks_per_host()) return;
  const Dims dims = resolve_dims(shape, job.hosts.size(), 1);
  if (dims.host_count() == 1 && job.hosts.size() > 1) refuse_many_hosts(dims.gpus_per_node, job.hosts);
  const auto cores = static_cast<int>(dims.gpus_per_node);
  topology::plan_job(dims, job.hosts, {topology::regular_machine(1, cores, 1, "any")},
                     std::vector<std::uint32_t>(job.hosts.size(), 0), {});
}

// --np over all hosts: an equal number on each, or an error.
Dims dims_of_number(std::uint32_t ranks, std::uint32_t hosts) {
  if (ranks % hosts == 0) return {ranks / hosts, hosts, 1, 1};
  const std::uint32_t less = ranks / hosts * hosts;
  throw Error(
      ErrorKind::request,
      {fmt::format("{} ranks cannot be dealt evenly to {} hosts: nothing was started", ranks, hosts), "--np",
       less == 0 ? fmt::format("--np {}", hosts) : fmt::format("--np {} or --np {}", less, less + hosts)});
}

// In terms of --np -N: its user did not type DIMS.
void check_local_ranks(const JobShape& shape, bool may_share, const JobPlan& job) {
  const std::size_t cores = job.machines.machines[0].cores.size(), ranks = shape.local_ranks;
  if (ranks <= cores || may_share) return;
  throw Error(ErrorKind::request,
              {fmt::format("{} ranks need {} cores, this host has {}", ranks, ranks, cores),
               fmt::format("--np -{}", ranks), fmt::format("--np -{}", cores)});
}

Dims dims_for(const JobShape& shape, const topology::PlanOptions& plan, JobPlan& job) {
  if (shape.has_ranks_per_host()) return resolve_dims(shape, job.hosts.size(), 1);
  const auto hosts = static_cast<std::uint32_t>(job.hosts.size());
  if (shape.total_ranks > 0) return dims_of_number(shape.total_ranks, hosts);
  const DefaultRanks ranks = default_ranks(job.machines.machines, plan);
  const Dims dims = resolve_dims(shape, job.hosts.size(), ranks.ranks);
  job.remarks.push_back(fmt::format("no DIMS given: {} ({})", topology::render_dims(dims), ranks.reason));
  return dims;
}

void plan_ranks(const JobShape& shape, const topology::PlanOptions& plan_options, JobPlan& job,
                int mpi_major) {
  check_local_ranks(shape, plan_options.oversubscribe, job);
  const Dims dims = dims_for(shape, plan_options, job);
  job.plan =
      topology::plan_job(dims, job.hosts, job.machines.machines, job.machines.machine_of_host, plan_options);
  for (const topology::MachinePlan& machine : job.plan->machines) {
    job.remarks.insert(job.remarks.end(), machine.remarks.begin(), machine.remarks.end());
  }
  job.rankfile_text = rankfile::render_rankfile(*job.plan, {DDLRUN_VERSION, ""}, mpi_major);
  job.ranks = planned_ranks(*job.plan);
}

// The hosts' own names in the rankfile; mpirun's --host keeps those that were given.
void use_own_names(JobPlan& job) {
  const auto names = rankfile::own_rankfile_names(job.hosts, job.machines.own_names);
  if (names.empty()) return;
  job.rankfile_text = rankfile::rename_rankfile_hosts(job.rankfile_text, names);
  const auto& [given, own] = *names.begin();
  job.remarks.push_back(fmt::format("rankfile: {} by its own name, {}{}: Open MPI 5 takes no other there",
                                    given, own,
                                    names.size() > 1 ? fmt::format(", and {} more", names.size() - 1) : ""));
}

std::vector<std::string> hosts_of(const std::vector<rankfile::RankLine>& lines) {
  std::vector<std::string> hosts;
  for (const rankfile::RankLine& line : lines) {
    if (std::find(hosts.begin(), hosts.end(), line.host) == hosts.end()) hosts.push_back(line.host);
  }
  return hosts;
}

std::uint32_t ranks_of(const JobShape& shape, const JobPlan& job,
                       const std::vector<rankfile::RankLine>& lines) {
  if (shape.total_ranks > 0) return shape.total_ranks;
  if (!shape.host_ranks.empty())
    return std::accumulate(shape.host_ranks.begin(), shape.host_ranks.end(), std::uint32_t{0});
  if (const auto dims = known_job_dims(shape, job)) return dims->world_size();
  return static_cast<std::uint32_t>(lines.size());
}

CheckContext check_context(const JobShape& shape, const JobPlan& job, std::vector<std::string> allocation,
                           std::uint32_t ranks, int mpi_major) {
  CheckContext context;
  context.ranks = ranks;
  context.dims = known_job_dims(shape, job);
  context.allocation = std::move(allocation);
  context.mpi_major = mpi_major;
  context.machine_of = [&job](std::string_view host) -> const MachineTopology* {
    const auto found = std::find(job.hosts.begin(), job.hosts.end(), host);
    if (found == job.hosts.end() || job.machines.machines.empty()) return nullptr;
    const auto index = static_cast<std::size_t>(found - job.hosts.begin());
    return &job.machines.machines[job.machines.machine_of_host[index]];
  };
  return context;
}

// `check`: the command that finds the same errors.
void check_text(System& system, const std::string& file, const std::string& text, const CheckContext& context,
                const char* check, std::vector<std::string>& reported) {
  auto findings = rankfile::check_rankfile(text, context);
  std::erase_if(findings, [](const auto& finding) { return finding.severity == rankfile::Severity::note; });
  system.err(rankfile::render_findings(file, text, findings));
  std::size_t errors = 0;
  for (const rankfile::RankfileFinding& finding : findings) {
    if (finding.severity == rankfile::Severity::error) ++errors;
    reported.push_back(fmt::format("{} in line {}: {}", finding.id, finding.line, finding.what));
  }
  if (errors == 0) return;
  throw Error(ErrorKind::request, {fmt::format("the rankfile has {} error{}: nothing was started", errors,
                                               errors == 1 ? "" : "s"),
                                   file, fmt::format("{} {}", check, quote_shell(file))});
}

// The user's rankfile: its names, cores and ranks are checked against the allocation too.
JobPlan take_rankfile(System& system, const LaunchSpec& spec, int mpi_major, topology::HostPath path) {
  const JobShape& shape = spec.shape;
  JobPlan job;
  job.path = path;
  job.rankfile_text = system.files.read(shape.rankfile, rankfile::max_rankfile_bytes);
  const auto lines = rankfile::parse_rank_lines(job.rankfile_text);
  job.hosts = hosts_of(lines);
  const auto relative = std::find_if(job.hosts.begin(), job.hosts.end(), rankfile::is_relative_name);
  if (relative != job.hosts.end()) {
    throw Error(ErrorKind::request,
                {fmt::format("{} counts the hosts of an allocation; launch must know their names",
                             printable(*relative)),
                 shape.rankfile, "write the name of each host in the rankfile"});
  }
  // The form first: hosts are asked only for a file that could run.
  check_text(system, shape.rankfile, job.rankfile_text,
             check_context(shape, job, shape.hosts, ranks_of(shape, job, lines), mpi_major),
             "ddlrun check-rankfile", job.findings);
  job.findings.clear();  // the second check finds them again
  job.machines =
      topology::find_job_machines(system, job.hosts, spec.placement.machine, topology::Unprobed::refuse,
                                  directory_to_check(system, spec), path);
  refuse_assumed(job.machines);
  check_text(system, shape.rankfile, job.rankfile_text,
             check_context(shape, job, {}, ranks_of(shape, job, lines), mpi_major),
             "ddlrun doctor --rankfile", job.findings);
  job.ranks = planned_ranks(lines, job.hosts, machine_pointers(job), mpi_major);
  return job;
}

}  // namespace

std::optional<Dims> known_job_dims(const JobShape& shape, const JobPlan& job) {
  if (job.plan) return job.plan->dims;
  if (!shape.has_ranks_per_host()) return std::nullopt;
  // A rankfile may omit a host of -H.
  return resolve_dims(shape, shape.hosts.empty() ? job.hosts.size() : shape.hosts.size(), 1);
}

JobPlan plan_job_ranks(System& system, const LaunchSpec& spec, int mpi_major, topology::HostPath path) {
  const JobShape& shape = spec.shape;
  if (!shape.rankfile.empty()) return take_rankfile(system, spec, mpi_major, path);
  JobPlan job;
  job.path = path;
  job.hosts = shape.hosts;
  if (job.hosts.empty()) job.hosts = unnamed_hosts(system, shape, job.remarks);
  name_this_host(job.hosts, system.environment, job.remarks);
  check_shape(shape, job);
  if (!shape.filled_hosts.empty()) job.remarks.push_back(shape.filled_hosts);
  job.machines =
      topology::find_job_machines(system, job.hosts, spec.placement.machine, topology::Unprobed::refuse,
                                  directory_to_check(system, spec), path);
  refuse_assumed(job.machines);
  if (spec.framework.workers > 0) {
    plan_task_bindings(spec, job, mpi_major);
  } else if (!shape.host_ranks.empty()) {
    plan_uneven_bindings(spec, job, mpi_major);
  } else {
    plan_ranks(shape, spec.placement.plan, job, mpi_major);
  }
  CheckContext context =
      check_context(shape, job, {}, static_cast<std::uint32_t>(job.ranks.size()), mpi_major);
  context.shares_cores = spec.placement.plan.oversubscribe;
  check_text(system, "rankfile", job.rankfile_text, context, "ddlrun check-rankfile", job.findings);
  if (mpi_major >= 5) use_own_names(job);
  return job;
}

}  // namespace ddlrun::launch

// SPDX-License-Identifier: MIT
// Whether the hosts are machines of one kind, and whether the scheduler gave what the job's shape needs.
#include "base/text/text.hpp"
#include "doctor/checks/core_facts.hpp"
#include "doctor/checks/device.hpp"
#include "doctor/checks/software.hpp"
#include "doctor/checks/system.hpp"
#include "doctor/checks/threads_remedy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace ddlrun::doctor {

namespace {

struct MachineKind {
  std::string shape;
  std::size_t cores = 0;
  std::vector<std::string> hosts;
};

// The kinds of machines, the most frequent first.
std::vector<MachineKind> find_kinds(const CheckInput& input) {
  std::vector<MachineKind> kinds;
  for (const ValueGroup& group :
       group_by_value(input, [](const HostReport& host) { return text_of(host, "cores.map"); })) {
    const auto machine = parse_cores(group.value, "");
    if (!machine) continue;
    const std::string shape = render_shape(*machine);
    const auto known = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const MachineKind& kind) { return kind.shape == shape; });
    if (known == kinds.end())
      kinds.push_back({shape, machine->cores.size(), group.hosts});
    else
      known->hosts.insert(known->hosts.end(), group.hosts.begin(), group.hosts.end());
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const MachineKind& a, const MachineKind& b) {
    return a.hosts.size() > b.hosts.size();
  });
  return kinds;
}

std::uint64_t wanted_cores(const Job& job, const MachineKind& kind) {
  std::uint64_t most = 0;
  for (const std::string& host : kind.hosts) {
    const auto ranks = job.ranks_of_host.find(host);
    if (ranks != job.ranks_of_host.end())
      most = std::max(most, std::uint64_t{ranks->second} * std::max<std::uint32_t>(1, job.cores_per_rank));
  }
  return most;
}

Remedy leave_out(const CheckInput& input, const std::vector<std::string>& odd) {
  std::vector<std::string> rest;
  for (const HostReport& host : input.hosts) {
    if (std::find(odd.begin(), odd.end(), host.host) == odd.end()) rest.push_back(host.host);
  }
  const std::string hosts = quote_shell(join(rest, ","));
  return {{fmt::format("ddlrun doctor {}", hosts)},
          false,
          true,
          fmt::format("leave {} out (that line looks at the rest), or plan for the differing machines: "
                      "ddlrun gen-rankfile asks each host for its cores",
                      render_hosts(odd))};
}

std::vector<Finding> check_kinds(const CheckInput& input) {
  std::vector<Finding> findings;
  for (const HostReport& host : input.hosts) {
    if (!host.reach.problem.empty() || host.facts.text("cores.map")) continue;
    const auto failed = host.failed_gatherers.find("cores");
    add_result(
        findings, "CPU-01", host.host,
        skip(failed == host.failed_gatherers.end() ? host.facts.why_missing("cores.map") : failed->second));
  }
  const std::vector<MachineKind> kinds = find_kinds(input);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    CheckResult result = pass(kinds[i].shape);
    if (i > 0) {
      const std::uint64_t wanted = wanted_cores(input.job, kinds[i]);
      result = warn(
          fmt::format("{}, {} elsewhere", kinds[i].shape, kinds.front().shape), kinds.front().shape,
          "every step waits for the slowest machine, and a rankfile made for one kind may not fit the other",
          leave_out(input, kinds[i].hosts));
      if (wanted > kinds[i].cores && !input.job.shares_cores) {
        result.verdict = Verdict::fail;
        result.observed =
            fmt::format("{} cores ({}), and the job wants {} there", kinds[i].cores, kinds[i].shape, wanted);
        result.why = "its ranks do not fit: mpirun refuses the placement, or ranks share cores";
      }
    }
    std::vector<Finding> one = single_finding("CPU-01", std::move(result), kinds[i].hosts);
    findings.push_back(std::move(one.front()));
  }
  return findings;
}

std::optional<std::uint64_t> number_in(const HostReport& driver_host, const char* name) {
  const auto text = text_of(driver_host, fmt::format("environment.{}", name));
  // SLURM_NTASKS_PER_NODE and the like may read "4(x2)".
  return text ? parse_unsigned(text->substr(0, text->find('('))) : std::nullopt;
}

// Slurm sets these where the job requested GPUs by --gpus...; SLURM_GPUS_ON_NODE also counts those that an
// exclusive node has (man sbatch, 23.11).
constexpr const char* gpu_requests[] = {"SLURM_GPUS", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK"};

CheckResult evaluate_slurm_request(const CheckInput& input) {
  const auto tasks = number_in(input.driver_host, "SLURM_NTASKS_PER_NODE");
  const auto each = number_in(input.driver_host, "SLURM_CPUS_PER_TASK");
  const auto cpus = number_in(input.driver_host, "SLURM_CPUS_ON_NODE");
  const auto gpus = number_in(input.driver_host, "SLURM_GPUS_ON_NODE");
  const std::uint64_t wanted = input.job.dims ? input.job.dims->gpus_per_node : tasks.value_or(0);
  const std::string request = fmt::format("#SBATCH --ntasks-per-node={}", wanted);
  const bool is_shared = input.job.shares_cores && tasks.value_or(0) < wanted;
  if (tasks && input.job.dims && *tasks != wanted && !is_shared) {
    return fail(
        fmt::format("--ntasks-per-node={}, the dims have {} ranks a node", *tasks, wanted),
        fmt::format("{}", wanted),
        "Slurm gives room for another number of ranks than the job starts: mpirun says the slots are "
        "oversubscribed, or GPUs idle",
        {{fmt::format("salloc --nodes={} --ntasks-per-node={} bash", input.job.dims->host_count(), wanted)},
         false,
         true,
         request + " in the script"});
  }
  const std::uint64_t room = room_for_threads(input.job, tasks.value_or(0), cpus.value_or(0));
  if (tasks && each && cpus && *tasks * *each > room) {
    return fail(fmt::format("{} tasks x {} CPUs on a node that gives {}", *tasks, *each, *cpus),
                fmt::format("at most {} CPUs a task",
                            std::max<std::uint64_t>(1, room / std::max<std::uint64_t>(1, *tasks))),
                "ranks share cores",
                {{fmt::format("export SLURM_CPUS_PER_TASK={}",
                              std::max<std::uint64_t>(1, room / std::max<std::uint64_t>(1, *tasks)))},
                 false,
                 true,
                 "or request more: --cpus-per-task"});
  }
  if (gpus && input.job.dims && *gpus < wanted) {
    // GPUs that only came with an exclusive node are no fault of a job for the CPUs.
    const bool requested = std::ranges::any_of(gpu_requests, [&](const char* name) {
      return text_of(input.driver_host, fmt::format("environment.{}", name)).has_value();
    });
    return verdict_of(
        requested ? Verdict::fail : Verdict::warn,
        fmt::format("{} GPUs a node, {} ranks a node", *gpus, wanted), fmt::format("{} GPUs", wanted),
        "two ranks would share a GPU, if the program uses GPUs",
        {{fmt::format("salloc --nodes={} --gpus-per-node={} bash", input.job.dims->host_count(), wanted)},
         false,
         true,
         fmt::format("#SBATCH --gpus-per-node={}", wanted)});
  }
  return pass(fmt::format("{} CPUs on this node{}", cpus ? std::to_string(*cpus) : "unknown",
                          tasks ? fmt::format(", {} tasks", *tasks) : ""));
}

// A host list may give names with their domain.
std::optional<std::uint64_t> pbs_cores(const HostReport& driver_host, const std::string& host) {
  return driver_host.facts.number("scheduler.pbs.cores." + host.substr(0, host.find('.')));
}

// What a rank gets: -x before the environment, in which PBS sets it. Of "4,2" the outer number.
std::uint64_t pbs_threads(const CheckInput& input) {
  const auto own = input.job.environment.find("OMP_NUM_THREADS");
  const std::string text = own != input.job.environment.end()
                               ? own->second
                               : text_of(input.driver_host, "environment.OMP_NUM_THREADS").value_or("");
  const auto outer = parse_unsigned(trim(text.substr(0, text.find(','))), 1u << 20);
  return std::max<std::uint64_t>(1, outer.value_or(1));
}

CheckResult too_few_pbs_cores(const CheckInput& input, const std::string& host, std::uint64_t ranks,
                              std::uint64_t threads, std::uint64_t cores) {
  Remedy remedy;
  remedy.on_driver_host = true;
  if (ranks <= cores) remedy.commands = threads_remedy(input.job, cores / ranks).commands;
  const auto report = std::ranges::find(input.hosts, host, &HostReport::host);
  remedy.note = fmt::format(
      "{}#PBS -l select={}:ncpus={}:mpiprocs={}:ompthreads={}{}",
      ranks <= cores ? "or request more: " : "request more: ", input.job.ranks_of_host.size(),
      ranks * threads, ranks, threads, report == input.hosts.end() ? "" : sharing_hint(*report, ranks));
  return fail(fmt::format("{} x {} on {}, where the job has {}", count_of(ranks, "rank"),
                          count_of(threads, "thread"), host, count_of(cores, "core")),
              "mpiprocs x ompthreads <= ncpus", "threads of all ranks share cores", std::move(remedy));
}

// NCPUS does not count: it is the chunk's ompthreads where the request has them (OpenPBS 23.06,
// start_exec.c).
CheckResult evaluate_pbs_request(const CheckInput& input) {
  const std::uint64_t threads = pbs_threads(input);
  std::vector<std::string> unknown;
  std::string fits;
  for (const auto& [host, ranks] : input.job.ranks_of_host) {
    const auto cores = pbs_cores(input.driver_host, host);
    if (!cores)
      unknown.push_back(host);
    else if (ranks * threads > room_for_threads(input.job, ranks, *cores))
      return too_few_pbs_cores(input, host, ranks, threads, *cores);
    else if (fits.empty())
      fits = fmt::format("{} x {} in {} of {}", count_of(ranks, "rank"), count_of(threads, "thread"),
                         count_of(*cores, "core"), host);
  }
  if (input.job.ranks_of_host.empty()) return skip("the ranks of a host are not known");
  if (!fits.empty() && unknown.empty()) return pass(fits);
  const Facts& facts = input.driver_host.facts;
  const std::string why = facts.has("scheduler.pbs.cores") ? facts.why_missing("scheduler.pbs.cores")
                                                           : "exec_host of the job does not list it";
  return skip(fmt::format("the job's cores on {} are not known: {}", render_hosts(unknown), why));
}

CheckResult evaluate_request(const CheckInput& input) {
  if (text_of(input.driver_host, "environment.SLURM_JOB_ID")) return evaluate_slurm_request(input);
  if (text_of(input.driver_host, "environment.PBS_JOBID")) return evaluate_pbs_request(input);
  return skip("not inside a scheduler's job");
}

std::vector<Finding> check_request(const CheckInput& input) {
  return single_finding("CPU-06", evaluate_request(input));
}

}  // namespace

std::span<const Check> core_checks() {
  static constexpr std::array<Check, 2> table{{
      {"CPU-01", "machines of one kind", Level::quick, Place::host,
       "One machine with fewer cores slows every step, and breaks a rankfile that was made for the others.",
       "Packages, cores and threads from /sys of each host. pass: the most frequent kind; warn: another; "
       "fail: another, with fewer cores than the job needs there.",
       "Leave the odd host out, or plan with its own cores.", check_kinds},
      {"CPU-06", "what the scheduler gave", Level::quick, Place::driver_host,
       "ntasks-per-node, GPUs and ranks per node must be one number; mpiprocs x ompthreads must fit ncpus.",
       "SLURM_NTASKS_PER_NODE, SLURM_CPUS_PER_TASK, SLURM_CPUS_ON_NODE, SLURM_GPUS_ON_NODE against the dims; "
       "or ranks x OMP_NUM_THREADS against the cores of each host in exec_host of `qstat -f $PBS_JOBID`. "
       "pass: fits, or one thread a rank with --oversubscribe; fail: does not; skip: the cores are not "
       "known.",
       "Mend the request.", check_request},
  }};
  return table;
}

}  // namespace ddlrun::doctor

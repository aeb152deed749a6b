// SPDX-License-Identifier: MIT
// The environment that Intel Caffe's scripts/set_env.sh makes: MLSL's servers on cores of their own, OpenMP
// on the others, Intel MPI for Omni-Path or TCP. Without its emptying of /dev/shm and killing by name.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/plan_internal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ddlrun::frameworks {

namespace {

constexpr std::size_t first_server_core = 6;  // 0 to 5 are left to OpenMP, as in the script

struct RankCores {
  std::vector<int> openmp;   // first hardware thread of each core
  std::vector<int> servers;  // likewise
};

struct HostCores {
  std::vector<RankCores> ranks;  // by local rank
  std::string cpu;
  int pus = 0;
  int servers = 0;  // of each rank
  int spare = 0;    // unused cores of each rank, because fewer threads were requested
};

std::vector<int> first_pus(const topology::MachineTopology& machine,
                           const std::vector<topology::CoreIndex>& cores) {
  std::vector<int> pus;
  for (const topology::CoreIndex core : cores)
    pus.push_back(machine.cores[static_cast<std::size_t>(core.logical)].pus.front().os);
  std::ranges::sort(pus);
  return pus;
}

const topology::MachinePlan& only_machine(const FrameworkRequest& request) {
  if (request.plan == nullptr) {
    throw Error(ErrorKind::request,
                {"Intel Caffe's cores come from the plan: a rankfile cannot be combined with it",
                 "--rankfile", "the same without --rankfile"});
  }
  const auto& machines = request.plan->machines;
  for (const topology::MachinePlan& other : machines) {
    if (other.machine.cores.size() == machines[0].machine.cores.size()) continue;
    throw Error(
        ErrorKind::request,
        {fmt::format(
             "hosts of {} and {} cores: KMP_AFFINITY and MLSL_SERVER_AFFINITY are the same for all of them",
             machines[0].machine.cores.size(), other.machine.cores.size()),
         request.intel_caffe.by_script ? "--hostfile" : "--framework intel-caffe", "hosts of one kind"});
  }
  return machines[0];
}

int threads_of(const FrameworkRequest& request, int most) {
  int wanted = request.intel_caffe.omp_threads;
  std::string place = "--num_omp_threads";
  if (const auto own = request.environment.find("OMP_NUM_THREADS");
      wanted == 0 && own != request.environment.end()) {
    wanted = static_cast<int>(parse_unsigned(own->second, 65536).value_or(0));
    place = "OMP_NUM_THREADS";
  }
  if (wanted == 0) return most;
  if (wanted <= most) return wanted;
  throw Error(ErrorKind::request,
              {fmt::format("{} threads, a rank has {} cores that no server takes", wanted, most), place,
               request.intel_caffe.by_script
                   ? fmt::format("--num_omp_threads {}, or fewer --num_mlsl_servers", most)
                   : fmt::format("-x OMP_NUM_THREADS={}, or fewer ranks a host by DIMS", most)});
}

int servers_of(const FrameworkRequest& request, const std::string& cpu, std::size_t ranks) {
  if (request.intel_caffe.servers >= 0) return request.intel_caffe.servers;
  if (request.rank_map.hosts.size() == 1 && ranks == 1) return 0;
  return cpu == "knl" || cpu == "knm" ? 4 : 2;
}

RankCores split_cores(std::vector<int> cores, std::size_t servers, std::size_t spare, bool alone) {
  RankCores rank;
  const std::size_t taken = servers + spare;
  const std::size_t at =
      alone && cores.size() >= first_server_core + taken ? first_server_core : cores.size() - taken;
  const auto first = cores.begin() + static_cast<std::ptrdiff_t>(at);
  rank.servers.assign(first, first + static_cast<std::ptrdiff_t>(servers));
  cores.erase(first, first + static_cast<std::ptrdiff_t>(taken));
  rank.openmp = std::move(cores);
  return rank;
}

// Intel Caffe binds its threads itself: of ranks that share all cores, each gets one, in turn.
std::vector<std::vector<topology::CoreIndex>> cores_to_bind(const topology::MachinePlan& plan) {
  const std::size_t cores = plan.machine.cores.size();
  std::vector<std::vector<topology::CoreIndex>> ranks;
  for (const topology::LocalPlacement& rank : plan.ranks)
    ranks.push_back(plan.ranks.size() > cores && !rank.cores.empty()
                        ? std::vector{rank.cores[ranks.size() % rank.cores.size()]}
                        : rank.cores);
  return ranks;
}

HostCores deal_cores(const FrameworkRequest& request) {
  const topology::MachinePlan& machine = only_machine(request);
  HostCores host;
  host.cpu = request.intel_caffe.cpu;
  if (host.cpu.empty())
    host.cpu = cpu_of_model(machine.machine.packages.empty() ? "" : machine.machine.packages[0].model);
  host.pus = machine.machine.pu_count();
  const auto ranks = cores_to_bind(machine);
  std::size_t fewest = SIZE_MAX;
  for (const auto& cores : ranks) fewest = std::min(fewest, cores.size());
  host.servers = servers_of(request, host.cpu, machine.ranks.size());
  const int most = static_cast<int>(fewest) - host.servers;
  if (most < 1) {
    throw Error(
        ErrorKind::request,
        {fmt::format("{} MLSL servers and a thread need {} cores, a rank has {}", host.servers,
                     host.servers + 1, fewest),
         request.intel_caffe.by_script ? "--num_mlsl_servers" : "--framework intel-caffe",
         request.intel_caffe.by_script ? "--num_mlsl_servers 1, or a smaller --ppn"
                                       : "fewer ranks a host by DIMS; or ddlrun intelcaffe, which takes "
                                         "--num_mlsl_servers"});
  }
  host.spare = most - threads_of(request, most);
  for (const auto& cores : ranks) {
    // Local ranks that have a core more leave it: the number of threads is one for all.
    const std::size_t extra = cores.size() - fewest;
    host.ranks.push_back(
        split_cores(first_pus(machine.machine, cores), static_cast<std::size_t>(host.servers),
                    static_cast<std::size_t>(host.spare) + extra, machine.ranks.size() == 1));
  }
  return host;
}

// "[3,c]": a mask of hardware threads for each local rank, as I_MPI_PIN_DOMAIN takes them.
std::string pin_domains(const launch::RankMap& rank_map) {
  std::string masks;
  for (const launch::RankBinding& binding : rank_map.kinds.at(0)) {
    const int last = binding.pus.empty() ? 0 : binding.pus.back();
    std::string hex(static_cast<std::size_t>(last / 4 + 1), '0');
    for (const int pu : binding.pus) {
      char& digit = hex[hex.size() - 1 - static_cast<std::size_t>(pu / 4)];
      const int value = (digit <= '9' ? digit - '0' : digit - 'a' + 10) | (1 << (pu % 4));
      digit = "0123456789abcdef"[value];
    }
    masks += (masks.empty() ? "" : ",") + hex;
  }
  return "[" + masks + "]";
}

void share_intel_mpi(const FrameworkRequest& request, FrameworkPlan& plan, const HostCores& host) {
  const IntelCaffeOptions& options = request.intel_caffe;
  const auto set = [&](const std::string& name, const std::string& value, const std::string& why) {
    share(request, plan, name, value, why);
  };
  const bool phi = host.cpu == "knl" || host.cpu == "knm";
  if (options.network == "opa") {
    set("I_MPI_FABRICS", "shm:tmi",
        "--network opa: shared memory within a host, Omni-Path's messages between them");
    set("I_MPI_TMI_PROVIDER", "psm2", "--network opa");
    set("HFI_NO_CPUAFFINITY", "1", "the Omni-Path driver is to leave our cores alone");
    set("I_MPI_DYNAMIC_CONNECTION", "0", "connect all ranks at the start");
    set("I_MPI_SCALABLE_OPTIMIZATION", "0", "as Intel Caffe's script has it");
    set("I_MPI_PIN_MODE", "lib", "Intel MPI pins in its library");
    if (phi) set("PSM2_MQ_RNDV_HFI_WINDOW", "2097152", "around a fault of PSM2 in IFS 10.2 and 10.3");
  } else {
    set("I_MPI_FABRICS", "shm:tcp", "--network tcp");
    set("I_MPI_TCP_NETMASK", options.netmask, "--netmask");
  }
  const bool one = host.ranks.size() == 1;
  set("I_MPI_PIN_DOMAIN", one ? "node" : pin_domains(request.rank_map),
      one ? "a rank has its whole host" : "the cores of each local rank, as masks");
  set("I_MPI_FALLBACK", "0", "another network than the one requested is an error");
  set("I_MPI_DEBUG", "6", "Intel MPI prints network and pinning at the start");
  if (!options.iallreduce.empty())
    set("I_MPI_ADJUST_IALLREDUCE", options.iallreduce, "--mpi_iallreduce_algo");
}

void share_mlsl(const FrameworkRequest& request, FrameworkPlan& plan, const HostCores& host) {
  const IntelCaffeOptions& options = request.intel_caffe;
  share(request, plan, "MLSL_NUM_SERVERS", fmt::format("{}", host.servers),
        options.servers >= 0 ? "--num_mlsl_servers"
                             : fmt::format("processes that send, for each rank; {} has so many", host.cpu));
  std::vector<int> cores;
  for (const RankCores& rank : host.ranks)
    cores.insert(cores.end(), rank.servers.begin(), rank.servers.end());
  if (!cores.empty())
    share(request, plan, "MLSL_SERVER_AFFINITY", fmt::format("{}", fmt::join(cores, ",")),
          "cores that OpenMP leaves to the servers");
  share(request, plan, "MLSL_LOG_LEVEL", options.debug ? "3" : "0", "--debug");
  if (options.priority) {
    share(request, plan, "MLSL_MSG_PRIORITY", "1", "--msg_priority on");
    share(request, plan, "MLSL_MSG_PRIORITY_THRESHOLD", fmt::format("{}", options.priority_threshold),
          "--msg_priority_threshold");
  }
  // src/comm_ep.cpp ends the rank without MLSL_ROOT; the launcher passes on only what is named to it.
  for (const auto& [name, value] : request.environment) {
    const bool known = std::ranges::any_of(
        plan.shared, [&name = name](const SharedVariable& one) { return one.name == name; });
    if ((name.starts_with("MLSL_") || name == "I_MPI_ROOT") && !known) share(request, plan, name, value, "");
  }
  if (!request.environment.contains("MLSL_ROOT"))
    plan.remarks.push_back("MLSL_ROOT is not set, and MLSL ends without it: source its mlslvars.sh first");
}

void share_openmp(const FrameworkRequest& request, FrameworkPlan& plan, const HostCores& host) {
  const std::vector<int>& cores = host.ranks[0].openmp;
  share(request, plan, "OMP_NUM_THREADS", fmt::format("{}", cores.size()),
        fmt::format("{} cores of a rank, {} for MLSL's servers, {} left free",
                    cores.size() + static_cast<std::size_t>(host.servers + host.spare), host.servers,
                    host.spare));
  share(request, plan, "KMP_HW_SUBSET", "1t", "one thread a core");
  share(request, plan, "KMP_AFFINITY",
        host.ranks.size() == 1
            ? fmt::format("proclist=[{}],granularity=thread,explicit", render_ranges(cores))
            : "granularity=fine,compact,1,0",
        host.ranks.size() == 1 ? "a thread on each core that no server has"
                               : "side by side on the cores of the rank");
  if (host.cpu == "knm" && request.rank_map.size() == 1)
    share(request, plan, "KMP_BLOCKTIME", "10000000", "threads keep spinning between layers");
  if (request.intel_caffe.pin_internal_threads && host.pus >= 2)
    share(request, plan, "INTERNAL_THREADS_PIN", fmt::format("{},{}", host.pus - 2, host.pus - 1),
          "where the threads that read data run");
  share(request, plan, "GLOG_minloglevel", "0", "Caffe prints losses at this level");
}

}  // namespace

void plan_intel_caffe(const FrameworkRequest& request, FrameworkPlan& plan) {
  check_intel_caffe(request.intel_caffe);
  const HostCores host = deal_cores(request);
  if (request.rank_map.size() > 1) {
    share_mlsl(request, plan, host);
    share_intel_mpi(request, plan, host);
    plan.remarks.push_back("Intel Caffe is linked with Intel MPI: its mpiexec.hydra has to start it");
  }
  share_openmp(request, plan, host);
}

}  // namespace ddlrun::frameworks

// SPDX-License-Identifier: MIT
#include "launch/rank/apply_rank_setup.hpp"

#include "base/os/host_info.hpp"
#include "base/process/posix_process_binding.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/rank/rank_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ddlrun::launch {

namespace {

constexpr std::uint64_t max_rank_map_bytes = 64u << 20;
constexpr std::uint64_t max_driver_bytes = 64u << 10;
constexpr std::string_view driver = "/proc/driver/nvidia";

std::string read_rank_map(System& system, const std::string& file) {
  if (!file.empty()) return system.files.read(file, max_rank_map_bytes);
  const std::string text = system.environment.get(rank_map_variable);
  if (!text.empty()) return text;
  throw Error(ErrorKind::usage,
              {fmt::format("--rank-map needs the variable {}, which did not arrive", rank_map_variable),
               system.environment.host_name, "ddlrun launch, which sets it; or --rank-map-file FILE"});
}

RankView find_own_rank(const RankMap& rank_map, const RankIdentity& identity,
                       const Environment& environment) {
  const auto rank = find_rank(rank_map, identity.rank);
  if (rank) return *rank;
  throw Error(ErrorKind::request, {fmt::format("the launcher started rank {}, the plan has ranks 0 to {}",
                                               identity.rank, rank_map.size() - 1),
                                   environment.host_name, "ddlrun launch, without -n among --mpi-arg"});
}

// Split into MIG instances: the driver then has a directory for each.
bool has_instances(HostInfo* kernel, int minor) {
  if (kernel == nullptr || minor < 0) return false;
  const auto entries = kernel->list_directory(fmt::format("{}/capabilities/gpu{}/mig", driver, minor));
  return std::any_of(entries.begin(), entries.end(), [](const auto& name) { return name.starts_with("gi"); });
}

void bind_rank(const RankSetup& setup, const std::string& place) {
  if (setup.unbind) {
    const int code = take_cpuset_of_parent();
    if (code != 0)
      throw Error(ErrorKind::request,
                  {fmt::format("the rank's binding cannot be undone: {}", std::strerror(code)), place,
                   "launch without --bind-to none"});
  }
  if (setup.pus.empty()) return;
  const int code = bind_to_pus(setup.pus);
  const std::string why = judge_binding(setup.pus, read_own_cpuset(), code);
  if (why.empty()) return;
  throw Error(ErrorKind::request,
              {why, place,
               "all of the node's processors for the job (Slurm: --exclusive); or ddlrun topo on that host"});
}

void place_memory(const RankSetup& setup, const std::string& place) {
  if (setup.memory == MemoryPolicy::leave) return;
  const bool strictly = setup.memory == MemoryPolicy::bind;
  const int code = take_memory_from(setup.numa_node, strictly);
  if (code == 0) return;
  throw Error(ErrorKind::request, {fmt::format("memory from NUMA node {} only is refused: {}",
                                               setup.numa_node, std::strerror(code)),
                                   place, "--mem-bind local"});
}

void enter_workdir(const RankSetup& setup, const std::string& place) {
  if (setup.workdir.empty()) return;
  const int code = enter_directory(setup.workdir);
  if (code == 0) return;
  throw Error(ErrorKind::request, {fmt::format("the working directory {} cannot be entered: {}",
                                               printable(setup.workdir), std::strerror(code)),
                                   place, "a directory that all hosts have"});
}

}  // namespace

GpuFacts read_gpu(System& system, const std::string& pci) {
  const std::string path = fmt::format("{}/gpus/{}/information", driver, pci);
  if (!system.files.exists(path)) return {};
  GpuFacts facts = parse_gpu_information(system.files.read(path, max_driver_bytes));
  facts.is_split = has_instances(system.kernel, facts.device_minor);
  return facts;
}

void apply_rank_setup(const RankSetup& setup, const std::string& place) {
  bind_rank(setup, place);
  place_memory(setup, place);
  enter_workdir(setup, place);
}

PreparedRank prepare_rank(System& system, const std::string& file, const Command& program) {
  const RankMap rank_map = parse_rank_map(read_rank_map(system, file));
  const auto identity = find_rank_identity(system.environment.variables);
  if (!identity) {
    throw Error(ErrorKind::usage, {"--rank-map needs a rank, and no launcher has set one",
                                   system.environment.host_name, "ddlrun launch 2 -- ./my_mpi_program"});
  }
  const RankView rank = find_own_rank(rank_map, *identity, system.environment);
  const RankSetup setup =
      plan_rank_setup(rank_map, rank, *identity, program,
                      [&system](const std::string& pci) { return read_gpu(system, pci); });
  const std::string place = fmt::format("rank {} on {}", rank.rank, system.environment.host_name);
  for (const std::string& remark : setup.remarks) system.err(fmt::format("ddlrun: {}: {}\n", place, remark));
  apply_rank_setup(setup, place);
  change_variables(setup.variables, setup.removed);
  // Hydra counts by line of its host file; the other launchers count as ddlrun does, or the difference is an
  // error.
  const bool miscounts = identity->launcher == RankLauncher::hydra;
  return {setup.program, miscounts ? rank.local_rank : identity->local_rank, rank.node};
}

}  // namespace ddlrun::launch

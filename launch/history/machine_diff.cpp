// SPDX-License-Identifier: MIT
#include "launch/history/machine_diff.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "launch/history/run_record.hpp"
#include "topology/machine_json.hpp"
#include "topology/rankfile/rankfile_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

using topology::MachineTopology;

std::string sizes_of(const MachineTopology& machine) {
  return fmt::format("{} packages, {} cores, {} PUs, {} GPUs", machine.packages.size(), machine.cores.size(),
                     machine.pu_count(), machine.gpus.size());
}

std::string core_text(const topology::Core& core) {
  std::vector<int> pus;
  for (const topology::PuIndex pu : core.pus) pus.push_back(pu.os);
  return fmt::format("core {} of package {} on NUMA node {} with PUs {}", core.index.logical, core.package,
                     core.numa_node, render_ranges(pus));
}

[[noreturn]] void refuse_replay(std::string what, std::string where, std::string hint) {
  throw Error(ErrorKind::request, {std::move(what), std::move(where), std::move(hint)});
}

}  // namespace

std::string describe_machine_change(const MachineTopology& then, const MachineTopology& now) {
  const std::string sizes_then = sizes_of(then), sizes_now = sizes_of(now);
  if (sizes_then != sizes_now) return fmt::format("then {}, now {}", sizes_then, sizes_now);
  for (std::size_t i = 0; i < then.cores.size(); ++i) {
    if (then.cores[i] == now.cores[i]) continue;
    return fmt::format("then {}, now {}", core_text(then.cores[i]), core_text(now.cores[i]));
  }
  for (std::size_t i = 0; i < then.gpus.size(); ++i) {
    const topology::Gpu &a = then.gpus[i], &b = now.gpus[i];
    if (a.pci_bus_id == b.pci_bus_id && a.model == b.model && a.cores == b.cores) continue;
    return fmt::format("GPU {} was {} at {}, now {} at {}", i, a.model, a.pci_bus_id, b.model, b.pci_bus_id);
  }
  return {};
}

void check_same_machines(System& system, const RunRecord& run, const std::string& directory,
                         const JobPlan& job) {
  if (run.hosts != job.hosts) {
    refuse_replay(fmt::format("the hosts are others: then {}, now {}", fold_host_list(run.hosts),
                              fold_host_list(job.hosts)),
                  directory, "ddlrun launch with HOSTS, for a new plan");
  }
  for (std::size_t i = 0; i < std::min(run.hosts.size(), run.machine_of_host.size()); ++i) {
    const std::uint32_t kind = run.machine_of_host[i];
    const std::string path = fmt::format("{}/topology-{}.json", directory, kind);
    const auto then =
        topology::parse_machine_json(system.files.read(path, topology::max_machine_json_bytes), path);
    const std::string change =
        describe_machine_change(then, job.machines.machines[job.machines.machine_of_host[i]]);
    if (!change.empty())
      refuse_replay(fmt::format("{} is not the machine that it was: {}", run.hosts[i], change), path,
                    "ddlrun launch again, for a plan of what is there now");
  }
}

bool same_ranks(std::string_view rankfile_then, std::string_view rankfile_now) {
  const auto then = rankfile::parse_rank_lines(rankfile_then), now = rankfile::parse_rank_lines(rankfile_now);
  return std::equal(then.begin(), then.end(), now.begin(), now.end(), [](const auto& a, const auto& b) {
    return a.rank == b.rank && a.host == b.host && a.slots == b.slots;
  });
}

std::vector<std::string> export_changes(const RunRecord& run, const std::vector<std::string>& given,
                                        const Environment& environment) {
  std::vector<std::string> changes, unknown;
  for (const std::string& name : run.exported) {
    const bool is_given =
        std::any_of(given.begin(), given.end(), [&](auto& word) { return word.starts_with(name + "="); });
    if (is_given) continue;
    const auto digest = run.digests.find(name);
    const bool set_by_us = digest != run.digests.end() && name != "PATH" && name != "LD_LIBRARY_PATH";
    if (set_by_us) continue;
    if (digest == run.digests.end())
      unknown.push_back(name);
    else if (digest->second != render_digest(environment.get(name)))
      changes.push_back(name + " is not what it was then");
  }
  if (!unknown.empty())
    changes.push_back("values of now, perhaps not those of then: " + printable(join(unknown, ", "), 300));
  return changes;
}

}  // namespace ddlrun::launch

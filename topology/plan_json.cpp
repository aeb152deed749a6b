// SPDX-License-Identifier: MIT
#include "topology/plan_json.hpp"

#include "base/text/utf8.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::topology {

namespace {

using Json = nlohmann::ordered_json;

template <typename Index>
Json numbers(const std::vector<Index>& indexes) {
  Json list = Json::array();
  for (const Index& index : indexes) {
    if constexpr (std::is_same_v<Index, CoreIndex>)
      list.push_back(index.logical);
    else
      list.push_back(index.os);
  }
  return list;
}

Json rank_entry(const Plan& plan, const Placement& place) {
  const LocalPlacement& local = *place.local;
  Json entry = {{"rank", place.rank},
                {"local_rank", place.local_rank},
                {"host", plan.hosts[place.host]},
                {"x", place.coordinates.x},
                {"y", place.coordinates.y},
                {"z", place.coordinates.z},
                {"a", place.coordinates.a},
                {"slot", local.slot},
                {"cores", numbers(local.cores)},
                {"pus", numbers(local.pus)}};
  if (local.numa_node >= 0) entry["numa_node"] = local.numa_node;
  if (local.gpu >= 0) {
    entry["gpu"] = local.gpu;
    entry["gpu_pci"] = plan.machine(place.host).machine.gpus[static_cast<std::size_t>(local.gpu)].pci_bus_id;
  }
  if (!local.nic.empty()) entry["nic"] = local.nic;
  return entry;
}

}  // namespace

std::string render_plan_json(const Plan& plan) {
  Json document = {{"schema", "ddlrun.plan/1"},
                   {"dims", render_dims(plan.dims)},
                   {"order", plan.order == RankOrder::ddl ? "ddl" : "packed"},
                   {"world_size", plan.dims.world_size()},
                   {"hosts", plan.hosts}};
  Json& machines = document["machines"] = Json::array();
  for (const MachinePlan& machine : plan.machines) {
    machines.push_back({{"source", machine.machine.source},
                        {"assumed", machine.machine.assumed},
                        {"cores", machine.machine.cores.size()},
                        {"remarks", machine.remarks}});
  }
  document["machine_of_host"] = plan.machine_of_host;
  Json& ranks = document["ranks"] = Json::array();
  for (const Placement& place : plan.by_rank()) ranks.push_back(rank_entry(plan, place));
  return escape_json(document.dump(1)) + "\n";
}

}  // namespace ddlrun::topology

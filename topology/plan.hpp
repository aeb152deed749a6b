// SPDX-License-Identifier: MIT
// The plan: which rank sits on which host, cores, GPU and NIC. One plan, many written forms.
#pragma once

#include "topology/dims.hpp"
#include "topology/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::topology {

// What ranks are placed by. automatic: GPUs where the machine has any, else packages.
enum class MapBy { automatic, gpus, packages };

struct PlanOptions {
  RankOrder order = RankOrder::ddl;
  MapBy by = MapBy::automatic;
  int cores_per_rank = 0;      // 0: all cores are dealt out; else exactly so many each
  bool oversubscribe = false;  // more ranks than cores share all of them; with cores_per_rank 1 in turn
};

// Where local rank x sits on one kind of machine.
struct LocalPlacement {
  std::vector<CoreIndex> cores;  // ascending, whole cores, shared only by --oversubscribe
  std::vector<PuIndex> pus;      // ascending: every hardware thread of those cores
  int numa_node = -1;            // the one all its cores belong to, or -1
  int gpu = -1;                  // index in PCI order, or -1
  std::string nic;               // the nearest InfiniBand or Omni-Path device, or ""
  std::string slot;              // as a rankfile writes it: "0:0-4", "0:8-9;1:0"
  std::string reason;            // why these cores, for people
};

// The same machine under many hosts is planned once.
struct MachinePlan {
  MachineTopology machine;
  std::vector<LocalPlacement> ranks;  // X of them, by local rank
  std::vector<std::string> remarks;   // what is uneven or surprising, for people
};

struct Placement {
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  std::uint32_t host = 0;  // index in Plan::hosts
  Coordinates coordinates;
  const LocalPlacement* local = nullptr;
};

struct Plan {
  Dims dims;
  RankOrder order = RankOrder::ddl;
  std::vector<std::string> hosts;              // Y*Z*A names, rack by rack
  std::vector<MachinePlan> machines;           // the different ones
  std::vector<std::uint32_t> machine_of_host;  // index in `machines`, one a host

  const MachinePlan& machine(std::uint32_t host) const { return machines[machine_of_host[host]]; }
  Placement at(std::uint32_t host, std::uint32_t local_rank) const;
  std::vector<Placement> by_rank() const;  // ascending rank; 40 bytes each
  bool has_assumed_machine() const;
};

// Cores for `ranks` local ranks of one machine. Error{request} with both numbers if they do not fit.
MachinePlan plan_machine(const MachineTopology& machine, std::uint32_t ranks, const PlanOptions& options);

// Error{request}: hosts != Y*Z*A (with the two nearest legal shapes), or a host twice. To be asked before any
// host is.
void check_hosts(const Dims& dims, const std::vector<std::string>& hosts);

// The plan for all hosts. `machines` holds the different machines, `machine_of_host` their index per host.
// Error{request} where check_hosts() or plan_machine() refuse.
Plan plan_job(const Dims& dims, std::vector<std::string> hosts, const std::vector<MachineTopology>& machines,
              std::vector<std::uint32_t> machine_of_host, const PlanOptions& options);

// The rankfile text of some cores: "S:a-b" joined by ';' where all packages are equal, else machine-wide
// "a-b".
std::string render_slot(const MachineTopology& machine, const std::vector<CoreIndex>& cores);

}  // namespace ddlrun::topology

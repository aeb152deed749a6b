// SPDX-License-Identifier: MIT
// What every rank is to get, as one small value: where it sits, which program it is, which variables it sees.
// A launcher carries it to `ddlrun exec`, which applies to its rank what no launcher can express: GPU, NIC,
// memory, directory, and values that differ from rank to rank. Pure.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/planned_rank.hpp"
#include "topology/plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// One local rank of one kind of machine. All numbers are the operating system's.
struct RankBinding {
  std::vector<int> pus;  // ascending; empty: wherever the launcher put it
  int numa_node = -1;    // memory comes from here while there is some; -1: from anywhere
  int gpu = -1;          // in PCI bus order, or -1
  std::string gpu_pci;   // "0002:01:00.0", by which its UUID is found on the host; "" without a GPU
  std::string nic;       // "mlx5_0", or ""

  bool operator==(const RankBinding&) const = default;
};

struct RankMapHost {
  std::string name;
  std::uint32_t kind = 0;            // index in RankMap::kinds
  std::vector<std::uint32_t> ranks;  // ascending; the place in this list is the local rank

  bool operator==(const RankMapHost&) const = default;
};

// A variable with a value for each rank: "{rank}" and the other words of expand_placeholders() are replaced,
// all else stands as it is, JSON's braces too.
struct RankVariable {
  std::string name;
  std::string value;
  std::string why;  // for --dry-run; does not travel

  bool operator==(const RankVariable&) const = default;
};

// Consecutive ranks that run one program.
struct RankGroup {
  std::string name;         // "worker", "ps"; "" where there is only one
  std::uint32_t first = 0;  // rank
  std::uint32_t ranks = 0;
  Command program;                     // the user's words, never replaced; empty: what launch was given
  std::vector<std::string> arguments;  // put behind it, with words replaced: "--task_index={group_rank}"
  std::vector<RankVariable> variables;
  bool is_service = false;  // ended, as success, once all ranks of the other groups have ended

  bool operator==(const RankGroup&) const = default;
};

// Where a rank's memory comes from. leave: from the node that touches it first.
enum class MemoryPolicy { leave, preferred, bind };

// Which GPUs a rank sees (CUDA_VISIBLE_DEVICES). one: the GPU of its binding; host: all GPUs of its host's
// ranks, in the order of local ranks.
enum class GpuView { leave, one, host };

struct RankMap {
  std::vector<std::vector<RankBinding>> kinds;  // [kind][local rank]
  std::vector<RankMapHost> hosts;               // "node" in the words below is the place in this list
  std::vector<RankGroup> groups;                // ascending by first; together all ranks
  std::string workdir;                          // "": the launcher's
  std::string result;                           // a file that rank 0 may write (DDLRUN_RESULT); "": none
  bool bind = false;                            // exec binds the rank itself: the launcher cannot
  bool unbind = false;                          // exec undoes the launcher's binding
  MemoryPolicy memory = MemoryPolicy::leave;
  GpuView gpu_view = GpuView::leave;

  std::uint32_t size() const;
  // True if it sets more for a rank than any launcher can.
  bool has_content() const;
  bool operator==(const RankMap&) const = default;
};

// One rank's own view.
struct RankView {
  std::uint32_t rank = 0, size = 0;
  std::uint32_t local_rank = 0, local_size = 0;
  std::uint32_t node = 0, nodes = 0;
  std::uint32_t group_rank = 0, group_size = 0;
  std::string host;
  const RankBinding* binding = nullptr;  // null without a place
  const RankGroup* group = nullptr;      // never null
};

// Nothing for a rank that the rank map does not contain.
std::optional<RankView> find_rank(const RankMap& rank_map, std::uint32_t rank);

// By rank.
std::vector<std::string> hosts_of_ranks(const RankMap& rank_map);

// {rank} {size} {local_rank} {local_size} {node} {nodes} {group_rank} {group_size} {host} {gpu} {nic}; a word
// that is none of these stays.
std::string expand_placeholders(std::string_view text, const RankView& rank);

// In the operating system's numbers; `numa_node` is hwloc's logical number, or -1; `gpu` counts in PCI bus
// order, or is -1.
RankBinding make_rank_binding(const topology::MachineTopology& machine,
                              const std::vector<topology::PuIndex>& pus, int numa_node, int gpu);

// One for each local rank.
std::vector<RankBinding> make_rank_bindings(const topology::MachinePlan& plan);

// The rank map of a plan, one group with every rank; of the user's rankfile from its ranks.
RankMap make_rank_map(const topology::Plan& plan);
RankMap make_rank_map(const std::vector<PlannedRank>& ranks);

// One line of JSON, "schema": "ddlrun.ranks/1": hosts folded, ranks as first and step where they ascend
// evenly, so that 4,096 hosts fit in one environment variable. No user values but the programs' words.
std::string render_rank_map(const RankMap& rank_map);
// Error{request} with the place in the text for anything it does not know.
RankMap parse_rank_map(std::string_view text);

}  // namespace ddlrun::launch

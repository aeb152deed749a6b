// SPDX-License-Identifier: MIT
// What `ddlrun exec` does for one rank before the program starts, from the rank map. Pure.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/rank_identity.hpp"
#include "launch/rank/rank_map.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// What the NVIDIA driver says of one GPU.
struct GpuFacts {
  std::string uuid;       // "GPU-8932f937-...", or "" if unknown
  int device_minor = -1;  // N of /dev/nvidiaN
  bool is_split = false;  // into MIG instances, which have UUIDs of their own
};

// /proc/driver/nvidia/gpus/<bus id>/information; `is_split` is not in it.
GpuFacts parse_gpu_information(std::string_view text);
// By PCI bus id, "0002:01:00.0".
using GpuReader = std::function<GpuFacts(const std::string& pci)>;

struct RankSetup {
  EnvVars variables;                 // to be set
  std::vector<std::string> removed;  // not to be seen by the program
  Command program;
  std::string workdir;   // "": where we are
  std::vector<int> pus;  // to be bound to; empty: left alone
  bool unbind = false;   // from what the launcher bound it to
  MemoryPolicy memory = MemoryPolicy::leave;
  int numa_node = -1;
  std::vector<std::string> remarks;  // for people
};

constexpr const char* rank_map_variable = "DDLRUN_RANKS";
constexpr const char* result_variable = "DDLRUN_RESULT";  // rank 0's: the path of a file that it may write

// What numbers a rank under every launcher: DDLRUN_RANK, DDLRUN_SIZE, DDLRUN_LOCAL_RANK, DDLRUN_LOCAL_SIZE,
// DDLRUN_NODE_RANK, DDLRUN_NODE_COUNT.
EnvVars rank_identity_variables(const RankView& rank);

// `program`: of groups that name none. MPICH's hydra counts local ranks within a line of its host file: what
// it reported is corrected.
RankSetup plan_rank_setup(const RankMap& rank_map, const RankView& rank, const RankIdentity& identity,
                          const Command& program, const GpuReader& read_gpu);

// Nothing where all planned processors are the rank's and no other; else the message, with both sets.
std::string judge_binding(const std::vector<int>& planned, const std::vector<int>& found, int code);

}  // namespace ddlrun::launch

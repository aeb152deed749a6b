// SPDX-License-Identifier: MIT
// From the spec of a host to the command and environment of one of its ranks.
#pragma once

#include "base/os/system.hpp"
#include "launch/rank/rank_setup.hpp"
#include "launch/ssh/ssh_launch_spec.hpp"

#include <string>

namespace ddlrun::launch {

struct RankStart {
  Command command;    // `ddlrun exec`, or the program where nothing is to be done for it
  EnvVars variables;  // added to the environment
  RankSetup setup;    // for apply_rank_setup(), in the child that becomes the rank
  std::string place;  // "rank 3 on h2", for people
};

RankStart plan_rank_start(const SshHostSpec& host, const RankView& rank, const std::string& ddlrun,
                          const GpuReader& read_gpu);

}  // namespace ddlrun::launch

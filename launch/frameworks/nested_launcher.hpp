// SPDX-License-Identifier: MIT
// A program that starts ranks itself: torchrun, mpirun, horovodrun, srun. Started once for each rank, it
// would start all of its ranks each time.
#pragma once

#include "base/os/system.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ddlrun::frameworks {

struct NestedLauncher {
  std::string name;  // "torchrun", "mpirun"
  Command program;   // what it starts, as words for ddlrun; empty: not found in its words
  Command shape;  // its ranks, hosts and exports in options that `ddlrun launch` takes: "-np 4 --hostfile h"
  std::vector<Command> options;  // each with its values, as typed: {"--mca", "btl", "tcp"}, {"--np=4"}
  bool stays_on_host;            // starts ranks on its own host only: one for each host is a use of its own
  bool of_mpi;                   // mpirun and its other names; Open MPI's refuses to be started by a rank
  std::vector<std::string> unknown;  // options of which it is not known how many values follow
  // torchrun without --nnodes and --standalone: its ranks on other hosts are no part of this training, and
  // nothing shows that this is meant.
  bool forgets_hosts = false;
  std::string processes;  // of torchrun on each host, as typed; ""
};

std::optional<NestedLauncher> find_nested_launcher(const Command& program);

}  // namespace ddlrun::frameworks

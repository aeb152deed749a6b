// SPDX-License-Identifier: MIT
// The hosts of a job and the machine behind each: from options, from this host, by srun or ssh, or assumed.
#pragma once

#include "base/os/system.hpp"
#include "topology/dims.hpp"
#include "topology/machine.hpp"
#include "topology/sources/machine_loader.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::topology {

// What to do where no host can be asked: rank_gen's 2 x 10 cores with a warning, or an error.
enum class Unprobed { assume, refuse };

struct JobMachines {
  std::vector<MachineTopology> machines;                     // the different ones
  std::vector<std::uint32_t> machine_of_host;                // index in `machines`, one a host
  std::vector<std::vector<std::string>> interfaces_of_host;  // RemoteMachine's; empty: not asked
  std::vector<std::string> own_names;  // host names by the hosts' own account; empty: not asked
  bool lacks_step = false;             // in a Slurm job whose srun starts no step on a host
};

// The hosts of "h1,h2", "node[01-04]", "@file" or --hostfile, in order; empty where none is given.
// Error{usage} if both are given.
std::vector<std::string> read_host_names(System& system, const std::string& list,
                                         const std::string& hostfile);
// The slots of those hosts where the hostfile gives each host some; else empty.
std::vector<std::uint32_t> read_host_slots(System& system, const std::string& list,
                                           const std::string& hostfile);

bool is_this_host(const Environment& environment, const std::string& host);

// Options first; then this machine if every host is this one; then each is asked by `path`. Some hosts
// silent: Error{unreachable} that names them. If none answers: as in `unprobed`. Error{request} where a host
// that is asked cannot enter `directory`; "": not checked.
JobMachines find_job_machines(System& system, const std::vector<std::string>& hosts,
                              const MachineOptions& options, Unprobed unprobed,
                              const std::string& directory = {}, HostPath path = HostPath::automatic);

}  // namespace ddlrun::topology

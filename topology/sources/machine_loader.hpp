// SPDX-License-Identifier: MIT
// Where a command's machine comes from: a file, a synthetic text, counts, this host, or other hosts
// by srun or ssh. Foreign hwloc input is only ever loaded in a child process with limits.
#pragma once

#include "base/os/system.hpp"
#include "topology/machine.hpp"
#include "topology/sources/slurm_step.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::topology {

// The options that topo, gen-rankfile, check-rankfile and launch share.
struct MachineOptions {
  std::string topology_file;  // hwloc XML or a saved ddlrun.topo/1 document
  std::string synthetic;      // hwloc's synthetic form, "pack:2 core:8 pu:1"
  int sockets = 0;            // packages; with `cores`
  int cores = 0;              // per package
  int smt = 1;                // hardware threads per core
  // As typed; machine_from_options reads the numbers above from these where they are not empty.
  std::string sockets_text, cores_text, smt_text;
};

// True where the user named a machine; false means "this one".
bool any_given(const MachineOptions& options);

// The machine that was named. Error{usage} on conflicts, Error{request} where it cannot be read.
// Without any option: this machine.
MachineTopology machine_from_options(System& system, const MachineOptions& options);

// What a plan by --sockets, --cores and --smt assumes of the numbers of hardware threads; "" without them. It
// matters where processors are named by number, which Open MPI's rankfiles do not.
std::string remark_on_numbers(const MachineOptions& options);

// The same machine as hwloc writes it. Error{request} where the source is a saved document.
std::string xml_from_options(System& system, const MachineOptions& options);

// This host, read in this process.
MachineTopology this_machine(System& system);

// Foreign XML by way of a child with limits: `path` is given to the child, `where` to people.
MachineTopology machine_from_file(System& system, const std::string& path);
MachineTopology machine_from_synthetic(System& system, const std::string& text);

struct RemoteMachine {
  std::string host;
  std::optional<MachineTopology> machine;
  std::string failure;  // why there is none, for people; empty where there is one
  bool lacks_directory = false;
  // A line for each network interface, as `ddlrun agent --interfaces` prints it behind its mark; empty where
  // this build is not there.
  std::vector<std::string> interfaces;
  bool lacks_step = false;  // in a Slurm job whose srun starts no step there
};

// Asks every host, this one without a connection, many at once, each for a few seconds. Results in the order
// of `hosts`. Never throws for a host that does not answer. Error{usage} if a name is not a host name.
// `directory`: hosts where it cannot be entered are marked; "": none is. `path` automatic: by srun inside a
// Slurm job. Hosts on which srun starts no step are asked by ssh; their `failure` then has both reasons.
std::vector<RemoteMachine> machines_of_hosts(System& system, const std::vector<std::string>& hosts,
                                             const std::string& directory, HostPath path);

}  // namespace ddlrun::topology

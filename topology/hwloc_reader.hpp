// SPDX-License-Identifier: MIT
// Machines as hwloc sees them, turned into MachineTopology. Loaded with hwloc's defaults, so that
// logical core numbers equal those of Open MPI's daemons: offline and disallowed hardware threads
// are dropped. hwloc can crash on malformed XML: foreign input belongs in a child process
// (cli/machine_source).
#pragma once

#include "topology/machine.hpp"

#include <memory>
#include <string>

struct hwloc_topology;

namespace ddlrun::topology {

class HwlocMachine {
 public:
  // Each throws Error{request} where hwloc refuses; `where` names the input for people.
  static HwlocMachine this_host();
  static HwlocMachine from_xml(const std::string& bytes, const std::string& where);
  static HwlocMachine from_synthetic(const std::string& text);

  MachineTopology machine(std::string source) const;
  std::string xml() const;  // hwloc 2.x format

 private:
  explicit HwlocMachine(std::shared_ptr<hwloc_topology> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<hwloc_topology> handle_;
};

}  // namespace ddlrun::topology

// SPDX-License-Identifier: MIT
#include "cli/machine_flags.hpp"

#include "cli/option_group.hpp"

namespace ddlrun::cli {

using namespace topology;

void add_machine_options(CLI::App& app, MachineOptions& options) {
  OptionGroup(app, "Machine description, instead of the real hosts")
      .option("--topology", options.topology_file, "FILE",
              "read the machine from hwloc XML (lstopo F.xml) or from ddlrun topo --json")
      .option("--synthetic", options.synthetic, "SPEC",
              "describe a machine in hwloc's syntax: 'pack:2 core:10 pu:8'")
      .option("--sockets", options.sockets_text, "N", "a machine with N packages (with --cores)")
      .option("--cores", options.cores_text, "N", "cores of each package")
      .option("--smt", options.smt_text, "N", "hardware threads of each core (1)");
}

}  // namespace ddlrun::cli

// SPDX-License-Identifier: MIT
#include "cli/machine_flags.hpp"

#include <CLI/CLI.hpp>

namespace ddlrun::cli {

void add_machine_options(CLI::App& app, MachineOptions& options) {
  app.add_option("--topology", options.topology_file,
                 "a machine from a file: hwloc XML (lstopo F.xml) or ddlrun topo --json")
      ->type_name("FILE");
  app.add_option("--synthetic", options.synthetic,
                 "a made-up machine in hwloc's words: 'pack:2 core:10 pu:8'")
      ->type_name("TEXT");
  app.add_option("--sockets", options.sockets_text, "a made-up machine with S packages (with --cores)")
      ->type_name("S");
  app.add_option("--cores", options.cores_text, "cores per package")->type_name("C");
  app.add_option("--smt", options.smt_text, "hardware threads per core, 1 if not given")->type_name("T");
}

}  // namespace ddlrun::cli

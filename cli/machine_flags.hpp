// SPDX-License-Identifier: MIT
// The flags by which a user describes a machine.
#pragma once

#include "topology/sources/machine_loader.hpp"

namespace CLI {
class App;
}

namespace ddlrun::cli {

// Declares --topology FILE, --synthetic STR, --sockets S, --cores C and --smt T. `options` must
// outlive `app`.
void add_machine_options(CLI::App& app, topology::MachineOptions& options);

}  // namespace ddlrun::cli

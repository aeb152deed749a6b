// SPDX-License-Identifier: MIT
// A machine as one JSON document, "schema": "ddlrun.topo/1": what `topo --json` prints and
// --topology reads.
#pragma once

#include "topology/machine.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace ddlrun::topology {

constexpr std::size_t max_machine_json_bytes = 64u << 20;

// Stable order, one package, node, core, GPU or NIC a line. parse_machine_json gives back the same
// value.
std::string render_machine_json(const MachineTopology& machine);

// Strict: an unknown schema or key, a missing key, a wrong type or an index out of range is
// Error{request} that names the JSON path. `where` names the document for people.
MachineTopology parse_machine_json(std::string_view text, const std::string& where);

}  // namespace ddlrun::topology

// SPDX-License-Identifier: MIT
// `ddlrun __reference`: the tables of ddlrun as one JSON document, from which the build writes the man pages.
#pragma once

#include <string>

namespace ddlrun::cli {

// {"schema": "ddlrun.reference/1", "commands", "checks", "signatures", "rules", "keys"}
std::string render_program_reference_json();

}  // namespace ddlrun::cli

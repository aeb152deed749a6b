// SPDX-License-Identifier: MIT
// Foreign hwloc input, read by `ddlrun read-topology` in a child process with limits: hwloc 2.9 crashes on
// some malformed XML, and ddlrun must not.
#pragma once

#include "base/os/system.hpp"

#include <string>
#include <vector>

namespace ddlrun::topology {

// The largest topology file we look at.
constexpr std::uint64_t max_topology_bytes = 16u << 20;

// What a reader may use. Without the memory limit where AddressSanitizer reserves terabytes, and for drivers.
ProcessLimits reader_limits();

// Runs `read-topology ARGUMENTS` and returns what it printed. A refusal is thrown with its own message; a
// child that died is Error{request}: `where` names the input for people.
std::string read_in_child(System& system, const std::vector<std::string>& arguments,
                          const std::string& where);
std::string read_in_child(System& system, const std::vector<std::string>& arguments, const std::string& where,
                          const ProcessLimits& limits);

// Throws what went wrong in a child that was run with `limits`.
void check_child(const ProcessResult& result, const std::string& where, const ProcessLimits& limits);

}  // namespace ddlrun::topology

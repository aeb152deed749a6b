// SPDX-License-Identifier: MIT
// Host lists as people write them: "h1,h2", "node[01-04,7]-ib". Sizes are known before anything is expanded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

constexpr std::size_t max_hosts = 1u << 20;

// The names in the order written, duplicates kept. At most two bracket groups a name; a range keeps the width
// of its first number ("01-10"). Error{usage} names the column; Error{request} if more than `limit` names.
std::vector<std::string> expand_host_list(std::string_view text, std::size_t limit = max_hosts);

// The shortest usual form of many names, "h[1-4,7],login", in the order of first appearance; at most `limit`
// bytes, then ", and 12 more".
std::string fold_host_list(const std::vector<std::string>& hosts, std::size_t limit = 200);

// One name as ssh, Open MPI and a scheduler all take it: letters, digits, '-', '.', '_' or an IPv4 address.
bool is_host_name(std::string_view name);

// The hosts of a hostfile: one a line, comments (#), "slots=N"/"slots N", "max_slots=", ":N" ignored, and
// repeated names folded, so that an Open MPI hostfile, an MPICH one and $PBS_NODEFILE all read alike.
std::vector<std::string> parse_hostfile(std::string_view text, std::string_view file_name);

// Of a valid hostfile: each host's "slots=N" or ":N", in the order of parse_hostfile(); 0 where a host has
// none. Empty where no host has slots, or one has no valid number or is named twice.
std::vector<std::uint32_t> parse_hostfile_slots(std::string_view text);

}  // namespace ddlrun

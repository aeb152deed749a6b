// SPDX-License-Identifier: MIT
// A parameter server's loop: takes what workers push, answers those that may go on.
#pragma once

#include "runtime/servers/parcels.hpp"
#include "runtime/servers/shard_server.hpp"

#include <cstddef>

namespace ddlrun::runtime {

// Until every worker has done `until` steps, or as many as all stop at. Workers are ranks 0, 1, ...
// `decides`: this server says when all stop, the others hear it from the workers.
void serve_until(std::size_t until, bool decides, ShardServer& server, Parcels& parcels);

}  // namespace ddlrun::runtime

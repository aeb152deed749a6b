// SPDX-License-Identifier: MIT
// A parameter server's loop: takes what workers push, answers those that may go on.
#pragma once

#include "runtime/core/trace.hpp"
#include "runtime/parameter_server/ps_transport.hpp"
#include "runtime/parameter_server/shard_server.hpp"

#include <cstddef>
#include <functional>

namespace ddlrun::runtime {

struct ServerLoopPlan {
  std::size_t until = 0;  // every worker has done so many steps, or as many as all stop at
  bool decides = false;   // this server says when all stop, the others hear it from the workers
  std::function<bool()> stop_requested = [] { return false; };         // on this rank
  std::function<void(std::size_t done)> on_step = [](std::size_t) {};  // all workers have done so many
  TraceSink* sink = nullptr;
};

// Workers are ranks 0, 1, ...
void run_server_loop(const ServerLoopPlan& plan, ShardServer& server, PsTransport& transport);

}  // namespace ddlrun::runtime

// SPDX-License-Identifier: MIT
// The loop of a parameter server: receives pushes and replies to the workers that may continue.
#pragma once

#include "runtime/core/trace.hpp"
#include "runtime/parameter_server/ps_transport.hpp"
#include "runtime/parameter_server/shard_server.hpp"

#include <cstddef>
#include <functional>

namespace ddlrun::runtime {

struct ServerLoopPlan {
  std::size_t until = 0;  // returns when every worker has done so many steps or has reached the stop step
  bool decides = false;   // this server chooses the stop step; the others receive it from the workers
  std::function<bool()> stop_requested = [] { return false; };         // on this rank
  std::function<void(std::size_t done)> on_step = [](std::size_t) {};  // all workers have done so many steps
  TraceSink* sink = nullptr;
};

// Workers are ranks 0, 1, ...
void run_server_loop(const ServerLoopPlan& plan, ShardServer& server, PsTransport& transport);

}  // namespace ddlrun::runtime

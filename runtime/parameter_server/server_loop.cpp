// SPDX-License-Identifier: MIT
#include "runtime/parameter_server/server_loop.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ddlrun::runtime {

void run_server_loop(const ServerLoopPlan& plan, ShardServer& server, PsTransport& transport) {
  std::vector<float> gradients(server.weights().size());
  std::vector<double> losses(server.workers());
  bool wanted = false;
  const auto record_span = [&](std::string_view name, TraceClock::time_point begin) {
    if (plan.sink != nullptr) plan.sink->span(TraceLane::compute, name, begin, TraceClock::now());
  };
  while (server.done() < std::min(plan.until, server.end_step().value_or(plan.until))) {
    const auto begin = TraceClock::now();
    const std::size_t before = server.done();
    const Received received = transport.receive(gradients, server.awaited());
    record_span("wait for gradients", begin);
    const auto came = TraceClock::now();
    const auto from = static_cast<std::size_t>(received.from);
    losses[from] = received.header.loss;
    if (received.header.end_step != 0 && !plan.decides) server.stop_at(received.header.end_step);
    const std::vector<std::size_t> free = server.push(from, gradients);
    wanted = wanted || plan.stop_requested();
    if (plan.decides && (received.header.stop_requested != 0 || wanted)) server.stop();
    PushPullHeader header;
    header.end_step = plan.decides ? server.end_step().value_or(0) : 0;
    header.stop_requested = wanted ? 1 : 0;
    header.loss = std::accumulate(losses.begin(), losses.end(), 0.0);
    for (const std::size_t worker : free) {
      if (server.asynchronous()) header.loss = losses[worker];
      transport.reply(static_cast<int>(worker), header, server.weights());
    }
    record_span("update", came);
    if (server.done() > before) plan.on_step(server.done());
  }
}

}  // namespace ddlrun::runtime

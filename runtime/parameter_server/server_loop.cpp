// SPDX-License-Identifier: MIT
#include "runtime/parameter_server/server_loop.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ddlrun::runtime {

void serve_until(const ServePlan& plan, ShardServer& server, Parcels& parcels) {
  std::vector<float> gradients(server.weights().size());
  std::vector<double> losses(server.workers());
  bool wanted = false;
  const auto tell = [&](std::string_view name, TraceClock::time_point begin) {
    if (plan.sink != nullptr) plan.sink->span(TraceLane::compute, name, begin, TraceClock::now());
  };
  while (server.done() < std::min(plan.until, server.stops_at().value_or(plan.until))) {
    const auto begin = TraceClock::now();
    const std::size_t before = server.done();
    const Arrived arrived = parcels.receive(gradients, server.awaited());
    tell("wait for gradients", begin);
    const auto came = TraceClock::now();
    const auto from = static_cast<std::size_t>(arrived.from);
    losses[from] = arrived.note.loss;
    if (arrived.note.stops_at != 0 && !plan.decides) server.stop_at(arrived.note.stops_at);
    const std::vector<std::size_t> free = server.push(from, gradients);
    wanted = wanted || plan.stop_wanted();
    if (plan.decides && (arrived.note.wants_stop != 0 || wanted)) server.stop();
    ParcelNote note;
    note.stops_at = plan.decides ? server.stops_at().value_or(0) : 0;
    note.wants_stop = wanted ? 1 : 0;
    note.loss = std::accumulate(losses.begin(), losses.end(), 0.0);
    for (const std::size_t worker : free) {
      if (server.asynchronous()) note.loss = losses[worker];
      parcels.answer(static_cast<int>(worker), note, server.weights());
    }
    tell("update", came);
    if (server.done() > before) plan.on_step(server.done());
  }
}

}  // namespace ddlrun::runtime

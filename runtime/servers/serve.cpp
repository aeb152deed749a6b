// SPDX-License-Identifier: MIT
#include "runtime/servers/serve.hpp"

#include <algorithm>
#include <vector>

namespace ddlrun::runtime {

void serve_until(std::size_t until, bool decides, ShardServer& server, Parcels& parcels) {
  std::vector<float> gradients(server.weights().size());
  while (server.done() < std::min(until, server.stops_at().value_or(until))) {
    const Arrived arrived = parcels.receive(gradients);
    if (arrived.note.stops_at != 0 && !decides) server.stop_at(arrived.note.stops_at);
    const std::vector<std::size_t> free = server.push(static_cast<std::size_t>(arrived.from), gradients);
    if (arrived.note.wants_stop != 0 && decides) server.stop();
    ParcelNote note;
    note.stops_at = decides ? server.stops_at().value_or(0) : 0;
    for (const std::size_t worker : free) parcels.answer(static_cast<int>(worker), note, server.weights());
  }
}

}  // namespace ddlrun::runtime

// SPDX-License-Identifier: MIT
// Names for the spans of the layers. They must outlive the trace sink.
#pragma once

#include "runtime/core/trace.hpp"
#include "runtime/models/net.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

struct LayerTrace {
  TraceSink* sink = nullptr;          // never null in an engine
  std::vector<std::string> forward;   // by layer: "conv1 forward"
  std::vector<std::string> backward;  // by layer

  // Emits a span from `begin` to now and returns now. A layer without own steps emits none.
  TraceClock::time_point record_span(const std::string& name, TraceClock::time_point begin) const {
    const auto end = TraceClock::now();
    if (end - begin > std::chrono::microseconds(1)) sink->span(TraceLane::compute, name, begin, end);
    return end;
  }
};

inline LayerTrace make_layer_trace(TraceSink& sink, const Net& net) {
  LayerTrace trace{&sink, {}, {}};
  for (const PlannedLayer& layer : net.layers) {
    trace.forward.push_back(layer.name + " forward");
    trace.backward.push_back(layer.name + " backward");
  }
  return trace;
}

}  // namespace ddlrun::runtime

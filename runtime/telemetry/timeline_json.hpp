// SPDX-License-Identifier: MIT
// Parts of a timeline as one document in the Trace Event Format, which Perfetto and chrome://tracing read.
#pragma once

#include "runtime/telemetry/timeline_part.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

using WriteText = std::function<void(std::string_view)>;

// Pure but for `write`. Parts come one after the other, so that one at a time is in memory.
class TraceJson {
 public:
  // `base_ns`: what becomes time 0, on rank 0's clock.
  TraceJson(WriteText write, std::int64_t base_ns);
  void add(const Part& part);
  // `facts`: names and texts for people, shown as the trace's metadata.
  void end(const std::vector<std::pair<std::string, std::string>>& facts);

 private:
  class PartEvents;
  void flush(std::size_t most);

  WriteText write_;
  std::int64_t base_ns_;
  std::string text_;
  bool first_ = true;
};

// Pure: for spans by their begin, on which of several rows each stands so that those of one row lie beside or
// within each other. -1: a span of no length, which stands nowhere.
std::vector<int> plan_rows(const std::vector<PartSpan>& spans, PartLane lane);

}  // namespace ddlrun::runtime

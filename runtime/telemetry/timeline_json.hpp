// SPDX-License-Identifier: MIT
// Writes parts of a timeline as one document in the Trace Event Format of Perfetto and chrome://tracing.
#pragma once

#include "runtime/telemetry/timeline_part.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

using WriteText = std::function<void(std::string_view)>;

// Pure except `write`. Takes one part at a time, so that only one is in memory.
class TraceJson {
 public:
  // `base_ns`: time 0 of the document, on rank 0's clock.
  TraceJson(WriteText write, std::int64_t base_ns);
  void add(const Part& part);
  // `facts`: key and value pairs, shown as the metadata of the trace.
  void end(const std::vector<std::pair<std::string, std::string>>& facts);

 private:
  class PartEvents;
  void flush(std::size_t most);

  WriteText write_;
  std::int64_t base_ns_;
  std::string text_;
  bool first_ = true;
};

// Pure: assigns spans, sorted by begin, to rows so that the spans of a row are disjoint or nested. -1: a span
// of zero length, which has no row.
std::vector<int> plan_rows(const std::vector<PartSpan>& spans, PartLane lane);

}  // namespace ddlrun::runtime

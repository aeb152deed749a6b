// SPDX-License-Identifier: MIT
// --timeline FILE.json: each rank keeps its spans in FILE.json.rankN.part while it runs; at the end rank 0
// puts them on one clock and into FILE.json, for Perfetto (ui.perfetto.dev) or chrome://tracing. After a kill
// the parts are there: `ddl-train timeline FILE.json` does the same with what is left.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/telemetry/timeline_part.hpp"
#include "runtime/training/observer.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace ddlrun::runtime {

constexpr std::size_t timeline_bytes = 32 << 20;  // of each rank: the last million spans

// A rank's own record. Costs a look-up of the name and the stores.
class Timeline : public TraceSink, public TrainObserver {
 public:
  // Throws Error(request).
  Timeline(const std::string& path, const PartFacts& facts, std::size_t bytes = timeline_bytes);

  void span(TraceLane lane, std::string_view name, TraceClock::time_point begin, TraceClock::time_point end,
            std::uint64_t bytes = 0) override;
  // A step becomes a frame above its spans.
  void on_step(const StepRecord& record) override;

  void add_clock(const ClockReading& reading) { part_.add_clock(reading); }
  void sync() const { part_.sync(); }
  const PartFacts& facts() const { return facts_; }
  const std::string& part() const { return part_.path(); }

 private:
  // A name is known by its place, for it stays there.
  struct CachedName {
    std::atomic<const char*> place = nullptr;
    std::size_t size = 0;
    std::uint16_t number = 0;
  };
  std::uint16_t number_of(std::string_view name);
  std::uint16_t store_name(std::string_view name, std::size_t from);

  PartFacts facts_;
  PartWriter part_;
  std::vector<CachedName> known_;
  std::size_t names_ = 0;
  std::mutex names_mutex_;
};

// Collective.
std::unique_ptr<Timeline> start_timeline(const std::string& path, std::uint64_t images_per_step,
                                         Communicator& ranks);

// What a merged file holds.
struct TimelineReport {
  int ranks = 0;                      // of the run
  std::vector<int> found;             // whose parts are in it
  std::uint64_t spans = 0;            // in it
  std::uint64_t dropped = 0;          // older ones that later ones took the place of
  std::int64_t clock_error_ns = 0;    // the largest between two ranks' clocks
  std::vector<std::string> problems;  // parts that are damaged or of another run
  std::vector<std::string> parts;     // the files
};

// Collective. Rank 0 writes the file; parts on disks that rank 0 does not see are sent to it. The parts go.
TimelineReport finish_timeline(const std::string& path, std::unique_ptr<Timeline> timeline,
                               Communicator& ranks);

// What is left beside `path`: the parts of its last run. Throws Error(request) if there are none.
TimelineReport merge_timeline(const std::string& path);
std::string render_timeline_report(const std::string& path, const TimelineReport& report);

}  // namespace ddlrun::runtime

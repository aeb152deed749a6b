// SPDX-License-Identifier: MIT
// --timeline FILE.json: each rank records spans in FILE.json.rankN.part; at the end rank 0 aligns their
// clocks and merges them into FILE.json for Perfetto (ui.perfetto.dev) or chrome://tracing. `ddl-train
// timeline FILE.json` does the same with the parts of a killed run.
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

// Records the spans of one rank. A span costs a name lookup and four stores.
class Timeline : public TraceSink, public TrainObserver {
 public:
  // Throws Error(request).
  Timeline(const std::string& path, const PartFacts& facts, std::size_t bytes = timeline_bytes);

  void span(TraceLane lane, std::string_view name, TraceClock::time_point begin, TraceClock::time_point end,
            std::uint64_t bytes = 0) override;
  // A step becomes a slice above its spans.
  void on_step(const StepRecord& record) override;

  void add_clock(const ClockReading& reading) { part_.add_clock(reading); }
  void sync() const { part_.sync(); }
  const PartFacts& facts() const { return facts_; }
  const std::string& part() const { return part_.path(); }

 private:
  // Cache of names by address: the address of a name never changes.
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

// Content of a merged file.
struct TimelineReport {
  int ranks = 0;                      // of the run
  std::vector<int> found;             // ranks whose parts are included
  std::uint64_t spans = 0;            // in it
  std::uint64_t dropped = 0;          // overwritten by later ones
  std::int64_t clock_error_ns = 0;    // the largest between two ranks' clocks
  std::vector<std::string> problems;  // parts that are damaged or of another run
  std::vector<std::string> parts;     // the files
};

// Collective. Rank 0 writes the file; parts on disks that rank 0 cannot read are sent to it. Removes the
// parts.
TimelineReport finish_timeline(const std::string& path, std::unique_ptr<Timeline> timeline,
                               Communicator& ranks);

// Merges the parts of the last run beside `path`. Throws Error(request) if there are none.
TimelineReport merge_timeline(const std::string& path);
std::string render_timeline_report(const std::string& path, const TimelineReport& report);

}  // namespace ddlrun::runtime

// SPDX-License-Identifier: MIT
// All that watches a run, as its command line asks: the person's progress, the files, the timeline, the
// report of ranks that stay away.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/telemetry/atomic_file.hpp"
#include "runtime/telemetry/observers.hpp"
#include "runtime/telemetry/progress.hpp"
#include "runtime/telemetry/stall_inspector.hpp"
#include "runtime/telemetry/tensorboard.hpp"
#include "runtime/telemetry/timeline.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ddlrun::runtime {

// Empty paths: not wanted.
struct TelemetryPlan {
  std::string metrics;
  std::string tensorboard;
  std::string timeline;
  std::string results;
  std::string checkpoint;
  bool quiet = false;
  bool resumed = false;
};

// Before anything is read or made: outputs that would take each other's place, and, for the rank that writes,
// those that cannot be written. Throws Error(usage) or Error(request).
void check_outputs(const TelemetryPlan& plan, bool writes = true);

class TelemetrySinks {
 public:
  // Collective; throws an CollectiveError where a file cannot be had. `stalls` may be null.
  TelemetrySinks(const TelemetryPlan& plan, const RunFacts& facts, Communicator& ranks,
                 StallInspector* stalls);

  TrainObserver& observer() { return observers_; }
  TraceSink* sink() { return traces_ ? &sinks_ : nullptr; }
  MetricsFile& metrics() { return *metrics_; }

  // Collective. Runs the training and completes all files, also where all ranks end it together with an
  // error; where one rank fails alone, says how to get at what there is.
  TrainSummary run(const std::function<TrainSummary()>& train);
  // Is every file complete?
  bool has_written() const;
  // Collective. Throws the CollectiveError of a file that run() could not complete: after the summary, which
  // is worth more.
  void require_written() const;
  // With what is known at the end.
  const RunFacts& facts() const { return facts_; }

 private:
  void end_timeline();
  void print_subsets() const;
  void find_peak_memory();
  void write_end(const TrainSummary& summary);
  void attempt(const std::function<void()>& work);

  TelemetryPlan plan_;
  RunFacts facts_;
  Communicator& ranks_;
  bool first_;  // rank 0, which has files of its own
  bool traces_ = false;
  std::optional<MetricsFile> metrics_;
  std::optional<ProgressReporter> reporter_;
  std::optional<TensorboardFile> tensorboard_;
  std::optional<CollectiveError> problem_;  // the first
  std::unique_ptr<Timeline> timeline_;
  struct History : TrainObserver {
    void on_epoch(const EpochRecord& record) override { epochs.push_back(record); }
    std::vector<EpochRecord> epochs;
  } history_;
  ObserverFanout observers_;
  TraceFanout sinks_;
};

}  // namespace ddlrun::runtime

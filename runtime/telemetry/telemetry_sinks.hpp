// SPDX-License-Identifier: MIT
// All outputs of a run that the command line requests: progress, metrics, TensorBoard, timeline, stall
// reports.
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

// Paths of the outputs; empty: disabled.
struct TelemetryPlan {
  std::string metrics;
  std::string tensorboard;
  std::string timeline;
  std::string results;
  std::string checkpoint;
  bool quiet = false;
  bool resumed = false;
};

// Checks the paths before any file is read or created: outputs with the same path and, on the writing rank,
// unwritable files. Throws Error(usage) or Error(request).
void check_outputs(const TelemetryPlan& plan, bool writes = true);

class TelemetrySinks {
 public:
  // Collective. Throws CollectiveError if a file cannot be created. `stalls` may be null.
  TelemetrySinks(const TelemetryPlan& plan, const RunFacts& facts, Communicator& ranks,
                 StallInspector* stalls);

  TrainObserver& observer() { return observers_; }
  TraceSink* sink() { return traces_ ? &sinks_ : nullptr; }
  MetricsFile& metrics() { return *metrics_; }

  // Collective. Runs the training and completes all files, also if all ranks end with a common error; if one
  // rank fails alone, prints how to merge the timeline parts.
  TrainSummary run(const std::function<TrainSummary()>& train);
  // Whether all files are complete.
  bool has_written() const;
  // Collective. Throws CollectiveError if run() could not complete a file. Call it after the summary is
  // printed.
  void require_written() const;
  // Including the values known only at the end.
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

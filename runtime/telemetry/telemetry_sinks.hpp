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
struct WatchPlan {
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
void check_outputs(const WatchPlan& plan, bool writes = true);

class Watchers {
 public:
  // Collective; throws an AgreedError where a file cannot be had. `stalls` may be null.
  Watchers(const WatchPlan& plan, const RunFacts& facts, Communicator& ranks, StallReport* stalls);

  TrainObserver& observer() { return observers_; }
  TraceSink* sink() { return traces_ ? &sinks_ : nullptr; }
  MetricsFile& metrics() { return *metrics_; }

  // Collective. Runs the training and completes all files, also where all ranks end it together with an
  // error; where one rank fails alone, says how to get at what there is.
  TrainSummary run(const std::function<TrainSummary()>& train);
  // Is every file complete?
  bool has_written() const;
  // Collective. Throws the AgreedError of a file that run() could not complete: after the summary, which is
  // worth more.
  void require_written() const;
  // With what is known at the end.
  const RunFacts& facts() const { return facts_; }

 private:
  void end_timeline();
  void tell_parts() const;
  void find_peak_memory();
  void write_end(const TrainSummary& summary);
  void attempt(const std::function<void()>& work);

  WatchPlan plan_;
  RunFacts facts_;
  Communicator& ranks_;
  bool first_;  // rank 0, which has files of its own
  bool traces_ = false;
  std::optional<MetricsFile> metrics_;
  std::optional<Reporter> reporter_;
  std::optional<TensorboardFile> tensorboard_;
  std::optional<AgreedError> problem_;  // the first
  std::unique_ptr<Timeline> timeline_;
  struct History : TrainObserver {
    void on_epoch(const EpochRecord& record) override { epochs.push_back(record); }
    std::vector<EpochRecord> epochs;
  } history_;
  Observers observers_;
  TraceSinks sinks_;
};

}  // namespace ddlrun::runtime

// SPDX-License-Identifier: MIT
// What the training loop tells: values only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Steps and epochs count from 1; losses are averages over the global batch, times are of this rank.
struct StepRecord {
  std::size_t step = 0;
  std::size_t epoch = 0;
  double loss = 0.0;
  double lr = 0.0;
  double step_seconds = 0.0;
  double comm_seconds = 0.0;     // nothing else was done: the wait for sums, but not the update within it
  double input_seconds = 0.0;    // the wait for images
  double compute_seconds = 0.0;  // forward and backward
  double sum_seconds = 0.0;      // from the start to the end of each sum, also while the net computed
};

struct EpochRecord {
  std::size_t epoch = 0;
  std::size_t steps = 0;        // done in this epoch
  double train_loss = 0.0;      // mean over its steps
  double train_accuracy = 0.0;  // while training
  double test_loss = 0.0;
  double test_accuracy = 0.0;
  double train_seconds = 0.0;   // without the test
  std::size_t timed_steps = 0;  // which took that long: those of them that this run made, after a resume
};

// A test within an epoch (--test-every).
struct TestRecord {
  std::size_t step = 0;
  std::size_t epoch = 0;
  double test_loss = 0.0;
  double test_accuracy = 0.0;
  double seconds = 0.0;
};

// Where a run stands between two steps, and what it has seen of its epoch.
struct TrainPosition {
  std::size_t step = 0;           // done
  std::size_t epoch = 1;          // the one it is in
  std::size_t step_in_epoch = 0;  // done; at most a whole epoch, if that has not been tested yet
  std::size_t tested_step = 0;    // done when the test images were last asked
  double loss_sum = 0.0;          // of the epoch's steps
  double correct_sum = 0.0;
  EpochRecord last;  // the last epoch that was tested
};

// All that a run needs to go on; as views, and with vectors of its own.
struct TrainStateView {
  TrainPosition position;
  std::span<const float> parameters;
  std::vector<std::span<const float>> optimizer_state;  // as state_names() of the optimizer
  std::span<const float> layer_state;
};
struct TrainState {
  TrainPosition position;
  std::vector<float> parameters;
  std::vector<std::vector<float>> optimizer_state;
  std::vector<float> layer_state;
};

enum class SaveReason { due, stop, end };

// One that was written, or could not be: then `problem` says why.
struct CheckpointRecord {
  std::string path;
  std::size_t step = 0;
  std::size_t epoch = 0;
  std::uint64_t bytes = 0;
  double seconds = 0.0;
  SaveReason reason = SaveReason::due;
  std::string problem;
};

struct TrainSummary {
  std::size_t steps = 0;       // with those before a resume
  std::size_t first_step = 0;  // where this run began
  std::size_t total_steps = 0;
  bool stopped = false;  // saved and ended early, because some rank wanted it
  EpochRecord last;
  double train_seconds = 0.0;
  double comm_seconds = 0.0;  // as in StepRecord, of all steps
  double input_seconds = 0.0;
  double compute_seconds = 0.0;
  double sum_seconds = 0.0;
  double images_per_second = 0.0;
  std::string sums;                // how they were made at the end: "3 buckets of 1024 kB, while computing"
  std::uint64_t weights_hash = 0;  // compared on all ranks after each epoch
};

}  // namespace ddlrun::runtime

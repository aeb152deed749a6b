// SPDX-License-Identifier: MIT
// Plain values that the training loop reports: steps, epochs, tests, checkpoints, the summary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Steps and epochs count from 1; losses are means over the global batch; times are seconds on this rank.
struct StepRecord {
  std::size_t step = 0;
  std::size_t epoch = 0;
  double loss = 0.0;
  double lr = 0.0;
  double step_seconds = 0.0;
  double comm_seconds = 0.0;     // exposed wait for reductions, without the updates in it
  double input_seconds = 0.0;    // wait for images
  double compute_seconds = 0.0;  // forward and backward
  double sum_seconds = 0.0;      // all reductions from start to end, overlapped or not
};

struct EpochRecord {
  std::size_t epoch = 0;
  std::size_t steps = 0;        // done in this epoch
  double train_loss = 0.0;      // mean over its steps
  double train_accuracy = 0.0;  // while training
  double test_loss = 0.0;
  double test_accuracy = 0.0;
  double train_seconds = 0.0;   // without the test
  std::size_t timed_steps = 0;  // steps in train_seconds: those since a resume
};

// A test within an epoch (--test-every).
struct TestRecord {
  std::size_t step = 0;
  std::size_t epoch = 0;
  double test_loss = 0.0;
  double test_accuracy = 0.0;
  double seconds = 0.0;
};

// Position of a run between two steps, and its totals of the current epoch.
struct TrainPosition {
  std::size_t step = 0;           // done
  std::size_t epoch = 1;          // the one it is in
  std::size_t step_in_epoch = 0;  // done; a whole epoch if its test is still due
  std::size_t tested_step = 0;    // steps done at the last test
  double loss_sum = 0.0;          // of the epoch's steps
  double correct_sum = 0.0;
  EpochRecord last;  // the last epoch that was tested
};

// The complete state for a resume, as views and as vectors.
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

// A written checkpoint, or a failed one: then `problem` has the reason.
struct CheckpointRecord {
  std::string path;
  std::size_t step = 0;
  std::size_t epoch = 0;
  std::uint64_t bytes = 0;
  double seconds = 0.0;
  SaveReason reason = SaveReason::due;
  std::string problem;
  std::string remedy;  // of the problem
  bool best = false;   // the highest test accuracy so far
};

struct TrainSummary {
  std::size_t steps = 0;       // with those before a resume
  std::size_t first_step = 0;  // of this run, after a resume
  std::size_t total_steps = 0;
  bool stopped = false;  // some rank requested a stop; a checkpoint is saved
  EpochRecord last;
  double train_seconds = 0.0;
  double comm_seconds = 0.0;  // as in StepRecord, of all steps
  double input_seconds = 0.0;
  double compute_seconds = 0.0;
  double sum_seconds = 0.0;
  double images_per_second = 0.0;
  std::string sums;                // final reduce schedule: "3 buckets of 1024 kB, while computing"
  std::uint64_t weights_hash = 0;  // compared on all ranks after each epoch
};

}  // namespace ddlrun::runtime

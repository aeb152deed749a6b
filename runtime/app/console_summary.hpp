// SPDX-License-Identifier: MIT
// Messages of rank 0 at the start and at the end of a training.
#pragma once

#include "runtime/app/run_setup.hpp"
#include "runtime/checkpoint/checkpoint_saver.hpp"

#include <optional>

namespace ddlrun::runtime {

// On stderr: data, net, batch, device, warnings and the resume position.
void print_start(const TrainOptions& options, const CaffeCommand& caffe, const RunSetup& prepared,
                 const std::optional<ResumePoint>& start);
// Warns that the checkpoint directory contains another run's checkpoints.
void warn_other_run(const std::string& directory, std::optional<std::size_t> newest);
// The summary on stdout. Throws Error(request) if it cannot be written.
// Where the best checkpoint is, if it is not the last.
void print_best(const TrainOptions& options, const std::optional<EpochRecord>& best,
                const TrainSummary& summary);
void print_end(const TrainOptions& options, const RunFacts& facts, const TrainSummary& summary, bool saved);
// A warning where the test of the whole run is not better than guessing.
void warn_guessing(const TrainOptions& options, const RunSetup& prepared, const TrainSummary& summary);
// A note that a signal stopped the run, with the command to resume.
void print_stop(const TrainOptions& options, const TrainSummary& summary);

}  // namespace ddlrun::runtime

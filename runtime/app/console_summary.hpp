// SPDX-License-Identifier: MIT
// What rank 0 tells people at the start and at the end of a training.
#pragma once

#include "runtime/app/run_setup.hpp"
#include "runtime/checkpoint/checkpoint_saver.hpp"

#include <optional>

namespace ddlrun::runtime {

// On stderr: what is trained on what, and where it goes on.
void print_start(const TrainOptions& options, const CaffeCommand& caffe, const RunSetup& prepared,
                 const std::optional<ResumePoint>& start);
// The checkpoint directory holds what this run does not go on from.
void warn_other_run(const std::string& directory, std::optional<std::size_t> newest);
// The summary on stdout. Throws Error(request) where it cannot be written.
void print_end(const TrainOptions& options, const RunFacts& facts, const TrainSummary& summary, bool saved);
// A signal has stopped the run.
void print_stop(const TrainOptions& options, const TrainSummary& summary);

}  // namespace ddlrun::runtime

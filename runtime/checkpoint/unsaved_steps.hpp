// SPDX-License-Identifier: MIT
// What a run that ends before its time has trained and not saved.
#pragma once

#include "base/text/error.hpp"
#include "runtime/training/observer.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace ddlrun::runtime {

// Rank 0 alone observes checkpoints.
class UnsavedSteps : public TrainObserver {
 public:
  // `resume_command`: the command that goes on from the newest checkpoint of `directory`.
  UnsavedSteps(std::string directory, std::string resume_command)
      : directory_(std::move(directory)), resume_command_(std::move(resume_command)) {}

  void on_start(std::size_t total_steps, std::size_t first_step) override;
  void on_step(const StepRecord& record) override { trained_ = record.step; }
  void on_checkpoint(const CheckpointRecord& record) override;

  // For a run that ends here; nothing where all steps are saved.
  std::optional<Message> describe() const;

 private:
  std::string directory_, resume_command_;
  std::size_t total_ = 0;
  std::size_t trained_ = 0;
  std::size_t saved_ = 0;
  bool saves_here_ = false;  // this run has a checkpoint in the directory
};

}  // namespace ddlrun::runtime

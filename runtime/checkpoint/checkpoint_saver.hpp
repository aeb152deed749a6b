// SPDX-License-Identifier: MIT
// Checkpoints of a group of ranks: rank 0 writes and reads, every rank votes before `latest` moves.
#pragma once

#include "runtime/checkpoint/checkpoint.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/training/observer.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct CheckpointPlan {
  std::string directory;
  std::size_t every_steps = 0;  // 0: after each epoch
  std::size_t keep = 2;
  bool continues = false;  // from a checkpoint of this directory; else what is there is another run's
  std::vector<std::size_t> damaged;  // steps in this directory that are no whole checkpoints
  std::string resume_command = "the same command with --resume";  // what to type after a stop
};

// Collective: rank 0 takes the directory for this run, and tells on stderr where it cannot. Throws
// CollectiveError if another run has it. Best before resume_run(), that what is read stays the newest.
void lock_run_directory(const std::string& directory, CheckpointDisk& disk, Communicator& ranks);

class CheckpointSaver : public TrainSaver {
 public:
  // Collective: the directory is made, held and tried. Throws CollectiveError. The references must outlive
  // it; `observer` hears of each checkpoint on rank 0.
  CheckpointSaver(const CheckpointPlan& plan, const Net& net, const TrainPlan& run, RunIdentity identity,
                  CheckpointDisk& disk, Communicator& ranks, TrainObserver& observer,
                  std::function<bool()> stop_requested);

  bool stop_requested() const override { return stop_requested_(); }
  bool due(const TrainPosition& position, bool epoch_done) const override;
  // One that cannot be written is told and passed over: the run goes on, and to its summary. CollectiveError
  // where it ends early, to go on from this one; it says which is the last good one. Another run's
  // checkpoints are set aside before the first.
  void save(const TrainStateView& state, SaveReason reason) override;
  bool has_saved() const;
  // Throws the CollectiveError of a run's last one that could not be written.
  void require_saved() const;

 private:
  void require_equal_state(const TrainStateView& state);
  [[noreturn]] void refuse_unsaved_stop(const TrainPosition& position, const Message& why) const;

  CheckpointPlan plan_;
  const Net& net_;
  TrainPlan run_;
  RunIdentity identity_;
  const CheckpointDisk& disk_;
  Communicator& ranks_;
  TrainObserver& observer_;
  std::function<bool()> stop_requested_;
  CheckpointDirectory directory_;
  bool alone_ = false;                      // no other run's checkpoints are in the directory
  std::optional<CollectiveError> problem_;  // of the last one
};

// Where to go on, and what to tell about it (on rank 0).
struct ResumePoint {
  TrainState state;
  std::string path;
  std::vector<std::string> skipped;      // newer ones, and why
  std::vector<std::size_t> damaged;      // their steps
  std::vector<std::string> differences;  // to the run before
};
// Collective; rank 0 reads. `from`: a checkpoint or a directory of them. Nothing if the directory has none.
// Throws CollectiveError if none can be used.
std::optional<ResumePoint> resume_run(const std::string& from, const Net& net, const TrainPlan& run,
                                      const RunIdentity& identity, const CheckpointDisk& disk,
                                      Communicator& ranks);

}  // namespace ddlrun::runtime

// SPDX-License-Identifier: MIT
// Checkpoints of a group of ranks: rank 0 writes and reads, and all ranks agree before `latest` moves.
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
  bool continues = false;            // resumes from this directory; else its checkpoints are another run's
  std::vector<std::size_t> damaged;  // steps of damaged checkpoints in this directory
  std::string resume_command = "the same command with --resume";  // printed after a stop
};

// Collective: rank 0 locks the directory for this run, or prints a note on stderr if locks are unsupported.
// Throws CollectiveError if another run holds it. Call it before resume_run(), so that the newest checkpoint
// stays the newest.
void lock_run_directory(const std::string& directory, CheckpointDisk& disk, Communicator& ranks);

class CheckpointSaver : public TrainSaver {
 public:
  // Collective: creates, locks and checks the directory. Throws CollectiveError. The references must outlive
  // it; on rank 0, `observer` receives each checkpoint.
  CheckpointSaver(const CheckpointPlan& plan, const Net& net, const TrainPlan& run, RunIdentity identity,
                  CheckpointDisk& disk, Communicator& ranks, TrainObserver& observer,
                  std::function<bool()> stop_requested);

  bool stop_requested() const override { return stop_requested_(); }
  bool due(const TrainPosition& position, bool epoch_done) const override;
  // A failed checkpoint is reported and skipped, and the run continues. If the run would stop here to resume
  // later, throws a CollectiveError that names the last good checkpoint. Before the first checkpoint, those
  // of another run are moved aside.
  void save(const TrainStateView& state, SaveReason reason) override;
  bool has_saved() const;
  // The epoch whose checkpoint `best` names: the highest test accuracy, and of equal ones the lowest loss.
  const std::optional<EpochRecord>& best() const { return best_; }
  // Throws CollectiveError if the last checkpoint of the run could not be written.
  void require_saved() const;

 private:
  void share_best();
  bool is_best(const TrainPosition& position) const;
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
  bool alone_ = false;                      // the directory has no checkpoints of another run
  std::optional<EpochRecord> best_;         // the same on all ranks
  std::optional<CollectiveError> problem_;  // of the last one
};

// The state to resume from, and messages for rank 0.
struct ResumePoint {
  TrainState state;
  std::string path;
  std::vector<std::string> skipped;      // newer checkpoints, each with the reason
  std::vector<std::size_t> damaged;      // their steps
  std::vector<std::string> differences;  // to the run of the checkpoint
};
// Collective; rank 0 reads. `from`: a checkpoint or a directory of them. Empty if the directory has none.
// Throws CollectiveError if none is usable.
std::optional<ResumePoint> resume_run(const std::string& from, const Net& net, const TrainPlan& run,
                                      const RunIdentity& identity, const CheckpointDisk& disk,
                                      Communicator& ranks);

}  // namespace ddlrun::runtime

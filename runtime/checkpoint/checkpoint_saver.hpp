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
  std::string folder;
  std::size_t every_steps = 0;  // 0: after each epoch
  std::size_t keep = 2;
  bool goes_on = false;              // from a checkpoint of this folder; else what is there is another run's
  std::vector<std::size_t> damaged;  // steps in this folder that are no whole checkpoints
  std::string go_on = "the same command with --resume";  // what to type after a stop
};

// Collective: rank 0 takes the folder for this run, and tells on stderr where it cannot. Throws AgreedError
// if another run has it. Best before resume_run(), that what is read stays the newest.
void hold_run_folder(const std::string& folder, CheckpointDisk& disk, Communicator& ranks);

class CheckpointSaver : public TrainSaver {
 public:
  // Collective: the folder is made, held and tried. Throws AgreedError. The references must outlive it;
  // `observer` hears of each checkpoint on rank 0.
  CheckpointSaver(const CheckpointPlan& plan, const Net& net, const TrainPlan& run, RunIdentity identity,
                  CheckpointDisk& disk, Communicator& ranks, TrainObserver& observer,
                  std::function<bool()> stop_wanted);

  bool stop_wanted() const override { return stop_wanted_(); }
  bool due(const TrainPosition& position, bool epoch_done) const override;
  // One that cannot be written is told and passed over: the run goes on, and to its summary. AgreedError
  // where it ends early, to go on from this one; it says which is the last good one. Another run's
  // checkpoints are set aside before the first.
  void save(const TrainStateView& state, SaveReason reason) override;
  bool has_saved() const;
  // Throws the AgreedError of a run's last one that could not be written.
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
  std::function<bool()> stop_wanted_;
  CheckpointFolder folder_;
  bool alone_ = false;                  // no other run's checkpoints are in the folder
  std::optional<AgreedError> problem_;  // of the last one
};

// Where to go on, and what to tell about it (on rank 0).
struct Resumption {
  TrainState state;
  std::string path;
  std::vector<std::string> passed_over;  // newer ones, and why
  std::vector<std::size_t> damaged;      // their steps
  std::vector<std::string> differences;  // to the run before
};
// Collective; rank 0 reads. `from`: a checkpoint or a folder of them. Nothing if the folder has none. Throws
// AgreedError if none can be used.
std::optional<Resumption> resume_run(const std::string& from, const Net& net, const TrainPlan& run,
                                     const RunIdentity& identity, const CheckpointDisk& disk,
                                     Communicator& ranks);

}  // namespace ddlrun::runtime

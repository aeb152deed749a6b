// SPDX-License-Identifier: MIT
// What a checkpoint holds: tensors by the names of the net, and the run as texts in the metadata.
#pragma once

#include "runtime/checkpoint/checkpoint_directory.hpp"
#include "runtime/models/net.hpp"
#include "runtime/training/records.hpp"
#include "runtime/training/train_plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// What makes a run the same run, and how it learns.
struct RunIdentity {
  std::string program;  // "ddl-train 0.1.0"
  std::uint64_t net_hash = 0;
  std::size_t images = 0;
  std::uint64_t data_hash = 0;
  int ranks = 1;
  std::string dims;  // "" if nobody told
  int servers = 0;   // of the ranks
};

// LAYER.weight as the net has it, optimizer.NAME.LAYER.weight for each vector that the optimizer keeps
// (PyTorch's names: momentum_buffer), and the layers' state.
std::vector<Tensor> checkpoint_tensors(const Net& net, const Optimizer& optimizer,
                                       const TrainStateView& state);

Metadata render_run(const Net& net, const TrainPlan& plan, const RunIdentity& identity,
                    const TrainPosition& position);

// Throws Error(request) unless the checkpoint is of this net, these images, this global batch, seed and
// update optimizer, and not beyond the plan's end. Other numbers of ranks are fine.
void check_same_run(const Metadata& metadata, const Net& net, const TrainPlan& plan,
                    const RunIdentity& identity, const std::string& file);
// What this run does unlike the one before, a line each: "lr: 0.02, and 0.01 in the checkpoint".
std::vector<std::string> find_differences(const Metadata& metadata, const Net& net, const TrainPlan& plan,
                                          const RunIdentity& identity);

// As text, for the other ranks.
std::string render_position(const TrainPosition& position);
TrainPosition parse_position(const std::string& text, const std::string& file);

// The state in a file that verify_checkpoint() has passed. Throws Error(request) if a tensor is missing, too
// many, or of another shape than the net's.
TrainState read_state(const CheckpointDisk& disk, const std::string& path, const SafetensorsHeader& header,
                      const Net& net, const Optimizer& optimizer);

}  // namespace ddlrun::runtime

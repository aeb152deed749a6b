// SPDX-License-Identifier: MIT
// Content of a checkpoint: tensors, named as in the net, and the run as strings in the metadata.
#pragma once

#include "runtime/checkpoint/checkpoint_directory.hpp"
#include "runtime/models/net.hpp"
#include "runtime/training/records.hpp"
#include "runtime/training/train_plan.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Identifies a run, so that a resume can check that it continues the same one.
struct RunIdentity {
  std::string program;  // "ddl-train 0.1.0"
  std::uint64_t net_hash = 0;
  std::size_t images = 0;
  std::uint64_t data_hash = 0;
  int ranks = 1;
  std::string dims;     // "" if unset
  int servers = 0;      // of the ranks
  Metadata model = {};  // saved_model.hpp: what a use without the training needs
};

// Tensors: LAYER.weight as in the net, optimizer.NAME.LAYER.weight for each state vector of the optimizer
// (PyTorch's names: momentum_buffer), and the state of the layers.
std::vector<Tensor> checkpoint_tensors(const Net& net, const Optimizer& optimizer,
                                       const TrainStateView& state);

Metadata render_run(const Net& net, const TrainPlan& plan, const RunIdentity& identity,
                    const TrainPosition& position);

// Throws Error(request) unless the checkpoint has this net, these images, this global batch, seed and
// optimizer, and is not beyond the plan's end. The number of ranks may differ.
void check_same_run(const Metadata& metadata, const Net& net, const TrainPlan& plan,
                    const RunIdentity& identity, const std::string& file);
// Differences to the run of the checkpoint, one line each: "lr: 0.02, but 0.01 in the checkpoint".
std::vector<std::string> find_differences(const Metadata& metadata, const Net& net, const TrainPlan& plan,
                                          const RunIdentity& identity);

// As a string, to send to the other ranks.
std::string render_position(const TrainPosition& position);
TrainPosition parse_position(const std::string& text, const std::string& file);

// The state in a file that verify_checkpoint() has accepted. Throws Error(request) if a tensor is missing,
// unexpected, or has another shape than in the net.
TrainState read_state(const CheckpointDisk& disk, const std::string& path, const SafetensorsHeader& header,
                      const Net& net, const Optimizer& optimizer);

}  // namespace ddlrun::runtime

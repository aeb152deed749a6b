// SPDX-License-Identifier: MIT
// What a run computes on: --device, as all ranks can have it.
#pragma once

#include "runtime/app/train_options.hpp"
#include "runtime/engine/cuda/gpu_communicator.hpp"
#include "runtime/engine/engine.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace ddlrun::runtime {

struct RunDevice {
  std::string name;    // "cpu", "cuda"
  std::string engine;  // "oneDNN 2.6.3"
  std::string note;    // a line for people, or ""
  EngineFactory make_engine;
  std::shared_ptr<GpuCommunicator>
      gpu_communicator;  // null: gradients are not summed by GPUs; to be trained with, else
};

// Collective. The first `workers` ranks compute. Throws CollectiveError.
RunDevice choose_device(const TrainOptions& options, std::size_t workers, Communicator& ranks);

}  // namespace ddlrun::runtime

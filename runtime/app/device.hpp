// SPDX-License-Identifier: MIT
// The device of a run: --device, as all ranks support it.
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
  std::string note;    // for the console, or ""
  EngineFactory make_engine;
  std::shared_ptr<GpuCommunicator>
      gpu_communicator;  // null unless NCCL reduces the gradients; then train with it
};

// Collective. The first `workers` ranks compute. Throws CollectiveError.
RunDevice choose_device(const TrainOptions& options, std::size_t workers, Communicator& ranks);

}  // namespace ddlrun::runtime

// SPDX-License-Identifier: MIT
// The CUDA plug-in, asked in a child process: a driver may hang or crash, ddlrun goes on.
#pragma once

#include "base/os/system.hpp"
#include "topology/cuda_report.hpp"

namespace ddlrun::topology {

// Error{request} where the plug-in is not installed, does not load, or CUDA refuses.
CudaReport read_cuda_report(System& system);

}  // namespace ddlrun::topology

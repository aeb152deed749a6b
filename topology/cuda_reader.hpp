// SPDX-License-Identifier: MIT
// Asks the CUDA plug-in. A driver can crash: call this in a child process (cli/cuda_source).
#pragma once

#include "topology/cuda_report.hpp"

#include <string>

namespace ddlrun::topology {

// Error{request} with the loader's or CUDA's own words where the plug-in, the driver or a call fails.
CudaReport read_cuda(const std::string& plugin_path);

}  // namespace ddlrun::topology

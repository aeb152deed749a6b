// SPDX-License-Identifier: MIT
// One GPU as libddl uses it: a stream of its own, marks in streams.
#pragma once

#include "ddl/gpu/gpu_plugin.hpp"

#include <memory>

namespace ddl {

std::unique_ptr<Gpu> open_cuda_gpu(int device);

}  // namespace ddl

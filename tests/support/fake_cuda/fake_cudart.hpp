// SPDX-License-Identifier: MIT
// What the fake NCCL needs of the fake CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

// Runs when the stream comes to it.
void fake_enqueue(cudaStream_t stream, std::function<void()> work);

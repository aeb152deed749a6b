// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/device.hpp"

#include <cstdint>

namespace ddlrun::runtime::gpu {
namespace {

// What the stream gives back stays with the pool: the next step requests the same again.
void keep_freed_memory(int device) {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
  std::uint64_t all = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "cudaMemPoolSetAttribute");
}

}  // namespace

Device::Device(int index, bool tensor_float) : index_(index), tensor_float_(tensor_float) {
  check(cudaSetDevice(index), "cudaSetDevice");
  keep_freed_memory(index);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudnnCreate(&cudnn_), "cudnnCreate");
  check(cudnnSetStream(cudnn_, stream_), "cudnnSetStream");
  check(cublasCreate(&cublas_), "cublasCreate");
  check(cublasSetStream(cublas_, stream_), "cublasSetStream");
  check(cublasSetMathMode(cublas_, tensor_float ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH),
        "cublasSetMathMode");
}

Device::~Device() {
  if (cublas_ != nullptr) cublasDestroy(cublas_);
  if (cudnn_ != nullptr) cudnnDestroy(cudnn_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

}  // namespace ddlrun::runtime::gpu

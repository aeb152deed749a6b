// SPDX-License-Identifier: MIT
#include "runtime/engine/cuda/check.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime::gpu {
namespace {

[[noreturn]] void refuse_call(const char* call, const std::string& reason, const std::string& hint) {
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) device = -1;
  throw Error(ErrorKind::request, {fmt::format("{} failed: {}", call, reason),
                                   device < 0 ? "CUDA" : name_of_device(device), hint});
}

std::string memory_left() {
  std::size_t left = 0;
  std::size_t all = 0;
  if (cudaMemGetInfo(&left, &all) != cudaSuccess) return "";
  return fmt::format("; {} of {} MiB are free", left >> 20U, all >> 20U);
}

}  // namespace

void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  const std::string reason = fmt::format("{} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
  if (code == cudaErrorMemoryAllocation)
    refuse_call(call, reason + memory_left(),
                "a smaller --batch-size, or --lms 1024 to keep activations in host memory");
  refuse_call(call, reason, "nvidia-smi");
}

void check(cudnnStatus_t code, const char* call) {
  if (code != CUDNN_STATUS_SUCCESS)
    refuse_call(call, cudnnGetErrorString(code),
                "CUDNN_LOGLEVEL_DBG=2 CUDNN_LOGDEST_DBG=stderr ddl-train ...");
}

void check(cublasStatus_t code, const char* call) {
  if (code != CUBLAS_STATUS_SUCCESS)
    refuse_call(call, cublasGetStatusString(code), "CUBLAS_LOGINFO_DBG=1 ddl-train ...");
}

std::string name_of_device(int device) {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return fmt::format("GPU {}", device);
  return fmt::format("GPU {} ({}, {:04x}:{:02x}:{:02x}.0)", device, properties.name, properties.pciDomainID,
                     properties.pciBusID, properties.pciDeviceID);
}

}  // namespace ddlrun::runtime::gpu

// SPDX-License-Identifier: MIT
// ddlrun_cuda.so: what the CUDA runtime reports about GPUs and their links. No context is made, nothing runs.
#include "topology/cuda_plugin/cuda_plugin.h"

#include "topology/cuda_plugin/nccl_version.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>

namespace {

// 0 if `code` is success, else the reason in `error`.
int check(cudaError_t code, const char* call, char* error) {
  if (code == cudaSuccess) return 0;
  std::snprintf(error, DDLRUN_CUDA_ERROR_BYTES, "%s: %s (%s)", call, cudaGetErrorString(code),
                cudaGetErrorName(code));
  return 1;
}

void write_uuid(const cudaUUID_t& uuid, char* text, std::size_t size) {
  const auto* b = reinterpret_cast<const unsigned char*>(uuid.bytes);
  std::snprintf(text, size, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
                b[15]);
}

}  // namespace

extern "C" {

int ddlrun_cuda_abi(void) { return DDLRUN_CUDA_ABI; }

int ddlrun_cuda_get_versions(ddlrun_cuda_versions* versions, char* error) {
  *versions = {};
  if (check(cudaRuntimeGetVersion(&versions->runtime), "cudaRuntimeGetVersion", error) != 0) return 1;
  if (check(cudaDriverGetVersion(&versions->driver), "cudaDriverGetVersion", error) != 0) return 1;
  versions->nccl = ddlrun::topology::nccl_version();
  return 0;
}

int ddlrun_cuda_count(int* count, char* error) {
  return check(cudaGetDeviceCount(count), "cudaGetDeviceCount", error);
}

int ddlrun_cuda_get_device(int index, ddlrun_cuda_device* device, char* error) {
  *device = {};
  cudaDeviceProp properties;
  if (check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties", error) != 0) return 1;
  // CUDA has no function number here: GPUs are function 0.
  std::snprintf(device->pci_bus_id, sizeof device->pci_bus_id, "%04x:%02x:%02x.0",
                static_cast<unsigned>(properties.pciDomainID) & 0xffff,
                static_cast<unsigned>(properties.pciBusID) & 0xff,
                static_cast<unsigned>(properties.pciDeviceID) & 0xff);
  std::snprintf(device->name, sizeof device->name, "%s", properties.name);
  write_uuid(properties.uuid, device->uuid, sizeof device->uuid);
  device->memory_bytes = properties.totalGlobalMem;
  return 0;
}

int ddlrun_cuda_get_link(int from, int to, ddlrun_cuda_link* link, char* error) {
  *link = {};
  if (check(cudaDeviceCanAccessPeer(&link->peer_access, from, to), "cudaDeviceCanAccessPeer", error) != 0)
    return 1;
  if (link->peer_access == 0) return 0;
  if (check(cudaDeviceGetP2PAttribute(&link->native_atomics, cudaDevP2PAttrNativeAtomicSupported, from, to),
            "cudaDeviceGetP2PAttribute(NativeAtomicSupported)", error) != 0) {
    return 1;
  }
  return check(cudaDeviceGetP2PAttribute(&link->performance_rank, cudaDevP2PAttrPerformanceRank, from, to),
               "cudaDeviceGetP2PAttribute(PerformanceRank)", error);
}

}  // extern "C"

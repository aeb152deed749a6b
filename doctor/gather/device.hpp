// SPDX-License-Identifier: MIT
// The gatherers of GPUs and fabrics, and what they share. Each group's facts are named in its own file. On a
// host without such devices each costs one or two reads and leaves a count of 0.
#pragma once

#include "doctor/gather/sysroot_files.hpp"
#include "doctor/model/gather.hpp"

#include <string>
#include <vector>

namespace ddlrun::doctor {

void gather_gpu(const GatherContext& context, Facts& facts);     // gather/gpu.cpp, gather/peers.cpp
void gather_nvml(const GatherContext& context, Facts& facts);    // gather/gpu_nvml.cpp
void gather_fabric(const GatherContext& context, Facts& facts);  // gather/infiniband.cpp, _fabrics.cpp
void gather_fabric_counters(const GatherContext& context, Facts& facts);  // gather/fabrics.cpp
void gather_device_log(const GatherContext& context, Facts& facts);       // gather/kernel_log.cpp
void gather_cuda_probe(const GatherContext& context, Facts& facts);       // gather/cuda_probe.cpp; level full
void gather_gpu_stress(const GatherContext& context, Facts& facts);       // gather/stress.cpp
void gather_fabric_stress(const GatherContext& context, Facts& facts);    // gather/stress.cpp

// A part of the gatherer "devices" that runs in a child of its own.
struct DevicePart {
  std::string_view name;
  std::chrono::milliseconds limit;
  void (*gather)(const GatherContext& context, Facts& facts);
};
void gather_parts(const GatherContext& context, std::span<const DevicePart> parts, Facts& facts);

// NVIDIA's devices as /sys/bus/pci shows them.
struct NvidiaDevices {
  std::vector<std::string> gpus;  // PCI addresses in bus order: class 0300 and 0302
  std::size_t switches = 0;       // NVSwitch: class 0680
};
NvidiaDevices find_nvidia_devices(const SysrootFiles& files);

// Parts of gather_gpu.
void gather_peers(const SysrootFiles& files, const std::vector<std::string>& gpus, Facts& facts);
void gather_cuda_versions(const GatherContext& context, const SysrootFiles& files, Facts& facts);
// Part of gather_fabric.
void gather_fabrics(const GatherContext& context, const SysrootFiles& files, Facts& facts);

// RDMA devices by the kernel's names ("mlx5_0"), at most 64.
std::vector<std::string> find_rdma_devices(const SysrootFiles& files);

}  // namespace ddlrun::doctor

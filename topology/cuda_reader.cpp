// SPDX-License-Identifier: MIT
#include "topology/cuda_reader.hpp"

#include "base/os/plugin.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "topology/cuda_plugin/cuda_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace ddlrun::topology {
namespace {

[[noreturn]] void refuse_plugin(const std::string& what, const std::string& path, const std::string& hint) {
  throw Error(ErrorKind::request, {what, path, hint});
}

// Calls one function of the plug-in; `arguments` come before the error buffer.
template <typename Function, typename... Arguments>
void call(const std::string& path, Function* function, Arguments... arguments) {
  std::array<char, DDLRUN_CUDA_ERROR_BYTES> error{};
  if (function(arguments..., error.data()) != 0) {
    error.back() = '\0';
    refuse_plugin("CUDA: " + printable(error.data(), error.size()), path, "nvidia-smi");
  }
}

std::string text_of(const char* bytes, std::size_t size) {
  return std::string(bytes, std::find(bytes, bytes + size, '\0'));
}

}  // namespace

CudaReport read_cuda(const std::string& plugin_path) {
  const Plugin plugin = Plugin::open_own(plugin_path);
  if (const int abi = plugin.function<decltype(ddlrun_cuda_abi)>("ddlrun_cuda_abi")();
      abi != DDLRUN_CUDA_ABI) {
    refuse_plugin(fmt::format("the plug-in has version {}, ddlrun needs version {}", abi, DDLRUN_CUDA_ABI),
                  plugin_path, "install ddlrun and its plug-in from the same build");
  }
  const auto get_versions = plugin.function<decltype(ddlrun_cuda_get_versions)>("ddlrun_cuda_get_versions");
  const auto get_count = plugin.function<decltype(ddlrun_cuda_count)>("ddlrun_cuda_count");
  const auto get_device = plugin.function<decltype(ddlrun_cuda_get_device)>("ddlrun_cuda_get_device");
  const auto get_link = plugin.function<decltype(ddlrun_cuda_get_link)>("ddlrun_cuda_get_link");

  ddlrun_cuda_versions versions{};
  call(plugin_path, get_versions, &versions);
  CudaReport report{versions.runtime, versions.driver, versions.nccl, {}, {}};
  int count = 0;
  call(plugin_path, get_count, &count);
  for (int i = 0; i < count; ++i) {
    ddlrun_cuda_device device{};
    call(plugin_path, get_device, i, &device);
    report.devices.push_back({text_of(device.pci_bus_id, sizeof device.pci_bus_id),
                              text_of(device.name, sizeof device.name),
                              text_of(device.uuid, sizeof device.uuid), device.memory_bytes});
  }
  // CUDA's own order is "fastest first" unless CUDA_DEVICE_ORDER is set; ours is the bus.
  std::vector<int> order(report.devices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto device_at = [&](int i) -> const CudaDevice& {
    return report.devices[static_cast<std::size_t>(i)];
  };
  std::ranges::sort(order, {}, [&](int i) { return device_at(i).pci_bus_id; });
  for (const int from : order) {
    std::vector<CudaLink> row;
    for (const int to : order) {
      ddlrun_cuda_link link{};
      if (from != to) call(plugin_path, get_link, from, to, &link);
      row.push_back({link.peer_access != 0, link.native_atomics != 0, link.performance_rank});
    }
    report.links.push_back(std::move(row));
  }
  std::ranges::sort(report.devices, {}, &CudaDevice::pci_bus_id);
  return report;
}

}  // namespace ddlrun::topology

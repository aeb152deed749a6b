// SPDX-License-Identifier: MIT
#include "topology/cuda_report.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

namespace ddlrun::topology {
namespace {

std::string cuda_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// "NV" with atomics, "P2P" without, "-" none; the rank behind it where links differ in speed.
std::string link_word(const CudaLink& link) {
  if (!link.peer_access) return "-";
  const std::string_view kind = link.native_atomics ? "NV" : "P2P";
  return link.performance_rank == 0 ? std::string(kind) : fmt::format("{}/{}", kind, link.performance_rank);
}

}  // namespace

std::string render_cuda_text(const CudaReport& report) {
  std::string text = fmt::format("CUDA {}, driver for {}", cuda_version(report.runtime_version),
                                 cuda_version(report.driver_version));
  if (const int nccl = report.nccl_version; nccl > 0) {
    text += fmt::format(", NCCL {}.{}.{}", nccl / 10000, nccl % 10000 / 100, nccl % 100);
  }
  text += "\n";
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    const CudaDevice& device = report.devices[i];
    text += fmt::format("  GPU {:<3}{}  {}  {:.0f} GiB  {}\n", i, printable(device.pci_bus_id),
                        printable(device.name), static_cast<double>(device.memory_bytes) / (1u << 30),
                        printable(device.uuid));
  }
  if (report.devices.size() < 2) return text;
  text += "\n       ";
  for (std::size_t to = 0; to < report.devices.size(); ++to)
    text += fmt::format("{:>7}", fmt::format("GPU {}", to));
  text += "\n";
  for (std::size_t from = 0; from < report.devices.size(); ++from) {
    text += fmt::format("{:<7}", fmt::format("GPU {}", from));
    for (std::size_t to = 0; to < report.devices.size(); ++to) {
      text += fmt::format("{:>7}", from == to ? "." : link_word(report.links[from][to]));
    }
    text += "\n";
  }
  return text + "NV: peer access with atomics (NVLink); P2P: peer access over PCIe; -: through the host\n";
}

}  // namespace ddlrun::topology

// SPDX-License-Identifier: MIT
// What CUDA reports about the GPUs of this machine and the links between them, as a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::topology {

struct CudaDevice {
  std::string pci_bus_id;
  std::string name;
  std::string uuid;
  std::uint64_t memory_bytes = 0;

  bool operator==(const CudaDevice&) const = default;
};

struct CudaLink {
  bool peer_access = false;     // reads and writes the other's memory itself
  bool native_atomics = false;  // also atomics: NVLink has them, PCIe has not
  int performance_rank = 0;     // 0 is the fastest kind of link here

  bool operator==(const CudaLink&) const = default;
};

struct CudaReport {
  int runtime_version = 0;  // 13000 = 13.0
  int driver_version = 0;
  int nccl_version = 0;                      // 22803 = 2.28.3; 0: none
  std::vector<CudaDevice> devices;           // in PCI bus order
  std::vector<std::vector<CudaLink>> links;  // [from][to]; the diagonal means nothing

  bool operator==(const CudaReport&) const = default;
};

// Versions, devices and a matrix of links, for people.
std::string render_cuda_text(const CudaReport& report);

// One document, "schema": "ddlrun.cuda/1". parse_cuda_json takes only what render_cuda_json wrote, and throws
// Error{request} otherwise.
std::string render_cuda_json(const CudaReport& report);
CudaReport parse_cuda_json(std::string_view text, const std::string& where);

}  // namespace ddlrun::topology

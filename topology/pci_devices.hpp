// SPDX-License-Identifier: MIT
// The kind of a PCI device, from its class and ids alone: a GPU for computing, a kind of NIC, or
// neither.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace ddlrun::topology {

// Compares in bus order: domain, bus, device, function, as numbers.
struct PciAddress {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;

  auto operator<=>(const PciAddress&) const = default;
};

struct PciDevice {
  PciAddress address;
  unsigned class_id = 0;  // class and subclass: 0x0302
  unsigned vendor_id = 0;
  unsigned device_id = 0;
};

// "0002:01:00.0"
std::string render_pci_address(const PciAddress& address);

// A display, 3D or processing accelerator of NVIDIA, AMD or Intel that can compute: not the
// graphics of a management controller, not the display part of an Intel processor.
bool is_compute_gpu(const PciDevice& device);

// "NVIDIA", "AMD", "Intel", or "".
std::string gpu_vendor(unsigned vendor_id);

// "10de:15f9": the model if its name is unknown.
std::string render_pci_ids(const PciDevice& device);

// Nic::kind of a network or OpenFabrics device by the name the kernel gave it and the PCI device it
// sits on (nullptr: none).
std::string nic_kind(std::string_view name, bool openfabrics, const PciDevice* device);

}  // namespace ddlrun::topology

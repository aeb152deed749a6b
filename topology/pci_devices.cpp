// SPDX-License-Identifier: MIT
#include "topology/pci_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::topology {
namespace {

constexpr unsigned nvidia = 0x10de;
constexpr unsigned amd = 0x1002;
constexpr unsigned intel = 0x8086;

// VGA, 3D controller, display controller, processing accelerator.
constexpr std::array<unsigned, 4> gpu_classes{0x0300, 0x0302, 0x0380, 0x1200};

// ATI chips that servers carried for their console only: Rage XL, RV100, ES1000 (two ids).
constexpr std::array<unsigned, 4> ati_console_chips{0x4752, 0x5159, 0x515e, 0x5969};

// The display part of an Intel processor always answers at this address, with or without a driver.
constexpr PciAddress intel_integrated{0, 0, 2, 0};

}  // namespace

std::string render_pci_address(const PciAddress& address) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device,
                     address.function);
}

bool is_compute_gpu(const PciDevice& device) {
  if (std::ranges::find(gpu_classes, device.class_id) == gpu_classes.end()) return false;
  switch (device.vendor_id) {
    case nvidia:
      return true;
    case amd:
      return std::ranges::find(ati_console_chips, device.device_id) == ati_console_chips.end();
    case intel:
      return device.address != intel_integrated;
    default:
      return false;
  }
}

std::string gpu_vendor(unsigned vendor_id) {
  switch (vendor_id) {
    case nvidia:
      return "NVIDIA";
    case amd:
      return "AMD";
    case intel:
      return "Intel";
    default:
      return "";
  }
}

std::string render_pci_ids(const PciDevice& device) {
  return fmt::format("{:04x}:{:04x}", device.vendor_id, device.device_id);
}

std::string nic_kind(std::string_view name, bool openfabrics, const PciDevice* device) {
  if (name.starts_with("hfi1_")) return "omnipath";
  if (device == nullptr) return "other";  // virtual, or on a bus that is not PCI
  switch (device->class_id) {
    case 0x0200:
      return "ethernet";  // an OpenFabrics device here is RoCE or iWARP
    case 0x0207:
      return "infiniband";
    case 0x0208:
      return device->vendor_id == intel ? "omnipath" : "other";
    case 0x0280:
      return name.starts_with("wl") ? "wireless" : "other";
    case 0x0c06:
      return "infiniband";
    default:
      return openfabrics ? "infiniband" : "other";
  }
}

}  // namespace ddlrun::topology

// SPDX-License-Identifier: MIT
// What lies between the GPUs of a host: bridges, IOMMU, virtualisation.
//   peers.bridges             bridges above GPUs, by the links in /sys/bus/pci/devices
//   peers.acs.on              those with ACS on, one a line, by their config (root beyond 64 bytes)
//   peers.acs.unreadable      how many could not be read
//   peers.iommu.units         IOMMUs that are switched on: /sys/class/iommu
//   peers.iommu.type          of the GPUs' groups: "identity" passes through, "DMA", "DMA-FQ" translate
//   peers.iommu.cmdline       yes where the kernel was started with iommu=pt or iommu.passthrough=1
//   peers.virtual             yes in a virtual machine: /proc/cpuinfo flags
#include "base/text/text.hpp"
#include "doctor/gather/device.hpp"
#include "doctor/gather/pci_config.hpp"

#include <set>

namespace ddlrun::doctor {
namespace {

bool is_pci_address(std::string_view text) {  // "0000:3b:00.0"
  return text.size() >= 12 && text[text.size() - 2] == '.' && text[text.size() - 5] == ':' &&
         text[text.size() - 8] == ':';
}

// The link of a device names all bridges above it: ../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0
std::set<std::string> find_bridges(const SysrootFiles& files, const std::vector<std::string>& gpus) {
  std::set<std::string> bridges;
  for (const std::string& gpu : gpus) {
    const std::string link = files.link("/sys/bus/pci/devices/" + gpu).value_or("");
    for (const std::string_view part : split(link, '/')) {
      if (is_pci_address(part) && part != gpu) bridges.emplace(part);
    }
  }
  return bridges;
}

void gather_acs(const SysrootFiles& files, const std::set<std::string>& bridges, Facts& facts) {
  std::vector<std::string> on;
  std::uint64_t unreadable = 0;
  for (const std::string& bridge : bridges) {
    const auto config = files.read("/sys/bus/pci/devices/" + bridge + "/config", 4096);
    const AcsState state = config ? read_acs(*config) : AcsState::unreadable;
    if (state == AcsState::on && on.size() < 256) on.push_back(bridge);
    if (state == AcsState::unreadable) ++unreadable;
  }
  facts.set("peers.bridges", bridges.size());
  facts.set_list("peers.acs.on", on);
  facts.set("peers.acs.unreadable", unreadable);
}

void gather_iommu(const SysrootFiles& files, const std::vector<std::string>& gpus, Facts& facts) {
  facts.set("peers.iommu.units", files.list("/sys/class/iommu").size());
  std::set<std::string> types;
  for (const std::string& gpu : gpus) {
    if (auto type = files.line("/sys/bus/pci/devices/" + gpu + "/iommu_group/type"))
      types.insert(std::move(*type));
  }
  if (!types.empty()) facts.set("peers.iommu.type", std::string_view(*types.begin()).substr(0, 64));
  const std::string boot = files.read("/proc/cmdline").value_or("");
  bool passes = false;
  for (const std::string_view word : split(trim(boot), ' ')) {
    passes |= word == "iommu=pt" || word == "iommu.passthrough=1";
  }
  facts.set("peers.iommu.cmdline", passes ? "yes" : "no");
}

bool has_hypervisor(const SysrootFiles& files) {
  const std::string cpus = files.read("/proc/cpuinfo", 16 << 20).value_or("");
  const std::size_t at = cpus.find("\nflags");
  if (at == std::string::npos) return false;
  const std::string_view flags = std::string_view(cpus).substr(at + 1, cpus.find('\n', at + 1) - at - 1);
  return flags.find(" hypervisor") != std::string_view::npos;
}

}  // namespace

void gather_peers(const SysrootFiles& files, const std::vector<std::string>& gpus, Facts& facts) {
  if (gpus.empty()) return;
  gather_acs(files, find_bridges(files, gpus), facts);
  gather_iommu(files, gpus, facts);
  facts.set("peers.virtual", has_hypervisor(files) ? "yes" : "no");
}

}  // namespace ddlrun::doctor

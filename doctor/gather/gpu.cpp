// SPDX-License-Identifier: MIT
// NVIDIA GPUs as the kernel shows them, without the driver's library. I counts in PCI bus order.
//   gpu.count                 display and 3D devices of vendor 10de in /sys/bus/pci/devices
//   gpu.bus                   "visible", or "missing": no /sys/bus/pci
//   gpu.nvswitch              NVSwitch chips on the bus
//   gpu.I.pci .device         "0000:01:00.0", "15f9"
//   gpu.I.driver              kernel driver that holds it: "nvidia", "vfio-pci", "none"
//   gpu.I.numa .cpus          NUMA node (Linux's number) and its CPUs "0-19"; not known in most VMs
//   gpu.I.link.max_width      PCIe lanes; .max_speed "8.0 GT/s PCIe"; an idle link runs at less
//   gpu.driver.version .kind  "535.104.05"; "open" or "proprietary": /proc/driver/nvidia/version
//   gpu.driver.gpus           how many the driver has taken on: /proc/driver/nvidia/gpus
//   gpu.node.NAME             /dev/NAME: "rw", "no access", "missing"
//   gpu.module.NAME           loaded, yes or no: nvidia, nvidia_uvm, nvidia_peermem, nv_peer_mem
//   gpu.modprobe              yes where the setuid helper that makes device files is installed
//   gpu.kfd                   yes where AMD's driver has a GPU
//   gpu.env.NAME              where set: CUDA_VISIBLE_DEVICES, SLURM_JOB_GPUS and the like
//   gpu.fabric_manager        on hosts with NVSwitch: "running", "not running"
#include "base/text/text.hpp"
#include "doctor/gather/device.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {
namespace {

constexpr std::uint64_t nvidia = 0x10de;
constexpr std::string_view pci_dir = "/sys/bus/pci/devices/";
constexpr std::size_t max_gpus = 64;

std::string_view yes_no(bool yes) { return yes ? "yes" : "no"; }

// One file that lists all devices, without their classes: whether a closer look is worth its reads.
bool may_have_nvidia(const SysrootFiles& files) {
  const auto list = files.read("/proc/bus/pci/devices", 4 << 20);
  if (!list) return true;
  for (const std::string_view line : split(*list, '\n')) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string_view::npos && line.substr(tab + 1).starts_with("10de")) return true;
  }
  return false;
}

void gather_device_facts(const SysrootFiles& files, const std::string& name, const std::string& pci,
                         Facts& facts) {
  const std::string dir = std::string(pci_dir) + pci + "/";
  facts.set(name + "pci", pci);
  if (const auto id = files.hex_number(dir + "device"))
    facts.set(name + "device", fmt::format("{:04x}", *id));
  const auto driver = files.link(dir + "driver");
  facts.set(name + "driver", driver ? driver->substr(driver->rfind('/') + 1) : std::string("none"));
  if (const auto numa = files.number(dir + "numa_node")) {
    facts.set(name + "numa", *numa);
  } else {
    facts.set_unknown(name + "numa", "the firmware names no NUMA node for it");
  }
  set_line(facts, name + "cpus", files.line(dir + "local_cpulist"));
  set_line(facts, name + "link.max_width", files.line(dir + "max_link_width"));
  set_line(facts, name + "link.max_speed", files.line(dir + "max_link_speed"));
}

// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.104.05  Release Build ..."
void gather_driver(const SysrootFiles& files, Facts& facts) {
  const auto version = files.read("/proc/driver/nvidia/version", 4096);
  if (!version) {
    facts.set_unknown("gpu.driver.version",
                      "no NVIDIA driver is loaded (/proc/driver/nvidia/version is missing)");
    return;
  }
  const std::string_view line = split(*version, '\n').front();
  facts.set("gpu.driver.kind", line.find("Open Kernel") != std::string_view::npos ? "open" : "proprietary");
  facts.set_unknown("gpu.driver.version", "no version in /proc/driver/nvidia/version");
  for (const std::string_view word : split(line, ' ')) {
    const std::size_t dot = word.find('.');
    if (dot == std::string_view::npos || !parse_unsigned(word.substr(0, dot))) continue;
    facts.set("gpu.driver.version", word.substr(0, 32));
    break;
  }
  facts.set("gpu.driver.gpus", files.list("/proc/driver/nvidia/gpus").size());
}

// /dev/nvidiaN of each GPU that the driver has numbered, and the files that all of them need.
void gather_nodes(const SysrootFiles& files, Facts& facts) {
  std::vector<std::string> nodes = {"nvidiactl", "nvidia-uvm"};
  for (const std::string& gpu : files.list("/proc/driver/nvidia/gpus")) {
    const auto text = files.read("/proc/driver/nvidia/gpus/" + gpu + "/information", 16 * 1024);
    if (!text) continue;
    for (const std::string_view line : split(*text, '\n')) {
      if (!line.starts_with("Device Minor:")) continue;
      const std::string_view number = trim(line.substr(std::string_view("Device Minor:").size()));
      if (parse_unsigned(number, 255)) nodes.push_back("nvidia" + std::string(number));
    }
    if (nodes.size() > max_gpus) break;
  }
  for (const std::string& node : nodes) facts.set("gpu.node." + node, files.access("/dev/" + node));
  facts.set("gpu.kfd", yes_no(files.exists("/dev/kfd")));
  facts.set("gpu.modprobe", yes_no(files.exists("/usr/bin/nvidia-modprobe")));
}

void gather_gpu_environment(const GatherContext& context, Facts& facts) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "SLURM_JOB_GPUS",
                           "SLURM_STEP_GPUS", "SLURM_GPUS_ON_NODE", "PBS_GPUFILE"}) {
    const auto& variables = context.system.environment.variables;
    const auto found = variables.find(name);
    if (found != variables.end()) {
      facts.set("gpu.env." + std::string(name), std::string_view(found->second).substr(0, 1024));
    }
  }
}

// Its process name is cut to 15 letters by the kernel.
std::string_view find_fabric_manager(const SysrootFiles& files) {
  for (const std::string& process : files.list("/proc")) {
    if (!parse_unsigned(process)) continue;
    const auto name = files.line("/proc/" + process + "/comm");
    if (name && name->starts_with("nv-fabricmanage")) return "running";
  }
  return "not running";
}

}  // namespace

NvidiaDevices find_nvidia_devices(const SysrootFiles& files) {
  NvidiaDevices found;
  if (!may_have_nvidia(files)) return found;
  for (const std::string& pci : files.list("/sys/bus/pci/devices")) {
    const std::string dir = std::string(pci_dir) + pci + "/";
    if (files.hex_number(dir + "vendor") != nvidia) continue;
    const std::uint64_t kind = files.hex_number(dir + "class").value_or(0) >> 8;
    if ((kind == 0x0300 || kind == 0x0302) && found.gpus.size() < max_gpus) found.gpus.push_back(pci);
    if (kind == 0x0680) ++found.switches;
  }
  return found;
}

void gather_gpu(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  const NvidiaDevices devices = find_nvidia_devices(files);
  facts.set("gpu.count", devices.gpus.size());
  const bool has_driver = files.exists("/dev/nvidiactl");
  if (devices.gpus.empty() && !has_driver) return;
  facts.set("gpu.bus", files.exists(pci_dir) ? "visible" : "missing");
  facts.set("gpu.nvswitch", devices.switches);
  for (std::size_t i = 0; i < devices.gpus.size(); ++i) {
    gather_device_facts(files, fmt::format("gpu.{}.", i), devices.gpus[i], facts);
  }
  gather_driver(files, facts);
  gather_nodes(files, facts);
  for (const char* module : {"nvidia", "nvidia_uvm", "nvidia_peermem", "nv_peer_mem"}) {
    facts.set(fmt::format("gpu.module.{}", module),
              yes_no(files.exists(fmt::format("/sys/module/{}", module))));
  }
  gather_gpu_environment(context, facts);
  if (devices.switches > 0) facts.set("gpu.fabric_manager", find_fabric_manager(files));
  gather_peers(files, devices.gpus, facts);
  gather_cuda_versions(context, files, facts);
}

}  // namespace ddlrun::doctor

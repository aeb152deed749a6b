// SPDX-License-Identifier: MIT
// A directory with a /sys, /proc and /dev as a host with GPUs and a fabric shows them, for gatherers run on
// the real file system. The layouts are those of an IBM S822LC for HPC (four Tesla P100, two ConnectX-4) and
// Linux 4.18 to 6.1.
#pragma once

#include "doctor/gather/device.hpp"
#include "tests/support/real_host.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ddlrun::tests {

// The parts of the gatherer "devices" beside the gatherers, by name.
inline std::span<const doctor::Gatherer> device_parts() {
  using namespace doctor;
  static const std::vector<Gatherer> parts = [] {
    const auto seconds = std::chrono::seconds(5);
    std::vector<Gatherer> all = {{"gpu", Level::quick, seconds, gather_gpu},
                                 {"nvml", Level::quick, seconds, gather_nvml},
                                 {"fabric", Level::quick, seconds, gather_fabric},
                                 {"fabric-counters", Level::quick, seconds, gather_fabric_counters},
                                 {"device-log", Level::quick, seconds, gather_device_log}};
    all.insert(all.end(), device_gatherers().begin(), device_gatherers().end());
    return all;
  }();
  return parts;
}

// Sets a variable as long as it lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Setting() { ::unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

class DeviceTree {
 public:
  DeviceTree() {
    std::string path = (std::filesystem::temp_directory_path() / "ddlrun-devices-XXXXXX").string();
    root_ = ::mkdtemp(path.data());
    put("/proc/uptime", "360000.50 1000000.00\n");
    put("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet\n");
    put("/proc/bus/pci/devices", "0000\t80861237\t0\n");
  }
  ~DeviceTree() { std::filesystem::remove_all(root_); }
  DeviceTree(const DeviceTree&) = delete;
  DeviceTree& operator=(const DeviceTree&) = delete;

  void put(const std::string& path, std::string_view text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path, std::ios::binary) << text;
  }
  void link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::filesystem::create_symlink(target, root_ + path);
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root_ + path); }

  // A device below a bridge: /sys/bus/pci/devices/BDF is a link into /sys/devices, as in Linux.
  std::string add_pci(const std::string& bridge, const std::string& pci, const char* vendor,
                      const char* device, const char* kind, const char* driver);
  void add_gpus();  // with driver, device files and /proc/driver/nvidia
  void add_port(const std::string& device, const std::string& pci, int port);  // an active EDR port
  void add_adapters();                                                         // mlx5_0 and mlx5_1
  void add_library(const std::string& name, const std::string& built) {
    std::filesystem::create_directories(root_ + "/usr/lib");
    std::filesystem::copy_file(built, root_ + "/usr/lib/" + name,
                               std::filesystem::copy_options::overwrite_existing);
  }

  // What the gatherer of that name finds here.
  doctor::Facts gather(std::string_view name);
  doctor::Facts gather_with(void (*gatherer)(const doctor::GatherContext&, doctor::Facts&));

  const std::string& root() const { return root_; }
  doctor::ProbeRequest request;
  EnvVars variables;

 private:
  std::string root_;
};

inline std::string DeviceTree::add_pci(const std::string& bridge, const std::string& pci, const char* vendor,
                                       const char* device, const char* kind, const char* driver) {
  const std::string domain = bridge.substr(0, 7);
  const std::string dir = "/sys/devices/pci" + domain + "/" + bridge + "/" + pci;
  put(dir + "/vendor", std::string(vendor) + "\n");
  put(dir + "/device", std::string(device) + "\n");
  put(dir + "/class", std::string(kind) + "\n");
  if (*driver != '\0') link(dir + "/driver", std::string("../../../../bus/pci/drivers/") + driver);
  link("/sys/bus/pci/devices/" + pci, "../../../devices/pci" + domain + "/" + bridge + "/" + pci);
  if (!std::filesystem::exists(root_ + "/sys/bus/pci/devices/" + bridge)) {
    put("/sys/devices/pci" + domain + "/" + bridge + "/vendor", "0x1014\n");
    put("/sys/devices/pci" + domain + "/" + bridge + "/class", "0x060400\n");
    link("/sys/bus/pci/devices/" + bridge, "../../../devices/pci" + domain + "/" + bridge);
  }
  return dir;
}

inline void DeviceTree::add_gpus() {
  const char* domains[] = {"0002", "0003", "0006", "0007"};
  std::string list = "0000\t101403dc\t0\n";
  for (int i = 0; i < 4; ++i) {
    const std::string pci = std::string(domains[i]) + ":01:00.0";
    const std::string dir =
        add_pci(std::string(domains[i]) + ":00:00.0", pci, "0x10de", "0x15f9", "0x030200", "nvidia");
    put(dir + "/numa_node", i < 2 ? "0\n" : "1\n");
    put(dir + "/local_cpulist", i < 2 ? "0-79\n" : "80-159\n");
    put(dir + "/current_link_width", "16\n");
    put(dir + "/max_link_width", "16\n");
    put(dir + "/current_link_speed", "2.5 GT/s PCIe\n");
    put(dir + "/max_link_speed", "8.0 GT/s PCIe\n");
    put("/proc/driver/nvidia/gpus/" + pci + "/information",
        "Model: \t\t Tesla P100-SXM2-16GB\nIRQ:   \t\t 505\nBus Location: \t " + pci + "\nDevice Minor: \t " +
            std::to_string(i) + "\nBlacklisted:\t No\n");
    put("/dev/nvidia" + std::to_string(i), "");
    list += "0100\t10de15f9\t1f9\t\t\tnvidia\n";
  }
  put("/proc/bus/pci/devices", list);
  put("/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX ppc64le Kernel Module  418.87.00  Thu Aug  8 15:27:14 CDT 2019\nGCC "
      "version:  gcc\n");
  put("/dev/nvidiactl", "");
  put("/dev/nvidia-uvm", "");
  put("/sys/module/nvidia/refcnt", "1\n");
  put("/sys/module/nvidia_uvm/refcnt", "1\n");
  put("/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER8NVL (raw), altivec supported\n");
}

inline void DeviceTree::add_port(const std::string& device, const std::string& pci, int port) {
  const std::string dir = "/sys/class/infiniband/" + device + "/";
  const std::string in = dir + "ports/" + std::to_string(port) + "/";
  if (port == 1) {
    const std::string card =
        add_pci(pci.substr(0, 5) + "00:00.0", pci, "0x15b3", "0x1013", "0x020700", "mlx5_core");
    link(dir + "device", "../../../" + card.substr(5));
    put(card + "/numa_node", "0\n");
    put(card + "/net/ib" + device.substr(device.size() - 1) + "/mtu", "2044\n");
    put(dir + "fw_ver", "12.26.1040\n");
    put(dir + "hca_type", "MT4115\n");
    put(dir + "board_id", "IBM2180110032\n");
    put(dir + "node_guid", "ec0d:9a03:002d:9a18\n");
  }
  put(in + "state", "4: ACTIVE\n");
  put(in + "phys_state", "5: LinkUp\n");
  put(in + "rate", "100 Gb/sec (4X EDR)\n");
  put(in + "link_layer", "InfiniBand\n");
  put(in + "lid", "0x1b\n");
  put(in + "sm_lid", "0x1\n");
  put(in + "pkeys/0", "0xffff\n");
  put(in + "pkeys/1", "0x8001\n");
  put(in + "pkeys/2", "0x0000\n");
  put(in + "gids/0", "fe80:0000:0000:0000:ec0d:9a03:002d:9a18\n");
  for (const char* counter : {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors"}) {
    put(in + "counters/" + counter, "0\n");
  }
}

inline void DeviceTree::add_adapters() {
  int number = 0;
  for (const char* device : {"mlx5_0", "mlx5_1"}) {
    add_port(device, number == 0 ? "0004:01:00.0" : "0004:01:00.1", 1);
    const std::string node = "uverbs" + std::to_string(number++);
    put("/sys/class/infiniband_verbs/" + node + "/ibdev", std::string(device) + "\n");
    put("/dev/infiniband/" + node, "");
  }
  put("/dev/infiniband/rdma_cm", "");
  put("/usr/lib/libibverbs.so.1.14.44.0", "");
  link("/usr/lib/libibverbs.so.1", "libibverbs.so.1.14.44.0");
}

inline doctor::Facts DeviceTree::gather_with(void (*gatherer)(const doctor::GatherContext&, doctor::Facts&)) {
  Environment environment;
  environment.variables = variables;
  RealHost host(environment);
  doctor::Facts facts;
  gatherer({host.interfaces, host.kernel, request, root_}, facts);
  return facts;
}

inline doctor::Facts DeviceTree::gather(std::string_view name) {
  for (const doctor::Gatherer& gatherer : device_parts()) {
    if (gatherer.name == name) return gather_with(gatherer.gather);
  }
  throw std::logic_error("no such gatherer");
}

}  // namespace ddlrun::tests

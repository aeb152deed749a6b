// SPDX-License-Identifier: MIT
#include "topology/hwloc_reader.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "topology/pci_devices.hpp"
#include "topology/synthetic_size.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace ddlrun::topology {
namespace {

using Handle = std::shared_ptr<hwloc_topology>;
using Object = hwloc_obj_t;

[[noreturn]] void refuse_topology(std::string what, std::string where) {
  std::string hint = where.empty() ? "lstopo machine.xml" : "lstopo-no-graphics -i " + quote_shell(where);
  throw Error(ErrorKind::request, {std::move(what), std::move(where), std::move(hint)});
}

Handle new_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) refuse_topology("hwloc could not start", "");
  Handle handle(raw, hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  return handle;
}

void load(const Handle& handle, const std::string& where) {
  if (hwloc_topology_load(handle.get()) != 0) {
    refuse_topology(fmt::format("hwloc could not load it: {}", std::strerror(errno)), where);
  }
}

// Names come from firmware and from foreign files: one line of printable ASCII is all we keep.
std::string clean(const char* text) {
  std::string result;
  for (std::string_view rest = text == nullptr ? "" : text; !rest.empty(); rest.remove_prefix(1)) {
    result += rest.front() >= 0x20 && rest.front() < 0x7f ? rest.front() : '?';
  }
  return std::string(trim(result));
}

std::string info(Object object, const char* key) { return clean(hwloc_obj_get_info_by_name(object, key)); }

std::vector<PuIndex> pus_of(hwloc_const_cpuset_t set) {
  std::vector<PuIndex> pus;
  for (int os = hwloc_bitmap_first(set); os >= 0; os = hwloc_bitmap_next(set, os)) pus.push_back({os});
  return pus;
}

bool inside(hwloc_const_cpuset_t part, hwloc_const_cpuset_t whole) {
  return hwloc_bitmap_iszero(part) == 0 && hwloc_bitmap_isincluded(part, whole) != 0;
}

// "L3 P#6", "Group0 L#2": with the OS number where there is one, as lstopo shows it.
std::string object_name(Object object) {
  std::array<char, 64> type{};
  hwloc_obj_type_snprintf(type.data(), type.size(), object, 0);
  if (object->os_index != HWLOC_UNKNOWN_INDEX) return fmt::format("{} P#{}", type.data(), object->os_index);
  return fmt::format("{} L#{}", type.data(), object->logical_index);
}

PciDevice pci_device(Object object) {
  const auto& pci = object->attr->pcidev;
  return {{pci.domain, pci.bus, pci.dev, pci.func}, pci.class_id, pci.vendor_id, pci.device_id};
}

// The PCI device that an OS device sits on, or nullptr.
Object pci_parent(Object object) {
  while (object != nullptr && object->type != HWLOC_OBJ_PCI_DEVICE) {
    object = hwloc_obj_type_is_io(object->type) != 0 ? object->parent : nullptr;
  }
  return object;
}

// Fills one MachineTopology from a loaded hwloc topology; the steps run in the order of their dependencies.
class Gatherer {
 public:
  explicit Gatherer(const Handle& handle) : hwloc_(handle.get()) {}

  MachineTopology gather(std::string source) {
    machine_.source = std::move(source);
    machine_.host_name = info(hwloc_get_root_obj(hwloc_), "HostName");
    gather_packages();
    gather_numa_nodes();
    gather_cores();
    gather_unusable_pus();
    gather_gpus();
    gather_nics();
    return std::move(machine_);
  }

 private:
  std::vector<Object> objects(hwloc_obj_type_t type) const {
    std::vector<Object> found;
    for (Object object = nullptr; (object = hwloc_get_next_obj_by_type(hwloc_, type, object)) != nullptr;) {
      found.push_back(object);
    }
    return found;
  }

  void gather_packages() {
    packages_ = objects(HWLOC_OBJ_PACKAGE);
    for (Object package : packages_) {
      const int logical = static_cast<int>(machine_.packages.size());
      // Some exports do not number packages; the logical number is the best there is.
      const int os = package->os_index > INT_MAX ? logical : static_cast<int>(package->os_index);
      machine_.packages.push_back({logical, os, info(package, "CPUModel"), 0});
    }
  }

  void gather_numa_nodes() {
    numa_ = objects(HWLOC_OBJ_NUMANODE);
    for (Object node : numa_) {
      const int logical = static_cast<int>(machine_.numa_nodes.size());
      const int os = node->os_index > INT_MAX ? logical : static_cast<int>(node->os_index);
      machine_.numa_nodes.push_back({logical, os, node->attr->numanode.local_memory, true, {}});
    }
    mark_nodes_with_processors();
  }

  // A node has processors of its own if it adds some that no plainer or smaller node has: so MCDRAM
  // and HBM come after DDR, and memory that hangs on a package or the machine after the nodes
  // inside.
  void mark_nodes_with_processors() {
    std::vector<std::size_t> order(numa_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto key = [&](std::size_t i) {
      return std::tuple(numa_[i]->subtype != nullptr, hwloc_bitmap_weight(numa_[i]->cpuset), i);
    };
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    const std::shared_ptr<hwloc_bitmap_s> seen(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    for (const std::size_t i : order) {
      if (hwloc_bitmap_isincluded(numa_[i]->cpuset, seen.get()) != 0) continue;
      machine_.numa_nodes[i].memory_only = false;
      hwloc_bitmap_or(seen.get(), seen.get(), numa_[i]->cpuset);
    }
  }

  // The smallest node with processors that holds all of `set`, or -1.
  int numa_node_of(hwloc_const_cpuset_t set) const {
    int best = -1;
    for (std::size_t i = 0; i < numa_.size(); ++i) {
      if (machine_.numa_nodes[i].memory_only || !inside(set, numa_[i]->cpuset)) continue;
      if (best < 0 || hwloc_bitmap_weight(numa_[i]->cpuset) <
                          hwloc_bitmap_weight(numa_[static_cast<std::size_t>(best)]->cpuset)) {
        best = static_cast<int>(i);
      }
    }
    return best;
  }

  // By ancestry where the object has one, since a package without usable cores has an empty set.
  int package_of(Object object) const {
    for (Object at = object; at != nullptr; at = at->parent) {
      if (at->type == HWLOC_OBJ_PACKAGE) return static_cast<int>(at->logical_index);
    }
    return -1;
  }

  void gather_cores() {
    std::vector<Object> found = objects(HWLOC_OBJ_CORE);
    // Some virtual machines and old kernels report no cores: then Open MPI counts hardware threads,
    // and so do we.
    if (found.empty()) found = objects(HWLOC_OBJ_PU);
    std::map<int, int> count_in_package;
    for (Object object : found) {
      if (hwloc_bitmap_iszero(object->cpuset) != 0) continue;
      const int package = package_of(object);
      Core core{{static_cast<int>(machine_.cores.size())},
                package,
                count_in_package[package]++,
                numa_node_of(object->cpuset),
                pus_of(object->cpuset)};
      if (core.numa_node >= 0) {
        machine_.numa_nodes[static_cast<std::size_t>(core.numa_node)].cores.push_back(core.index);
      }
      if (package >= 0) ++machine_.packages[static_cast<std::size_t>(package)].core_count;
      machine_.cores.push_back(std::move(core));
    }
  }

  void gather_unusable_pus() {
    const std::shared_ptr<hwloc_bitmap_s> rest(hwloc_bitmap_dup(hwloc_topology_get_complete_cpuset(hwloc_)),
                                               hwloc_bitmap_free);
    for (const Core& core : machine_.cores) {
      for (const PuIndex pu : core.pus) hwloc_bitmap_clr(rest.get(), static_cast<unsigned>(pu.os));
    }
    if (hwloc_bitmap_weight(rest.get()) >= 0) machine_.unusable_pus = pus_of(rest.get());
  }

  std::vector<CoreIndex> cores_of_package(int package) const {
    std::vector<CoreIndex> cores;
    for (const Core& core : machine_.cores) {
      if (core.package == package) cores.push_back(core.index);
    }
    return cores;
  }

  // The GPU's nearest ancestor decides: inside one NUMA node its cores, inside one package those,
  // else none.
  void place(Gpu& gpu, Object ancestor) const {
    hwloc_const_cpuset_t set = ancestor->cpuset;
    gpu.package = package_of(ancestor);
    gpu.numa_node = numa_node_of(set);
    if (gpu.numa_node >= 0) {
      const auto node = static_cast<std::size_t>(gpu.numa_node);
      gpu.cores = machine_.numa_nodes[node].cores;
      if (gpu.package < 0 && !gpu.cores.empty()) {
        gpu.package = machine_.cores[static_cast<std::size_t>(gpu.cores.front().logical)].package;
      }
      const bool whole = hwloc_bitmap_isequal(set, numa_[node]->cpuset) != 0;
      gpu.locality = fmt::format("NUMA node {}{}", gpu.numa_node,
                                 whole ? "" : fmt::format(" ({})", object_name(ancestor)));
    } else if (gpu.package >= 0) {
      gpu.cores = cores_of_package(gpu.package);
      gpu.locality =
          fmt::format("package {}{}", gpu.package, gpu.cores.empty() ? ", which has no usable core" : "");
    } else {
      gpu.locality = ancestor->parent == nullptr ? "machine" : object_name(ancestor);
      if (hwloc_bitmap_iszero(set) != 0) gpu.locality += ", which has no usable core";
    }
  }

  // What a driver reports about the GPU, from the OS devices below it.
  static void add_driver_facts(Gpu& gpu, Object object) {
    for (Object child = object->io_first_child; child != nullptr; child = child->next_sibling) {
      if (child->type != HWLOC_OBJ_OS_DEVICE) continue;
      if (gpu.model.empty()) gpu.model = info(child, "GPUModel");
      for (const char* key : {"NVIDIAUUID", "AMDUUID", "LevelZeroUUID"}) {
        if (gpu.uuid.empty()) gpu.uuid = info(child, key);
      }
    }
  }

  void gather_gpus() {
    std::map<PciAddress, Object> found;  // in bus order, each address once
    for (Object object : objects(HWLOC_OBJ_PCI_DEVICE)) {
      const PciDevice device = pci_device(object);
      if (is_compute_gpu(device)) found.emplace(device.address, object);
    }
    for (const auto& [address, object] : found) {
      const PciDevice device = pci_device(object);
      Gpu gpu;
      gpu.index = static_cast<int>(machine_.gpus.size());
      gpu.vendor = gpu_vendor(device.vendor_id);
      gpu.pci_bus_id = render_pci_address(address);
      add_driver_facts(gpu, object);
      if (gpu.model.empty()) gpu.model = info(object, "PCIDevice");
      if (gpu.model.empty()) gpu.model = render_pci_ids(device);
      place(gpu, hwloc_get_non_io_ancestor_obj(hwloc_, object));
      machine_.gpus.push_back(std::move(gpu));
    }
  }

  Nic nic(Object object, Object parent) const {
    const bool openfabrics = object->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS;
    Nic result;
    result.name = clean(object->name);
    result.address = info(object, openfabrics ? "NodeGUID" : "Address");
    result.numa_node = numa_node_of(hwloc_get_non_io_ancestor_obj(hwloc_, object)->cpuset);
    if (parent == nullptr) {
      result.kind = nic_kind(result.name, openfabrics, nullptr);
    } else {
      const PciDevice device = pci_device(parent);
      result.kind = nic_kind(result.name, openfabrics, &device);
      result.pci_bus_id = render_pci_address(device.address);
    }
    return result;
  }

  // In bus order, the OpenFabrics device before its network interface, those without a PCI device
  // last.
  void gather_nics() {
    std::map<std::tuple<bool, PciAddress, bool, std::string>, Nic> found;
    for (Object object : objects(HWLOC_OBJ_OS_DEVICE)) {
      const auto type = object->attr->osdev.type;
      if (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS) continue;
      Object parent = pci_parent(object);
      Nic entry = nic(object, parent);
      if (entry.name.empty() || entry.name == "lo") continue;
      const PciAddress address = parent == nullptr ? PciAddress{} : pci_device(parent).address;
      auto key = std::tuple(parent == nullptr, address, type == HWLOC_OBJ_OSDEV_NETWORK, entry.name);
      found.emplace(std::move(key), std::move(entry));
    }
    for (auto& [key, entry] : found) machine_.nics.push_back(std::move(entry));
  }

  hwloc_topology_t hwloc_;
  MachineTopology machine_;
  std::vector<Object> packages_;
  std::vector<Object> numa_;
};

}  // namespace

HwlocMachine HwlocMachine::this_host() {
  // hwloc unloads its plug-ins with the last topology, and libpciaccess then loses what it allocated.
  [[maybe_unused]] static const auto* const keeps_plugins_loaded = new Handle(new_topology());
  Handle handle = new_topology();
  // These start drivers, which takes long and returns nothing that is needed here.
  for (const char* component : {"opencl", "gl", "cuda"}) {
    hwloc_topology_set_components(handle.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  }
  load(handle, "this host");
  return HwlocMachine(std::move(handle));
}

HwlocMachine HwlocMachine::from_xml(const std::string& bytes, const std::string& where) {
  Handle handle = new_topology();
  if (bytes.size() >= INT_MAX ||
      hwloc_topology_set_xmlbuffer(handle.get(), bytes.c_str(), static_cast<int>(bytes.size()) + 1) != 0) {
    refuse_topology("this is not an hwloc XML file", where);
  }
  load(handle, where);
  return HwlocMachine(std::move(handle));
}

HwlocMachine HwlocMachine::from_synthetic(const std::string& text) {
  if (const std::uint64_t size = synthetic_size(text); size > max_synthetic_pus) {
    throw Error(ErrorKind::request,
                {fmt::format("this machine has {} hardware threads, more than {}", size, max_synthetic_pus),
                 "--synthetic " + printable(text), "--sockets 1024 --cores 256"});
  }
  Handle handle = new_topology();
  if (hwloc_topology_set_synthetic(handle.get(), text.c_str()) != 0) {
    throw Error(ErrorKind::request, {"hwloc does not understand this synthetic machine",
                                     "--synthetic " + printable(text), "--synthetic 'pack:2 core:10 pu:2'"});
  }
  load(handle, "--synthetic " + printable(text));
  return HwlocMachine(std::move(handle));
}

MachineTopology HwlocMachine::machine(std::string source) const {
  return Gatherer(handle_).gather(std::move(source));
}

std::string HwlocMachine::xml() const {
  char* buffer = nullptr;
  int length = 0;
  if (hwloc_topology_export_xmlbuffer(handle_.get(), &buffer, &length, 0) != 0) {
    refuse_topology(fmt::format("hwloc could not export it: {}", std::strerror(errno)), "");
  }
  const std::shared_ptr<char> owner(
      buffer, [handle = handle_](char* text) { hwloc_free_xmlbuffer(handle.get(), text); });
  return std::string(buffer, length > 0 ? static_cast<std::size_t>(length) - 1 : 0);
}

}  // namespace ddlrun::topology

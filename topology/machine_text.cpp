// SPDX-License-Identifier: MIT
#include "topology/machine_text.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::topology {
namespace {

std::string count(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

std::string memory(std::uint64_t bytes) {
  if (bytes == 0) return "memory size unknown";
  const double gib = static_cast<double>(bytes) / (1u << 30);
  return gib < 10 ? fmt::format("{:.1f} GiB", gib) : fmt::format("{:.0f} GiB", gib);
}

std::string core_ranges(const std::vector<CoreIndex>& cores) {
  std::vector<int> numbers;
  for (const CoreIndex core : cores) numbers.push_back(core.logical);
  return render_ranges(numbers);
}

std::string pu_ranges(const MachineTopology& machine, const std::vector<CoreIndex>& cores) {
  std::vector<int> numbers;
  for (const CoreIndex index : cores) {
    for (const PuIndex pu : machine.cores[static_cast<std::size_t>(index.logical)].pus) {
      numbers.push_back(pu.os);
    }
  }
  std::ranges::sort(numbers);
  return render_ranges(numbers);
}

std::vector<CoreIndex> cores_of_package(const MachineTopology& machine, int package) {
  std::vector<CoreIndex> cores;
  for (const Core& core : machine.cores) {
    if (core.package == package) cores.push_back(core.index);
  }
  return cores;
}

// "8 threads", or "1 or 2 threads" where cores differ.
std::string threads_per_core(const MachineTopology& machine) {
  std::set<std::size_t> sizes;
  for (const Core& core : machine.cores) sizes.insert(core.pus.size());
  std::vector<std::string> words;
  for (const std::size_t size : sizes) words.push_back(std::to_string(size));
  return join(words, " or ") + (words.back() == "1" ? " thread" : " threads");
}

std::string gpu_line(const Gpu& gpu, std::string_view indent) {
  const bool named = gpu.model.starts_with(gpu.vendor);  // "AMD INSTINCT MI200"
  std::string line = fmt::format("{}GPU {:<3}{}  {}{}", indent, gpu.index, printable(gpu.pci_bus_id),
                                 named ? "" : printable(gpu.vendor) + " ", printable(gpu.model));
  if (gpu.locality.find('(') != std::string::npos || gpu.numa_node < 0) {
    line += fmt::format("  on {}",
                        printable(gpu.locality == "machine" ? "the machine as a whole" : gpu.locality));
  }
  if (!gpu.uuid.empty()) line += fmt::format("  {}", printable(gpu.uuid));
  return line + "\n";
}

std::string nic_line(const Nic& nic, std::string_view indent) {
  std::string line = fmt::format("{}NIC {:<11} {:<11}", indent, printable(nic.name), printable(nic.kind));
  if (!nic.pci_bus_id.empty()) line += fmt::format(" {}", printable(nic.pci_bus_id));
  if (!nic.address.empty()) line += fmt::format("  {}", printable(nic.address));
  return std::string(line, 0, line.find_last_not_of(' ') + 1) + "\n";
}

// The GPUs and NICs that `belongs` picks.
template <typename Belongs>
std::string device_lines(const MachineTopology& machine, std::string_view indent, const Belongs& belongs) {
  std::string text;
  for (const Gpu& gpu : machine.gpus) {
    if (belongs(gpu.numa_node, gpu.package)) text += gpu_line(gpu, indent);
  }
  for (const Nic& nic : machine.nics) {
    if (belongs(nic.numa_node, -1)) text += nic_line(nic, indent);
  }
  return text;
}

// The package that all cores of the node belong to, or -1.
int package_of(const MachineTopology& machine, const NumaNode& node) {
  int package = -1;
  for (const CoreIndex index : node.cores) {
    const int found = machine.cores[static_cast<std::size_t>(index.logical)].package;
    if (package >= 0 && found != package) return -1;
    package = found;
  }
  return package;
}

std::string os_number(int logical, int os) { return logical == os ? "" : fmt::format(" (P#{})", os); }

std::string node_text(const MachineTopology& machine, const NumaNode& node, std::string_view indent) {
  std::string text = fmt::format("{}NUMA node {}{}  {}", indent, node.logical,
                                 os_number(node.logical, node.os), memory(node.memory_bytes));
  if (node.memory_only) {
    text += "  memory only";
  } else {
    text += fmt::format("  cores {}  PUs {}", core_ranges(node.cores), pu_ranges(machine, node.cores));
  }
  text += "\n";
  return text + device_lines(machine, std::string(indent) + "  ",
                             [&](int numa, int) { return numa == node.logical; });
}

std::string package_text(const MachineTopology& machine, const Package& package) {
  const std::vector<CoreIndex> cores = cores_of_package(machine, package.logical);
  std::string text = fmt::format("package {}{}", package.logical, os_number(package.logical, package.os));
  if (!package.model.empty()) text += fmt::format("  {}", printable(package.model));
  text += cores.empty() ? "  no usable core\n"
                        : fmt::format("  {}: {}\n", count(cores.size(), "core"), core_ranges(cores));
  for (const NumaNode& node : machine.numa_nodes) {
    if (!node.memory_only && package_of(machine, node) == package.logical) {
      text += node_text(machine, node, "  ");
    }
  }
  return text + device_lines(machine, "  ", [&](int numa, int of_package) {
           return numa < 0 && of_package == package.logical;
         });
}

// What belongs to no single package.
std::string machine_text(const MachineTopology& machine) {
  std::string text;
  for (const NumaNode& node : machine.numa_nodes) {
    if (node.memory_only || package_of(machine, node) < 0) text += node_text(machine, node, "  ");
  }
  text += device_lines(machine, "  ", [](int numa, int package) { return numa < 0 && package < 0; });
  return text.empty() ? "" : "machine\n" + text;
}

}  // namespace

std::string render_machine_summary(const MachineTopology& machine) {
  std::string text = count(machine.cores.size(), "core");
  if (!machine.cores.empty()) text += fmt::format(" x {}", threads_per_core(machine));
  if (!machine.packages.empty()) {
    text += fmt::format(" in {}", count(machine.packages_with_cores().size(), "package"));
  }
  std::size_t memory_only = 0;
  for (const NumaNode& node : machine.numa_nodes) memory_only += node.memory_only ? 1 : 0;
  text += ", " + count(machine.numa_nodes.size() - memory_only, "NUMA node");
  if (memory_only > 0) text += fmt::format(" + {} memory only", memory_only);
  return text + ", " + count(machine.gpus.size(), "GPU");
}

std::string render_machine_text(const MachineTopology& machine) {
  std::string text = machine.host_name.empty() ? "machine" : printable(machine.host_name);
  text += fmt::format("  ({})\n{}\n\n", printable(machine.source), render_machine_summary(machine));
  for (const Package& package : machine.packages) text += package_text(machine, package);
  text += machine_text(machine);
  if (!machine.unusable_pus.empty()) {
    std::vector<int> numbers;
    for (const PuIndex pu : machine.unusable_pus) numbers.push_back(pu.os);
    text += fmt::format("\nnot usable (offline or not allowed): PUs {}\n", render_ranges(numbers));
  }
  if (!machine.packages.empty() && !machine.packages_are_equal()) {
    text +=
        "\nPackages differ in cores, so rankfiles for this machine use machine-wide core "
        "numbers.\n";
  }
  return text;
}

}  // namespace ddlrun::topology

// SPDX-License-Identifier: MIT
#include "topology/sources/machine_loader.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "topology/hwloc_reader.hpp"
#include "topology/machine_json.hpp"
#include "topology/sources/topology_child.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::topology {

namespace {

constexpr int max_sockets = 1024;
constexpr int max_cores = 4096;
constexpr int max_smt = 16;
constexpr int max_threads = 1 << 18;

[[noreturn]] void refuse_usage(std::string what, std::string hint) {
  throw Error(ErrorKind::usage, {std::move(what), "", std::move(hint)});
}

int read_count(const char* option, const std::string& text, int already, int most) {
  if (text.empty()) return already;
  const auto number = parse_unsigned(text, static_cast<std::uint64_t>(most));
  if (!number || *number == 0) {
    refuse_usage(
        fmt::format("{} must be a whole number from 1 to {}, not '{}'", option, most, printable(text, 40)),
        "--sockets 2 --cores 10");
  }
  return static_cast<int>(*number);
}

struct Counts {
  int sockets = 0;
  int cores = 0;
  int smt = 1;
  std::string source;
};

Counts read_counts(const MachineOptions& options) {
  const int sockets = read_count("--sockets", options.sockets_text, options.sockets, max_sockets);
  const int cores = read_count("--cores", options.cores_text, options.cores, max_cores);
  const int smt = read_count("--smt", options.smt_text, options.smt, max_smt);
  if (sockets == 0) refuse_usage("--cores is per package and needs --sockets", "--sockets 2 --cores 10");
  if (cores == 0)
    refuse_usage("--sockets needs --cores, the cores of each package", "--sockets 2 --cores 10");
  if (sockets * cores * smt > max_threads) {
    refuse_usage(fmt::format("{} packages x {} cores x {} threads are {} threads, more than {}", sockets,
                             cores, smt, sockets * cores * smt, max_threads),
                 "--sockets 2 --cores 64 --smt 2");
  }
  std::string source = fmt::format("--sockets {} --cores {}", sockets, cores);
  if (smt > 1) source += fmt::format(" --smt {}", smt);
  return {sockets, cores, smt, std::move(source)};
}

bool counts_given(const MachineOptions& options) {
  return options.sockets != 0 || options.cores != 0 || !options.sockets_text.empty() ||
         !options.cores_text.empty() || !options.smt_text.empty();
}

void check_only_one(const MachineOptions& options) {
  const int given = static_cast<int>(!options.topology_file.empty()) +
                    static_cast<int>(!options.synthetic.empty()) + static_cast<int>(counts_given(options));
  if (given > 1) {
    refuse_usage("--topology, --synthetic and --sockets/--cores each name a machine: use one",
                 "--sockets 2 --cores 10");
  }
  if (options.topology_file == "-" || options.topology_file == "/dev/stdin") {
    refuse_usage("--topology reads a file, not the standard input", "--topology machine.xml");
  }
}

std::string synthetic_place(const std::string& text) { return "--synthetic " + quote_shell(printable(text)); }

// The value after `key` ("Key:") in the driver's description of a GPU; "" if absent.
std::string value_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(key)) return std::string(trim(line.substr(key.size())));
  }
  return "";
}

// NVIDIA's kernel driver reports names and UUIDs without any library.
void add_driver_facts(System& system, MachineTopology& machine) {
  for (Gpu& gpu : machine.gpus) {
    const std::string path = "/proc/driver/nvidia/gpus/" + gpu.pci_bus_id + "/information";
    if (gpu.vendor != "NVIDIA" || !gpu.uuid.empty() || !system.files.exists(path)) continue;
    const std::string text = system.files.read(path, 1u << 16);
    const std::string model = value_of(text, "Model:");
    if (!model.empty()) gpu.model = printable(model);
    gpu.uuid = printable(value_of(text, "GPU UUID:"));
  }
}

}  // namespace

bool any_given(const MachineOptions& options) {
  return !options.topology_file.empty() || !options.synthetic.empty() || counts_given(options);
}

MachineTopology machine_from_options(System& system, const MachineOptions& options) {
  check_only_one(options);
  if (!options.topology_file.empty()) return machine_from_file(system, options.topology_file);
  if (!options.synthetic.empty()) return machine_from_synthetic(system, options.synthetic);
  if (!counts_given(options)) return this_machine(system);
  const Counts counts = read_counts(options);
  return regular_machine(counts.sockets, counts.cores, counts.smt, counts.source);
}

// Linux numbers the hardware threads as the firmware lists them: on x86 (also Knights Landing) the first
// threads of all cores, then the second ones; on POWER those of a core one after another.
std::string remark_on_numbers(const MachineOptions& options) {
  if (!counts_given(options)) return "";
  const Counts counts = read_counts(options);
  if (counts.smt == 1) return "";
  const int cores = counts.sockets * counts.cores;
  return fmt::format(
      "{}: the numbers of hardware threads are assumed to run through core 0, then core 1, as on POWER; on "
      "x86 core 0 "
      "is PU 0, {}, ...: --topology FILE of such a node (ddlrun topo --json > FILE there), or --synthetic "
      "'pack:{} core:{} pu:{}(indexes={}*{}:1*{})'",
      counts.source, cores, counts.sockets, counts.cores, counts.smt, counts.smt, cores, counts.smt);
}

std::string xml_from_options(System& system, const MachineOptions& options) {
  check_only_one(options);
  if (!options.topology_file.empty()) {
    return read_in_child(system, {"--xml", "--file=" + options.topology_file}, options.topology_file);
  }
  if (!options.synthetic.empty()) {
    return read_in_child(system, {"--xml", "--synthetic=" + options.synthetic},
                         synthetic_place(options.synthetic));
  }
  if (!counts_given(options)) return read_in_child(system, {"--xml", "--this-host"}, "this host");
  const Counts counts = read_counts(options);
  return HwlocMachine::from_synthetic(
             fmt::format("pack:{} [numa] core:{} pu:{}", counts.sockets, counts.cores, counts.smt))
      .xml();
}

MachineTopology this_machine(System& system) {
  // hwloc itself obeys these: then the machine is as foreign as any file.
  constexpr std::array<const char*, 3> foreign{"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT"};
  for (const char* name : foreign) {
    if (const std::string value = system.environment.get(name); !value.empty()) {
      const std::string source = fmt::format("this host by {}={}", name, value);
      MachineTopology machine = parse_machine_json(read_in_child(system, {"--this-host"}, source), source);
      machine.source = source;
      return machine;
    }
  }
  MachineTopology machine = HwlocMachine::this_host().machine("this host");
  if (!system.environment.host_name.empty()) machine.host_name = system.environment.host_name;
  add_driver_facts(system, machine);
  return machine;
}

MachineTopology machine_from_file(System& system, const std::string& path) {
  MachineTopology machine = parse_machine_json(read_in_child(system, {"--file=" + path}, path), path);
  machine.source = "file " + path;
  return machine;
}

MachineTopology machine_from_synthetic(System& system, const std::string& text) {
  const std::string where = synthetic_place(text);
  MachineTopology machine = parse_machine_json(read_in_child(system, {"--synthetic=" + text}, where), where);
  machine.source = "synthetic " + text;
  return machine;
}

}  // namespace ddlrun::topology

// SPDX-License-Identifier: MIT
// NVIDIA GPUs as their driver describes them, through libnvidia-ml. Loaded only where a GPU was seen.
//   nvml.status               "ok", or why the library cannot be asked
//   nvml.driver .cuda         "535.104.05"; newest CUDA that it runs, 12020 = 12.2
//   nvml.count                GPUs that it lists; in PCI bus order, as I counts them
//   nvml.I.pci .name .vbios   "0000:01:00.0", "Tesla P100-SXM2-16GB", "86.00.4d.00.02"
//   nvml.I.memory .used       bytes
//   nvml.I.persistence        yes, no; so are .mig .ecc.retirement_pending .remap.pending .remap.failed
//   nvml.I.compute_mode       default, exclusive, prohibited
//   nvml.I.ecc.uncorrected    since the driver was loaded; .ecc.corrected.sram .ecc.corrected.dram likewise
//   nvml.I.remap.uncorrected  rows; nvml.I.retired: pages (before Ampere)
//   nvml.I.clock.throttle     reasons that hold now, one a line; "" = none
//   nvml.I.clock.sm           application clock in MHz; .clock.sm.default: what it comes with
//   nvml.I.temperature        degrees Celsius; .temperature.slowdown: where the clocks go down
//   nvml.I.processes          one a line: "PID BYTES UID COMMAND LINE"; UID -1 where it is not ours to see
//   nvml.I.link.max_width     PCIe lanes; .link.max_generation
//   nvml.I.nvlink.count       links it has; .nvlink.active; .nvlink.speed: MB/s of one
//   nvml.I.fabric             NVSwitch machines of today: completed, in progress, not started
//   nvml.peers.pairs          ordered pairs that were asked; nvml.peers.without: "I J why" of those without
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/gather/device.hpp"
#include "doctor/gather/nvml.hpp"

#include <fmt/format.h>

#include <utility>

namespace ddlrun::doctor {
namespace {

constexpr unsigned max_asked_gpus = 64;

template <typename Value>
void note(Facts& facts, const std::string& name, const NvmlAnswer<Value>& answer) {
  if (!answer.ok()) {
    facts.set_unknown(name, answer.problem);
  } else if constexpr (std::is_same_v<Value, bool>) {
    facts.set(name, answer.value ? "yes" : "no");
  } else if constexpr (std::is_same_v<Value, std::string>) {
    facts.set(name, std::string_view(answer.value));
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    facts.set_list(name, answer.value);
  } else {
    facts.set(name, static_cast<std::uint64_t>(answer.value));
  }
}

// "4242 5368709120 1000 python3 train.py"
std::string describe_process(const SysrootFiles& files, const NvmlProcess& process) {
  const std::string dir = fmt::format("/proc/{}/", process.pid);
  std::string owner = "-1";
  if (const auto status = files.read(dir + "status")) {
    const std::size_t at = status->find("\nUid:\t");
    if (at != std::string::npos) {
      const std::string_view rest = std::string_view(*status).substr(at + 6);
      owner = rest.substr(0, rest.find_first_of("\t\n "));
    }
  }
  std::string command = files.read(dir + "cmdline", 1 << 20).value_or("");
  for (char& byte : command) {
    if (byte == '\0' || byte == '\n') byte = ' ';
  }
  return fmt::format("{} {} {} {}", process.pid, process.used_bytes, owner, printable(trim(command), 120));
}

void gather_health(const Nvml& nvml, Nvml::Device* gpu, const std::string& name, Facts& facts) {
  note(facts, name + "ecc.uncorrected", nvml.total_ecc_errors(gpu, NvmlErrors::uncorrected));
  note(facts, name + "ecc.corrected.sram", nvml.ecc_errors(gpu, NvmlErrors::corrected, NvmlMemoryPart::sram));
  note(facts, name + "ecc.corrected.dram", nvml.ecc_errors(gpu, NvmlErrors::corrected, NvmlMemoryPart::dram));
  const auto rows = nvml.remapped_rows(gpu);
  note(facts, name + "remap.uncorrected", NvmlAnswer<unsigned>{rows.value.uncorrected, rows.problem});
  note(facts, name + "remap.pending", NvmlAnswer<bool>{rows.value.pending, rows.problem});
  note(facts, name + "remap.failed", NvmlAnswer<bool>{rows.value.failed, rows.problem});
  note(facts, name + "retired", nvml.retired_pages(gpu));
  note(facts, name + "ecc.retirement_pending", nvml.retirement_pending(gpu));
  note(facts, name + "clock.throttle", nvml.throttle_reasons(gpu));
  note(facts, name + "temperature", nvml.temperature(gpu));
  note(facts, name + "temperature.slowdown", nvml.slowdown_temperature(gpu));
  note(facts, name + "clock.sm", nvml.application_clock(gpu, NvmlClock::sm));
  note(facts, name + "clock.sm.default", nvml.default_application_clock(gpu, NvmlClock::sm));
}

void gather_nvlinks(const Nvml& nvml, Nvml::Device* gpu, const std::string& name, Facts& facts) {
  unsigned links = 0, active = 0;
  for (unsigned link = 0; link < Nvml::max_nvlinks; ++link) {
    const auto state = nvml.nvlink_active(gpu, link);
    if (!state.ok()) break;  // links are numbered without gaps
    ++links;
    active += state.value ? 1 : 0;
  }
  facts.set(name + "nvlink.count", links);
  facts.set(name + "nvlink.active", active);
  if (links > 0) note(facts, name + "nvlink.speed", nvml.nvlink_speed(gpu));
}

void gather_one(const Nvml& nvml, const SysrootFiles& files, Nvml::Device* gpu, const std::string& name,
                Facts& facts) {
  note(facts, name + "pci", nvml.pci_address(gpu));
  note(facts, name + "name", nvml.name(gpu));
  note(facts, name + "vbios", nvml.vbios(gpu));
  const auto memory = nvml.memory(gpu);
  note(facts, name + "memory", NvmlAnswer<std::uint64_t>{memory.value.total, memory.problem});
  note(facts, name + "used", NvmlAnswer<std::uint64_t>{memory.value.used, memory.problem});
  note(facts, name + "persistence", nvml.persistence(gpu));
  note(facts, name + "compute_mode", nvml.compute_mode(gpu));
  note(facts, name + "mig", nvml.mig(gpu));
  gather_health(nvml, gpu, name, facts);
  const auto processes = nvml.compute_processes(gpu);
  NvmlAnswer<std::vector<std::string>> lines{{}, processes.problem};
  for (std::size_t i = 0; i < processes.value.size() && i < 16; ++i) {
    lines.value.push_back(describe_process(files, processes.value[i]));
  }
  note(facts, name + "processes", lines);
  const auto link = nvml.pcie_link(gpu);
  note(facts, name + "link.max_generation", NvmlAnswer<unsigned>{link.value.max_generation, link.problem});
  note(facts, name + "link.max_width", NvmlAnswer<unsigned>{link.value.max_width, link.problem});
  gather_nvlinks(nvml, gpu, name, facts);
  note(facts, name + "fabric", nvml.fabric_state(gpu));
}

using NumberedGpu = std::pair<unsigned, Nvml::Device*>;

void gather_pairs(const Nvml& nvml, const std::vector<NumberedGpu>& gpus, Facts& facts) {
  std::vector<std::string> without;
  std::uint64_t pairs = 0;
  std::string problem;
  for (const auto& [i, from] : gpus) {
    for (const auto& [j, to] : gpus) {
      if (i == j || !problem.empty()) continue;
      const auto status = nvml.peer_status(from, to);
      problem = status.problem;
      ++pairs;
      if (status.ok() && status.value != "ok" && without.size() < 256) {
        without.push_back(fmt::format("{} {} {}", i, j, status.value));
      }
    }
  }
  facts.set("nvml.peers.pairs", problem.empty() ? pairs : 0);
  if (problem.empty()) {
    facts.set_list("nvml.peers.without", without);
  } else {
    facts.set_unknown("nvml.peers.without", problem);
  }
}

std::vector<std::string> library_paths(const GatherContext& context) {
  if (!context.root.empty()) return {context.root + "/usr/lib/libnvidia-ml.so.1"};
  return {"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
          "/usr/lib/wsl/lib/libnvidia-ml.so.1", "/run/opengl-driver/lib/libnvidia-ml.so.1"};
}

}  // namespace

void gather_nvml(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  // Without its control device the library could only fail, and looking for it would cost more than this.
  if (!files.exists("/dev/nvidiactl") && !files.exists("/proc/driver/nvidia/version")) return;
  try {
    const Nvml nvml = Nvml::open(library_paths(context));
    facts.set("nvml.status", "ok");
    note(facts, "nvml.driver", nvml.driver_version());
    note(facts, "nvml.cuda", nvml.cuda_version());
    const auto count = nvml.count();
    note(facts, "nvml.count", count);
    std::vector<NumberedGpu> gpus;
    for (unsigned i = 0; i < count.value && i < max_asked_gpus; ++i) {
      const std::string name = fmt::format("nvml.{}.", i);
      const auto gpu = nvml.device(i);
      if (!gpu.ok()) {
        facts.set_unknown(name + "name", gpu.problem);  // "GPU is lost"
        continue;
      }
      gpus.emplace_back(i, gpu.value);
      gather_one(nvml, files, gpu.value, name, facts);
    }
    gather_pairs(nvml, gpus, facts);
  } catch (const Error& error) {
    facts.set_unknown("nvml.status", error.message().what);
  }
}

}  // namespace ddlrun::doctor

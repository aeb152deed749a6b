// SPDX-License-Identifier: MIT
#include "doctor/gather/nvml.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

namespace ddlrun::doctor {
namespace {

// The interface's own structures: sizes and order are the ABI.
struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_and_vendor, subsystem;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct MemoryV1 {
  unsigned long long total, free, used;
};
struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40);

struct ProcessV1 {
  unsigned pid;
  unsigned long long used_memory;
};
struct ProcessV2 {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessV2) == 24);

struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency_us;
  int value_type, result;
  union {
    double real;
    unsigned small;
    unsigned long long large;
  } value;
};
static_assert(sizeof(FieldValue) == 40);

struct FabricInfo {
  unsigned char cluster[16];
  int status;
  unsigned clique;
  unsigned char state;
};
static_assert(sizeof(FabricInfo) == 28);

constexpr int not_supported = 3, no_permission = 4, insufficient_size = 7;
constexpr unsigned nvlink_speed_field = 90;  // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON

// Bits of nvmlDeviceGetCurrentClocksThrottleReasons; idleness (1) is no throttling.
constexpr std::array<std::pair<unsigned, const char*>, 8> clock_reasons = {
    {{0x2, "application clocks"},
     {0x4, "software power cap"},
     {0x8, "hardware slowdown"},
     {0x10, "sync boost"},
     {0x20, "software thermal slowdown"},
     {0x40, "hardware thermal slowdown"},
     {0x80, "power brake"},
     {0x100, "display clocks"}}};

template <std::size_t size>
std::string bounded(const char (&text)[size]) {
  return printable(std::string_view(text, ::strnlen(text, size)), size);
}

template <typename Value>
NvmlAnswer<Value> refused(std::string problem) {
  return {{}, std::move(problem)};
}

std::string lower_address(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

}  // namespace

template <typename... Arguments>
std::string Nvml::call(const char* function, Arguments... arguments) const {
  int (*entry)(Arguments...) = nullptr;
  try {
    entry = library_.function<int(Arguments...)>(function);
  } catch (const Error&) {
    return fmt::format("this driver has no {}", function);
  }
  return explain(entry(arguments...));
}

template <typename Value, typename... Arguments>
NvmlAnswer<Value> Nvml::ask(const char* function, Arguments... arguments) const {
  NvmlAnswer<Value> answer;
  answer.problem = call(function, arguments..., &answer.value);
  return answer;
}

NvmlAnswer<std::string> Nvml::ask_text(const char* function, Device* device) const {
  char text[96] = {};
  const std::string problem = call(function, device, &text[0], static_cast<unsigned>(sizeof(text)));
  return {problem.empty() ? bounded(text) : "", problem};
}

NvmlAnswer<bool> Nvml::ask_switch(const char* function, Device* device) const {
  const auto state = ask<int>(function, device);  // nvmlEnableState_t
  return {state.value == 1, state.problem};
}

std::string Nvml::explain(int code) const {
  if (code == 0) return "";
  if (code == not_supported) return "not supported by this GPU";
  if (code == no_permission) return "no permission";
  try {
    const char* words = library_.function<const char*(int)>("nvmlErrorString")(code);
    if (words != nullptr) return printable(std::string_view(words, ::strnlen(words, 120)), 120);
  } catch (const Error&) {
    // A library without it still has its number.
  }
  return fmt::format("NVML error {}", code);
}

Nvml Nvml::open(const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    try {
      Nvml nvml(Plugin::open(paths[i]));
      const std::string problem = nvml.call("nvmlInit_v2");
      if (problem.empty()) return nvml;
      throw Error(ErrorKind::internal, {problem, paths[i], "nvidia-smi"});
    } catch (const Error& error) {
      // A library that loads but refuses is the answer; one that does not load may lie elsewhere.
      if (error.kind() == ErrorKind::internal) {
        throw Error(ErrorKind::request, {error.message().what, paths[i], "nvidia-smi"});
      }
      if (i + 1 == paths.size()) throw;
    }
  }
  throw Error(ErrorKind::request, {"no place to look for NVML", "", "nvidia-smi"});
}

NvmlAnswer<std::string> Nvml::driver_version() const {
  char text[96] = {};
  const std::string problem =
      call("nvmlSystemGetDriverVersion", &text[0], static_cast<unsigned>(sizeof(text)));
  return {problem.empty() ? bounded(text) : "", problem};
}

NvmlAnswer<int> Nvml::cuda_version() const { return ask<int>("nvmlSystemGetCudaDriverVersion"); }
NvmlAnswer<unsigned> Nvml::count() const { return ask<unsigned>("nvmlDeviceGetCount_v2"); }

NvmlAnswer<Nvml::Device*> Nvml::device(unsigned index) const {
  return ask<Device*>("nvmlDeviceGetHandleByIndex_v2", index);
}

NvmlAnswer<std::string> Nvml::pci_address(Device* device) const {
  auto info = ask<PciInfo>("nvmlDeviceGetPciInfo_v3", device);
  if (!info.ok()) info = ask<PciInfo>("nvmlDeviceGetPciInfo_v2", device);
  if (!info.ok()) return refused<std::string>(info.problem);
  return {fmt::format("{:04x}:{:02x}:{:02x}.0", info.value.domain, info.value.bus, info.value.device), ""};
}

NvmlAnswer<std::string> Nvml::name(Device* device) const { return ask_text("nvmlDeviceGetName", device); }
NvmlAnswer<std::string> Nvml::vbios(Device* device) const {
  auto answer = ask_text("nvmlDeviceGetVbiosVersion", device);
  answer.value = lower_address(std::move(answer.value));
  return answer;
}
NvmlAnswer<unsigned> Nvml::minor_number(Device* device) const {
  return ask<unsigned>("nvmlDeviceGetMinorNumber", device);
}

NvmlAnswer<NvmlMemory> Nvml::memory(Device* device) const {
  MemoryV2 with_reserve{};
  with_reserve.version = static_cast<unsigned>(sizeof(MemoryV2)) | (2u << 24);
  // The first form counts the driver's own reserve as used: 600 MiB on an idle GPU of today.
  if (call("nvmlDeviceGetMemoryInfo_v2", device, &with_reserve).empty()) {
    return {{with_reserve.total, with_reserve.used}, ""};
  }
  const auto plain = ask<MemoryV1>("nvmlDeviceGetMemoryInfo", device);
  return {{plain.value.total, plain.value.used}, plain.problem};
}

NvmlAnswer<bool> Nvml::persistence(Device* device) const {
  return ask_switch("nvmlDeviceGetPersistenceMode", device);
}

NvmlAnswer<std::string> Nvml::compute_mode(Device* device) const {
  const auto mode = ask<int>("nvmlDeviceGetComputeMode", device);
  if (!mode.ok()) return refused<std::string>(mode.problem);
  constexpr std::array<const char*, 4> names = {"default", "exclusive thread", "prohibited", "exclusive"};
  const bool known = mode.value >= 0 && mode.value < 4;
  return {known ? names[static_cast<std::size_t>(mode.value)] : fmt::format("mode {}", mode.value), ""};
}

NvmlAnswer<bool> Nvml::mig(Device* device) const {
  unsigned current = 0, pending = 0;
  const std::string problem = call("nvmlDeviceGetMigMode", device, &current, &pending);
  return {current == 1, problem};
}

NvmlAnswer<std::uint64_t> Nvml::total_ecc_errors(Device* device, NvmlErrors kind) const {
  const auto count =
      ask<unsigned long long>("nvmlDeviceGetTotalEccErrors", device, static_cast<int>(kind), 0);
  return {count.value, count.problem};
}

NvmlAnswer<std::uint64_t> Nvml::ecc_errors(Device* device, NvmlErrors kind, NvmlMemoryPart part) const {
  const auto count = ask<unsigned long long>("nvmlDeviceGetMemoryErrorCounter", device,
                                             static_cast<int>(kind), 0, static_cast<int>(part));
  return {count.value, count.problem};
}

NvmlAnswer<NvmlRemappedRows> Nvml::remapped_rows(Device* device) const {
  NvmlRemappedRows rows;
  unsigned pending = 0, failed = 0;
  const std::string problem =
      call("nvmlDeviceGetRemappedRows", device, &rows.corrected, &rows.uncorrected, &pending, &failed);
  rows.pending = pending != 0;
  rows.failed = failed != 0;
  return {rows, problem};
}

NvmlAnswer<unsigned> Nvml::retired_pages(Device* device) const {
  unsigned total = 0;
  for (const int cause : {0, 1}) {  // several single-bit errors; one double-bit error
    unsigned pages = 0;
    // Called without addresses, it returns how many exist, and that they do not fit.
    const std::string problem =
        call("nvmlDeviceGetRetiredPages", device, cause, &pages, static_cast<unsigned long long*>(nullptr));
    if (!problem.empty() && problem != explain(insufficient_size)) return refused<unsigned>(problem);
    total += pages;
  }
  return {total, ""};
}

NvmlAnswer<bool> Nvml::retirement_pending(Device* device) const {
  return ask_switch("nvmlDeviceGetRetiredPagesPendingStatus", device);
}

NvmlAnswer<std::vector<std::string>> Nvml::throttle_reasons(Device* device) const {
  auto bits = ask<unsigned long long>("nvmlDeviceGetCurrentClocksEventReasons", device);
  if (!bits.ok()) bits = ask<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons", device);
  if (!bits.ok()) return refused<std::vector<std::string>>(bits.problem);
  NvmlAnswer<std::vector<std::string>> answer;
  for (const auto& [bit, words] : clock_reasons) {
    if ((bits.value & bit) != 0) answer.value.emplace_back(words);
  }
  return answer;
}

NvmlAnswer<unsigned> Nvml::temperature(Device* device) const {
  return ask<unsigned>("nvmlDeviceGetTemperature", device, 0);
}
NvmlAnswer<unsigned> Nvml::slowdown_temperature(Device* device) const {
  return ask<unsigned>("nvmlDeviceGetTemperatureThreshold", device, 1);
}
NvmlAnswer<unsigned> Nvml::application_clock(Device* device, NvmlClock clock) const {
  return ask<unsigned>("nvmlDeviceGetApplicationsClock", device, static_cast<int>(clock));
}
NvmlAnswer<unsigned> Nvml::default_application_clock(Device* device, NvmlClock clock) const {
  return ask<unsigned>("nvmlDeviceGetDefaultApplicationsClock", device, static_cast<int>(clock));
}

NvmlAnswer<std::vector<NvmlProcess>> Nvml::compute_processes(Device* device) const {
  NvmlAnswer<std::vector<NvmlProcess>> answer;
  const auto add = [&](unsigned pid, unsigned long long used) {
    answer.value.push_back({pid, used == ~0ull ? 0 : used});  // ~0: the driver does not report it
  };
  std::array<ProcessV2, 64> processes{};
  unsigned count = static_cast<unsigned>(processes.size());
  answer.problem = call("nvmlDeviceGetComputeRunningProcesses_v3", device, &count, processes.data());
  if (!answer.problem.starts_with("this driver has no")) {
    for (unsigned i = 0; answer.ok() && i < count && i < processes.size(); ++i) {
      add(processes[i].pid, processes[i].used_memory);
    }
    return answer;
  }
  std::array<ProcessV1, 64> plain{};
  count = static_cast<unsigned>(plain.size());
  answer.problem = call("nvmlDeviceGetComputeRunningProcesses", device, &count, plain.data());
  for (unsigned i = 0; answer.ok() && i < count && i < plain.size(); ++i) {
    add(plain[i].pid, plain[i].used_memory);
  }
  return answer;
}

NvmlAnswer<NvmlPcieLink> Nvml::pcie_link(Device* device) const {
  NvmlAnswer<NvmlPcieLink> answer;
  NvmlPcieLink& link = answer.value;
  const std::array<std::pair<const char*, unsigned*>, 4> parts = {
      {{"nvmlDeviceGetCurrPcieLinkGeneration", &link.generation},
       {"nvmlDeviceGetCurrPcieLinkWidth", &link.width},
       {"nvmlDeviceGetMaxPcieLinkGeneration", &link.max_generation},
       {"nvmlDeviceGetMaxPcieLinkWidth", &link.max_width}}};
  for (const auto& [function, value] : parts) {
    if (answer.ok()) answer.problem = call(function, device, value);
  }
  return answer;
}

NvmlAnswer<std::string> Nvml::peer_status(Device* from, Device* to) const {
  int status = 0;
  const std::string problem = call("nvmlDeviceGetP2PStatus", from, to, 0, &status);  // 0: may it read there
  if (!problem.empty()) return refused<std::string>(problem);
  constexpr std::array<const char*, 7> names = {"ok",
                                                "the chipset does not support it",
                                                "a GPU does not support it",
                                                "the PCIe topology does not support it",
                                                "switched off in the driver",
                                                "not supported",
                                                "unknown"};
  return {status >= 0 && status < 7 ? names[static_cast<std::size_t>(status)] : "unknown", ""};
}

NvmlAnswer<bool> Nvml::nvlink_active(Device* device, unsigned link) const {
  const auto state = ask<int>("nvmlDeviceGetNvLinkState", device, link);
  return {state.value == 1, state.problem};
}

NvmlAnswer<std::uint64_t> Nvml::nvlink_speed(Device* device) const {
  FieldValue field{};
  field.field = nvlink_speed_field;
  std::string problem = call("nvmlDeviceGetFieldValues", device, 1, &field);
  if (problem.empty()) problem = explain(field.result);
  return {field.value_type == 1 ? field.value.small : field.value.large, problem};
}

NvmlAnswer<std::string> Nvml::fabric_state(Device* device) const {
  const auto info = ask<FabricInfo>("nvmlDeviceGetGpuFabricInfo", device);
  if (!info.ok()) return refused<std::string>(info.problem);
  constexpr std::array<const char*, 4> names = {"not supported", "not started", "in progress", "completed"};
  if (info.value.state > 3) return refused<std::string>(fmt::format("state {}", info.value.state));
  if (info.value.state == 3 && info.value.status != 0) return {explain(info.value.status), ""};
  return {names[info.value.state], ""};
}

}  // namespace ddlrun::doctor

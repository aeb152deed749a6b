// SPDX-License-Identifier: MIT
// NVIDIA's management library, loaded while the program runs: what a driver reports of its GPUs, without
// NVIDIA's headers. Structures and numbers are those of the documented interface; entry points that an older
// driver lacks are answers ("this driver has no nvmlX"), not errors.
#pragma once

#include "base/os/plugin.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

// An answer, or why there is none in the library's words.
template <typename T>
struct NvmlAnswer {
  T value{};
  std::string problem;
  bool ok() const { return problem.empty(); }
};

struct NvmlMemory {
  std::uint64_t total = 0, used = 0;  // bytes; used excludes the driver's own memory if the driver reports it
};

struct NvmlProcess {
  unsigned pid = 0;
  std::uint64_t used_bytes = 0;  // 0 if the driver does not report it
};

struct NvmlRemappedRows {
  unsigned corrected = 0, uncorrected = 0;
  bool pending = false, failed = false;
};

struct NvmlPcieLink {
  unsigned generation = 0, width = 0, max_generation = 0, max_width = 0;
};

enum class NvmlErrors { corrected = 0, uncorrected = 1 };
enum class NvmlMemoryPart { dram = 2, sram = 7 };
enum class NvmlClock { sm = 1, memory = 2 };

class Nvml {
 public:
  // The first of `paths` that loads; Error{request} if none does or the driver refuses ("Driver/library
  // version mismatch").
  static Nvml open(const std::vector<std::string>& paths);

  NvmlAnswer<std::string> driver_version() const;
  NvmlAnswer<int> cuda_version() const;  // the newest that the driver runs: 12020 is 12.2
  NvmlAnswer<unsigned> count() const;

  struct Device;  // opaque
  NvmlAnswer<Device*> device(unsigned index) const;

  NvmlAnswer<std::string> pci_address(Device* device) const;  // "0000:01:00.0", as in /sys
  NvmlAnswer<std::string> name(Device* device) const;
  NvmlAnswer<std::string> vbios(Device* device) const;
  NvmlAnswer<unsigned> minor_number(Device* device) const;
  NvmlAnswer<NvmlMemory> memory(Device* device) const;
  NvmlAnswer<bool> persistence(Device* device) const;
  NvmlAnswer<std::string> compute_mode(Device* device) const;  // "default", "exclusive", "prohibited"
  NvmlAnswer<bool> mig(Device* device) const;
  NvmlAnswer<std::uint64_t> total_ecc_errors(Device* device, NvmlErrors kind) const;  // since the driver came
  NvmlAnswer<std::uint64_t> ecc_errors(Device* device, NvmlErrors kind, NvmlMemoryPart part) const;
  NvmlAnswer<NvmlRemappedRows> remapped_rows(Device* device) const;
  NvmlAnswer<unsigned> retired_pages(Device* device) const;  // for either cause
  NvmlAnswer<bool> retirement_pending(Device* device) const;
  NvmlAnswer<std::vector<std::string>> throttle_reasons(Device* device) const;  // but idleness
  NvmlAnswer<unsigned> temperature(Device* device) const;                       // degrees Celsius
  NvmlAnswer<unsigned> slowdown_temperature(Device* device) const;
  NvmlAnswer<unsigned> application_clock(Device* device, NvmlClock clock) const;  // MHz
  NvmlAnswer<unsigned> default_application_clock(Device* device, NvmlClock clock) const;
  NvmlAnswer<std::vector<NvmlProcess>> compute_processes(Device* device) const;  // at most 64
  NvmlAnswer<NvmlPcieLink> pcie_link(Device* device) const;
  NvmlAnswer<std::string> peer_status(Device* from, Device* to) const;  // "ok", "chipset", "topology"...
  NvmlAnswer<bool> nvlink_active(Device* device, unsigned link) const;
  NvmlAnswer<std::uint64_t> nvlink_speed(Device* device) const;  // MB/s of one link
  NvmlAnswer<std::string> fabric_state(Device* device) const;    // "completed", "in progress", ...

  static constexpr unsigned max_nvlinks = 18;

 private:
  explicit Nvml(Plugin library) : library_(std::move(library)) {}
  std::string explain(int code) const;
  // "" where the call went well. The arguments' types are the function's own: pass what its ABI defines.
  template <typename... Arguments>
  std::string call(const char* function, Arguments... arguments) const;
  template <typename Value, typename... Arguments>
  NvmlAnswer<Value> ask(const char* function, Arguments... arguments) const;
  NvmlAnswer<std::string> ask_text(const char* function, Device* device) const;
  NvmlAnswer<bool> ask_switch(const char* function, Device* device) const;

  Plugin library_;
};

}  // namespace ddlrun::doctor

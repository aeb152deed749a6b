// SPDX-License-Identifier: MIT
// GPU-01..05: how many GPUs, which ones, and whose driver, CUDA and NCCL.
#include "base/text/text.hpp"
#include "doctor/checks/device.hpp"
#include "doctor/parse/elf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace ddlrun::doctor {
namespace {

// A variable by which a scheduler or a container hands out part of a host's GPUs.
std::string grant_of(const Facts& facts) {
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "PBS_GPUFILE", "NVIDIA_VISIBLE_DEVICES"}) {
    const auto value = facts.text("gpu.env." + std::string(name));
    if (value && *value != "all" && !value->empty()) return name;
  }
  return "";
}

// GPUs that are there for computing: not those handed through to virtual machines.
std::uint64_t usable_gpus(const Facts& facts) {
  const std::uint64_t count = std::min(facts.number("gpu.count").value_or(0), max_counted_gpus);
  std::uint64_t usable = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    usable += facts.is(fmt::format("gpu.{}.driver", i), "vfio-pci") ? 0 : 1;
  return usable;
}

// What hosts of this job mostly have; of two counts that are equally common the larger.
std::uint64_t common_count(const CheckInput& input) {
  std::map<std::uint64_t, std::size_t> hosts;
  for (const HostReport& host : input.hosts) {
    if (const std::uint64_t count = usable_gpus(host.facts); count > 0) ++hosts[count];
  }
  std::uint64_t common = 0;
  for (const auto& [count, number] : hosts) {
    if (common == 0 || number >= hosts[common]) common = count;
  }
  return common;
}

const char* const lost_note =
    "take the host out of the job and have it power-cycled; a GPU that has fallen off the bus (Xid 79) does "
    "not "
    "come back by a reset";

CheckResult fewer(std::string observed, std::string expected) {
  return verdict_of(Verdict::fail, std::move(observed), std::move(expected),
                    "ranks without a GPU end with 'invalid device ordinal', and the job stops",
                    as_root({"dmesg | grep -i 'NVRM: Xid'", "nvidia-smi -L"}, lost_note));
}

CheckResult evaluate_count(const CheckInput& input, const HostReport& host, std::uint64_t common) {
  const std::uint64_t bus = usable_gpus(host.facts);
  const auto driver = host.facts.number("nvml.count");
  if (common == 0 && bus == 0 && driver.value_or(0) == 0) return skip("no NVIDIA GPU on the PCI bus");
  const std::string grant = grant_of(host.facts);
  if (driver && *driver < bus && grant.empty() && !host.facts.is("gpu.module.nvidia", "no")) {
    return fewer(fmt::format("{} on the PCI bus, the driver has {}", count_of(bus, "GPU"), *driver),
                 fmt::format("{} in the driver", bus));
  }
  const std::uint32_t needed = ranks_on(input, host);
  if (bus < common && grant.empty() && (needed == 0 || bus < needed)) {
    return fewer(count_of(bus, "GPU"), fmt::format("{}, as on most hosts of the job", common));
  }
  if (!grant.empty() && driver && *driver < bus) {
    return pass(fmt::format("{} granted ({}) of {}", count_of(*driver, "GPU"), grant, bus));
  }
  return pass(count_of(std::max(bus, driver.value_or(0)), "GPU"));
}

std::vector<Finding> check_count(const CheckInput& input) {
  const std::uint64_t common = common_count(input);
  return evaluate_each(
      input, "GPU-01",
      [&](const HostReport& host) {
        if (!host.facts.number("gpu.count")) return skip(host.facts.why_missing("gpu.count"));
        return evaluate_count(input, host, common);
      },
      "devices");
}

// "4 x Tesla P100-SXM2-16GB 15.9 GiB"; different ones joined by " + ".
std::optional<std::string> models_of(const HostReport& host) {
  std::map<std::string, std::size_t> models;
  for (const GpuFacts& gpu : gpus_of(host)) {
    const auto name = gpu.text("name");
    if (!name) continue;
    const auto memory = gpu.number("memory");
    ++models[memory ? fmt::format("{} {}", *name, render_bytes(*memory)) : std::string(*name)];
  }
  std::vector<std::string> parts;
  for (const auto& [name, count] : models) parts.push_back(name);
  return parts.empty() ? std::nullopt : std::optional(join(parts, " + "));
}

std::optional<std::string> vbios_of(const HostReport& host) {
  std::map<std::string, int> versions;
  for (const GpuFacts& gpu : gpus_of(host)) {
    if (const auto version = gpu.text("vbios")) ++versions[std::string(*version)];
  }
  std::vector<std::string> parts;
  for (const auto& [version, count] : versions) parts.push_back(version);
  return parts.empty() ? std::nullopt : std::optional("VBIOS " + join(parts, ", "));
}

bool nobody_has_gpus(const CheckInput& input) {
  return std::none_of(input.hosts.begin(), input.hosts.end(),
                      [](const HostReport& host) { return !skip_without_gpu(host); });
}

// check_equal, with a plain reason where no host has a GPU.
std::vector<Finding> check_equal_gpus(const CheckInput& input, std::string_view id, Verdict otherwise,
                                      std::optional<std::string> (*value)(const HostReport&),
                                      const CheckResult& words, std::string_view missing) {
  return check_equal(input, id, otherwise, value, words,
                     nobody_has_gpus(input) ? std::string_view("no NVIDIA GPU on the PCI bus") : missing);
}

std::vector<Finding> check_models(const CheckInput& input) {
  CheckResult words;
  words.why = "the slowest GPU sets the pace of an allreduce, and the smallest the largest batch";
  words.remedy =
      by_hand("ask the scheduler for hosts of one kind: --constraint, or another partition or host list");
  auto findings =
      check_equal_gpus(input, "GPU-02", Verdict::fail, models_of, words, "NVML reported no model");
  const bool equal = std::none_of(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.verdict == Verdict::fail; });
  if (!equal || group_by_value(input, vbios_of).size() < 2) return findings;
  words.why = "VBIOS versions differ in clocks and power limits: equal GPUs may run unequally fast";
  words.remedy = by_hand("harmless for a first run; ask the administrator for one VBIOS on all hosts");
  return check_equal_gpus(input, "GPU-02", Verdict::warn, vbios_of, words, "NVML reported no VBIOS version");
}

std::optional<std::string> driver_of(const HostReport& host) {
  for (const char* name : {"gpu.driver.version", "nvml.driver"}) {
    if (const auto version = host.facts.text(name)) return std::string(*version);
  }
  return std::nullopt;
}
std::optional<std::string> branch_of(const HostReport& host) {
  const auto version = driver_of(host);
  return version ? std::optional("branch " + version->substr(0, version->find('.'))) : std::nullopt;
}

std::vector<Finding> check_driver(const CheckInput& input) {
  CheckResult words;
  words.why =
      "NCCL and CUDA of different driver branches disagree on features; ranks hang or fall back unequally";
  words.remedy = by_hand("install the same driver package on all hosts and reboot them");
  if (group_by_value(input, branch_of).size() > 1) {
    return check_equal_gpus(input, "GPU-03", Verdict::fail, driver_of, words, "no NVIDIA driver is loaded");
  }
  words.why = "the same branch, but not the same release: rarely harmful, hard to find when it is";
  return check_equal_gpus(input, "GPU-03", Verdict::warn, driver_of, words, "no NVIDIA driver is loaded");
}

// The oldest Linux driver for each CUDA release, newest first (NVIDIA's compatibility table).
struct Requirement {
  const char* cuda;
  const char* driver;
};
constexpr std::array<Requirement, 11> requirements = {{{"13.0", "580"},
                                                       {"12.0", "525"},
                                                       {"11.0", "450"},
                                                       {"10.2", "440"},
                                                       {"10.1", "418"},
                                                       {"10.0", "410"},
                                                       {"9.2", "396"},
                                                       {"9.1", "390"},
                                                       {"9.0", "384"},
                                                       {"8.0", "367"},
                                                       {"7.5", "352"}}};

// "12.4" of a driver's 12040
std::string cuda_of_driver(std::uint64_t number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

CheckResult evaluate_cuda(const HostReport& host) {
  const auto runtime = host.facts.text("cuda.runtime");
  if (!runtime) return skip(host.facts.why_missing("cuda.runtime"));
  const auto driver = driver_of(host);
  if (!driver) return skip(host.facts.why_missing("gpu.driver.version"));
  const auto row = std::find_if(
      requirements.begin(), requirements.end(),
      [&](const Requirement& requirement) { return compare_versions(*runtime, requirement.cuda) >= 0; });
  if (row == requirements.end())
    return skip(fmt::format("CUDA {} is older than the compatibility table", *runtime));
  const std::string source(host.facts.text("cuda.runtime.source").value_or("the program"));
  const std::string seen = fmt::format("driver {}, CUDA runtime {} ({})", *driver, *runtime, source);
  const std::string expected = fmt::format("driver {} or newer", row->driver);
  const Remedy remedy =
      by_hand(fmt::format("install driver {} or newer, or a build of the program for an older CUDA; "
                          "on data centre GPUs the cuda-compat package also helps",
                          row->driver));
  if (compare_versions(*driver, row->driver) < 0) {
    const bool compat = host.facts.is("cuda.compat", "yes");
    return verdict_of(
        compat ? Verdict::warn : Verdict::fail, seen + (compat ? ", cuda-compat on LD_LIBRARY_PATH" : ""),
        expected, "cudaGetDeviceCount fails: CUDA driver version is insufficient for CUDA runtime version",
        remedy);
  }
  const auto newest = host.facts.number("nvml.cuda");
  const bool minor_only = newest && compare_versions(cuda_of_driver(*newest), *runtime) < 0;
  return pass(seen +
              (minor_only
                   ? fmt::format("; the driver is of CUDA {}: kernels that are compiled at run time (PTX) "
                                 "will not load",
                                 cuda_of_driver(*newest))
                   : ""));
}

std::vector<Finding> check_cuda_release(const CheckInput& input) {
  return evaluate_where(input, "GPU-04", skip_without_gpu, "devices", evaluate_cuda);
}

std::optional<std::string> nccl_of(const HostReport& host) {
  const auto version = host.facts.text("nccl.version");
  if (!version || skip_without_gpu(host)) return std::nullopt;
  const auto cuda = host.facts.text("nccl.cuda");
  return cuda ? fmt::format("NCCL {} for CUDA {}", *version, *cuda) : fmt::format("NCCL {}", *version);
}

// What must agree: 2.18 of 2.18.3, and the CUDA major.
std::optional<std::string> nccl_line(const HostReport& host) {
  const auto value = nccl_of(host);
  if (!value) return std::nullopt;
  const std::string version(*host.facts.text("nccl.version"));
  const std::size_t second = version.find('.', version.find('.') + 1);
  return version.substr(0, second) + " " + std::string(host.facts.text("nccl.cuda").value_or(""));
}

std::vector<Finding> check_nccl(const CheckInput& input) {
  CheckResult words;
  words.why =
      "ranks with different NCCL releases fail in ncclCommInitRank ('Mismatched NCCL version detected')";
  words.remedy = as_user(
      {"ldconfig -p | grep libnccl", "echo \"$LD_LIBRARY_PATH\""},
      "give all hosts the same libnccl.so.2: one environment on a shared file system, or one package");
  const Verdict otherwise = group_by_value(input, nccl_line).size() > 1 ? Verdict::fail : Verdict::warn;
  if (otherwise == Verdict::warn)
    words.why = "patch releases of NCCL differ: it works, and bugs differ by host";
  return check_equal_gpus(input, "GPU-05", otherwise, nccl_of, words,
                          "no libnccl.so.2 with a version in its name was found");
}

}  // namespace

std::span<const Check> gpu_identity_checks() {
  static constexpr Check table[] = {
      {"GPU-01", "number of GPUs", Level::quick, Place::pairs,
       "A GPU that has fallen off the PCI bus, or a host of another kind, leaves ranks without a device.",
       "Counts NVIDIA devices of class 0300 and 0302 in /sys/bus/pci/devices (without those bound to "
       "vfio-pci) and what NVML lists. fail: NVML has fewer than the bus, unless a scheduler or container "
       "granted a part; or the bus has fewer than most hosts of the job and than the job's ranks there. "
       "skip: no host has a GPU.",
       "Drain the host and power-cycle it; look for Xid 79 in the kernel's log.", check_count},
      {"GPU-02", "GPU model", Level::quick, Place::pairs,
       "The slowest GPU sets the pace of every step, and the smallest memory the batch.",
       "Model, memory size and VBIOS by NVML. fail: model or memory differ between hosts. warn: only the "
       "VBIOS differs.",
       "Ask the scheduler for hosts of one kind.", check_models},
      {"GPU-03", "GPU driver", Level::quick, Place::pairs,
       "Different driver branches give ranks different features of CUDA and NCCL.",
       "/proc/driver/nvidia/version, else NVML. fail: the branch (535) differs. warn: only what follows it "
       "differs.",
       "The same driver package on all hosts.", check_driver},
      {"GPU-04", "driver fits the CUDA runtime", Level::quick, Place::host,
       "A runtime newer than the driver allows fails in its first call.",
       "CUDA version of the job's program: torch/version.py beside its Python, else the libcudart that it is "
       "linked to; against NVIDIA's table (13.x needs driver 580, 12.x 525, 11.x 450, 10.2 440 ... 8.0 367). "
       "fail: older driver. warn: older driver, but cuda-compat on LD_LIBRARY_PATH. A runtime that is newer "
       "within one major passes, and is reported.",
       "Update the driver, use a program for an older CUDA, or install cuda-compat.", check_cuda_release},
      {"GPU-05", "NCCL version", Level::quick, Place::pairs,
       "Ranks with different NCCL releases refuse to talk to each other.",
       "The version in the file name of the libnccl.so.2 that the program would load, or in the name of its "
       "Python package. fail: the second number or the CUDA major differs. warn: the patch differs.",
       "One libnccl.so.2 for all hosts; look at LD_LIBRARY_PATH.", check_nccl},
  };
  return table;
}

}  // namespace ddlrun::doctor

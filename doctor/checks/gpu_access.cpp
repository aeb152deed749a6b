// SPDX-License-Identifier: MIT
// GPU-12..14: whether the ranks may use the GPUs: visibility, device files, Fabric Manager.
#include "base/text/text.hpp"
#include "doctor/checks/device.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {
namespace {

// How many devices CUDA takes from its variable: it stops at the first entry that names none.
std::uint64_t visible_count(std::string_view value, std::uint64_t installed) {
  std::uint64_t count = 0;
  for (const std::string_view word : split(value, ',')) {
    const std::string_view entry = trim(word);
    const auto number = parse_unsigned(entry);
    const bool is_name = entry.starts_with("GPU-") || entry.starts_with("MIG-");
    if (!is_name && (!number || *number >= installed)) break;
    ++count;
  }
  return count;
}

bool set_by_scheduler(const Facts& facts) {
  return facts.text("gpu.env.SLURM_STEP_GPUS") || facts.text("gpu.env.SLURM_JOB_GPUS") ||
         facts.text("gpu.env.PBS_GPUFILE");
}

CheckResult hidden(Verdict verdict, std::string observed, std::string expected) {
  return verdict_of(
      verdict, std::move(observed), std::move(expected),
      "a rank whose local rank is beyond the visible GPUs ends with 'invalid device ordinal'",
      as_user({"env | grep CUDA_VISIBLE_DEVICES",
               "grep -n CUDA_VISIBLE_DEVICES ~/.bashrc ~/.profile ~/.bash_profile"},
              "unset CUDA_VISIBLE_DEVICES in the script and in start-up files, and let the launcher choose "
              "a GPU by local rank"));
}

CheckResult evaluate_visible(const CheckInput& input, const HostReport& host) {
  const auto value = variable_of(input, host, "CUDA_VISIBLE_DEVICES", "gpu.env.");
  const std::uint64_t installed =
      std::max(host.facts.number("nvml.count").value_or(0), host.facts.number("gpu.count").value_or(0));
  if (!value)
    return pass(fmt::format("CUDA_VISIBLE_DEVICES is not set: all {} visible", count_of(installed, "GPU")));
  const std::string seen = fmt::format("CUDA_VISIBLE_DEVICES={}", *value);
  const std::uint64_t visible = visible_count(*value, installed);
  const std::uint32_t ranks = ranks_on(input, host);
  // With a set of its own for each task, this one does not show the others'.
  if (visible > 0 && visible < ranks && host.reach.via == Via::srun)
    return skip(seen + ", set for each task by Slurm");
  if (visible == 0)
    return hidden(Verdict::warn, seen + " hides every GPU",
                  fmt::format("{} visible", count_of(installed, "GPU")));
  if (ranks > 0 && visible < ranks && visible < installed) {
    return hidden(
        Verdict::fail,
        fmt::format("{}: {} visible for {}", seen, count_of(visible, "GPU"), count_of(ranks, "rank")),
        fmt::format("{} visible", count_of(std::min<std::uint64_t>(ranks, installed), "GPU")));
  }
  if (ranks == 0 && visible < installed && !set_by_scheduler(host.facts)) {
    return hidden(Verdict::warn, fmt::format("{}: {} of {} visible", seen, visible, installed),
                  fmt::format("{} visible, or a scheduler's grant", installed));
  }
  return pass(fmt::format("{}: {} of {} visible", seen, visible, installed));
}

// A scheduler that grants GPUs to a host without one believes a wrong gres.conf or ngpus; or a container
// hides them.
std::optional<CheckResult> warn_of_missing_gpus(const CheckInput& input, const HostReport& host) {
  auto skipped = skip_without_gpu(host);
  const std::uint32_t asked = input.job.gpus_per_host;
  const bool is_promised = asked > 0 || set_by_scheduler(host.facts);
  if (!skipped || !host.facts.number("gpu.count") || !is_promised || host.facts.is("gpu.kfd", "yes"))
    return skipped;
  const std::string promise = asked > 0
                                  ? fmt::format("the job requests {} on each host", count_of(asked, "GPU"))
                                  : "the scheduler granted GPUs";
  return verdict_of(
      Verdict::warn, promise + ", but no NVIDIA GPU is on the PCI bus", "these GPUs",
      "programs that choose a device themselves run on the CPU, without a word",
      as_user({"env | grep -e GPU -e CUDA_VISIBLE_DEVICES", "nvidia-smi -L"},
              "in a container: --nv (apptainer); else the administrator's list of GPUs is wrong"));
}

std::vector<Finding> check_visible(const CheckInput& input) {
  const auto skip_or_warn = [&](const HostReport& host) { return warn_of_missing_gpus(input, host); };
  return evaluate_where(input, "GPU-12", skip_or_warn, "devices",
                        [&](const HostReport& host) { return evaluate_visible(input, host); });
}

// Is this a machine where somebody wants NVIDIA's driver: the job's program brings CUDA, or other hosts have
// it.
bool some_host_has_driver(const CheckInput& input) {
  return std::any_of(input.hosts.begin(), input.hosts.end(), [](const HostReport& other) {
    return other.facts.text("gpu.driver.version").has_value();
  });
}

// The driver is wanted where the job's program brings CUDA, or other hosts have it.
CheckResult evaluate_driver_missing(const HostReport& host, bool others_have_it) {
  const std::string holder(host.facts.text("gpu.0.driver").value_or("none"));
  const std::string seen =
      fmt::format("{}, no NVIDIA driver loaded (held by: {})",
                  count_of(host.facts.number("gpu.count").value_or(0), "NVIDIA GPU"), holder);
  if (!others_have_it && !host.facts.text("cuda.runtime")) return skip(seen);
  return verdict_of(
      Verdict::fail, seen, "module nvidia loaded, as on the other hosts",
      "every CUDA call fails: no CUDA-capable device is detected",
      as_root({"modprobe nvidia", "modprobe nvidia-uvm", "dmesg | grep -i -e nvidia -e NVRM | tail"},
              "after a kernel update the driver's module must be built anew (dkms autoinstall)"));
}

CheckResult evaluate_nodes(const HostReport& host) {
  std::vector<std::string> denied, missing;
  for (const std::string& node : host.facts.segments("gpu.node.")) {
    const auto access = host.facts.text("gpu.node." + node);
    if (access == "no access") denied.push_back(quote_shell("/dev/" + node));
    // The setuid helper makes this one when CUDA first requests it.
    if (access == "missing" && !(node == "nvidia-uvm" && host.facts.is("gpu.modprobe", "yes")))
      missing.push_back(quote_shell("/dev/" + node));
  }
  if (!denied.empty()) {
    return verdict_of(
        Verdict::fail, "no access to " + join(denied, ", "), "readable and writable",
        "cudaGetDeviceCount fails with 'no CUDA-capable device is detected' or 'operation not permitted'",
        as_user({"ls -l " + join(denied, " "), "id"},
                "inside a job ask the scheduler for the GPUs (Slurm --gres=gpu:N); else the administrator "
                "for the group that owns these files"));
  }
  if (!missing.empty()) {
    return verdict_of(Verdict::fail, "missing: " + join(missing, ", "), "present, readable and writable",
                      "cuInit fails with CUDA_ERROR_UNKNOWN (999)",
                      as_root({"modprobe nvidia-uvm", "nvidia-modprobe -u -c 0"},
                              "in a container: start it with --gpus all"));
  }
  return pass("device files readable and writable");
}

CheckResult evaluate_access(const HostReport& host, bool others_have_it) {
  if (!host.facts.text("gpu.driver.version") && !host.facts.is("gpu.module.nvidia", "yes")) {
    return evaluate_driver_missing(host, others_have_it);
  }
  CheckResult nodes = evaluate_nodes(host);
  const std::string nvml = host.facts.why_missing("nvml.status");
  const bool refuses =
      !nvml.empty() && nvml != "not gathered" && nvml.find("cannot load") == std::string::npos;
  if (nodes.verdict != Verdict::pass || !refuses) return nodes;
  return verdict_of(
      Verdict::fail, "NVML refuses: " + nvml, "NVML starts",
      "CUDA refuses in the same way; with 'Driver/library version mismatch' the driver's files were updated "
      "under a running kernel module",
      as_root({"nvidia-smi", "cat /sys/module/nvidia/version",
               "modprobe -r nvidia_drm nvidia_modeset nvidia_uvm nvidia && modprobe nvidia"},
              "reboot the host where the modules cannot be unloaded"));
}

std::vector<Finding> check_access(const CheckInput& input) {
  const bool wanted = some_host_has_driver(input);
  return evaluate_where(input, "GPU-13", skip_without_gpu, "devices",
                        [&](const HostReport& host) { return evaluate_access(host, wanted); });
}

// The driver's own state of joining the fabric has precedence over whether a process of that name runs.
std::string fabric_of(const HostReport& host) {
  for (const GpuFacts& gpu : gpus_of(host)) {
    const auto state = gpu.text("fabric");
    if (state && *state != "not supported") return std::string(*state);
  }
  return "";
}

CheckResult evaluate_fabric_manager(const HostReport& host) {
  const std::uint64_t switches = host.facts.number("gpu.nvswitch").value_or(0);
  const std::string state = fabric_of(host);
  if (switches == 0 && state.empty()) return skip("no NVSwitch on this host");
  if (state == "completed") return pass("GPUs have joined the NVLink fabric");
  const bool runs = host.facts.is("gpu.fabric_manager", "running");
  if (state.empty() && runs) return pass("nv-fabricmanager runs");
  const std::string seen =
      state.empty() ? "nv-fabricmanager does not run" : "GPUs have not joined the NVLink fabric: " + state;
  return verdict_of(
      Verdict::fail, seen, "running, fabric state completed",
      "the first CUDA call fails with error 802, 'system not yet initialized'",
      as_root({"systemctl restart nvidia-fabricmanager", "systemctl status --no-pager nvidia-fabricmanager"},
              "its release must equal the driver's; in a virtual machine it runs on the hypervisor"));
}

std::vector<Finding> check_fabric_manager(const CheckInput& input) {
  return evaluate_where(input, "GPU-14", skip_without_gpu, "devices", evaluate_fabric_manager);
}

}  // namespace

std::span<const Check> gpu_access_checks() {
  static constexpr Check table[] = {
      {"GPU-12", "visible GPUs", Level::quick, Place::host,
       "CUDA_VISIBLE_DEVICES from a start-up file or script hides GPUs from ranks.",
       "The job's CUDA_VISIBLE_DEVICES, else the one of a shell on the host, counted as CUDA does (up to the "
       "first entry that names no GPU). fail: fewer visible than ranks there and than installed. warn: all "
       "hidden, or a part without a scheduler's grant where the ranks are not known. pass: unset.",
       "Unset it; launchers choose a GPU by local rank.", check_visible},
      {"GPU-13", "access to the GPUs", Level::quick, Place::host,
       "Without its module and device files CUDA finds no GPU.",
       "/sys/module/nvidia, /dev/nvidiactl, /dev/nvidia-uvm and /dev/nvidiaN of each GPU that the driver "
       "has, by access(2), and whether NVML starts. fail: missing, denied, NVML refuses, or no driver where "
       "the job or other hosts have one. /dev/nvidia-uvm may be missing where nvidia-modprobe is installed. "
       "A device cgroup shows as fewer GPUs in GPU-01.",
       "Ask the scheduler for GPUs (--gres=gpu:N); modprobe nvidia-uvm; reboot after a driver update.",
       check_access},
      {"GPU-14", "Fabric Manager", Level::quick, Place::host,
       "On boards with NVSwitch no CUDA program starts until Fabric Manager has set up the switches.",
       "NVSwitch chips (PCI class 0680 of NVIDIA), NVML's fabric state, else whether a process "
       "nv-fabricmanager runs. fail: neither. skip: no NVSwitch.",
       "systemctl restart nvidia-fabricmanager", check_fabric_manager},
  };
  return table;
}

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
// GPU-06..11: health of GPUs that are there: memory errors, Xids, modes, who else uses them, throttling.
#include "base/text/text.hpp"
#include "doctor/checks/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace ddlrun::doctor {
namespace {

constexpr std::uint64_t max_corrected_sram = 10'000, max_corrected_dram = 20'000'000, max_remapped = 512;
constexpr std::uint64_t idle_bytes = 500ull << 20;
constexpr std::uint64_t recent_seconds = 2 * 3600;

void evaluate_memory_errors(const GpuFacts& gpu, Worst& worst) {
  const auto more_than = [&](std::string_view part, std::uint64_t limit) {
    const auto value = gpu.number(part);
    return value && *value > limit ? value : std::nullopt;
  };
  const std::string label = gpu.label();
  if (const auto n = more_than("ecc.uncorrected", 0))
    worst.add(Verdict::fail, fmt::format("{}: {} uncorrected", label, *n));
  if (gpu.is("remap.failed", "yes")) worst.add(Verdict::fail, label + ": row remapping failed");
  if (gpu.is("remap.pending", "yes")) worst.add(Verdict::fail, label + ": row remapping pending");
  if (gpu.is("ecc.retirement_pending", "yes")) worst.add(Verdict::fail, label + ": page retirement pending");
  if (const auto n = more_than("remap.uncorrected", max_remapped)) {
    worst.add(Verdict::warn, fmt::format("{}: {} rows remapped after uncorrected errors", label, *n));
  }
  if (const auto n = more_than("ecc.corrected.sram", max_corrected_sram)) {
    worst.add(Verdict::warn, fmt::format("{}: {} corrected in SRAM", label, *n));
  }
  if (const auto n = more_than("ecc.corrected.dram", max_corrected_dram)) {
    worst.add(Verdict::warn, fmt::format("{}: {} corrected in DRAM", label, *n));
  }
}

CheckResult evaluate_ecc(const HostReport& host) {
  Worst worst;
  std::vector<std::string> resets;
  bool known = false;
  for (const GpuFacts& gpu : gpus_of(host)) {
    known |= gpu.number("ecc.uncorrected").has_value() || gpu.text("remap.pending").has_value();
    Worst one;
    evaluate_memory_errors(gpu, one);
    if (one.verdict() == Verdict::pass) continue;
    worst.add(one.verdict(), one.text());
    resets.push_back("nvidia-smi --gpu-reset -i " + quote_shell(gpu.pci()));
  }
  if (worst.verdict() == Verdict::pass) {
    return known ? pass("no uncorrected memory error, no row remapping pending")
                 : skip("these GPUs count no memory errors");
  }
  return verdict_of(
      worst.verdict(), worst.text(), "0 uncorrected errors, nothing pending",
      "the next access to such memory ends the process (Xid 48, 63, 94, 95), and the job with it",
      as_root(std::move(resets),
              "take the host out of the job first and end what runs on it; where the remapping failed or "
              "the errors come back, the GPU must be replaced"));
}

std::vector<Finding> check_ecc(const CheckInput& input) {
  return evaluate_where(input, "GPU-06", skip_without_nvml, "nvml", evaluate_ecc);
}

struct XidText {
  std::uint64_t xid;
  const char* text;
};
// Xids that mean hardware, driver or link; 13, 31, 43, 45 are faults of the application.
constexpr std::array<XidText, 20> hardware_xids = {{{48, "double-bit memory error"},
                                                    {56, "display engine error"},
                                                    {57, "video memory interface error"},
                                                    {58, "unstable video memory interface"},
                                                    {62, "internal micro-controller halt"},
                                                    {63, "row remapping or page retirement recorded"},
                                                    {64, "row remapping or page retirement failed"},
                                                    {65, "video processor error"},
                                                    {68, "NVDEC0 error"},
                                                    {69, "graphics engine class error"},
                                                    {73, "NVENC2 error"},
                                                    {74, "NVLink error"},
                                                    {79, "GPU has fallen off the bus"},
                                                    {80, "corrupted data sent to the GPU"},
                                                    {81, "VGA subsystem error"},
                                                    {92, "high rate of single-bit memory errors"},
                                                    {94, "contained memory error"},
                                                    {95, "uncontained memory error"},
                                                    {119, "GSP firmware timeout"},
                                                    {120, "GSP firmware error"}}};

struct SeenXid {
  std::uint64_t age = 0, xid = 0;
  std::string pci, text;
};

std::vector<SeenXid> hardware_events(const Facts& facts) {
  std::vector<SeenXid> events;
  for (const std::string_view line : facts.list("log.error.xid")) {
    const auto words = split(line, ' ');
    const auto age = parse_unsigned(words[0]);
    const auto xid = words.size() == 3 ? parse_unsigned(words[1]) : std::nullopt;
    if (!age || !xid) continue;
    const auto known = std::find_if(hardware_xids.begin(), hardware_xids.end(),
                                    [&](const XidText& row) { return row.xid == *xid; });
    if (known != hardware_xids.end()) events.push_back({*age, *xid, std::string(words[2]), known->text});
  }
  return events;
}

CheckResult evaluate_xids(const HostReport& host) {
  if (!host.facts.text("log.source")) return skip(host.facts.why_missing("log.source"));
  Worst worst;
  std::set<std::string> reported;
  for (const SeenXid& event : hardware_events(host.facts)) {
    const bool recent = event.age < recent_seconds;
    std::string text = fmt::format("Xid {} on {} ({}), {}", event.xid, event.pci, event.text,
                                   recent ? "in the last 2 h" : "earlier");
    if (reported.insert(text).second) worst.add(recent ? Verdict::fail : Verdict::warn, std::move(text));
  }
  if (worst.verdict() == Verdict::pass) return pass("no Xid of hardware or driver in the kernel's log");
  return verdict_of(
      worst.verdict(), worst.text(), "none",
      "a GPU that reported this stops answering or computes wrongly sooner or later",
      as_root(
          {"dmesg -T | grep 'NVRM: Xid'", "nvidia-smi -q -d ECC,ROW_REMAPPER,PERFORMANCE"},
          "take the host out of the job; 79, 119 and 120 need a power cycle, 48, 63, 94 and 95 a reset of "
          "the GPU (nvidia-smi --gpu-reset), 64 and 74 a repair when they come back"));
}

std::vector<Finding> check_xids(const CheckInput& input) {
  return evaluate_where(input, "GPU-07", skip_without_gpu, "device-log", evaluate_xids);
}

CheckResult evaluate_persistence(const HostReport& host) {
  std::vector<std::string> off;
  bool known = false;
  for (const GpuFacts& gpu : gpus_of(host)) {
    known |= gpu.text("persistence").has_value();
    if (gpu.is("persistence", "no")) off.push_back(std::to_string(gpu.index));
  }
  if (!known) return skip("NVML does not report the persistence mode");
  if (off.empty()) return pass("persistence mode on");
  return verdict_of(Verdict::warn, fmt::format("persistence mode off on GPU {}", join(off, ", ")), "on",
                    "the driver forgets an idle GPU: each start of a job then takes seconds more, and error "
                    "counters are lost",
                    as_root({"systemctl enable --now nvidia-persistenced || nvidia-smi -pm 1"}));
}

std::vector<Finding> check_persistence(const CheckInput& input) {
  return evaluate_where(input, "GPU-08", skip_without_nvml, "nvml", evaluate_persistence);
}

void evaluate_compute_mode(const GpuFacts& gpu, bool several_ranks, Worst& worst,
                           std::vector<std::string>& commands) {
  const std::string mode(gpu.text("compute_mode").value_or("default"));
  const std::string id = " -i " + quote_shell(gpu.pci());
  if (mode == "prohibited" || (mode != "default" && several_ranks)) {
    worst.add(Verdict::fail, fmt::format("{}: compute mode {}", gpu.label(), mode));
  } else if (mode != "default") {
    worst.add(Verdict::warn, fmt::format("{}: compute mode {}", gpu.label(), mode));
  }
  if (mode != "default") commands.push_back("nvidia-smi -c 0" + id);
  if (gpu.is("mig", "yes")) {
    worst.add(Verdict::fail, gpu.label() + ": MIG on");
    commands.push_back("nvidia-smi -mig 0" + id);
  }
}

// A job that names MIG instances wants them.
bool wants_mig(const CheckInput& input, const HostReport& host) {
  return variable_of(input, host, "CUDA_VISIBLE_DEVICES", "gpu.env.").value_or("").find("MIG-") !=
         std::string::npos;
}

CheckResult evaluate_compute_modes(const CheckInput& input, const HostReport& host) {
  Worst worst;
  std::vector<std::string> commands;
  const auto gpus = gpus_of(host);
  const bool several = ranks_on(input, host) > gpus.size();
  if (wants_mig(input, host)) return pass("the job names MIG instances");
  for (const GpuFacts& gpu : gpus) evaluate_compute_mode(gpu, several, worst, commands);
  if (worst.verdict() == Verdict::pass) return pass("compute mode default, MIG off");
  return verdict_of(
      worst.verdict(), worst.text(), "compute mode default, MIG off",
      "ranks fail with 'all CUDA-capable devices are busy or unavailable', or see a slice for a GPU; one "
      "process per GPU is all that an exclusive mode allows, and a helper process counts too",
      as_root(std::move(commands), "MIG can only be changed while nothing runs on the GPU"));
}

std::vector<Finding> check_compute_modes(const CheckInput& input) {
  return evaluate_where(input, "GPU-09", skip_without_nvml, "nvml",
                        [&](const HostReport& host) { return evaluate_compute_modes(input, host); });
}

// GPUs that the job will see where it names them by number; empty = all.
std::set<std::uint64_t> visible_numbers(const CheckInput& input, const HostReport& host) {
  std::set<std::uint64_t> numbers;
  const std::string value = variable_of(input, host, "CUDA_VISIBLE_DEVICES", "gpu.env.").value_or("");
  for (const std::string_view word : split(value, ',')) {
    const auto number = parse_unsigned(trim(word), 63);
    if (!number) return {};
    numbers.insert(*number);
  }
  return numbers;
}

// "pid 4242 of uid 1000: python3 train.py (5.0 GiB)"; nothing for NVIDIA's own server of shared GPUs.
std::optional<std::string> render_process(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() < 3) return std::nullopt;
  const std::size_t command_at = words[0].size() + words[1].size() + words[2].size() + 3;
  const std::string_view command = line.size() > command_at ? line.substr(command_at) : "(hidden)";
  if (command.find("nvidia-cuda-mps-server") != std::string_view::npos) return std::nullopt;
  const std::string owner = words[2] == "-1" ? "" : fmt::format(" of uid {}", words[2]);
  return fmt::format("pid {}{}: {} ({})", words[0], owner, command,
                     render_bytes(parse_unsigned(words[1]).value_or(0)));
}

void evaluate_use(const GpuFacts& gpu, Worst& worst, std::vector<std::string>& pids) {
  std::vector<std::string> processes;
  for (const std::string_view line : gpu.facts.list(gpu.name("processes"))) {
    const auto text = render_process(line);
    if (!text) continue;
    processes.push_back(*text);
    const auto pid = parse_unsigned(line.substr(0, line.find(' ')));  // it ends up in a command
    if (pid) pids.push_back(std::to_string(*pid));
  }
  const std::uint64_t used = gpu.number("used").value_or(0), total = gpu.number("memory").value_or(0);
  if (processes.empty() && used < idle_bytes) return;
  const bool much = total > 0 && used * 20 >= total;
  worst.add(much ? Verdict::fail : Verdict::warn,
            fmt::format("{}: {} in use{}{}", gpu.label(), render_bytes(used), processes.empty() ? "" : " by ",
                        join(processes, ", ")));
}

CheckResult evaluate_foreign(const CheckInput& input, const HostReport& host) {
  Worst worst;
  std::vector<std::string> pids;
  const auto visible = visible_numbers(input, host);
  for (const GpuFacts& gpu : gpus_of(host)) {
    if (visible.empty() || visible.contains(gpu.index)) evaluate_use(gpu, worst, pids);
  }
  if (worst.verdict() == Verdict::pass) return pass("GPUs idle: no compute process, under 500 MiB in use");
  std::vector<std::string> commands = {"nvidia-smi --query-compute-apps=pid,used_memory,name --format=csv"};
  if (!pids.empty()) commands.push_back("ps -o pid,user,etime,args -p " + join(pids, ","));
  return verdict_of(
      worst.verdict(), worst.text(), "no other process, under 500 MiB in use",
      "the job shares the GPU: it is slower than planned or ends with 'CUDA out of memory'",
      as_user(std::move(commands),
              input.job.has_whole_hosts
                  ? "end what is left over of your own (kill PID); the host is this job's alone, so another "
                    "user's process is one for the administrators"
                  : "end what is left over of your own (kill PID), or ask the scheduler for the whole host "
                    "(Slurm: --exclusive, PBS: place=excl)"));
}

std::vector<Finding> check_foreign(const CheckInput& input) {
  return evaluate_where(input, "GPU-10", skip_without_nvml, "nvml",
                        [&](const HostReport& host) { return evaluate_foreign(input, host); });
}

void evaluate_one_throttle(const GpuFacts& gpu, Worst& worst, std::vector<std::string>& commands) {
  for (const std::string_view reason : gpu.facts.list(gpu.name("clock.throttle"))) {
    const bool hardware = reason == "hardware slowdown" || reason == "hardware thermal slowdown" ||
                          reason == "software thermal slowdown" || reason == "power brake";
    if (hardware) {
      const auto degrees = gpu.number("temperature");
      worst.add(Verdict::fail,
                fmt::format("{}: {}{}", gpu.label(), reason, degrees ? fmt::format(", {} C", *degrees) : ""));
    } else if (reason == "software power cap") {
      worst.add(Verdict::warn, fmt::format("{}: {}", gpu.label(), reason));
    }
  }
  const auto clock = gpu.number("clock.sm"), usual = gpu.number("clock.sm.default");
  if (clock && usual && *clock < *usual) {
    worst.add(Verdict::warn,
              fmt::format("{}: application clock {} MHz, {} as delivered", gpu.label(), *clock, *usual));
    commands.push_back("nvidia-smi -rac -i " + quote_shell(gpu.pci()));
  }
}

CheckResult evaluate_throttle(const HostReport& host) {
  Worst worst;
  std::vector<std::string> commands = {"nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER,CLOCK"};
  bool known = false;
  for (const GpuFacts& gpu : gpus_of(host)) {
    known |= gpu.text("clock.throttle").has_value();
    evaluate_one_throttle(gpu, worst, commands);
  }
  if (worst.verdict() == Verdict::pass) {
    return known ? pass("not throttled, clocks as delivered")
                 : skip("NVML does not report what holds the clocks down");
  }
  return verdict_of(
      worst.verdict(), worst.text(), "no throttling, clocks as delivered",
      "one slow GPU slows down every rank at every step",
      as_root(std::move(commands), "check fans, air flow, power supplies and the host's power limit"));
}

std::vector<Finding> check_throttle(const CheckInput& input) {
  return evaluate_where(input, "GPU-11", skip_without_nvml, "nvml", evaluate_throttle);
}

}  // namespace

std::span<const Check> gpu_health_checks() {
  static constexpr Check table[] = {
      {"GPU-06", "GPU memory errors", Level::quick, Place::host,
       "An uncorrectable error ends the process that reads it.",
       "NVML: uncorrected errors since the driver was loaded, row remapping pending or failed, page "
       "retirement pending (fail if any); corrected errors above 10,000 (SRAM) or 20,000,000 (DRAM), more "
       "than 512 remapped rows (warn).",
       "Drain the host, nvidia-smi --gpu-reset; replace the GPU when remapping failed.", check_ecc},
      {"GPU-07", "Xid errors in the kernel's log", Level::quick, Place::host,
       "The driver reports hardware and firmware faults as Xid numbers; a GPU that had one fails again.",
       "dmesg, else journalctl -k, where this user may read one of them. Xids 48 56 57 58 62 63 64 65 68 69 "
       "73 74 79 80 81 92 94 95 119 120: fail within the last 2 h, warn since the host started. 13, 31, 43 "
       "and 45 are faults of programs and do not count.",
       "By Xid: power cycle (79, 119, 120), reset (48, 63, 94, 95), repair (64, 74).", check_xids},
      {"GPU-08", "persistence mode", Level::quick, Place::host,
       "Without it the driver unloads an idle GPU's state, which costs seconds at each start.",
       "NVML. warn: off. There is no fail.", "systemctl enable --now nvidia-persistenced", check_persistence},
      {"GPU-09", "compute mode and MIG", Level::quick, Place::host,
       "An exclusive or prohibited GPU refuses ranks; a MIG slice is not a whole GPU.",
       "NVML. fail: prohibited; exclusive with more ranks than GPUs; MIG on, unless CUDA_VISIBLE_DEVICES "
       "names MIG instances. warn: exclusive with a rank per GPU.",
       "nvidia-smi -c 0; nvidia-smi -mig 0", check_compute_modes},
      {"GPU-10", "GPUs used by others", Level::quick, Place::host,
       "Left-over or foreign processes take memory and time.",
       "NVML: compute processes and memory in use (without the driver's own reserve) of the GPUs that "
       "CUDA_VISIBLE_DEVICES leaves. pass: none and under 500 MiB. warn: under 5 % of the memory. fail: "
       "more. MPS servers do not count.",
       "End left-over processes, or ask for the host exclusively.", check_foreign},
      {"GPU-11", "GPU clocks and throttling", Level::quick, Place::host,
       "A throttled GPU slows down the whole job.",
       "NVML: what holds the clocks down now. fail: hardware slowdown, thermal slowdown, power brake. warn: "
       "software power cap, application clocks below those as delivered.",
       "Check cooling and power; nvidia-smi -rac.", check_throttle},
  };
  return table;
}

}  // namespace ddlrun::doctor

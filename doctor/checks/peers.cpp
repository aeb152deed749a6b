// SPDX-License-Identifier: MIT
// P2P-01..04, 06, 07: what lies between the GPUs of a host, and between a GPU and its rank's cores.
#include "base/text/text.hpp"
#include "doctor/checks/device.hpp"
#include "doctor/checks/gpu_place.hpp"
#include "doctor/model/job.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {
namespace {

bool is_virtual_machine(const HostReport& host) { return host.facts.is("peers.virtual", "yes"); }

// Something that a GPU could exchange data with past the processor: another GPU, or an RDMA adapter.
bool has_peers(const HostReport& host) {
  return host.facts.number("gpu.count").value_or(0) > 1 || host.facts.number("ib.count").value_or(0) > 0;
}

// "0-1 0-2 1-3": each pair once, and the reason that the first of them has.
std::string render_pairs(const std::vector<std::string_view>& lines) {
  std::vector<std::string> pairs;
  for (const std::string_view line : lines) {
    const auto words = split(line, ' ');
    if (words.size() < 3) continue;
    const auto a = parse_unsigned(words[0]), b = parse_unsigned(words[1]);
    if (!a || !b) continue;
    std::string pair = fmt::format("{}-{}", std::min(*a, *b), std::max(*a, *b));
    if (std::find(pairs.begin(), pairs.end(), pair) == pairs.end()) pairs.push_back(std::move(pair));
  }
  const std::string_view first = lines.front();
  const std::size_t reason = first.find(' ', first.find(' ') + 1);
  const std::size_t all = pairs.size();
  if (pairs.size() > 16) pairs.resize(16);
  return fmt::format("{} without: {}{} ({})", count_of(all, "pair"), join(pairs, " "), all > 16 ? " ..." : "",
                     reason == std::string_view::npos ? "no reason given" : first.substr(reason + 1));
}

// Pairs across processors, and GPUs that lack it altogether, are how such machines are built: not a fault.
bool is_expected(const HostReport& host, std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() < 3) return true;
  if (line.find("a GPU does not support it") != std::string_view::npos) return true;
  const auto a = host.facts.number(fmt::format("gpu.{}.numa", words[0]));
  const auto b = host.facts.number(fmt::format("gpu.{}.numa", words[1]));
  return line.find("switched off") == std::string_view::npos && (!a || !b || a != b);
}

CheckResult evaluate_peer_access(const HostReport& host) {
  if (gpus_of(host).size() < 2) return skip("fewer than 2 GPUs");
  if (!host.facts.text("nvml.peers.without")) return skip(host.facts.why_missing("nvml.peers.without"));
  const auto without = host.facts.list("nvml.peers.without");
  const std::uint64_t pairs = host.facts.number("nvml.peers.pairs").value_or(0) / 2;
  if (without.empty()) return pass(fmt::format("all {} of GPUs reach each other", count_of(pairs, "pair")));
  const bool expected = std::all_of(without.begin(), without.end(),
                                    [&](std::string_view line) { return is_expected(host, line); });
  if (expected) return pass(render_pairs(without) + "; NCCL goes through the host's memory there");
  return verdict_of(
      Verdict::warn, render_pairs(without), fmt::format("all {}", count_of(pairs, "pair")),
      "between these NCCL goes through the host's memory: slower, but correct",
      as_user({"nvidia-smi topo -p2p r", "nvidia-smi topo -m"},
              "look for NVreg_RegistryDwords in /etc/modprobe.d, ACS and IOMMU (P2P-03, P2P-04); give ranks "
              "that talk most GPUs on one switch, and see NCCL_P2P_LEVEL"));
}

std::vector<Finding> check_peer_access(const CheckInput& input) {
  return evaluate_where(input, "P2P-01", skip_without_nvml, "nvml", evaluate_peer_access);
}

// "4 GPUs x 6 links, 25781 MB/s"; what hosts must have in common.
std::optional<std::string> links_of(const HostReport& host) {
  const auto gpus = gpus_of(host);
  if (gpus.empty() || skip_without_nvml(host)) return std::nullopt;
  std::vector<std::string> kinds;
  for (const GpuFacts& gpu : gpus) {
    const auto speed = gpu.number("nvlink.speed");
    std::string kind = fmt::format("{}{}", count_of(gpu.number("nvlink.count").value_or(0), "NVLink"),
                                   speed ? fmt::format(" of {} MB/s", *speed) : "");
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(std::move(kind));
  }
  std::sort(kinds.begin(), kinds.end());
  return join(kinds, " or ") + " per GPU";
}

Remedy nvlink_remedy() {
  return as_root({"nvidia-smi nvlink -s", "nvidia-smi nvlink -e", "dmesg | grep 'NVRM: Xid.*: 74,'"},
                 "take the host out of the job; a link that does not come back after a reset of all GPUs or "
                 "a power cycle "
                 "is a repair");
}

CheckResult evaluate_nvlink(const HostReport& host) {
  Worst worst;
  std::uint64_t links = 0, none = 0;
  const auto gpus = gpus_of(host);
  for (const GpuFacts& gpu : gpus) {
    const std::uint64_t count = gpu.number("nvlink.count").value_or(0),
                        active = gpu.number("nvlink.active").value_or(0);
    links += count;
    none += active == 0 ? 1 : 0;
    if (active < count)
      worst.add(Verdict::fail, fmt::format("{}: {} of {} NVLinks active", gpu.label(), active, count));
  }
  if (links == 0) return skip("no NVLink");
  // PCIe cards have connectors for a bridge that most machines lack: no link of no GPU is up, and none is
  // missed.
  if (none == gpus.size()) return pass("NVLink connectors without a bridge: no link is up on any GPU");
  if (worst.verdict() == Verdict::pass) return pass("all NVLinks active, " + links_of(host).value_or(""));
  return verdict_of(worst.verdict(), worst.text(), "all active",
                    "collectives take the slowest path between GPUs, or fail with an NVLink error (Xid 74)",
                    nvlink_remedy());
}

std::vector<Finding> check_nvlink(const CheckInput& input) {
  auto findings = evaluate_where(input, "P2P-02", skip_without_nvml, "nvml", evaluate_nvlink);
  const bool all_well = std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.verdict == Verdict::pass || finding.verdict == Verdict::skip;
  });
  if (!all_well || group_by_value(input, links_of).size() < 2) return findings;
  CheckResult words;
  words.why = "ranks on hosts with fewer or slower NVLinks hold up all others";
  words.remedy = nvlink_remedy();
  return check_equal(input, "P2P-02", Verdict::fail, links_of, words, "no NVIDIA GPU that NVML lists");
}

CheckResult evaluate_acs(const HostReport& host) {
  if (!has_peers(host)) return skip("one GPU and no RDMA adapter: nothing to reach past the processor");
  const auto bridges = host.facts.number("peers.bridges"),
             unreadable = host.facts.number("peers.acs.unreadable");
  if (!bridges || !unreadable) return skip(host.facts.why_missing("peers.bridges"));
  if (*bridges == 0) return skip("no PCIe bridge above the GPUs is visible");
  const auto on = host.facts.list("peers.acs.on");
  if (on.empty() && *unreadable > 0) return skip("the bridges' configuration space is for root only");
  if (on.empty()) return pass(fmt::format("ACS off on {} above the GPUs", count_of(*bridges, "bridge")));
  std::vector<std::string> commands, shown;
  for (const std::string_view bridge : on) {
    if (shown.size() < 8) shown.emplace_back(bridge);
    commands.push_back(fmt::format("setpci -s {} ECAP_ACS+0x6.w=0000", quote_shell(bridge)));
  }
  const std::string seen = fmt::format("ACS on on {} of {}: {}{}", on.size(), count_of(*bridges, "bridge"),
                                       join(shown, " "), on.size() > shown.size() ? " ..." : "");
  if (is_virtual_machine(host)) {
    return verdict_of(
        Verdict::warn, seen + " in a virtual machine", "off, or ATS on in the adapters",
        "a virtual machine needs ACS; peer-to-peer traffic then detours by the processor unless ATS is on",
        by_hand("ask the provider whether ATS is on for GPUs and adapters"));
  }
  return verdict_of(
      Verdict::fail, seen, "off",
      "peer-to-peer traffic detours by the processor: NCCL is slow or hangs in its first collective",
      as_root(std::move(commands),
              "holds until the next boot; switch ACS or IO virtualisation off in the BIOS for good"));
}

std::vector<Finding> check_acs(const CheckInput& input) {
  return evaluate_where(input, "P2P-03", skip_without_gpu, "devices", evaluate_acs);
}

CheckResult evaluate_iommu(const HostReport& host) {
  if (!has_peers(host)) return skip("one GPU and no RDMA adapter: nothing to reach past the processor");
  const auto units = host.facts.number("peers.iommu.units");
  if (!units) return skip(host.facts.why_missing("peers.iommu.units"));
  if (*units == 0) return pass("IOMMU off");
  const auto type = host.facts.text("peers.iommu.type");
  if (type == "identity" || (!type && host.facts.is("peers.iommu.cmdline", "yes")))
    return pass("IOMMU passes through");
  if (is_virtual_machine(host)) return pass("IOMMU of a virtual machine");
  return verdict_of(
      Verdict::warn, fmt::format("IOMMU on{}", type ? fmt::format(", translating ({})", *type) : ""),
      "off, or iommu=pt",
      "peer-to-peer traffic may detour by the processor; NCCL is slow or hangs on some machines",
      as_root({"grep GRUB_CMDLINE_LINUX /etc/default/grub",
               "sed -i 's/^GRUB_CMDLINE_LINUX=\"/&iommu=pt /' /etc/default/grub && update-grub"},
              "then reboot; on Red Hat: grubby --update-kernel=ALL --args=iommu=pt"));
}

std::vector<Finding> check_iommu(const CheckInput& input) {
  return evaluate_where(input, "P2P-04", skip_without_gpu, "devices", evaluate_iommu);
}

CheckResult evaluate_place(const CheckInput& input, const HostReport& host, const RankPlacer& placer) {
  const RankPlaces places = placer.find(host);
  if (!places.problem.empty()) return skip(places.problem);
  Worst worst;
  for (const RankPlace& place : places.places) {
    if (place.nearness == Nearness::same_node) continue;
    const bool far = place.nearness == Nearness::other_package;
    worst.add(far ? Verdict::fail : Verdict::warn,
              fmt::format("rank {} (slot={}) on {} than GPU {}", place.rank, place.slots,
                          far ? "another package" : "another NUMA node of the same package", place.gpu));
  }
  if (worst.verdict() == Verdict::pass) return pass("each rank's cores are on its GPU's NUMA node");
  const std::string dims = input.job.dims ? topology::render_dims(*input.job.dims) : "";
  std::vector<std::string> commands;
  if (!dims.empty() && !input.job.allocation.empty()) {
    const std::string to =
        input.job.rankfile_path.empty() ? "" : " > " + quote_shell(input.job.rankfile_path + ".new");
    commands.push_back(fmt::format("ddlrun gen-rankfile {} {}{}{}", dims,
                                   quote_shell(join(input.job.allocation, ",")), order_option(input.job),
                                   to));
  }
  Remedy remedy{std::move(commands), false, true,
                "write the rankfile anew on a host with these GPUs (ddlrun gen-rankfile places ranks by "
                "their GPUs), or "
                "swap the slots of these ranks"};
  return verdict_of(worst.verdict(), worst.text(), "cores on the GPU's NUMA node",
                    "each copy to and from the GPU crosses the link between the processors",
                    std::move(remedy));
}

std::vector<Finding> check_place(const CheckInput& input) {
  const RankPlacer placer(input.job.rankfile_text);
  return evaluate_where(input, "P2P-06", skip_without_gpu, "devices",
                        [&](const HostReport& host) { return evaluate_place(input, host, placer); });
}

CheckResult evaluate_bus(const HostReport& host) {
  const std::uint64_t gpus =
      std::max(host.facts.number("gpu.count").value_or(0), host.facts.number("nvml.count").value_or(0));
  if (host.facts.is("gpu.bus", "missing") || host.facts.number("gpu.count") == 0u) {
    return verdict_of(
        Verdict::fail, "/sys/bus/pci shows no GPU", fmt::format("{}", count_of(gpus, "GPU")),
        "NCCL cannot detect which GPUs and adapters are near each other and chooses slow paths",
        by_hand("mount /sys into the container (--volume /sys:/sys:ro), or give NCCL a description of the "
                "machine: NCCL_TOPO_FILE"));
  }
  if (is_virtual_machine(host) && gpus > 1 && host.facts.number("peers.bridges") == 0u) {
    return verdict_of(
        Verdict::warn, "virtual machine: GPUs without a bridge above them", "the machine's own PCIe tree",
        "NCCL takes all GPUs for equally far from each other and chooses slow paths",
        by_hand("give NCCL the provider's description of the machine: NCCL_TOPO_FILE=/path/topo.xml"));
  }
  return pass(is_virtual_machine(host) ? "PCIe tree visible (virtual machine)" : "PCIe tree visible");
}

std::vector<Finding> check_bus(const CheckInput& input) {
  return evaluate_where(input, "P2P-07", skip_without_gpu, "devices", evaluate_bus);
}

}  // namespace

std::span<const Check> peer_checks() {
  static constexpr Check table[] = {
      {"P2P-01", "peer access between GPUs", Level::quick, Place::host,
       "GPUs that cannot read each other's memory exchange data through the host's.",
       "NVML's peer-to-peer status of every pair. warn: a pair on one NUMA node without, or switched off in "
       "the driver. Pairs across processors and GPUs that lack it altogether pass, and are reported. There "
       "is no "
       "fail: NCCL falls back.",
       "Ranks that talk most on GPUs of one switch; NCCL_P2P_LEVEL.", check_peer_access},
      {"P2P-02", "NVLink", Level::quick, Place::pairs,
       "A link that is down halves the bandwidth of a ring, for all ranks.",
       "State of each NVLink and the speed of a link by NVML. fail: a link inactive while others of the host "
       "are up, or number or speed differ between hosts. pass: no link of any GPU is up (cards without a "
       "bridge).",
       "Drain; reset all GPUs or power-cycle; else repair.", check_nvlink},
      {"P2P-03", "PCIe access control (ACS)", Level::quick, Place::host,
       "With ACS on, bridges send traffic between GPUs up to the processor and back.",
       "Capability 0x000d in the configuration space of each bridge above a GPU; readable by root only, else "
       "skip. fail: source validation or redirection on, where there are 2 GPUs or an RDMA adapter. warn: "
       "the same in a virtual machine.",
       "Switch it off in the BIOS, or at each boot: setpci -s BDF ECAP_ACS+0x6.w=0000", check_acs},
      {"P2P-04", "IOMMU", Level::quick, Place::host,
       "An IOMMU that translates addresses makes peer-to-peer traffic detour by the processor.",
       "/sys/class/iommu, the type of the GPUs' iommu_group, /proc/cmdline. pass: none, identity (iommu=pt), "
       "or a virtual machine. warn: translating, where there are 2 GPUs or an RDMA adapter.",
       "iommu=pt on the kernel's command line.", check_iommu},
      {"P2P-06", "ranks near their GPUs", Level::quick, Place::pairs,
       "A rank on the other processor pays for each transfer to its GPU.",
       "The slots of --rankfile on this host's cores against the NUMA node of GPU x for local rank x (PCI "
       "bus order). warn: another NUMA node of the same package. fail: another package. skip: no rankfile, "
       "or NUMA nodes unknown (VMs).",
       "ddlrun gen-rankfile places ranks by their GPUs.", check_place},
      {"P2P-07", "PCI bus visible", Level::quick, Place::host,
       "NCCL builds its rings from the PCI tree in /sys.",
       "Whether /sys/bus/pci shows the GPUs that NVML lists. fail: it does not. warn: a virtual machine with "
       "several GPUs and no bridge above them.",
       "Mount /sys into the container; NCCL_TOPO_FILE.", check_bus},
  };
  return table;
}

}  // namespace ddlrun::doctor

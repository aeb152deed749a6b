// SPDX-License-Identifier: MIT
// GPU-15..17, P2P-05: what shows only when GPUs work.
#include "base/text/text.hpp"
#include "doctor/checks/device.hpp"

#include <fmt/format.h>

namespace ddlrun::doctor {
namespace {

// One GPU that was tried out.
struct TriedGpu {
  const Facts& facts;
  std::uint64_t index;
  std::string name(std::string_view part) const { return fmt::format("cuda.try.{}.{}", index, part); }
  std::optional<std::string_view> text(std::string_view part) const { return facts.text(name(part)); }
  std::string label() const { return fmt::format("GPU {} ({})", index, text("pci").value_or("?")); }
};

std::vector<TriedGpu> tried_on(const HostReport& host) {
  std::vector<TriedGpu> gpus;
  const std::uint64_t count = host.facts.number("cuda.try.count").value_or(0);
  for (std::uint64_t i = 0; i < count && i < 16; ++i) gpus.push_back({host.facts, i});
  return gpus;
}

std::optional<CheckResult> skip_untried(const HostReport& host) {
  if (auto skipped = skip_without_gpu(host)) return skipped;
  if (tried_on(host).empty())
    return skip("GPUs were not tried out: " + host.facts.why_missing("cuda.try.count"));
  return std::nullopt;
}

CheckResult evaluate_link(const HostReport& host) {
  Worst worst;
  bool known = false;
  for (const TriedGpu& gpu : tried_on(host)) {
    const auto width = gpu.facts.number(gpu.name("link.width")),
               full = gpu.facts.number(gpu.name("link.max_width"));
    if (!width || !full || *full == 0) continue;
    known = true;
    if (*width < *full) worst.add(Verdict::fail, fmt::format("{}: x{} of x{}", gpu.label(), *width, *full));
  }
  if (!known) return skip("the PCIe width is not readable here");
  if (worst.verdict() == Verdict::pass) return pass("PCIe at full width under load");
  return verdict_of(worst.verdict(), worst.text(), "all lanes",
                    "copies to and from this GPU run at a fraction of their speed, and with them every step",
                    as_root({"lspci -vv -d 10de: | grep -e LnkCap: -e LnkSta:"},
                            "reinsert the card or its riser; a slot with fewer lanes shows the same"));
}

std::vector<Finding> check_link(const CheckInput& input) {
  return evaluate_where(input, "GPU-15", skip_untried, "cuda", evaluate_link);
}

constexpr std::uint64_t quick_ms = 10'000;

CheckResult evaluate_trial(const HostReport& host) {
  Worst worst;
  for (const TriedGpu& gpu : tried_on(host)) {
    const std::string result(gpu.text("result").value_or("nothing came back"));
    const std::uint64_t took = gpu.facts.number(gpu.name("time_ms")).value_or(0);
    if (result != "right") {
      worst.add(Verdict::fail, gpu.label() + ": " + result);
    } else if (took > quick_ms) {
      worst.add(Verdict::warn,
                fmt::format("{}: right, after {:.0f} s", gpu.label(), static_cast<double>(took) / 1000));
    }
  }
  if (worst.verdict() == Verdict::pass) return pass("256 MiB and a sum on each GPU: right");
  return verdict_of(
      worst.verdict(), worst.text(), "right, within 10 s",
      "the job's first CUDA call would fail, hang or compute wrongly in the same way",
      as_root(
          {"nvidia-smi", "dmesg -T | grep 'NVRM: Xid'"},
          "without persistence mode the first call alone can take seconds (GPU-08); what hangs or computes "
          "wrongly: take the host out of the job and reset the GPU"));
}

// A GPU host on which the trial could not even begin is a finding where the driver itself is well.
std::optional<CheckResult> skip_or_fail_to_start(const HostReport& host) {
  if (auto skipped = skip_without_gpu(host)) return skipped;
  const std::string why = host.facts.why_missing("cuda.try.count");
  if (why.starts_with("cuInit: ")) {
    return verdict_of(Verdict::fail, why, "cuInit succeeds",
                      "every CUDA program on this host fails in the same way",
                      as_root({"nvidia-smi", "modprobe nvidia-uvm"}, "see GPU-13 and GPU-14"));
  }
  return skip_untried(host);
}

std::vector<Finding> check_trial(const CheckInput& input) {
  return evaluate_where(input, "GPU-16", skip_or_fail_to_start, "cuda", evaluate_trial);
}

CheckResult evaluate_dcgm(const HostReport& host) {
  if (!host.facts.text("dcgm.failed")) return skip_for_stress(host, "dcgm.failed");
  const auto failed = host.facts.list("dcgm.failed");
  if (failed.empty()) {
    return pass(fmt::format("dcgmi diag -r 1: {} passed",
                            count_of(host.facts.number("dcgm.passed").value_or(0), "test")));
  }
  Worst worst;
  for (const std::string_view line : failed) worst.add(Verdict::fail, std::string(line));
  return verdict_of(worst.verdict(), worst.text(), "all tests pass",
                    "NVIDIA's own test reports a fault that the job would hit",
                    as_root({"dcgmi diag -r 1 -j", "dcgmi health -g 0 -c"},
                            "follow dcgmi's message about the failed test"));
}

std::vector<Finding> check_dcgm(const CheckInput& input) {
  return evaluate_where(input, "GPU-17", skip_without_gpu, "gpu-stress", evaluate_dcgm);
}

CheckResult evaluate_copies(const HostReport& host) {
  if (tried_on(host).size() < 2) return skip("fewer than 2 GPUs that were tried out");
  if (!host.facts.text("cuda.copy.wrong")) return skip(host.facts.why_missing("cuda.copy.wrong"));
  const auto wrong = host.facts.list("cuda.copy.wrong");
  if (wrong.empty()) {
    return pass(fmt::format("{} of GPUs: data arrive as sent",
                            count_of(host.facts.number("cuda.copy.pairs").value_or(0), "ordered pair")));
  }
  Worst worst;
  for (const std::string_view line : wrong) {
    const auto words = split(line, ' ');
    if (words.size() < 3) continue;
    worst.add(Verdict::fail, fmt::format("GPU {} to {}: {}", words[0], words[1],
                                         line.substr(words[0].size() + words[1].size() + 2)));
  }
  return verdict_of(Verdict::fail, worst.text(), "data arrive as sent",
                    "gradients are summed from wrong data, or NCCL hangs in its first collective",
                    as_user({"export NCCL_P2P_DISABLE=1"},
                            "keeps NCCL off these paths (NCCL_P2P_LEVEL=PXB keeps it below one host bridge); "
                            "the cause is mostly "
                            "ACS or the IOMMU: P2P-03, P2P-04"));
}

std::vector<Finding> check_copies(const CheckInput& input) {
  return evaluate_where(input, "P2P-05", skip_untried, "cuda", evaluate_copies);
}

}  // namespace

std::span<const Check> gpu_load_checks() {
  static constexpr Check table[] = {
      {"GPU-15", "PCIe width under load", Level::full, Place::host,
       "A card that lost lanes copies at a fraction of its speed.",
       "current_link_width against max_link_width in /sys/bus/pci/devices right after copies to the GPU; the "
       "speed is not evaluated, since idle links slow down to 2.5 GT/s. fail: fewer lanes.",
       "Reinsert the card.", check_link},
      {"GPU-16", "GPUs compute", Level::full, Place::host,
       "A GPU can be listed and still hang, fail or add wrongly.",
       "libcuda in a child for each GPU: cuInit, 256 MiB, a sum of two vectors of 4 Mi numbers, checked. "
       "pass: right within 10 s. warn: right within 60 s. fail: error, wrong result, or no answer.",
       "Look for Xids, reset the GPU.", check_trial},
      {"GPU-17", "dcgmi diag", Level::stress, Place::host,
       "NVIDIA's own test of the installation and the board.",
       "dcgmi diag -r 1, where installed. fail: a test failed.", "dcgmi's message about the failed test.",
       check_dcgm},
      {"P2P-05", "copies between GPUs", Level::full, Place::host,
       "Peer copies that go astray give wrong gradients without an error.",
       "libcuda: 4 MiB from each GPU to each other by cuMemcpyPeer, read by the receiving GPU itself. fail: "
       "other data.",
       "NCCL_P2P_DISABLE=1 or NCCL_P2P_LEVEL=PXB; switch ACS off.", check_copies},
  };
  return table;
}

}  // namespace ddlrun::doctor

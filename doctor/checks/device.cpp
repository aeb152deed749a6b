// SPDX-License-Identifier: MIT
#include "doctor/checks/device.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace ddlrun::doctor {

std::span<const Check> device_checks() {
  static const std::vector<Check> checks = [] {
    std::vector<Check> all;
    for (const auto table :
         {gpu_identity_checks(), gpu_health_checks(), gpu_access_checks(), gpu_load_checks(), peer_checks(),
          infiniband_checks(), fabric_checks(), stress_checks()}) {
      all.insert(all.end(), table.begin(), table.end());
    }
    return all;
  }();
  return checks;
}

void Worst::add(Verdict verdict, std::string text) {
  const auto rank = [](Verdict v) { return v == Verdict::fail ? 2 : v == Verdict::warn ? 1 : 0; };
  if (rank(verdict) > rank(verdict_)) {
    texts_.clear();
    verdict_ = verdict;
  }
  if (rank(verdict) == rank(verdict_)) texts_.push_back(std::move(text));
}

std::string Worst::text() const {
  std::vector<std::string> shown(texts_.begin(),
                                 texts_.begin() + static_cast<long>(std::min<std::size_t>(texts_.size(), 8)));
  if (texts_.size() > shown.size()) shown.push_back(fmt::format("and {} more", texts_.size() - shown.size()));
  return join(shown, "; ");
}

CheckResult verdict_of(Verdict verdict, std::string observed, std::string expected, std::string why,
                       Remedy remedy) {
  return {verdict, std::move(observed), std::move(expected), std::move(why), std::move(remedy)};
}

Remedy as_root(std::vector<std::string> commands, std::string note) {
  return {std::move(commands), true, false, std::move(note)};
}
Remedy as_user(std::vector<std::string> commands, std::string note) {
  return {std::move(commands), false, false, std::move(note)};
}
Remedy by_hand(std::string note) { return {{}, false, false, std::move(note)}; }

std::optional<CheckResult> skip_without_gpu(const HostReport& host) {
  const auto count = host.facts.number("gpu.count");
  if (!count) return skip(host.facts.why_missing("gpu.count"));
  // In a container the bus may be hidden while the driver lists GPUs.
  if (*count == 0 && host.facts.number("nvml.count").value_or(0) == 0)
    return skip("no NVIDIA GPU on the PCI bus");
  return std::nullopt;
}

std::optional<CheckResult> skip_without_nvml(const HostReport& host) {
  if (auto skipped = skip_without_gpu(host)) return skipped;
  if (host.facts.is("nvml.status", "ok")) return std::nullopt;
  const std::string why = host.facts.why_missing("nvml.status");
  return skip(why == "not gathered" ? "no NVIDIA driver is loaded" : "NVML cannot be asked: " + why);
}

std::optional<CheckResult> skip_without_rdma(const HostReport& host) {
  const auto count = host.facts.number("ib.count");
  if (!count) return skip(host.facts.why_missing("ib.count"));
  if (*count == 0) return skip("no RDMA device in /sys/class/infiniband");
  return std::nullopt;
}

CheckResult skip_for_stress(const HostReport& host, std::string_view fact) {
  const std::string why = host.facts.why_missing(fact);
  return skip(why == "not gathered" ? "load is for --stress" : why);
}

std::vector<Finding> evaluate_where(const CheckInput& input, std::string_view id,
                                    const std::function<std::optional<CheckResult>(const HostReport&)>& skips,
                                    std::string_view gatherer,
                                    const std::function<CheckResult(const HostReport&)>& evaluate) {
  const bool nested = gatherer == "nvml" || gatherer == "fabric-counters" || gatherer == "device-log";
  const std::string part = "device.failed." + std::string(gatherer);
  return evaluate_each(
      input, id,
      [&](const HostReport& host) {
        const Fact* failed = nested ? host.facts.find(part) : nullptr;
        if (failed != nullptr) {
          return verdict_of(Verdict::error,
                            fmt::format("the gatherer '{}' failed there: {}", gatherer, failed->text), "", "",
                            {});
        }
        auto skipped = skips(host);
        return skipped ? *skipped : evaluate(host);
      },
      nested ? "devices" : gatherer);
}

std::string GpuFacts::name(std::string_view part) const { return fmt::format("nvml.{}.{}", index, part); }

std::string GpuFacts::pci() const {
  const auto address = text("pci");
  return address ? std::string(*address) : std::to_string(index);
}

std::string GpuFacts::label() const { return fmt::format("GPU {} ({})", index, pci()); }

std::vector<GpuFacts> gpus_of(const HostReport& host) {
  std::vector<GpuFacts> gpus;
  const std::uint64_t count = std::min(host.facts.number("nvml.count").value_or(0), max_counted_gpus);
  for (std::uint64_t i = 0; i < count; ++i) gpus.push_back({host.facts, i});
  return gpus;
}

std::string PortFacts::name(std::string_view part) const {
  return fmt::format("ib.{}.port.{}.{}", device, port, part);
}

std::vector<PortFacts> ports_of(const HostReport& host) {
  std::vector<PortFacts> ports;
  for (const std::string& device : host.facts.segments("ib.")) {
    for (const std::string& port : host.facts.segments("ib." + device + ".port.")) {
      ports.push_back({host.facts, device, port});
    }
  }
  return ports;
}

std::optional<std::string> variable_of(const CheckInput& input, const HostReport& host,
                                       const std::string& name, std::string_view fact_prefix) {
  const auto set = input.job.environment.find(name);
  if (set != input.job.environment.end()) return set->second;
  const auto seen = host.facts.text(std::string(fact_prefix) + name);
  return seen ? std::optional(std::string(*seen)) : std::nullopt;
}

std::uint32_t ranks_on(const CheckInput& input, const HostReport& host) {
  const auto ranks = input.job.ranks_of_host.find(host.host);
  if (ranks != input.job.ranks_of_host.end()) return ranks->second;
  return input.job.dims ? input.job.dims->gpus_per_node : 0;
}

}  // namespace ddlrun::doctor

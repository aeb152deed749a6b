// SPDX-License-Identifier: MIT
// The checks of GPUs and fabrics, one table a file, and the words that they share.
#pragma once

#include "doctor/model/check.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

std::span<const Check> gpu_identity_checks();  // GPU-01..05             checks/gpu_identity.cpp
std::span<const Check> gpu_health_checks();    // GPU-06..11             checks/gpu.cpp
std::span<const Check> gpu_access_checks();    // GPU-12..14             checks/gpu_access.cpp
std::span<const Check> gpu_load_checks();      // GPU-15..17, P2P-05     checks/gpu_load.cpp
std::span<const Check> peer_checks();          // P2P-01..04, 06, 07     checks/peers.cpp
std::span<const Check> infiniband_checks();    // IB-01..06              checks/infiniband.cpp
std::span<const Check> fabric_checks();        // IB-07..12, OPA, EFA    checks/fabrics.cpp
std::span<const Check> stress_checks();        // STRESS-01              checks/stress.cpp

// Findings of several parts of one host: the worst verdict, and the words of those that have it.
class Worst {
 public:
  void add(Verdict verdict, std::string text);
  Verdict verdict() const { return verdict_; }
  std::string text() const;  // joined by "; ", at most 8 of them

 private:
  Verdict verdict_ = Verdict::pass;
  std::vector<std::string> texts_;
};

CheckResult verdict_of(Verdict verdict, std::string observed, std::string expected, std::string why,
                       Remedy remedy);
Remedy as_root(std::vector<std::string> commands, std::string note = {});
Remedy as_user(std::vector<std::string> commands, std::string note = {});
Remedy by_hand(std::string note);

// A skip where the host has no NVIDIA GPU, or if that is unknown.
std::optional<CheckResult> skip_without_gpu(const HostReport& host);
// The same, and if the driver's library reported nothing.
std::optional<CheckResult> skip_without_nvml(const HostReport& host);
std::optional<CheckResult> skip_without_rdma(const HostReport& host);

// Why the result of a load is missing: usually because it was not requested.
CheckResult skip_for_stress(const HostReport& host, std::string_view fact);

// Evaluates hosts with a skip that comes first.
std::vector<Finding> evaluate_where(const CheckInput& input, std::string_view id,
                                    const std::function<std::optional<CheckResult>(const HostReport&)>& skips,
                                    std::string_view gatherer,
                                    const std::function<CheckResult(const HostReport&)>& evaluate);

// A count is a text of another host: no loop goes beyond this.
inline constexpr std::uint64_t max_counted_gpus = 64;

// One GPU as the driver's library lists it.
struct GpuFacts {
  const Facts& facts;
  std::uint64_t index;

  std::string name(std::string_view part) const;
  std::optional<std::string_view> text(std::string_view part) const { return facts.text(name(part)); }
  std::optional<std::uint64_t> number(std::string_view part) const { return facts.number(name(part)); }
  bool is(std::string_view part, std::string_view wanted) const { return facts.is(name(part), wanted); }
  std::string pci() const;    // "0000:3b:00.0", or its index
  std::string label() const;  // "GPU 0 (0000:3b:00.0)"
};
std::vector<GpuFacts> gpus_of(const HostReport& host);

// One port of an RDMA device.
struct PortFacts {
  const Facts& facts;
  std::string device, port;

  std::string name(std::string_view part) const;
  std::optional<std::string_view> text(std::string_view part) const { return facts.text(name(part)); }
  std::optional<std::uint64_t> number(std::string_view part) const { return facts.number(name(part)); }
  bool is(std::string_view part, std::string_view wanted) const { return facts.is(name(part), wanted); }
  bool is_infiniband() const { return is("layer", "InfiniBand"); }
  bool is_active() const { return is("state", "ACTIVE"); }
  std::string label() const { return device + "/" + port; }
};
std::vector<PortFacts> ports_of(const HostReport& host);

// A variable as the job has it on a host: what the user set for the job, else what the host's shell has.
std::optional<std::string> variable_of(const CheckInput& input, const HostReport& host,
                                       const std::string& name, std::string_view fact_prefix);

// Ranks that the job places on a host; 0 = unknown.
std::uint32_t ranks_on(const CheckInput& input, const HostReport& host);

}  // namespace ddlrun::doctor

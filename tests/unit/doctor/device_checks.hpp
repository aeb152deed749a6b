// SPDX-License-Identifier: MIT
// Facts of healthy hosts with GPUs and a fabric, and how a check is asked about them by its id.
#pragma once

#include "doctor/model/check.hpp"
#include "tests/support/doctor_input.hpp"
#include "tests/support/doctor_run.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <string>

namespace ddlrun::tests {

// The finding about a host.
inline doctor::Finding finding_on(const DoctorInput& input, std::string_view id, const std::string& host) {
  for (const doctor::Finding& finding : run_check(id, input)) {
    if (std::find(finding.hosts.begin(), finding.hosts.end(), host) != finding.hosts.end()) return finding;
  }
  return {};
}

// Four P100 on two NUMA nodes, as the gatherers record them.
inline void set_gpus(doctor::Facts& facts) {
  facts.set("gpu.count", 4);
  facts.set("gpu.bus", "visible");
  facts.set("gpu.nvswitch", 0);
  facts.set("gpu.driver.version", "418.87.00");
  facts.set("gpu.driver.kind", "proprietary");
  facts.set("gpu.module.nvidia", "yes");
  facts.set("gpu.node.nvidiactl", "rw");
  facts.set("gpu.node.nvidia0", "rw");
  facts.set("gpu.node.nvidia-uvm", "rw");
  facts.set("gpu.modprobe", "no");
  facts.set("nvml.status", "ok");
  facts.set("nvml.driver", "418.87.00");
  facts.set("nvml.cuda", 10010);
  facts.set("nvml.count", 4);
  const char* addresses[] = {"0002:01:00.0", "0003:01:00.0", "0006:01:00.0", "0007:01:00.0"};
  for (int i = 0; i < 4; ++i) {
    const std::string gpu = "gpu." + std::to_string(i) + ".", nvml = "nvml." + std::to_string(i) + ".";
    facts.set(gpu + "pci", addresses[i]);
    facts.set(gpu + "driver", "nvidia");
    facts.set(gpu + "numa", i < 2 ? 0 : 8);  // Linux numbers POWER's nodes so
    facts.set(nvml + "pci", addresses[i]);
    facts.set(nvml + "name", "Tesla P100-SXM2-16GB");
    facts.set(nvml + "vbios", "86.00.4d.00.02");
    facts.set(nvml + "memory", 17070817280u);
    facts.set(nvml + "used", 0);
    facts.set(nvml + "persistence", "yes");
    facts.set(nvml + "compute_mode", "default");
    facts.set_unknown(nvml + "mig", "not supported by this GPU");
    facts.set(nvml + "ecc.uncorrected", 0);
    facts.set(nvml + "clock.throttle", "");
    facts.set(nvml + "temperature", 34);
    facts.set(nvml + "clock.sm", 1328);
    facts.set(nvml + "clock.sm.default", 1328);
    facts.set(nvml + "processes", "");
    facts.set(nvml + "nvlink.count", 4);
    facts.set(nvml + "nvlink.active", 4);
    facts.set(nvml + "nvlink.speed", 19200);
  }
  facts.set("nvml.peers.pairs", 12);
  facts.set("nvml.peers.without", "");
  facts.set("peers.bridges", 4);
  facts.set("peers.acs.on", "");
  facts.set("peers.acs.unreadable", 0);
  facts.set("peers.iommu.units", 0);
  facts.set("peers.iommu.cmdline", "no");
  facts.set("peers.virtual", "no");
  facts.set("cores.map", "0: 0-7;8-15;16-23;24-31\n8: 32-39;40-47;48-55;56-63");
  facts.set("cores.numa", "0: 0-31\n8: 32-63");
  facts.set("log.source", "dmesg");
  facts.set("log.error.xid", "");
  facts.set("log.error.link", "");
}

// Two active EDR ports.
inline void set_fabric(doctor::Facts& facts) {
  facts.set("ib.count", 2);
  facts.set("ib.uptime", 360000);
  facts.set("ib.kernel", "4.18.0-305.el8.ppc64le");
  facts.set("ib.delta.seconds", 1);
  facts.set("ib.uverbs", "uverbs0 mlx5_0 rw\nuverbs1 mlx5_1 rw");
  facts.set("ib.module.nvidia_peermem", "no");
  facts.set("ib.module.nv_peer_mem", "yes");
  facts.set("opa.nodes", "");
  facts.set("efa.devices", "");
  facts.set("log.source", "dmesg");
  facts.set("log.error.link", "");
  for (const char* device : {"mlx5_0", "mlx5_1"}) {
    const std::string name = std::string("ib.") + device + ".", port = name + "port.1.";
    facts.set(name + "firmware", "12.26.1040");
    facts.set(name + "board", "IBM2180110032");
    facts.set(port + "state", "ACTIVE");
    facts.set(port + "phys", "LinkUp");
    facts.set(port + "rate", "100 Gb/sec (4X EDR)");
    facts.set(port + "layer", "InfiniBand");
    facts.set(port + "sm_lid", 1);
    facts.set(port + "pkeys", "0xffff");
    facts.set(port + "gid", "fe80:0000:0000:0000:ec0d:9a03:002d:9a18");
    for (const char* counter : {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors"}) {
      facts.set(port + "error." + counter, 0);
      facts.set(port + "delta." + counter, 0);
    }
  }
}

inline DoctorInput healthy_hosts(void (*set)(doctor::Facts&)) {
  DoctorInput input;
  for (const char* name : {"h1", "h2", "h3"}) {
    doctor::Facts& facts = input.add(name).facts;
    facts.set("gpu.count", 0);
    facts.set("ib.count", 0);
    set(facts);
  }
  return input;
}

// A row of a table of checks: three healthy hosts, h2 changed, and the check's finding about it.
struct CheckRow {
  std::string_view id;
  std::function<void(DoctorInput&, doctor::Facts&)> change;
  doctor::Verdict verdict;
  std::string_view observed;  // must stand in what was observed
};

inline constexpr auto P = doctor::Verdict::pass;
inline constexpr auto W = doctor::Verdict::warn;
inline constexpr auto F = doctor::Verdict::fail;
inline constexpr auto S = doctor::Verdict::skip;

// What changes h2: nothing, a fact, a fact that cannot be reported, the job's environment, two of these.
inline void same(DoctorInput&, doctor::Facts&) {}
inline auto fact(const char* name, const char* text) {
  return [name, text](DoctorInput&, doctor::Facts& facts) { facts.set(name, text); };
}
inline auto unknown(const char* name, const char* why) {
  return [name, why](DoctorInput&, doctor::Facts& facts) { facts.set_unknown(name, why); };
}
inline auto job_env(const char* name, const char* value) {
  return [name, value](DoctorInput& input, doctor::Facts&) { input.job.environment[name] = value; };
}
template <typename A, typename B>
auto both(A a, B b) {
  return [a, b](DoctorInput& input, doctor::Facts& facts) {
    a(input, facts);
    b(input, facts);
  };
}

inline void check_rows(std::span<const CheckRow> rows, void (*healthy)(doctor::Facts&)) {
  for (const CheckRow& row : rows) {
    CAPTURE(row.id);
    CAPTURE(row.observed);
    DoctorInput input = healthy_hosts(healthy);
    row.change(input, input.host("h2").facts);
    const doctor::Finding finding = finding_on(input, row.id, "h2");
    CAPTURE(finding.observed);
    CHECK(finding.id == row.id);
    CHECK(doctor::verdict_name(finding.verdict) == doctor::verdict_name(row.verdict));
    CHECK(finding.observed.find(row.observed) != std::string::npos);
  }
}

}  // namespace ddlrun::tests

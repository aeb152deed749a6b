// SPDX-License-Identifier: MIT
// IB-01..12, OPA-01 and EFA-01 on recorded facts: each verdict that a check has, thresholds from both sides.
#include "tests/unit/doctor/device_checks.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;
using namespace ddlrun::tests;

namespace {

void healthy_fabric(Facts& facts) {
  set_fabric(facts);
  facts.set("ib.load.mbits", 95000);
  facts.set("ib.bw.rate_mbits", 100000);
  facts.set("ib.bw.to", "h3");
  facts.set("ib.bw.device", "mlx5_0");
}

// The same on every host.
auto everywhere(const char* name, const char* text) {
  return [name, text](DoctorInput& input, Facts&) {
    for (HostReport& host : input.hosts) host.facts.set(name, text);
  };
}
const auto no_device = [](DoctorInput&, Facts& facts) {
  facts = Facts();
  facts.set("ib.count", 0);
  facts.set("gpu.count", 0);
};
const auto asks_psm2 = [](DoctorInput& input, Facts&) { input.job.program = {"mpirun", "-PSM2", "./a.out"}; };
auto rdma_port(const char* device, const char* part, const char* text) {
  return
      [=](DoctorInput&, Facts& facts) { facts.set(std::string("ib.") + device + ".port.1." + part, text); };
}
// Both ports of h2.
auto rdma_ports(const char* part, const char* text) {
  return both(rdma_port("mlx5_0", part, text), rdma_port("mlx5_1", part, text));
}

const auto omni_path = [](DoctorInput&, Facts& facts) {
  facts.set("opa.nodes", "hfi1_0 rw");
  facts.set("opa.psm2", "/usr/lib64/libpsm2.so.2");
  facts.set("ib.hfi1_0.port.1.state", "ACTIVE");
};
const auto gpus = [](DoctorInput&, Facts& facts) {
  facts.set("gpu.count", 4);
  facts.set("gpu.driver.kind", "proprietary");
};

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_fabric");

TEST_CASE("IB-01..06: ports") {
  const auto down = both(rdma_ports("state", "DOWN"), rdma_ports("phys", "Polling"));
  const auto second_down_everywhere = everywhere("ib.mlx5_1.port.1.state", "DOWN");
  const auto all_down_ethernet =
      both(both(everywhere("ib.mlx5_0.port.1.state", "DOWN"), everywhere("ib.mlx5_1.port.1.state", "DOWN")),
           both(everywhere("ib.mlx5_0.port.1.layer", "Ethernet"),
                everywhere("ib.mlx5_1.port.1.layer", "Ethernet")));
  const auto limited =
      both(everywhere("ib.mlx5_0.port.1.pkeys", "0x7fff"), everywhere("ib.mlx5_1.port.1.pkeys", "0x7fff"));
  const CheckRow rows[] = {
      {"IB-01", same, P, "ACTIVE: mlx5_0/1, mlx5_1/1"},
      {"IB-01", rdma_port("mlx5_1", "state", "DOWN"), F, "mlx5_1/1 DOWN (LinkUp)"},
      {"IB-01", down, F, "mlx5_0/1 DOWN (Polling); mlx5_1/1 DOWN (Polling)"},
      {"IB-01", second_down_everywhere, P, "ACTIVE: mlx5_0/1"},
      {"IB-01", all_down_ethernet, S, "no RDMA port is up on any host"},
      {"IB-01", rdma_port("mlx5_0", "state", "INIT"), W, "mlx5_0/1 INIT (LinkUp)"},
      {"IB-01", rdma_port("mlx5_0", "state", "ARMED"), W, "ARMED"},
      {"IB-01", no_device, S, "no RDMA device"},
      {"IB-02", same, P, "2 x 100 Gb/sec (4X EDR) InfiniBand"},
      {"IB-02", rdma_port("mlx5_0", "rate", "25 Gb/sec (1X EDR)"), W, "25 Gb/sec (1X EDR) InfiniBand"},
      {"IB-02", rdma_port("mlx5_0", "state", "DOWN"), F, "1 x 100 Gb/sec (4X EDR) InfiniBand on 1 host"},
      {"IB-02", no_device, S, "no RDMA port is up"},
      {"IB-03", same, P, "P_Keys 0xffff"},
      {"IB-03", rdma_ports("pkeys", "0xffff\n0x8001"), P, "P_Keys 0x8001 0xffff"},
      {"IB-03", rdma_ports("pkeys", "0x7fff"), W, "P_Keys 0x7fff on 1 host"},
      {"IB-03", limited, W, "P_Keys 0x7fff: limited members only"},
      {"IB-03", rdma_ports("pkeys", "0x8002"), F, "P_Keys 0x8002 on 1 host"},
      {"IB-03", rdma_ports("pkeys", "nonsense"), S, "no active InfiniBand port"},
      {"IB-04", same, P, "subnet manager known to mlx5_0/1, mlx5_1/1"},
      {"IB-04", rdma_port("mlx5_1", "sm_lid", "0"), F, "sm_lid 0 on mlx5_1/1"},
      {"IB-04", both(rdma_port("mlx5_1", "sm_lid", "0"), rdma_port("mlx5_1", "layer", "Ethernet")), P,
       "mlx5_0/1"},
      {"IB-04", rdma_ports("phys", "Polling"), S, "no InfiniBand port with a link"},
      {"IB-05", same, P, "do not grow"},
      {"IB-05", rdma_port("mlx5_0", "delta.symbol_error", "1"), F,
       "mlx5_0/1 symbol_error grew by 1 within 1 s"},
      {"IB-05", rdma_port("mlx5_0", "error.port_rcv_errors", "1000"), P, "do not grow"},
      {"IB-05", rdma_port("mlx5_0", "error.port_rcv_errors", "1001"), W, "mlx5_0/1 port_rcv_errors 1001"},
      {"IB-05", both(fact("ib.uptime", "60"), rdma_port("mlx5_0", "error.link_downed", "10")), P,
       "do not grow"},
      {"IB-05", both(fact("ib.uptime", "60"), rdma_port("mlx5_0", "error.link_downed", "11")), W,
       "link_downed 11"},
      {"IB-05", rdma_ports("state", "DOWN"), S, "no active port"},
      {"IB-06", same, P, "no link went down"},
      {"IB-06", fact("log.error.link", "100 ib0"), W, "ib0 went down 1 time in 6 h"},
      {"IB-06", fact("log.error.link", "100 ib0\n90 ib0"), F, "ib0 went down 2 times in 6 h"},
      {"IB-06", fact("log.error.link", "21600 ib0\n21700 ib0\nodd"), P, "no link went down"},
      {"IB-06", unknown("log.source", "not readable here"), S, "not readable here"},
  };
  check_rows(rows, healthy_fabric);
}

TEST_CASE("IB-07..12: who may use a fabric, and how well") {
  const auto open_driver =
      both(both(gpus, fact("gpu.driver.kind", "open")), fact("ib.module.nv_peer_mem", "no"));
  const CheckRow rows[] = {
      {"IB-07", same, P, "2 verbs devices usable"},
      {"IB-07", fact("ib.uverbs", "uverbs0 mlx5_0 rw\nuverbs1 mlx5_1 no access"), F,
       "no access to /dev/infiniband/uverbs1"},
      {"IB-07", fact("ib.uverbs", "uverbs0 mlx5_0 missing"), F, "missing: /dev/infiniband/uverbs0"},
      {"IB-07", fact("ib.uverbs", ""), F, "no /dev/infiniband/uverbs*"},
      {"IB-07", no_device, S, "no RDMA device"},
      {"IB-08", same, S, "no NVIDIA GPU"},
      {"IB-08", gpus, P, "module nv_peer_mem"},
      {"IB-08", both(gpus, fact("ib.module.nv_peer_mem", "no")), W,
       "no nvidia_peermem; proprietary driver, kernel 4.18"},
      {"IB-08", both(open_driver, fact("ib.kernel", "5.12.0")), P, "open kernel module with dma-buf"},
      {"IB-08", both(open_driver, fact("ib.kernel", "5.11.22")), W, "open driver, kernel 5.11.22"},
      {"IB-08", both(gpus, rdma_ports("state", "DOWN")), S, "no RDMA port is up"},
      {"IB-09", same, P, "no adapter or GID is prescribed"},
      {"IB-09", job_env("NCCL_IB_HCA", "mlx5_0,mlx5_1:1"), P, "NCCL_IB_HCA=mlx5_0,mlx5_1:1: present"},
      {"IB-09", job_env("NCCL_IB_HCA", "mlx5"), P, "present"},
      {"IB-09", job_env("NCCL_IB_HCA", "=mlx5"), F, "no mlx5 here"},
      {"IB-09", job_env("NCCL_IB_HCA", "mlx5_0,mlx5_7"), F, "NCCL_IB_HCA=mlx5_0,mlx5_7: no mlx5_7 here"},
      {"IB-09", job_env("NCCL_IB_HCA", "^mlx5_7"), P, "present"},
      {"IB-09", fact("ib.env.NCCL_IB_HCA", "mlx4_0"), F, "no mlx4_0 here"},
      {"IB-09", job_env("UCX_NET_DEVICES", "mlx5_0:1,eth0"), P, "no adapter"},
      {"IB-09", job_env("UCX_NET_DEVICES", "mlx5_0:2"), F, "UCX_NET_DEVICES=mlx5_0:2: no mlx5_0:2 here"},
      {"IB-09", both(job_env("NCCL_IB_GID_INDEX", "3"), fact("nccl.version", "2.21.5")), W,
       "NCCL_IB_GID_INDEX=3 with NCCL 2.21.5"},
      {"IB-09", both(job_env("NCCL_IB_GID_INDEX", "3"), fact("nccl.version", "2.20.5")), P, ""},
      {"IB-09", no_device, S, "no RDMA device"},
      {"IB-10", same, P, "subnet fe80:0000:0000:0000"},
      {"IB-10", rdma_ports("gid", "fec0:0000:0000:0001:ec0d:9a03:002d:9a18"), F,
       "subnet fec0:0000:0000:0001 on 1 host"},
      {"IB-10", rdma_port("mlx5_1", "gid", "fec0:0000:0000:0001:ec0d:9a03:002d:9a18"), P,
       "subnet fe80:0000:0000:0000, fec0"},
      {"IB-10", rdma_ports("layer", "Ethernet"), S, "no active InfiniBand port"},
      {"IB-11", same, P, "IBM2180110032 firmware 12.26.1040"},
      {"IB-11", fact("ib.mlx5_1.firmware", "12.25.1020"), W, "firmware 12.25.1020"},
      {"IB-11", fact("ib.rdma_core", "28.0"), W, "libibverbs 28.0 on 1 host"},
      {"IB-11", no_device, S, "no active RDMA port"},
      {"IB-12", same, P, "at least 90 %"},
      {"IB-12", fact("ib.load.mbits", "90000"), P, ""},
      {"IB-12", fact("ib.load.mbits", "89999"), W, "90.0 Gb/s to h3"},
      {"IB-12", fact("ib.load.mbits", "70000"), W, "(70 % of the port's rate)"},
      {"IB-12", fact("ib.load.mbits", "69999"), F, "70.0 Gb/s to h3"},
      {"IB-12", unknown("ib.load.mbits", "ib_write_bw (perftest) is not installed"), S, "not installed"},
  };
  check_rows(rows, healthy_fabric);
}

TEST_CASE("OPA-01 and EFA-01: only what the job requests can fail") {
  const auto efa = both(fact("efa.devices", "rdmap0s31"), fact("efa.provider", "listed"));
  const CheckRow rows[] = {
      {"OPA-01", same, S, "no Omni-Path adapter"},
      {"OPA-01", asks_psm2, F, "no hfi1 device"},
      {"OPA-01", job_env("FI_PROVIDER", "psm2"), F, "no hfi1 device"},
      {"OPA-01", both(omni_path, asks_psm2), P, "hfi1 ACTIVE"},
      {"OPA-01", both(omni_path, both(asks_psm2, unknown("opa.psm2", "no libpsm2.so.2"))), F,
       "no libpsm2.so.2"},
      {"OPA-01", both(omni_path, unknown("opa.psm2", "no libpsm2.so.2")), S, "no libpsm2.so.2"},
      {"OPA-01", both(omni_path, both(asks_psm2, fact("opa.nodes", "hfi1_0 no access"))), F,
       "no access to /dev/hfi1_0"},
      {"OPA-01", both(omni_path, both(asks_psm2, fact("ib.hfi1_0.port.1.state", "INIT"))), F,
       "no hfi1 port is ACTIVE"},
      {"EFA-01", same, S, "no EFA adapter"},
      {"EFA-01", efa, P, "lists the provider"},
      {"EFA-01", both(efa, fact("efa.provider", "not listed")), F,
       "1 EFA adapter, fi_info -p efa: not listed"},
      {"EFA-01", both(efa, fact("efa.provider", "no fi_info on PATH")), S, "no fi_info"},
      {"EFA-01", job_env("FI_PROVIDER", "efa"), F, "no EFA adapter"},
  };
  check_rows(rows, healthy_fabric);
}

TEST_SUITE_END();

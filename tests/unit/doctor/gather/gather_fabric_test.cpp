// SPDX-License-Identifier: MIT
// Fabrics as /sys shows them, and what the kernel's log and the vendors' tools print.
#include "doctor/gather/device_log.hpp"
#include "doctor/gather/pci_config.hpp"
#include "doctor/gather/tool_output.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/unit/doctor/device_tree.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::doctor;
using tests::DeviceTree;

namespace {

struct FactRow {
  const char* name;
  const char* text;
};

ProcessResult ended(int status, const std::string& out, const std::string& err) {
  ProcessResult result;
  result.exit_status = status;
  result.out = out;
  result.err = err;
  return result;
}

// Configuration space with the capabilities AER (1), ACS (13), PASID (27), each 16 bytes further.
std::string config_space(std::uint16_t acs_control) {
  std::string config(4096, '\0');
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i)
      config[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i));
  };
  put(0x100, 0x0001u | 1u << 16 | 0x148u << 20);
  put(0x148, 0x000du | 1u << 16 | 0x160u << 20);
  put(0x14c, 0x005fu | static_cast<std::uint32_t>(acs_control) << 16);
  put(0x160, 0x001bu | 1u << 16);
  return config;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/gather/gather_fabric");

TEST_CASE("two ConnectX-4: what the kernel shows") {
  DeviceTree host;
  host.add_adapters();
  host.variables["NCCL_IB_HCA"] = "mlx5_0";
  const Facts facts = host.gather("fabric");
  const FactRow rows[] = {{"ib.count", "2"},
                          {"ib.mlx5_0.firmware", "12.26.1040"},
                          {"ib.mlx5_0.board", "IBM2180110032"},
                          {"ib.mlx5_0.type", "MT4115"},
                          {"ib.mlx5_0.driver", "mlx5_core"},
                          {"ib.mlx5_1.numa", "0"},
                          {"ib.mlx5_1.net", "ib1"},
                          {"ib.mlx5_0.port.1.state", "ACTIVE"},
                          {"ib.mlx5_0.port.1.phys", "LinkUp"},
                          {"ib.mlx5_0.port.1.rate", "100 Gb/sec (4X EDR)"},
                          {"ib.mlx5_0.port.1.layer", "InfiniBand"},
                          {"ib.mlx5_0.port.1.lid", "27"},
                          {"ib.mlx5_0.port.1.sm_lid", "1"},
                          {"ib.mlx5_0.port.1.pkeys", "0x8001\n0xffff"},
                          {"ib.mlx5_0.port.1.gid", "fe80:0000:0000:0000:ec0d:9a03:002d:9a18"},
                          {"ib.mlx5_0.port.1.error.symbol_error", "0"},
                          {"ib.uverbs", "uverbs0 mlx5_0 rw\nuverbs1 mlx5_1 rw"},
                          {"ib.rdma_cm", "rw"},
                          {"ib.rdma_core", "14.44.0"},
                          {"ib.uptime", "360000"},
                          {"ib.env.NCCL_IB_HCA", "mlx5_0"},
                          {"ib.module.nvidia_peermem", "no"},
                          {"opa.nodes", ""},
                          {"efa.devices", ""}};
  for (const FactRow& row : rows) {
    CAPTURE(row.name);
    CHECK(facts.text(row.name) == row.text);
  }
  CHECK_FALSE(facts.text("efa.provider"));
}

TEST_CASE("ports that are down, denied devices, RoCE without counters") {
  DeviceTree host;
  host.add_adapters();
  host.put("/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
  host.put("/sys/class/infiniband/mlx5_1/ports/1/phys_state", "3: Disabled\n");
  host.put("/sys/class/infiniband/mlx5_1/ports/1/sm_lid", "0x0\n");
  host.remove("/dev/infiniband/uverbs1");
  host.remove("/sys/class/infiniband/mlx5_1/ports/1/counters");
  host.put("/sys/class/infiniband/mlx5_1/ports/1/link_layer", "Ethernet\n");
  const Facts facts = host.gather("fabric");
  CHECK(facts.is("ib.mlx5_1.port.1.state", "DOWN"));
  CHECK(facts.is("ib.mlx5_1.port.1.phys", "Disabled"));
  CHECK(facts.number("ib.mlx5_1.port.1.sm_lid") == 0);
  CHECK_FALSE(facts.number("ib.mlx5_1.port.1.error.symbol_error"));
  CHECK(facts.list("ib.uverbs")[1] == "uverbs1 mlx5_1 missing");
}

TEST_CASE("Omni-Path and EFA") {
  DeviceTree host;
  host.add_port("hfi1_0", "0005:01:00.0", 1);
  host.put("/dev/hfi1_0", "");
  host.put("/usr/lib64/libpsm2.so.2", "");
  host.add_port("rdmap0s31", "0006:01:00.0", 1);
  host.remove("/sys/devices/pci0006:00/0006:00:00.0/0006:01:00.0/driver");
  host.link("/sys/devices/pci0006:00/0006:00:00.0/0006:01:00.0/driver", "../../../../bus/pci/drivers/efa");
  const Facts facts = host.gather("fabric");
  CHECK(facts.is("opa.nodes", "hfi1_0 rw"));
  CHECK(facts.is("opa.psm2", "/usr/lib64/libpsm2.so.2"));
  CHECK(facts.is("efa.devices", "rdmap0s31"));
  CHECK(facts.is("efa.provider", "no fi_info on PATH"));
}

TEST_CASE("error counters are read twice") {
  tests::FakeHost fake;  // its "sleep" takes no time, and an error comes meanwhile
  const std::string counter = "/sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error";
  fake.put(counter, "7\n");
  fake.put("/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed", "2\n");
  fake.system.processes.answer = [&](const Command& command) {
    CHECK(command == Command{"sleep", "1"});
    fake.put(counter, "10\n");
    fake.put("/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed", "0\n");  // set back by somebody
    return ProcessResult{};
  };
  const Facts facts = fake.gather(tests::device_parts(), "fabric-counters");
  CHECK(facts.number("ib.delta.seconds") == 1);
  CHECK(facts.number("ib.mlx5_0.port.1.delta.symbol_error") == 3);
  CHECK(facts.number("ib.mlx5_0.port.1.delta.link_downed") == 0);
  CHECK(fake.system.processes.ran.size() == 1);
}

TEST_CASE("the kernel's log: dmesg, else the journal, else why not") {
  tests::FakeHost host;
  host.put("/dev/nvidiactl", "");
  host.put("/proc/uptime", "10000.25 1.0\n");
  const std::string line =
      "[ 9000.500000] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.\n";
  host.system.processes.answer = [&](const Command&) { return ended(0, line, ""); };
  CHECK(host.gather(tests::device_parts(), "device-log").is("log.error.xid", "1000 79 0000:3b:00"));
  host.system.processes.answer = [&](const Command& command) {
    if (command[0] == "dmesg")
      return ended(1, "", "dmesg: read kernel buffer failed: Operation not permitted\n");
    return ended(0,
                 "[ 9500.1] h2 kernel: NVRM: Xid (PCI:0000:3b:00): 63, pid='<unknown>', name=<unknown>, Row "
                 "Remapper\n",
                 "");
  };
  const Facts journal = host.gather(tests::device_parts(), "device-log");
  CHECK(journal.is("log.source", "journalctl"));
  CHECK(journal.is("log.error.xid", "500 63 0000:3b:00"));
  host.system.processes.answer = [&](const Command& command) {
    return ended(1, "",
                 command[0] == "dmesg" ? "dmesg: read kernel buffer failed: Operation not permitted" : "");
  };
  CHECK(host.gather(tests::device_parts(), "device-log").why_missing("log.source") ==
        "the kernel's log is not readable here: dmesg: read kernel buffer failed: Operation not permitted");
}

TEST_CASE("lines of the kernel's log") {
  const std::vector<std::string> links = {"mlx5_0", "ib0", "enp94s0f0np0"};
  struct Row {
    const char* line;
    std::size_t xids, links;
  };
  const Row rows[] = {
      {"[12345.678901] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.", 1, 0},
      {"[12345.678901] NVRM: Xid (0000:3b:00): 48, DBE", 1, 0},
      {"[12345.678901] h1 kernel: NVRM: Xid (PCI:0002:01:00): 31, pid=1, Ch 0000000e", 1, 0},
      {"[12345.678901] NVRM: Xid (PCI:0000:3b:00) 79", 0, 0},
      {"[12345.678901] NVRM: Xid (PCI:0000:3b:00): x", 0, 0},
      {"NVRM: Xid (PCI:0000:3b:00): 79, no time", 0, 0},
      {"[12345.678901] NVRM: loading NVIDIA UNIX x86_64 Kernel Module", 0, 0},
      {"[12345.678901] mlx5_core 0000:5e:00.0 enp94s0f0np0: Link down", 0, 1},
      {"[12345.678901] mlx5_core 0000:5e:00.0 enp94s0f0np01: Link down", 0, 0},
      {"[12345.678901] mlx5_core 0000:5e:00.0 enp94s0f0np0: Link up", 0, 0},
      {"[  100.678901] mlx5_core 0000:5e:00.0 enp94s0f0np0: Link down", 0, 0},
      {"[12345.678901] h1 systemd-networkd[900]: ib0: Lost carrier", 0, 1},
      {"[12345.678901] e1000e: eth7 NIC Link is Down", 0, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const DeviceEvents events = parse_device_log(row.line, links);
    CHECK(events.xids.size() == row.xids);
    CHECK(events.links_down.size() == row.links);
  }
}

TEST_CASE("ACS in a configuration space") {
  CHECK(read_acs(config_space(0x0000)) == AcsState::off);
  CHECK(read_acs(config_space(0x0001)) == AcsState::on);   // source validation
  CHECK(read_acs(config_space(0x000c)) == AcsState::on);   // request and completion redirection
  CHECK(read_acs(config_space(0x0010)) == AcsState::off);  // upstream forwarding alone
  CHECK(read_acs(config_space(1).substr(0, 64)) == AcsState::unreadable);
  CHECK(read_acs(config_space(1).substr(0, 256)) == AcsState::absent);  // a device of conventional PCI
  CHECK(read_acs("") == AcsState::unreadable);
  CHECK(find_extended_capability(config_space(0), 0x001b) == 0x160u);
  CHECK_FALSE(find_extended_capability(config_space(0), 0x0010));
  std::string circle = config_space(1);
  circle[0x14b] = 0x10;  // ACS points back to the first: 0x100
  circle[0x14a] = 0x01;
  CHECK_FALSE(find_extended_capability(circle, 0x001b));
  CHECK(read_acs(config_space(1).substr(0, 0x14e)) == AcsState::absent);  // cut in the middle
  CHECK(read_acs(std::string(4096, '\xff')) == AcsState::absent);         // a device that does not answer
}

TEST_CASE("bridges above GPUs, read as root") {
  DeviceTree host;
  host.add_gpus();
  for (const char* domain : {"0002", "0003", "0006", "0007"}) {
    host.put(std::string("/sys/devices/pci") + domain + ":00/" + domain + ":00:00.0/config",
             config_space(domain[3] == '6' ? 0x1d : 0));
  }
  const Facts facts = host.gather("gpu");
  CHECK(facts.number("peers.bridges") == 4);
  CHECK(facts.number("peers.acs.unreadable") == 0);
  CHECK(facts.is("peers.acs.on", "0006:00:00.0"));
}

TEST_CASE("what dcgmi diag prints") {
  const char* text =
      "Successfully ran diagnostic for group.\n"
      "+---------------------------+------------------------------------------------+\n"
      "| Diagnostic                | Result                                         |\n"
      "+===========================+================================================+\n"
      "|-----  Metadata  ----------+------------------------------------------------|\n"
      "| DCGM Version              | 3.1.8                                          |\n"
      "| Driver Version Detected   | 535.104.05                                     |\n"
      "|-----  Deployment  --------+------------------------------------------------|\n"
      "| Denylist                  | Pass                                           |\n"
      "| NVML Library              | Pass                                           |\n"
      "| Persistence Mode          | Fail                                           |\n"
      "| Warning                   | Persistence mode for GPU 0 is currently disab  |\n"
      "|                           | led. Enable persistence mode                   |\n"
      "| Page Retirement/Row Remap | Fail - GPU: 1                                  |\n"
      "| Graphics Processes        | Skip - All                                     |\n"
      "+---------------------------+------------------------------------------------+\n";
  const auto report = parse_dcgm(text);
  REQUIRE(report);
  CHECK(report->passed == 2);
  REQUIRE(report->failed.size() == 2);
  CHECK(
      report->failed[0] ==
      "Persistence Mode: Fail: Persistence mode for GPU 0 is currently disab: led. Enable persistence mode");
  CHECK(report->failed[1] == "Page Retirement/Row Remap: Fail - GPU: 1");
  CHECK_FALSE(parse_dcgm("Error: unable to establish a connection to the specified host: localhost\n"));
}

TEST_CASE("what nccl-tests prints") {
  const char* text =
      "# nThread 1 nGpus 4 minBytes 67108864 maxBytes 268435456 step: 2(factor) warmup iters: 5 iters: 20 "
      "agg iters: 1\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw "
      "  busbw #wrong\n"
      "   268435456      67108864     float     sum      -1   2105.3  127.50  191.26      0   2101.1  127.76 "
      " 191.64      0\n"
      "# Out of bounds values : 0 OK\n"
      "# Avg bus bandwidth    : 191.448 \n#\n";
  const auto report = parse_nccl_tests(text);
  REQUIRE(report);
  CHECK(report->bus_hundredths == 19145);
  CHECK(report->wrong == 0);
  CHECK(parse_nccl_tests("# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 1.5\n")->wrong == 3);
  CHECK_FALSE(parse_nccl_tests("h1: Test CUDA failure common.cu:892 'no CUDA-capable device is detected'\n"));
  CHECK_FALSE(parse_nccl_tests("# Avg bus bandwidth    : nan\n"));
}

TEST_CASE("what ib_write_bw prints") {
  const char* text =
      "---------------------------------------------------------------------------------------\n"
      "                    RDMA_Write BW Test\n"
      " Dual-port       : OFF          Device         : mlx5_0\n"
      " local address: LID 0x1b QPN 0x0108 PSN 0x3c4f1e RKey 0x1829a1 VAddr 0x007f0c3c0a1000\n"
      "---------------------------------------------------------------------------------------\n"
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
      " 65536      927600           0.00               97.26\t\t   0.185511\n"
      "---------------------------------------------------------------------------------------\n";
  CHECK(parse_write_bandwidth(text) == 97260u);
  CHECK_FALSE(
      parse_write_bandwidth(" #bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]\n 65536 "
                            "5000 11648.76 11647.33 0.18\n"));
  CHECK_FALSE(parse_write_bandwidth(
      "Couldn't connect to h2:18515\n Unable to open file descriptor for socket connection"));
}

TEST_CASE("load tools that are not installed are a reason, not an error") {
  DeviceTree host;
  host.add_gpus();
  host.add_adapters();
  host.request.level = Level::stress;
  CHECK(host.gather("gpu-stress").why_missing("dcgm.failed") == "dcgmi is not installed");
  CHECK(host.gather("gpu-stress").why_missing("nccl.load.busbw") ==
        "nccl-tests (all_reduce_perf) is not installed");
  CHECK(host.gather("fabric-stress").why_missing("ib.load.mbits") ==
        "ib_write_bw (perftest) is not installed");
}

TEST_SUITE_END();

// SPDX-License-Identifier: MIT
// GPUs as /sys, /proc and a stand-in for NVIDIA's library show them. The library is really loaded.
#include "base/text/error.hpp"
#include "doctor/gather/cuda_driver.hpp"
#include "doctor/gather/nvml.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/unit/doctor/device_tree.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

using namespace ddlrun;
using namespace ddlrun::doctor;
using tests::DeviceTree;
using tests::Setting;

namespace {

struct GpuHost : DeviceTree {
  explicit GpuHost(const char* library = DDLRUN_FAKE_NVML) {
    add_gpus();
    add_library("libnvidia-ml.so.1", library);
  }
};

}  // namespace

TEST_SUITE_BEGIN("doctor/gather/gather_gpu");

TEST_CASE("a host without GPUs: one fact, and nothing is looked at twice") {
  DeviceTree plain;
  const Facts facts = plain.gather("gpu");
  CHECK(facts.all().size() == 1);
  CHECK(facts.number("gpu.count") == 0);
  for (const char* name : {"nvml", "device-log", "cuda", "gpu-stress", "fabric-counters", "fabric-stress"}) {
    CAPTURE(name);
    CHECK(plain.gather(name).all().empty());
  }
  CHECK(plain.gather("fabric").number("ib.count") == 0);
}

TEST_CASE("a host without devices costs less than a millisecond") {
  DeviceTree plain;
  const std::clock_t start = std::clock();
  for (int i = 0; i < 100; ++i) plain.gather("devices");
  CHECK(10.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 1);  // milliseconds each
}

TEST_CASE("four P100: what the kernel shows") {
  GpuHost host;
  host.variables["CUDA_VISIBLE_DEVICES"] = "0,1";
  const Facts facts = host.gather("gpu");
  struct Row {
    const char* name;
    const char* text;
  };
  const Row rows[] = {{"gpu.count", "4"},
                      {"gpu.bus", "visible"},
                      {"gpu.0.pci", "0002:01:00.0"},
                      {"gpu.3.pci", "0007:01:00.0"},
                      {"gpu.0.device", "15f9"},
                      {"gpu.0.driver", "nvidia"},
                      {"gpu.1.numa", "0"},
                      {"gpu.2.numa", "1"},
                      {"gpu.2.cpus", "80-159"},
                      {"gpu.0.link.max_speed", "8.0 GT/s PCIe"},
                      {"gpu.driver.version", "418.87.00"},
                      {"gpu.driver.kind", "proprietary"},
                      {"gpu.driver.gpus", "4"},
                      {"gpu.node.nvidiactl", "rw"},
                      {"gpu.node.nvidia3", "rw"},
                      {"gpu.node.nvidia-uvm", "rw"},
                      {"gpu.module.nvidia_uvm", "yes"},
                      {"gpu.module.nvidia_peermem", "no"},
                      {"gpu.modprobe", "no"},
                      {"gpu.env.CUDA_VISIBLE_DEVICES", "0,1"},
                      {"peers.bridges", "4"},
                      {"peers.acs.unreadable", "4"},
                      {"peers.iommu.units", "0"},
                      {"peers.virtual", "no"}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(facts.text(row.name) == row.text);
  }
  CHECK_FALSE(facts.text("gpu.fabric_manager"));
}

TEST_CASE("other drivers, other machines") {
  GpuHost host;
  host.put(
      "/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.104.05  Release Build  (dvs@builder)\n");
  host.put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme sse2 hypervisor lahf_lm\n");
  host.put("/sys/class/iommu/dmar0/devices", "");
  host.put("/proc/cmdline", "ro iommu=pt quiet\n");
  host.put("/sys/devices/pci0002:00/0002:00:00.0/0002:01:00.0/iommu_group/type", "DMA-FQ\n");
  host.put("/sys/devices/pci0002:00/0002:00:00.0/0002:01:00.0/numa_node", "-1\n");
  host.add_pci("0000:00:01.0", "0000:01:00.0", "0x10de", "0x22a3", "0x068000", "nvidia-nvswitch");
  host.put("/proc/77/comm", "nv-fabricmanage\n");
  const Facts facts = host.gather("gpu");
  CHECK(facts.is("gpu.driver.kind", "open"));
  CHECK(facts.is("gpu.driver.version", "535.104.05"));
  CHECK(facts.is("peers.virtual", "yes"));
  CHECK(facts.number("peers.iommu.units") == 1);
  CHECK(facts.is("peers.iommu.cmdline", "yes"));
  CHECK(facts.is("peers.iommu.type", "DMA-FQ"));
  CHECK_FALSE(facts.number("gpu.0.numa"));
  CHECK(facts.number("gpu.count") == 4);
  CHECK(facts.number("gpu.nvswitch") == 1);
  CHECK(facts.is("gpu.fabric_manager", "running"));
}

TEST_CASE("device files that are denied or missing") {
  tests::FakeHost host;
  host.put("/proc/bus/pci/devices", "0100\t10de15f9\t1f9\n");
  host.put("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
  host.put("/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
  host.put("/proc/driver/nvidia/gpus/0000:01:00.0/information", "Device Minor: \t 0\n");
  host.put("/dev/nvidiactl", "");
  host.put("/dev/nvidia0", "");
  host.kernel.denied.insert({"/dev/nvidia0", Access::write});
  const Facts facts = host.gather(tests::device_parts(), "gpu");
  CHECK(facts.is("gpu.node.nvidia0", "no access"));
  CHECK(facts.is("gpu.node.nvidiactl", "rw"));
  CHECK(facts.is("gpu.node.nvidia-uvm", "missing"));
  CHECK(facts.why_missing("gpu.driver.version") ==
        "no NVIDIA driver is loaded (/proc/driver/nvidia/version is missing)");
}

TEST_CASE("four P100: what the driver's library reports") {
  GpuHost host;
  const Facts facts = host.gather("nvml");
  struct Row {
    const char* name;
    const char* text;
  };
  const Row rows[] = {{"nvml.status", "ok"},
                      {"nvml.driver", "418.87.00"},
                      {"nvml.cuda", "10010"},
                      {"nvml.count", "4"},
                      {"nvml.2.pci", "0006:01:00.0"},
                      {"nvml.0.name", "Tesla P100-SXM2-16GB"},
                      {"nvml.0.vbios", "86.00.4d.00.02"},
                      {"nvml.0.memory", "17070817280"},
                      {"nvml.0.used", "0"},
                      {"nvml.0.persistence", "yes"},
                      {"nvml.0.compute_mode", "default"},
                      {"nvml.0.ecc.uncorrected", "0"},
                      {"nvml.0.ecc.corrected.dram", "0"},
                      {"nvml.0.ecc.retirement_pending", "no"},
                      {"nvml.0.retired", "0"},
                      {"nvml.0.clock.throttle", ""},
                      {"nvml.0.temperature", "34"},
                      {"nvml.0.temperature.slowdown", "82"},
                      {"nvml.0.clock.sm", "1328"},
                      {"nvml.0.processes", ""},
                      {"nvml.0.link.max_generation", "3"},
                      {"nvml.0.link.max_width", "16"},
                      {"nvml.0.nvlink.count", "4"},
                      {"nvml.0.nvlink.active", "4"},
                      {"nvml.0.nvlink.speed", "19200"},
                      {"nvml.peers.pairs", "12"}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(facts.text(row.name) == row.text);
  }
  CHECK(facts.list("nvml.peers.without").size() == 8);
  CHECK(facts.list("nvml.peers.without")[0] == "0 2 the chipset does not support it");
  // A P100 has neither; the reason is kept.
  CHECK(facts.why_missing("nvml.0.mig") == "not supported by this GPU");
  CHECK(facts.why_missing("nvml.0.remap.pending") == "not supported by this GPU");
}

TEST_CASE("what is wrong with a GPU is seen") {
  struct Row {
    const char* behaviour;
    const char* name;
    const char* text;
  };
  const Row rows[] = {{"ecc", "nvml.3.ecc.uncorrected", "2"},
                      {"ecc", "nvml.2.ecc.uncorrected", "0"},
                      {"ecc", "nvml.0.ecc.corrected.dram", "17"},
                      {"ecc", "nvml.0.ecc.corrected.sram", "0"},
                      {"ecc", "nvml.3.retired", "1"},
                      {"ecc", "nvml.3.ecc.retirement_pending", "yes"},
                      {"remap", "nvml.1.remap.pending", "yes"},
                      {"remap", "nvml.0.remap.pending", "no"},
                      {"remap", "nvml.0.remap.uncorrected", "600"},
                      {"mig", "nvml.0.mig", "yes"},
                      {"exclusive", "nvml.0.compute_mode", "exclusive"},
                      {"persistence", "nvml.0.persistence", "no"},
                      {"throttled", "nvml.0.clock.throttle", "hardware slowdown\nhardware thermal slowdown"},
                      {"throttled", "nvml.1.clock.throttle", ""},
                      {"throttled", "nvml.0.clock.sm", "544"},
                      {"process", "nvml.1.used", "5242880000"},
                      {"process", "nvml.0.used", "0"},
                      {"nvlink", "nvml.0.nvlink.active", "3"},
                      {"nvlink", "nvml.0.nvlink.count", "4"},
                      {"fewer", "nvml.count", "3"},
                      {"all-peers", "nvml.peers.without", ""}};
  GpuHost host;
  for (const Row& row : rows) {
    CAPTURE(row.behaviour);
    CAPTURE(row.name);
    const Setting setting("FAKE_NVML", row.behaviour);
    CHECK(host.gather("nvml").text(row.name) == row.text);
  }
}

TEST_CASE("compute processes are reported with owner and command line") {
  GpuHost host;
  const Setting setting("FAKE_NVML", "process");
  const std::string self = std::to_string(::getpid());
  host.put("/proc/" + self + "/status", "Name:\tpython3\nUmask:\t0022\nUid:\t1000\t1000\t1000\t1000\n");
  host.put("/proc/" + self + "/cmdline", std::string("python3\0train.py\0--x=\x1b[31m\0", 26));
  const Facts facts = host.gather("nvml");
  const auto processes = facts.list("nvml.1.processes");
  REQUIRE(processes.size() == 2);
  CHECK(processes[0] == "999999999 4194304000 -1 ");
  CHECK(processes[1] == self + " 1048576000 1000 python3 train.py --x=\\x1b[31m");
  CHECK(facts.is("nvml.0.processes", ""));
}

TEST_CASE("a GPU that is lost costs its own facts only") {
  GpuHost host;
  const Setting setting("FAKE_NVML", "lost");
  const Facts facts = host.gather("nvml");
  CHECK(facts.why_missing("nvml.2.name") == "GPU is lost");
  CHECK(facts.is("nvml.3.pci", "0007:01:00.0"));
  CHECK(facts.list("nvml.peers.without")[0] == "0 3 the chipset does not support it");
}

TEST_CASE("a library that refuses, is missing or is none") {
  GpuHost host;
  {
    const Setting setting("FAKE_NVML", "mismatch");
    CHECK(host.gather("nvml").why_missing("nvml.status") == "Driver/library version mismatch");
  }
  DeviceTree other;  // the loader keeps what it once loaded from a path
  other.add_gpus();
  CHECK(other.gather("nvml").why_missing("nvml.status").find("cannot open shared object file") !=
        std::string::npos);
  other.put("/usr/lib/libnvidia-ml.so.1", "not a library");
  CHECK(other.gather("nvml").why_missing("nvml.status").find("cannot load") == 0);
}

TEST_CASE("an old driver lacks entry points, and the older ones serve") {
  GpuHost host(DDLRUN_FAKE_NVML_OLD);
  const Facts facts = host.gather("nvml");
  CHECK(facts.is("nvml.0.pci", "0002:01:00.0"));
  CHECK(facts.number("nvml.0.used") == 300u << 20);
  CHECK(facts.why_missing("nvml.0.mig") == "this driver has no nvmlDeviceGetMigMode");
  CHECK(facts.why_missing("nvml.0.fabric") == "this driver has no nvmlDeviceGetGpuFabricInfo");
  REQUIRE(facts.list("nvml.0.processes").size() == 2);
  CHECK(facts.list("nvml.0.processes")[0].starts_with("11 1048576 "));
  CHECK(facts.list("nvml.0.processes")[1].starts_with("12 0 "));
}

TEST_CASE("a call that hangs costs its part, within its limit") {
  GpuHost host;
  const Setting setting("FAKE_NVML", "hang");
  const auto start = std::chrono::steady_clock::now();
  const Facts facts = host.gather_with([](const GatherContext& context, Facts& into) {
    const DevicePart parts[] = {{"nvml", std::chrono::milliseconds(500), gather_nvml},
                                {"device-log", std::chrono::milliseconds(5000),
                                 [](const GatherContext&, Facts& f) { f.set("log.source", "dmesg"); }}};
    gather_parts(context, parts, into);
  });
  CHECK(facts.why_missing("device.failed.nvml") == "no answer within 0.5 s");
  CHECK(facts.is("log.source", "dmesg"));
  CHECK_FALSE(facts.text("nvml.status"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

TEST_CASE("all parts together, each in its child") {
  GpuHost host;
  host.add_adapters();
  const Facts facts = host.gather("devices");
  CHECK(facts.number("gpu.count") == 4);
  CHECK(facts.number("ib.count") == 2);
  CHECK(facts.is("nvml.3.pci", "0007:01:00.0"));
  CHECK(facts.number("ib.mlx5_0.port.1.delta.symbol_error") == 0);
  CHECK((facts.text("log.source") || facts.why_missing("log.source") != "not gathered"));
}

TEST_CASE("CUDA and NCCL of the job's program are reported from names") {
  GpuHost host;
  host.put("/opt/env/bin/python3", "");
  std::filesystem::permissions(host.root() + "/opt/env/bin/python3", std::filesystem::perms::all);
  host.put("/opt/env/lib/python3.11/site-packages/torch/version.py",
           "from typing import Optional\n__all__ = ['__version__', 'cuda']\n__version__ = "
           "'2.2.0+cu121'\ndebug = False\n"
           "cuda: Optional[str] = '12.1'\ngit_version = '8ac9b20d4b090c213799e81acf48a55ea8d437d6'\n");
  host.put("/opt/env/lib/python3.11/site-packages/nvidia_nccl_cu12-2.19.3.dist-info/METADATA", "");
  host.request.executable = "/opt/env/bin/python3";
  const Facts facts = host.gather("gpu");
  CHECK(facts.is("cuda.runtime", "12.1"));
  CHECK(facts.text("cuda.runtime.source")->starts_with("torch 2.2.0+cu121 in /opt/env/"));
  CHECK(facts.is("nccl.version", "2.19.3"));
  CHECK(facts.is("nccl.cuda", "12"));
}

TEST_CASE("NCCL in the system's directories, and no program") {
  GpuHost host;
  host.put("/usr/lib64/libnccl.so.2.18.3", "");
  host.link("/usr/lib64/libnccl.so.2", "libnccl.so.2.18.3");
  const Facts facts = host.gather("gpu");
  CHECK(facts.is("nccl.version", "2.18.3"));
  CHECK(facts.is("nccl.path", "/usr/lib64/libnccl.so.2"));
  CHECK(facts.why_missing("cuda.runtime") == "no program was named (put it after --)");
}

TEST_CASE("GPUs tried out by CUDA's driver library") {
  GpuHost host;
  host.add_library("libcuda.so.1", DDLRUN_FAKE_CUDA);
  host.put("/sys/devices/pci0003:00/0003:00:00.0/0003:01:00.0/current_link_width", "8\n");
  {
    const Facts facts = host.gather("cuda");
    CHECK(facts.number("cuda.try.count") == 2);
    CHECK(facts.is("cuda.try.0.result", "right"));
    CHECK(facts.is("cuda.try.1.result", "right"));
    CHECK(facts.is("cuda.try.1.pci", "0003:01:00.0"));
    CHECK(facts.number("cuda.try.0.time_ms"));
    CHECK(facts.number("cuda.try.0.link.width") == 16);
    CHECK(facts.number("cuda.try.1.link.width") == 8);
    CHECK(facts.number("cuda.copy.pairs") == 2);
    CHECK(facts.is("cuda.copy.wrong", ""));
  }
  struct Row {
    const char* behaviour;
    const char* name;
    const char* text;
  };
  const Row rows[] = {
      {"wrong", "cuda.try.1.result", "wrong result: element 12345 is 172, not 171"},
      {"wrong", "cuda.try.0.result", "right"},
      {"memory", "cuda.try.0.result", "256 MiB of memory: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY"},
      {"astray", "cuda.copy.wrong", "1 0 wrong data at byte 4096"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.behaviour);
    const Setting setting("FAKE_CUDA", row.behaviour);
    CHECK(host.gather("cuda").text(row.name) == row.text);
  }
  const Setting setting("FAKE_CUDA", "no-device");
  CHECK(host.gather("cuda").why_missing("cuda.try.count") == "cuInit: CUDA_ERROR_NO_DEVICE");
}

TEST_SUITE_END();

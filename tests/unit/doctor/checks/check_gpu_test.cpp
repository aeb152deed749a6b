// SPDX-License-Identifier: MIT
// GPU-01..17 and P2P-01..07 on recorded facts: each verdict that a check has, thresholds from both sides.
#include "base/text/text.hpp"
#include "tests/unit/doctor/device_checks.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;
using namespace ddlrun::tests;

namespace {

void healthy_gpus(Facts& facts) {
  set_gpus(facts);
  facts.set("cuda.runtime", "10.1");
  facts.set("cuda.runtime.source", "/usr/local/cuda/lib64/libcudart.so.10.1");
  facts.set("nccl.version", "2.18.3");
  facts.set("cuda.try.count", 2);
  for (const char* gpu : {"cuda.try.0.", "cuda.try.1."}) {
    facts.set(std::string(gpu) + "pci", "0002:01:00.0");
    facts.set(std::string(gpu) + "result", "right");
    facts.set(std::string(gpu) + "time_ms", 900);
    facts.set(std::string(gpu) + "link.width", 16);
    facts.set(std::string(gpu) + "link.max_width", 16);
  }
  facts.set("cuda.copy.pairs", 2);
  facts.set("cuda.copy.wrong", "");
  facts.set("dcgm.failed", "");
  facts.set("dcgm.passed", 11);
  facts.set("nccl.load.busbw", 13000);
  facts.set("nccl.wrong", 0);
}

const auto no_gpu = [](DoctorInput&, Facts& facts) {
  facts = Facts();
  facts.set("gpu.count", 0);
};
auto ranks(std::uint32_t number) {
  return [number](DoctorInput& input, Facts&) { input.job.ranks_of_host["h2"] = number; };
}
auto rankfile(const char* text) {
  return [text](DoctorInput& input, Facts&) { input.job.rankfile_text = text; };
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_gpu");

TEST_CASE("GPU-01..05: which GPUs, drivers and libraries") {
  const CheckRow rows[] = {
      {"GPU-01", same, P, "4 GPUs"},
      {"GPU-01", no_gpu, F, "0 GPUs"},
      {"GPU-01", fact("gpu.count", "3"), F, "3 GPUs"},
      {"GPU-01", both(fact("gpu.count", "3"), fact("nvml.count", "3")), F, "3 GPUs"},
      {"GPU-01", both(both(fact("gpu.count", "3"), fact("nvml.count", "3")), ranks(3)), P, "3 GPUs"},
      {"GPU-01", fact("nvml.count", "3"), F, "4 GPUs on the PCI bus, the driver has 3"},
      {"GPU-01", both(fact("nvml.count", "2"), fact("gpu.env.SLURM_JOB_GPUS", "0,1")), P,
       "2 GPUs granted (SLURM_JOB_GPUS) of 4"},
      {"GPU-01", both(fact("nvml.count", "3"), fact("gpu.3.driver", "vfio-pci")), F, "3 GPUs"},
      {"GPU-01", both(fact("gpu.count", "18446744073709551615"), fact("nvml.count", "64")), P, "64 GPUs"},
      {"GPU-01", unknown("gpu.count", "no /sys"), S, "no /sys"},
      {"GPU-02", same, P, "Tesla P100-SXM2-16GB 15.9 GiB"},
      {"GPU-02", fact("nvml.0.name", "Tesla K80"), F,
       "Tesla K80 15.9 GiB + Tesla P100-SXM2-16GB 15.9 GiB on 1 host"},
      {"GPU-02", fact("nvml.0.memory", "12000000000"), F, "11.2 GiB"},
      {"GPU-02", fact("nvml.0.vbios", "86.00.41.00.06"), W, "VBIOS 86.00.41.00.06, 86.00.4d.00.02"},
      {"GPU-02", no_gpu, S, "NVML reported no model"},
      {"GPU-03", same, P, "418.87.00"},
      {"GPU-03", fact("gpu.driver.version", "418.67"), W, "418.67 on 1 host"},
      {"GPU-03", fact("gpu.driver.version", "410.104"), F, "410.104 on 1 host"},
      {"GPU-03", no_gpu, S, "no NVIDIA driver is loaded"},
      {"GPU-04", same, P, "driver 418.87.00, CUDA runtime 10.1"},
      {"GPU-04", fact("cuda.runtime", "10.2"), F, "CUDA runtime 10.2"},
      {"GPU-04", fact("cuda.runtime", "12.1"), F, "CUDA runtime 12.1"},
      {"GPU-04", both(fact("cuda.runtime", "12.4"), fact("gpu.driver.version", "525.60.13")), P,
       "CUDA runtime 12.4"},
      {"GPU-04", both(fact("cuda.runtime", "12.0"), fact("gpu.driver.version", "524.99")), F,
       "driver 524.99"},
      {"GPU-04", both(fact("cuda.runtime", "13.0"), fact("gpu.driver.version", "579.1")), F, "driver 579.1"},
      {"GPU-04", both(fact("cuda.runtime", "13.1"), fact("gpu.driver.version", "580.65.06")), P,
       "driver 580.65.06"},
      {"GPU-04", both(fact("cuda.runtime", "11.8"), fact("gpu.driver.version", "450.80.02")), P,
       "CUDA 10.1: kernels"},
      {"GPU-04", both(fact("cuda.runtime", "12.1"), fact("cuda.compat", "yes")), W, "cuda-compat"},
      {"GPU-04", unknown("cuda.runtime", "no program was named"), S, "no program was named"},
      {"GPU-05", same, P, "NCCL 2.18.3"},
      {"GPU-05", fact("nccl.version", "2.18.5"), W, "NCCL 2.18.5 on 1 host"},
      {"GPU-05", fact("nccl.version", "2.19.3"), F, "NCCL 2.19.3 on 1 host"},
      {"GPU-05", fact("nccl.cuda", "12"), F, "NCCL 2.18.3 for CUDA 12"},
      {"GPU-05", unknown("nccl.version", "none"), S, "no libnccl.so.2"},
  };
  check_rows(rows, healthy_gpus);
}

TEST_CASE("GPU-06..11: health and use") {
  const CheckRow rows[] = {
      {"GPU-06", same, P, "no uncorrected memory error"},
      {"GPU-06", fact("nvml.3.ecc.uncorrected", "2"), F, "GPU 3 (0007:01:00.0): 2 uncorrected"},
      {"GPU-06", fact("nvml.1.remap.pending", "yes"), F, "row remapping pending"},
      {"GPU-06", fact("nvml.1.remap.failed", "yes"), F, "row remapping failed"},
      {"GPU-06", fact("nvml.1.ecc.retirement_pending", "yes"), F, "page retirement pending"},
      {"GPU-06", fact("nvml.0.remap.uncorrected", "512"), P, ""},
      {"GPU-06", fact("nvml.0.remap.uncorrected", "513"), W, "513 rows"},
      {"GPU-06", fact("nvml.0.ecc.corrected.sram", "10000"), P, ""},
      {"GPU-06", fact("nvml.0.ecc.corrected.sram", "10001"), W, "10001 corrected in SRAM"},
      {"GPU-06", fact("nvml.0.ecc.corrected.dram", "20000000"), P, ""},
      {"GPU-06", fact("nvml.0.ecc.corrected.dram", "20000001"), W, "20000001 corrected in DRAM"},
      {"GPU-06", unknown("nvml.status", "Driver/library version mismatch"), S,
       "NVML cannot be asked: Driver/library"},
      {"GPU-06", no_gpu, S, "no NVIDIA GPU on the PCI bus"},
      {"GPU-07", same, P, "no Xid"},
      {"GPU-07", fact("log.error.xid", "7199 79 0000:3b:00"), F,
       "Xid 79 on 0000:3b:00 (GPU has fallen off the bus), in the last 2 h"},
      {"GPU-07", fact("log.error.xid", "7200 79 0000:3b:00"), W, "earlier"},
      {"GPU-07",
       fact("log.error.xid", "10 31 0000:3b:00\n10 13 0000:3b:00\n5 43 0000:3b:00\n5 45 0000:3b:00"), P,
       "no Xid"},
      {"GPU-07", fact("log.error.xid", "garbage\n\n1 x y"), P, "no Xid"},
      {"GPU-07", fact("log.error.xid", "9999 48 0000:3b:00\n1 94 0000:3c:00"), F, "Xid 94 on 0000:3c:00"},
      {"GPU-07", unknown("log.source", "the kernel's log is not readable here"), S, "not readable"},
      {"GPU-08", same, P, "persistence mode on"},
      {"GPU-08", fact("nvml.2.persistence", "no"), W, "persistence mode off on GPU 2"},
      {"GPU-08", no_gpu, S, "no NVIDIA GPU"},
      {"GPU-09", same, P, "compute mode default"},
      {"GPU-09", fact("nvml.0.compute_mode", "exclusive"), W, "compute mode exclusive"},
      {"GPU-09", both(fact("nvml.0.compute_mode", "exclusive"), ranks(4)), W, "compute mode exclusive"},
      {"GPU-09", both(fact("nvml.0.compute_mode", "exclusive"), ranks(5)), F, "compute mode exclusive"},
      {"GPU-09", fact("nvml.0.compute_mode", "prohibited"), F, "compute mode prohibited"},
      {"GPU-09", fact("nvml.1.mig", "yes"), F, "GPU 1 (0003:01:00.0): MIG on"},
      {"GPU-09", both(fact("nvml.1.mig", "yes"), job_env("CUDA_VISIBLE_DEVICES", "MIG-1234")), P,
       "MIG instances"},
      {"GPU-09", no_gpu, S, "no NVIDIA GPU"},
      {"GPU-10", same, P, "GPUs idle"},
      {"GPU-10", fact("nvml.1.used", "524287999"), P, "GPUs idle"},
      {"GPU-10", fact("nvml.1.used", "524288000"), W, "GPU 1 (0003:01:00.0): 500 MiB in use"},
      {"GPU-10", fact("nvml.1.used", "853540863"), W, "in use"},
      {"GPU-10", fact("nvml.1.used", "853540864"), F, "814 MiB in use"},
      {"GPU-10", fact("nvml.1.processes", "77 1048576 1000 python3 train.py"), W,
       "pid 77 of uid 1000: python3 train.py (1 MiB)"},
      {"GPU-10", fact("nvml.1.processes", "77 1048576 0 nvidia-cuda-mps-server"), P, "GPUs idle"},
      {"GPU-10", both(fact("nvml.1.used", "9000000000"), job_env("CUDA_VISIBLE_DEVICES", "0,2,3")), P,
       "GPUs idle"},
      {"GPU-10", no_gpu, S, "no NVIDIA GPU"},
      {"GPU-11", same, P, "not throttled"},
      {"GPU-11", fact("nvml.0.clock.throttle", "software power cap"), W, "software power cap"},
      {"GPU-11", fact("nvml.0.clock.throttle", "hardware slowdown"), F,
       "GPU 0 (0002:01:00.0): hardware slowdown, 34 C"},
      {"GPU-11", fact("nvml.0.clock.throttle", "power brake"), F, "power brake"},
      {"GPU-11", fact("nvml.0.clock.throttle", "application clocks\nsync boost"), P, ""},
      {"GPU-11", fact("nvml.3.clock.sm", "1327"), W, "application clock 1327 MHz, 1328 as delivered"},
      {"GPU-11", no_gpu, S, "no NVIDIA GPU"},
  };
  check_rows(rows, healthy_gpus);
}

TEST_CASE("GPU-12..17: access and load") {
  const auto tasks = [](DoctorInput& input, Facts&) { input.host("h2").reach.via = Via::srun; };
  const auto switches = fact("gpu.nvswitch", "6");
  const auto nouveau = [](DoctorInput& input, Facts&) {
    for (HostReport& host : input.hosts) {
      host.facts = Facts();
      host.facts.set("gpu.count", 1);
      host.facts.set("gpu.0.driver", "nouveau");
      host.facts.set("gpu.module.nvidia", "no");
    }
  };
  const auto without_driver = [](DoctorInput&, Facts& facts) {
    facts.set_unknown("gpu.driver.version", "none");
    facts.set("gpu.module.nvidia", "no");
    facts.set("gpu.0.driver", "none");
  };
  const auto asked = [](DoctorInput& input, Facts&) { input.job.gpus_per_host = 2; };
  const CheckRow rows[] = {
      {"GPU-12", same, P, "CUDA_VISIBLE_DEVICES is not set"},
      {"GPU-12", both(fact("gpu.env.CUDA_VISIBLE_DEVICES", "0,1"), ranks(4)), F,
       "CUDA_VISIBLE_DEVICES=0,1: 2 GPUs visible for 4 ranks"},
      {"GPU-12", both(fact("gpu.env.CUDA_VISIBLE_DEVICES", "0,1"), ranks(2)), P, "2 of 4 visible"},
      {"GPU-12", both(both(fact("gpu.env.CUDA_VISIBLE_DEVICES", "0"), ranks(4)), tasks), S, "for each task"},
      {"GPU-12", fact("gpu.env.CUDA_VISIBLE_DEVICES", "0,1"), W, "2 of 4 visible"},
      {"GPU-12", both(fact("gpu.env.CUDA_VISIBLE_DEVICES", "0,1"), fact("gpu.env.SLURM_JOB_GPUS", "0,1")), P,
       "2 of 4"},
      {"GPU-12", fact("gpu.env.CUDA_VISIBLE_DEVICES", ""), W, "hides every GPU"},
      {"GPU-12", no_gpu, S, "no NVIDIA GPU"},
      {"GPU-12", both(no_gpu, fact("gpu.env.SLURM_JOB_GPUS", "0,1")), W, "the scheduler granted GPUs"},
      {"GPU-12", both(no_gpu, asked), W, "the job requests 2 GPUs on each host, but no NVIDIA GPU"},
      {"GPU-12", both(both(no_gpu, asked), fact("gpu.kfd", "yes")), S, "no NVIDIA GPU"},
      {"GPU-12", both(both(no_gpu, fact("gpu.env.SLURM_JOB_GPUS", "0,1")), fact("gpu.kfd", "yes")), S,
       "no NVIDIA GPU"},
      {"GPU-12", both(fact("gpu.env.CUDA_VISIBLE_DEVICES", "0,7,1,2,3"), ranks(4)), F, "1 GPU visible"},
      {"GPU-12", job_env("CUDA_VISIBLE_DEVICES", "0,1,2,3"), P, "4 of 4 visible"},
      {"GPU-12", no_gpu, S, "no NVIDIA GPU"},
      {"GPU-13", same, P, "device files readable and writable"},
      {"GPU-13", fact("gpu.node.nvidia0", "no access"), F, "no access to /dev/nvidia0"},
      {"GPU-13", fact("gpu.node.nvidia-uvm", "missing"), F, "missing: /dev/nvidia-uvm"},
      {"GPU-13", both(fact("gpu.node.nvidia-uvm", "missing"), fact("gpu.modprobe", "yes")), P, "readable"},
      {"GPU-13", unknown("nvml.status", "Driver/library version mismatch"), F,
       "NVML refuses: Driver/library version mismatch"},
      {"GPU-13", unknown("nvml.status", "cannot load the plug-in: libnvidia-ml.so.1"), P, "readable"},
      {"GPU-13", without_driver, F, "no NVIDIA driver loaded (held by: none)"},
      {"GPU-13", nouveau, S, "held by: nouveau"},
      {"GPU-13", no_gpu, S, "no NVIDIA GPU"},
      {"GPU-14", same, S, "no NVSwitch"},
      {"GPU-14", both(switches, fact("gpu.fabric_manager", "running")), P, "nv-fabricmanager runs"},
      {"GPU-14", both(switches, fact("gpu.fabric_manager", "not running")), F, "does not run"},
      {"GPU-14", both(switches, fact("nvml.0.fabric", "completed")), P, "joined"},
      {"GPU-14",
       both(switches, both(fact("gpu.fabric_manager", "running"), fact("nvml.0.fabric", "in progress"))), F,
       "in progress"},
      {"GPU-15", same, P, "full width"},
      {"GPU-15", fact("cuda.try.1.link.width", "8"), F, "x8 of x16"},
      {"GPU-15", fact("cuda.try.1.link.width", "odd"), P, "full width"},
      {"GPU-15", unknown("cuda.try.count", "not asked"), S, "not asked"},
      {"GPU-16", same, P, "right"},
      {"GPU-16", fact("cuda.try.1.time_ms", "10000"), P, "right"},
      {"GPU-16", fact("cuda.try.1.time_ms", "10001"), W, "right, after 10 s"},
      {"GPU-16", fact("cuda.try.1.result", "no answer within 60 s"), F, "no answer within 60 s"},
      {"GPU-16", unknown("cuda.try.count", "cuInit: CUDA_ERROR_NO_DEVICE"), F, "CUDA_ERROR_NO_DEVICE"},
      {"GPU-16", no_gpu, S, "no NVIDIA GPU"},
      {"GPU-17", same, P, "11 tests passed"},
      {"GPU-17", fact("dcgm.failed", "PCIe: Fail - GPU: 0: link width"), F,
       "PCIe: Fail - GPU: 0: link width"},
      {"GPU-17", unknown("dcgm.failed", "dcgmi is not installed"), S, "dcgmi is not installed"},
      {"GPU-17", unknown("dcgm.failed", "not gathered"), S, "load is for --stress"},
      {"STRESS-02", same, P, "all_reduce_perf"},
      {"STRESS-02", fact("nccl.load.busbw", "6500"), P, ""},
      {"STRESS-02", fact("nccl.load.busbw", "6499"), W, "65.0 GB/s"},
      {"STRESS-02", fact("nccl.wrong", "3"), F, "3 wrong values"},
      {"STRESS-02", unknown("nccl.load.busbw", "nccl-tests (all_reduce_perf) is not installed"), S,
       "not installed"},
  };
  check_rows(rows, healthy_gpus);
}

TEST_CASE("P2P-01..07: between GPUs, and between a GPU and its cores") {
  const auto virtual_machine = fact("peers.virtual", "yes");
  const auto one_gpu = both(fact("gpu.count", "1"), fact("nvml.count", "1"));
  const auto near =
      rankfile("rank 0=h2 slot=0:0-1\nrank 1=h2 slot=0:2-3\nrank 2=h2 slot=1:0-1\nrank 3=h2 slot=1:2-3\n");
  const auto far = rankfile(
      "rank 3=h2 slot=1:2-3\nrank 0=h2 slot=1:0\nrank 1=h2.site slot=0:1\nrank 2=h2 slot=1:1\nrank 4=h1 "
      "slot=0\n");
  const auto split_package =
      both(fact("cores.map", "0: 0-7;8-15;16-23;24-31"),
           both(fact("cores.numa", "0: 0-15\n8: 16-31"), rankfile("rank 0=h2 slot=0:3\n")));
  const auto no_links = [](DoctorInput& input, Facts&) {
    for (HostReport& host : input.hosts) {
      for (int i = 0; i < 4; ++i) host.facts.set("nvml." + std::to_string(i) + ".nvlink.active", 0);
    }
  };
  const CheckRow rows[] = {
      {"P2P-01", same, P, "all 6 pairs"},
      {"P2P-01", fact("nvml.peers.without", "0 2 the chipset does not support it\n2 0 x\n1 2 x"), P,
       "2 pairs without: 0-2 1-2 (the chipset does not support it)"},
      {"P2P-01", fact("nvml.peers.without", "0 1 the PCIe topology does not support it"), W,
       "1 pair without: 0-1"},
      {"P2P-01", fact("nvml.peers.without", "0 1 a GPU does not support it"), P, "1 pair without: 0-1"},
      {"P2P-01", fact("nvml.peers.without", "0 2 switched off in the driver"), W,
       "switched off in the driver"},
      {"P2P-01", one_gpu, S, "fewer than 2 GPUs"},
      {"P2P-01", unknown("nvml.peers.without", "not supported by this GPU"), S, "not supported"},
      {"P2P-02", same, P, "4 NVLinks of 19200 MB/s per GPU"},
      {"P2P-02", fact("nvml.0.nvlink.active", "3"), F, "GPU 0 (0002:01:00.0): 3 of 4 NVLinks active"},
      {"P2P-02", fact("nvml.0.nvlink.speed", "12800"), F,
       "4 NVLinks of 12800 MB/s or 4 NVLinks of 19200 MB/s per GPU on 1 host"},
      {"P2P-02", no_links, P, "without a bridge"},
      {"P2P-02", no_gpu, S, "no NVIDIA GPU"},
      {"P2P-03", same, P, "ACS off on 4 bridges"},
      {"P2P-03", fact("peers.acs.on", "0000:00:01.0"), F, "ACS on on 1 of 4 bridges: 0000:00:01.0"},
      {"P2P-03", both(fact("peers.acs.on", "0000:00:01.0"), virtual_machine), W, "in a virtual machine"},
      {"P2P-03", fact("peers.acs.unreadable", "4"), S, "for root only"},
      {"P2P-03", both(one_gpu, fact("peers.acs.on", "0000:00:01.0")), S, "nothing to reach"},
      {"P2P-04", same, P, "IOMMU off"},
      {"P2P-04", fact("peers.iommu.units", "2"), W, "IOMMU on"},
      {"P2P-04", both(fact("peers.iommu.units", "2"), fact("peers.iommu.type", "DMA-FQ")), W,
       "translating (DMA-FQ)"},
      {"P2P-04", both(fact("peers.iommu.units", "2"), fact("peers.iommu.type", "identity")), P,
       "passes through"},
      {"P2P-04", both(fact("peers.iommu.units", "2"), fact("peers.iommu.cmdline", "yes")), P,
       "passes through"},
      {"P2P-04", both(fact("peers.iommu.units", "2"), virtual_machine), P, "virtual machine"},
      {"P2P-04", no_gpu, S, "no NVIDIA GPU"},
      {"P2P-05", same, P, "2 ordered pairs of GPUs"},
      {"P2P-05", fact("cuda.copy.wrong", "1 0 wrong data at byte 4096"), F,
       "GPU 1 to 0: wrong data at byte 4096"},
      {"P2P-05", unknown("cuda.copy.wrong", "no answer within 60 s"), S, "no answer"},
      {"P2P-06", same, S, "no rankfile was named"},
      {"P2P-06", near, P, "its GPU's NUMA node"},
      {"P2P-06", far, F, "rank 0 (slot=1:0) on another package than GPU 0"},
      {"P2P-06", split_package, W, "rank 0 (slot=0:3) on another NUMA node of the same package than GPU 0"},
      {"P2P-06", both(near, unknown("gpu.0.numa", "VM")), P, ""},
      {"P2P-06", both(near, fact("cores.map", "odd")), S, "the cores of this host are not known"},
      {"P2P-07", same, P, "PCIe tree visible"},
      {"P2P-07", fact("gpu.bus", "missing"), F, "/sys/bus/pci shows no GPU"},
      {"P2P-07", fact("gpu.count", "0"), F, "/sys/bus/pci shows no GPU"},
      {"P2P-07", both(virtual_machine, fact("peers.bridges", "0")), W, "virtual machine"},
      {"P2P-07", virtual_machine, P, "virtual machine"},
      {"P2P-07", no_gpu, S, "no NVIDIA GPU"},
  };
  check_rows(rows, healthy_gpus);
}

TEST_CASE("remedies name the device that is meant") {
  DoctorInput input = healthy_hosts(healthy_gpus);
  Facts& facts = input.host("h2").facts;
  facts.set("nvml.3.ecc.uncorrected", 1);
  facts.set("nvml.1.mig", "yes");
  facts.set("nvml.1.processes",
            "77 1048576 1000 x\n78 1048576 1000 y\n$(id) 1 0 z");  // not a kernel's line
  facts.set("peers.acs.on", "0000:00:01.0\n0000:00:02.0");
  const auto commands = [&](const char* id) {
    return ddlrun::join(finding_on(input, id, "h2").remedy.commands, "\n");
  };
  CHECK(commands("GPU-06") == "nvidia-smi --gpu-reset -i 0007:01:00.0");
  CHECK(commands("GPU-09") == "nvidia-smi -mig 0 -i 0003:01:00.0");
  CHECK(commands("GPU-10").ends_with("ps -o pid,user,etime,args -p 77,78"));
  CHECK(commands("P2P-03") ==
        "setpci -s 0000:00:01.0 ECAP_ACS+0x6.w=0000\nsetpci -s 0000:00:02.0 ECAP_ACS+0x6.w=0000");
}

TEST_CASE("a gatherer that failed is an error of the checks that need it") {
  DoctorInput input = healthy_hosts(healthy_gpus);
  input.host("h2").facts.set_unknown("device.failed.nvml", "no answer within 8 s");
  input.host("h3").failed_gatherers["devices"] = "no answer within 15 s";
  for (const char* id : {"GPU-06", "GPU-08", "GPU-09", "GPU-10", "GPU-11", "P2P-01", "P2P-02"}) {
    CAPTURE(id);
    const Finding finding = finding_on(input, id, "h2");
    CHECK(finding.verdict == Verdict::error);
    CHECK(finding.observed == "the gatherer 'nvml' failed there: no answer within 8 s");
    CHECK(finding_on(input, id, "h3").verdict == Verdict::error);
  }
}

TEST_SUITE_END();

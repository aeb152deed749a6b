// SPDX-License-Identifier: MIT
#include "topology/pci_devices.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::topology;

TEST_SUITE_BEGIN("topology/pci_devices");

TEST_CASE("what counts as a GPU") {
  struct Row {
    const char* what;
    PciDevice device;
    bool gpu;
  };
  const Row rows[] = {
      {"Tesla P100, 3D controller", {{2, 1, 0, 0}, 0x0302, 0x10de, 0x15f9}, true},
      {"Quadro K5000, VGA", {{2, 1, 0, 0}, 0x0300, 0x10de, 0x11ba}, true},
      {"sound of an NVIDIA card", {{2, 1, 0, 1}, 0x0403, 0x10de, 0x10f1}, false},
      {"NVSwitch, bridge", {{0, 5, 0, 0}, 0x0680, 0x10de, 0x1ac1}, false},
      {"Instinct MI250X, display controller", {{0, 0xc1, 0, 0}, 0x0380, 0x1002, 0x7408}, true},
      {"Instinct MI300X, accelerator", {{0, 0xc1, 0, 0}, 0x1200, 0x1002, 0x74a1}, true},
      {"ATI ES1000 of a server's console", {{0, 0x0b, 0, 0}, 0x0300, 0x1002, 0x515e}, false},
      {"ASPEED BMC", {{5, 6, 0, 0}, 0x0300, 0x1a03, 0x2000}, false},
      {"Matrox BMC", {{0, 4, 0, 0}, 0x0300, 0x102b, 0x0522}, false},
      {"Intel display of a processor", {{0, 0, 2, 0}, 0x0300, 0x8086, 0x3e98}, false},
      {"the same without a screen", {{0, 0, 2, 0}, 0x0380, 0x8086, 0x3e98}, false},
      {"Intel Max 1550", {{0, 0x3a, 0, 0}, 0x0380, 0x8086, 0x0bd5}, true},
      {"virtio GPU", {{0, 0, 1, 0}, 0x0300, 0x1af4, 0x1050}, false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(is_compute_gpu(row.device) == row.gpu);
  }
}

TEST_CASE("bus order is by numbers") {
  CHECK(PciAddress{0, 0x34, 0, 0} < PciAddress{0, 0xb7, 0, 0});
  CHECK(PciAddress{2, 1, 0, 0} < PciAddress{0x10, 0, 0, 0});
  CHECK(render_pci_address({0x35, 3, 0x1f, 7}) == "0035:03:1f.7");
}

TEST_CASE("kinds of NIC") {
  const PciDevice ethernet{{}, 0x0200, 0x15b3, 0x1013}, infiniband{{}, 0x0207, 0x15b3, 0x1013};
  const PciDevice omnipath{{}, 0x0208, 0x8086, 0x24f0}, radio{{}, 0x0280, 0x8086, 0x2723};
  CHECK(nic_kind("mlx5_0", true, &infiniband) == "infiniband");
  CHECK(nic_kind("mlx5_0", true, &ethernet) == "ethernet");  // RoCE
  CHECK(nic_kind("ib0", false, &infiniband) == "infiniband");
  CHECK(nic_kind("hfi1_0", true, &omnipath) == "omnipath");
  CHECK(nic_kind("wlp2s0", false, &radio) == "wireless");
  CHECK(nic_kind("docker0", false, nullptr) == "other");
}

TEST_SUITE_END();

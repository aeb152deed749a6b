// SPDX-License-Identifier: MIT
// RDMA devices and their ports as /sys/class/infiniband shows them: InfiniBand, RoCE, Omni-Path, EFA.
//   ib.count                  devices; 0 and nothing else where there is none
//   ib.D.firmware .board      "16.35.2000", "MT_0000000008"; .type "MT4119", .driver "mlx5_core", .numa
//   ib.D.net                  network interfaces on the same card, one a line
//   ib.D.port.P.state .phys   "ACTIVE", "LinkUp": the word behind the number
//   ib.D.port.P.rate .layer   "100 Gb/sec (4X EDR)"; InfiniBand, Ethernet, Unspecified
//   ib.D.port.P.lid .sm_lid   numbers
//   ib.D.port.P.pkeys         the table without empty entries, one a line: "0xffff"
//   ib.D.port.P.gid           GID 0: "fe80:0000:0000:0000:248a:0703:00aa:bbcc"
//   ib.D.port.P.error.NAME    symbol_error, link_error_recovery, link_downed, port_rcv_errors: in all
//   ib.uverbs                 one a line: "uverbs0 mlx5_0 rw" (rw, no access, missing)
//   ib.rdma_cm                /dev/infiniband/rdma_cm: rw, no access, missing
//   ib.kernel                 kernel release; ib.uptime: seconds since the host started
//   ib.rdma_core              version in the file name of libibverbs; ib.ofed: of the vendor's own driver
//   ib.module.NAME            loaded, yes or no: nvidia_peermem, nv_peer_mem
//   ib.env.NAME               NCCL_IB_HCA, NCCL_IB_GID_INDEX, UCX_NET_DEVICES ... where set on the host
#include "base/text/text.hpp"
#include "doctor/gather/device.hpp"
#include "doctor/gather/libraries.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {
namespace {

constexpr std::string_view class_dir = "/sys/class/infiniband/";
constexpr std::size_t max_devices = 64, max_ports = 8;

// "4: ACTIVE" -> "ACTIVE"
std::string word_of(const std::optional<std::string>& line) {
  if (!line) return "";
  const std::size_t colon = line->find(':');
  return std::string(trim(colon == std::string::npos ? *line : std::string_view(*line).substr(colon + 1)));
}

std::vector<std::string> read_pkeys(const SysrootFiles& files, const std::string& dir) {
  std::vector<std::string> keys;
  for (const std::string& index : files.list(dir)) {
    const auto key = files.hex_number(dir + "/" + index);
    if (key && *key != 0 && *key <= 0xffff && keys.size() < 128)
      keys.push_back(fmt::format("0x{:04x}", *key));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

void gather_port(const SysrootFiles& files, const std::string& device, const std::string& port,
                 Facts& facts) {
  const std::string dir = fmt::format("{}{}/ports/{}/", class_dir, device, port);
  const std::string name = fmt::format("ib.{}.port.{}.", device, port);
  facts.set(name + "state", word_of(files.line(dir + "state")));
  facts.set(name + "phys", word_of(files.line(dir + "phys_state")));
  set_line(facts, name + "rate", files.line(dir + "rate"));
  set_line(facts, name + "layer", files.line(dir + "link_layer"));
  if (const auto lid = files.hex_number(dir + "lid")) facts.set(name + "lid", *lid);
  if (const auto lid = files.hex_number(dir + "sm_lid")) facts.set(name + "sm_lid", *lid);
  facts.set_list(name + "pkeys", read_pkeys(files, dir + "pkeys"));
  set_line(facts, name + "gid", files.line(dir + "gids/0"));
  for (const char* counter : {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors"}) {
    if (const auto value = files.number(dir + "counters/" + counter)) {
      facts.set(fmt::format("{}error.{}", name, counter), *value);
    }
  }
}

void gather_rdma_device(const SysrootFiles& files, const std::string& device, Facts& facts) {
  const std::string dir = std::string(class_dir) + device + "/";
  const std::string name = "ib." + device + ".";
  set_line(facts, name + "firmware", files.line(dir + "fw_ver"));
  set_line(facts, name + "board", files.line(dir + "board_id"));
  set_line(facts, name + "type", files.line(dir + "hca_type"));
  const auto driver = files.link(dir + "device/driver");
  if (driver) facts.set(name + "driver", std::string_view(*driver).substr(driver->rfind('/') + 1));
  if (const auto numa = files.number(dir + "device/numa_node")) facts.set(name + "numa", *numa);
  const auto interfaces = files.list(dir + "device/net");
  if (interfaces.size() <= 64) facts.set_list(name + "net", interfaces);
  const auto ports = files.list(dir + "ports");
  for (std::size_t i = 0; i < ports.size() && i < max_ports; ++i) gather_port(files, device, ports[i], facts);
}

void gather_uverbs(const SysrootFiles& files, Facts& facts) {
  std::vector<std::string> lines;
  for (const std::string& name : files.list("/sys/class/infiniband_verbs")) {
    if (!name.starts_with("uverbs") || lines.size() >= max_devices) continue;
    const auto device = files.line("/sys/class/infiniband_verbs/" + name + "/ibdev");
    lines.push_back(
        fmt::format("{} {} {}", name, device.value_or("?"), files.access("/dev/infiniband/" + name)));
  }
  facts.set_list("ib.uverbs", lines);
  facts.set("ib.rdma_cm", files.access("/dev/infiniband/rdma_cm"));
}

// libibverbs.so.1 -> libibverbs.so.1.14.44.0 : 44.0 is the version of rdma-core
void gather_versions(const GatherContext& context, const SysrootFiles& files, Facts& facts) {
  for (const char* dir : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/aarch64-linux-gnu",
                          "/usr/lib/powerpc64le-linux-gnu", "/usr/lib"}) {
    const std::string library = std::string(dir) + "/libibverbs.so.1";
    if (!files.exists(library)) continue;
    const std::string real = real_path(context, library);
    const std::size_t at = real.rfind(".so.1.");
    facts.set("ib.rdma_core",
              at == std::string::npos ? "unknown" : std::string_view(real).substr(at + 6, 32));
    break;
  }
  set_line(facts, "ib.ofed", files.line("/sys/module/mlx5_core/version"));
  facts.set("ib.kernel", context.kernel.kernel_name().release);
  const auto uptime = files.line("/proc/uptime");
  if (uptime) {
    if (const auto seconds = parse_unsigned(uptime->substr(0, uptime->find('.'))))
      facts.set("ib.uptime", *seconds);
  }
}

}  // namespace

std::vector<std::string> find_rdma_devices(const SysrootFiles& files) {
  std::vector<std::string> devices = files.list("/sys/class/infiniband");
  // A dot would end the device's part of a fact's name; the kernel gives none.
  std::erase_if(devices, [](const std::string& name) {
    return name.size() > 63 || name.find('.') != std::string::npos;
  });
  if (devices.size() > max_devices) devices.resize(max_devices);
  return devices;
}

void gather_fabric(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  const auto devices = find_rdma_devices(files);
  facts.set("ib.count", devices.size());
  for (const char* name : {"NCCL_IB_HCA", "NCCL_IB_GID_INDEX", "NCCL_IB_DISABLE", "NCCL_IB_PKEY",
                           "UCX_NET_DEVICES", "FI_PROVIDER"}) {
    const std::string value = context.system.environment.get(name);
    if (!value.empty()) facts.set("ib.env." + std::string(name), std::string_view(value).substr(0, 1024));
  }
  gather_fabrics(context, files, facts);
  if (devices.empty()) return;
  for (const std::string& device : devices) gather_rdma_device(files, device, facts);
  gather_uverbs(files, facts);
  gather_versions(context, files, facts);
  for (const char* module : {"nvidia_peermem", "nv_peer_mem"}) {
    facts.set(fmt::format("ib.module.{}", module),
              files.exists(fmt::format("/sys/module/{}", module)) ? "yes" : "no");
  }
}

}  // namespace ddlrun::doctor

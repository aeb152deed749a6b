// SPDX-License-Identifier: MIT
// This host's network interfaces.
//   net.interfaces   a line each, as interfaces.hpp renders it: name, up or down (with carrier), MTU,
//                    Mbit/s of /sys/class/net/NAME/speed where hardware is behind it, hardware address, RDMA
//                    device of the same port, addresses with prefix. At most 64, those with addresses first
//   net.left_out     how many were more than that
//   net.port_range   /proc/sys/net/ipv4/ip_local_port_range, "32768 60999"
//   net.called_from  the address from which ssh came in, where it did
#include "doctor/parse/interfaces.hpp"

#include "base/text/text.hpp"
#include "doctor/gather/name.hpp"
#include "doctor/gather/sysroot_files.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_interfaces = 64;
constexpr std::size_t most_interface_addresses = 8;

// veth and bridges claim a speed that means nothing; bonds and VLANs have that of their ports.
bool has_hardware(const SysrootFiles& files, const std::string& dir) {
  if (files.exists(dir + "/device") || files.exists(dir + "/bonding")) return true;
  if (files.exists(dir + "/bridge")) return false;
  const auto entries = files.list(dir);
  return std::any_of(entries.begin(), entries.end(),
                     [](const auto& name) { return name.starts_with("lower_"); });
}

HostInterface look_at_interface(const SysrootFiles& files, const NetworkInterface& seen) {
  HostInterface interface;
  interface.name = seen.name;
  interface.up = seen.up && seen.running;
  interface.loopback = seen.loopback;
  interface.mtu = seen.mtu;
  interface.addresses = seen.addresses;
  if (interface.addresses.size() > most_interface_addresses)
    interface.addresses.resize(most_interface_addresses);
  if (seen.loopback || seen.name.find('/') != std::string::npos) return interface;
  const std::string dir = "/sys/class/net/" + seen.name;
  if (auto hardware = files.line(dir + "/address"); hardware && hardware->find(' ') == std::string::npos)
    interface.hardware = *hardware;
  const auto rdma = files.list(dir + "/device/infiniband");
  if (!rdma.empty()) interface.rdma = rdma.front();
  if (!has_hardware(files, dir)) return interface;
  const auto speed = files.number(dir + "/speed");  // -1 if the port does not report it
  if (speed && *speed < 10'000'000) interface.speed_mbps = *speed;
  return interface;
}

}  // namespace

void gather_interfaces(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  std::vector<NetworkInterface> all = context.kernel.interfaces();
  std::stable_sort(all.begin(), all.end(), [](const NetworkInterface& a, const NetworkInterface& b) {
    return a.addresses.empty() < b.addresses.empty();
  });
  std::vector<std::string> lines;
  for (const NetworkInterface& interface : all) {
    if (lines.size() < most_interfaces && interface.name.find(' ') == std::string::npos)
      lines.push_back(render_interface(look_at_interface(files, interface)));
  }
  facts.set_list("net.interfaces", lines);
  facts.set("net.left_out", all.size() - lines.size());
  if (const auto range = files.line("/proc/sys/net/ipv4/ip_local_port_range")) {
    std::string text = *range;
    std::replace(text.begin(), text.end(), '\t', ' ');
    facts.set("net.port_range", text);
  }
  const std::string connection = context.system.environment.get("SSH_CONNECTION");
  if (!connection.empty()) facts.set("net.called_from", split(connection, ' ').front());
}

}  // namespace ddlrun::doctor

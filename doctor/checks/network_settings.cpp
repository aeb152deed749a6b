// SPDX-License-Identifier: MIT
// network_settings: the chosen network in the words of Open MPI, NCCL, Gloo and UCX.
#include "base/text/text.hpp"
#include "doctor/parse/cidr.hpp"
#include "doctor/parse/interfaces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::doctor {

namespace {

using Kind = NetworkSetting::Kind;

bool has_address_in(const HostNetworks& host, const std::string& cidr) {
  for (const HostInterface& interface : host.interfaces) {
    for (const std::string& text : interface.addresses) {
      const auto address = parse_ipv4(text);
      if (address && interface.up && render_network(*address) == cidr) return true;
    }
  }
  return false;
}

// The interfaces' names, each once, where naming them all leads no host into another network.
std::vector<std::string> safe_interface_names(const Network& network, std::span<const HostNetworks> hosts) {
  std::vector<std::string> names;
  for (const NetworkPort& port : network.ports) {
    if (std::find(names.begin(), names.end(), port.interface) == names.end()) names.push_back(port.interface);
  }
  if (names.size() > 4) return {};
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    for (const HostInterface& interface : hosts[host].interfaces) {
      const bool named = std::find(names.begin(), names.end(), interface.name) != names.end();
      if (named && interface.name != network.ports[host].interface) return {};
    }
  }
  return names;
}

// NCCL takes a name for a beginning: eth1 is eth10 too, unless it is "=eth1".
bool is_beginning_of_another(const std::string& name, std::span<const HostNetworks> hosts) {
  for (const HostNetworks& host : hosts) {
    for (const HostInterface& interface : host.interfaces) {
      if (interface.name != name && interface.name.starts_with(name)) return true;
    }
  }
  return false;
}

NetworkSetting nccl_setting(const std::vector<std::string>& names, std::span<const HostNetworks> hosts) {
  const bool exact = std::any_of(names.begin(), names.end(),
                                 [&](const auto& name) { return is_beginning_of_another(name, hosts); });
  return {Kind::variable, "NCCL_SOCKET_IFNAME", (exact ? "=" : "") + join(names, ","),
          "NCCL's bootstrap and its sockets; it takes names, not networks"};
}

bool has_rdma(std::span<const HostNetworks> hosts) {
  for (const HostNetworks& host : hosts) {
    for (const HostInterface& interface : host.interfaces) {
      if (!interface.rdma.empty()) return true;
    }
  }
  return false;
}

// UCX refuses a device that a host lacks: only where one name is right on all. A plain interface is never
// named where there are RDMA devices: UCX would leave those aside.
std::optional<NetworkSetting> ucx_setting(const Network& network, std::span<const HostNetworks> hosts,
                                          const std::vector<std::string>& names) {
  std::set<std::string> devices;
  for (const NetworkPort& port : network.ports) devices.insert(port.rdma);
  if (devices.size() == 1 && !devices.begin()->empty()) {
    return NetworkSetting{Kind::variable, "UCX_NET_DEVICES", *devices.begin() + ":1",
                          "UCX: the RDMA device behind the interface, on every host the same"};
  }
  if (names.size() != 1 || has_rdma(hosts)) return std::nullopt;
  return NetworkSetting{Kind::variable, "UCX_NET_DEVICES", names.front(),
                        "UCX: the interface has the same name on every host"};
}

}  // namespace

std::vector<NetworkSetting> network_settings(const NetworkChoice& choice, std::span<const HostNetworks> hosts,
                                             const HostNetworks* driver_host) {
  if (!choice.network) return {};
  const Network& network = *choice.network;
  std::vector<NetworkSetting> settings{
      {Kind::mca, "btl_tcp_if_include", network.cidr, "Open MPI's data: " + choice.why}};
  if (driver_host == nullptr || has_address_in(*driver_host, network.cidr)) {
    settings.push_back({Kind::mca, "oob_tcp_if_include", network.cidr,
                        "Open MPI's daemons: the same network, this host is in it too"});
  }
  const std::vector<std::string> names = safe_interface_names(network, hosts);
  if (!names.empty()) {
    settings.push_back(nccl_setting(names, hosts));
    settings.push_back(
        {Kind::variable, "GLOO_SOCKET_IFNAME", join(names, ","), "Gloo, of PyTorch's CPU jobs"});
  }
  if (auto ucx = ucx_setting(network, hosts, names)) settings.push_back(std::move(*ucx));
  return settings;
}

std::string render_setting(const NetworkSetting& setting) {
  if (setting.kind == Kind::mca) return fmt::format("--mca {} {}", setting.name, setting.value);
  return fmt::format("{}={}", setting.name, quote_shell(setting.value));
}

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
// The network that a job should use: the one that all its hosts share, found by subnet and state, not by the
// interfaces' names, which differ between hosts. Pure: facts of the hosts in, a choice with its reasons out.
#pragma once

#include "doctor/model/check.hpp"
#include "doctor/model/facts.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

struct HostInterface {
  std::string name;
  bool up = false;  // administratively up and with a carrier
  bool loopback = false;
  int mtu = 0;                         // 0 = not known
  std::uint64_t speed_mbps = 0;        // 0 = not known; of virtual ports too
  std::string hardware;                // "02:e0:00:00:00:01"; "" = none or not known
  std::string rdma;                    // "mlx5_0" where the port is one of an RDMA device's
  std::vector<std::string> addresses;  // "10.1.1.1/24", "fe80::1/64"
};

// One line of the fact "net.interfaces": "eth0 up mtu=1500 speed=10000 mac=02:.. rdma=mlx5_0
// addr=10.1.1.1/24,..".
std::string render_interface(const HostInterface& interface);
std::optional<HostInterface> parse_interface(std::string_view line);

struct HostNetworks {
  std::string host;
  std::vector<HostInterface> interfaces;
  std::vector<std::string> own_addresses;  // what the host's name in the job resolves to, if known
};
// Nothing where the host's interfaces are not known.
std::optional<HostNetworks> read_networks(const std::string& host, const Facts& facts);

// One host's place in a network.
struct NetworkPort {
  std::string interface;
  std::string address;  // without prefix
  std::string rdma;
};

struct Network {
  std::string cidr;                  // "10.9.1.0/24"
  std::vector<NetworkPort> ports;    // in the order of the hosts; empty interface = none there
  int mtu = 0;                       // the smallest
  std::uint64_t speed_mbps = 0;      // the slowest; 0 = not known
  bool has_names = false;            // the names by which the hosts are called lead here
  std::string problem;               // why it does not serve; "" = all hosts are in it
  std::vector<std::string> lacking;  // the hosts to which that applies
};

// Every IPv4 network of the hosts but loopback, best first: those that serve before the others.
std::vector<Network> find_networks(std::span<const HostNetworks> hosts);

struct NetworkChoice {
  std::optional<Network> network;    // nothing: one host, or none serves
  std::string why;                   // "the only network of all 4 hosts", "requested", "faster than ..."
  std::vector<Network> others;       // that serve too
  std::vector<Network> refused;      // with their problem
  std::vector<std::string> lacking;  // hosts for which what was wanted does not serve
};

// `wanted` is a CIDR or an interface's name, "" = choose. What was wanted and does not serve is no choice:
// its reason is in `why`.
NetworkChoice choose_network(std::span<const HostNetworks> hosts, std::string_view wanted);

// True where the choice matters: more than one network, or one that would lead mpirun astray.
bool needs_choice(const NetworkChoice& choice);

// The settings of Open MPI, NCCL, Gloo and UCX for it.
struct NetworkSetting {
  enum class Kind { mca, variable } kind = Kind::mca;
  std::string name, value, why;
};
// `driver_host` is where mpirun runs, if it is none of the hosts and known: its daemons call back there.
std::vector<NetworkSetting> network_settings(const NetworkChoice& choice, std::span<const HostNetworks> hosts,
                                             const HostNetworks* driver_host = nullptr);

// "--mca NAME VALUE", "NAME=VALUE": as they stand on a command line.
std::string render_setting(const NetworkSetting& setting);

}  // namespace ddlrun::doctor

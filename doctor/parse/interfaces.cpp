// SPDX-License-Identifier: MIT
#include "doctor/parse/interfaces.hpp"

#include "base/text/text.hpp"
#include "doctor/parse/cidr.hpp"
#include "doctor/parse/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ddlrun::doctor {

namespace {

bool read_word(std::string_view word, HostInterface& interface) {
  if (word == "up" || word == "down") {
    interface.up = word == "up";
    return true;
  }
  if (word == "loopback") return interface.loopback = true;
  const auto equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
  if (value.empty()) return false;
  if (key == "mac") interface.hardware = value;
  if (key == "rdma") interface.rdma = value;
  if (key == "addr") {
    for (const std::string_view address : split(value, ',')) interface.addresses.emplace_back(address);
  }
  const auto number = parse_unsigned(value, 1u << 30);
  if (key == "mtu" && number) interface.mtu = static_cast<int>(*number);
  if (key == "speed" && number) interface.speed_mbps = *number;
  return (key != "mtu" && key != "speed") || number.has_value();
}

// Where one host is in one network.
struct NetworkPlace {
  std::size_t host;
  const HostInterface* interface;
  Ipv4 address;
};
using NetworkPlaces = std::map<std::string, std::vector<NetworkPlace>>;  // by network

NetworkPlaces find_places(std::span<const HostNetworks> hosts) {
  NetworkPlaces places;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    for (const HostInterface& interface : hosts[host].interfaces) {
      for (const std::string& text : interface.addresses) {
        const auto address = parse_ipv4(text);
        if (!address || interface.loopback || address->is_loopback()) continue;
        places[render_network(*address)].push_back({host, &interface, *address});
      }
    }
  }
  return places;
}

std::string some_hosts(std::span<const HostNetworks> hosts, const std::vector<std::size_t>& which) {
  std::string text = hosts[which.front()].host;
  for (std::size_t i = 1; i < which.size() && i < 3; ++i) text += ", " + hosts[which[i]].host;
  if (which.size() > 3) text += fmt::format(" and {} more", which.size() - 3);
  return text;
}

// Docker's and libvirt's bridges: the same address on many hosts.
std::string find_shared_address(std::span<const HostNetworks> hosts,
                                const std::vector<NetworkPlace>& places) {
  std::map<std::uint32_t, std::vector<std::size_t>> owners;
  for (const NetworkPlace& place : places) {
    auto& all = owners[place.address.bits];
    if (all.empty() || all.back() != place.host) all.push_back(place.host);
  }
  for (const auto& [bits, all] : owners) {
    if (all.size() < 2) continue;
    const bool one_machine = std::all_of(all.begin(), all.end(), [&, &all = all](std::size_t host) {
      return hosts[host].interfaces.size() == hosts[all.front()].interfaces.size() &&
             !hosts[host].interfaces.empty() &&
             hosts[host].interfaces.back().hardware == hosts[all.front()].interfaces.back().hardware &&
             !hosts[host].interfaces.back().hardware.empty();
    });
    if (one_machine) continue;  // two names of one machine: another check's matter
    return fmt::format("{} is an address of {} hosts: {}", render_address({bits, 32}), all.size(),
                       some_hosts(hosts, all));
  }
  return {};
}

bool name_leads_to(const HostNetworks& host, const Ipv4& address) {
  const auto& own = host.own_addresses;
  return std::find(own.begin(), own.end(), render_address(address)) != own.end();
}

std::vector<std::string> names_of_hosts(std::span<const HostNetworks> hosts,
                                        const std::vector<std::size_t>& which) {
  std::vector<std::string> names;
  for (const std::size_t host : which) names.push_back(hosts[host].host);
  return names;
}

std::string find_problem(std::span<const HostNetworks> hosts, Network& network,
                         const std::vector<NetworkPlace>& places) {
  if (auto shared = find_shared_address(hosts, places); !shared.empty()) return shared;
  std::vector<std::size_t> without, down;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (network.ports[host].interface.empty()) without.push_back(host);
  }
  for (const NetworkPlace& place : places) {
    if (!place.interface->up && network.ports[place.host].interface == place.interface->name)
      down.push_back(place.host);
  }
  network.lacking = names_of_hosts(hosts, down.empty() ? without : down);
  if (!down.empty()) return "down on " + some_hosts(hosts, down);
  if (!without.empty()) return "no address in it on " + some_hosts(hosts, without);
  return {};
}

void take_port(Network& network, const HostNetworks& host, const NetworkPlace& place) {
  NetworkPort& port = network.ports[place.host];
  const HostInterface& interface = *place.interface;
  if (port.interface.empty() || interface.up)
    port = {interface.name, render_address(place.address), interface.rdma};
  if (interface.mtu > 0 && (network.mtu == 0 || interface.mtu < network.mtu)) network.mtu = interface.mtu;
  if (network.speed_mbps == 0 || (interface.speed_mbps > 0 && interface.speed_mbps < network.speed_mbps))
    network.speed_mbps = interface.speed_mbps;
  if (name_leads_to(host, place.address)) network.has_names = true;
}

Network make_network(std::span<const HostNetworks> hosts, const std::string& cidr,
                     const std::vector<NetworkPlace>& places) {
  Network network;
  network.cidr = cidr;
  network.ports.resize(hosts.size());
  for (const NetworkPlace& place : places) take_port(network, hosts[place.host], place);
  const bool all_known = std::all_of(places.begin(), places.end(), [](const NetworkPlace& place) {
    return place.interface->speed_mbps > 0;
  });
  if (!all_known) network.speed_mbps = 0;
  network.problem = find_problem(hosts, network, places);
  return network;
}

bool is_wanted(const Network& network, std::string_view wanted) {
  const auto address = parse_ipv4(wanted);
  if (address) return network.cidr == render_network(*address);
  return std::any_of(network.ports.begin(), network.ports.end(),
                     [&](const NetworkPort& port) { return port.interface == wanted; });
}

std::string why_best(const Network& best, const std::vector<Network>& others, std::size_t hosts) {
  if (others.empty()) return fmt::format("the only network that all {} hosts share", hosts);
  const Network& next = others.front();
  if (best.speed_mbps > next.speed_mbps && next.speed_mbps > 0) {
    return fmt::format("the fastest that all {} hosts share: {} Mbit/s, {} has {}", hosts, best.speed_mbps,
                       next.cidr, next.speed_mbps);
  }
  if (best.has_names && !next.has_names)
    return fmt::format("of {} that all {} hosts share, the one of the addresses of the host names",
                       others.size() + 1, hosts);
  return fmt::format("the first of {} alike that all {} hosts share", others.size() + 1, hosts);
}

}  // namespace

std::string render_interface(const HostInterface& interface) {
  std::string line = interface.name + (interface.up ? " up" : " down");
  if (interface.loopback) line += " loopback";
  if (interface.mtu > 0) line += fmt::format(" mtu={}", interface.mtu);
  if (interface.speed_mbps > 0) line += fmt::format(" speed={}", interface.speed_mbps);
  if (!interface.hardware.empty()) line += " mac=" + interface.hardware;
  if (!interface.rdma.empty()) line += " rdma=" + interface.rdma;
  if (!interface.addresses.empty()) line += " addr=" + join(interface.addresses, ",");
  return line;
}

std::optional<HostInterface> parse_interface(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() < 2 || words[0].empty() || (words[1] != "up" && words[1] != "down")) return std::nullopt;
  HostInterface interface;
  interface.name = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!read_word(words[i], interface)) return std::nullopt;
  }
  // Both become words of commands and variables on other hosts.
  const bool plain =
      is_command_word(interface.name) && (interface.rdma.empty() || is_command_word(interface.rdma));
  return plain ? std::optional(interface) : std::nullopt;
}

std::optional<HostNetworks> read_networks(const std::string& host, const Facts& facts) {
  if (!facts.text("net.interfaces")) return std::nullopt;
  HostNetworks networks{host, {}, {}};
  for (const std::string_view line : facts.list("net.interfaces")) {
    if (auto interface = parse_interface(line)) networks.interfaces.push_back(std::move(*interface));
  }
  return networks;
}

std::vector<Network> find_networks(std::span<const HostNetworks> hosts) {
  std::vector<Network> networks;
  for (const auto& [cidr, places] : find_places(hosts)) networks.push_back(make_network(hosts, cidr, places));
  std::stable_sort(networks.begin(), networks.end(), [](const Network& a, const Network& b) {
    return std::make_tuple(!a.problem.empty(), -static_cast<std::int64_t>(a.speed_mbps), !a.has_names) <
           std::make_tuple(!b.problem.empty(), -static_cast<std::int64_t>(b.speed_mbps), !b.has_names);
  });
  return networks;
}

NetworkChoice choose_network(std::span<const HostNetworks> hosts, std::string_view wanted) {
  NetworkChoice choice;
  std::string unmet;
  for (Network& network : find_networks(hosts)) {
    const bool serves = network.problem.empty();
    if (!wanted.empty() && is_wanted(network, wanted)) {
      if (serves && !choice.network) {
        choice.network = std::move(network);
        choice.why = "requested";
        continue;
      }
      if (!serves && unmet.empty()) choice.lacking = network.lacking;
      if (!serves && unmet.empty())
        unmet = fmt::format("{} ({}) was requested: {}", wanted, network.cidr, network.problem);
    }
    (serves ? choice.others : choice.refused).push_back(std::move(network));
  }
  if (choice.network) return choice;
  if (!wanted.empty()) {
    choice.why = unmet.empty() ? fmt::format("no host has {}", wanted) : unmet;
    return choice;
  }
  if (choice.others.empty()) {
    choice.why = "no network is shared by all hosts";
    return choice;
  }
  choice.network = std::move(choice.others.front());
  choice.others.erase(choice.others.begin());
  choice.why = why_best(*choice.network, choice.others, hosts.size());
  return choice;
}

bool needs_choice(const NetworkChoice& choice) {
  return choice.network && (!choice.others.empty() || !choice.refused.empty());
}

}  // namespace ddlrun::doctor

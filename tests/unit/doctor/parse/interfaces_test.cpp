// SPDX-License-Identifier: MIT
#include "doctor/parse/interfaces.hpp"

#include "doctor/parse/cidr.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;

namespace {

HostInterface host_port(const std::string& name, const std::string& address, std::uint64_t speed = 10000) {
  HostInterface interface;
  interface.name = name;
  interface.up = true;
  interface.mtu = 1500;
  interface.speed_mbps = speed;
  interface.hardware = "02:00:" + address.substr(0, address.find('/'));
  interface.addresses = {address};
  return interface;
}

HostInterface loopback() {
  HostInterface interface = host_port("lo", "127.0.0.1/8", 0);
  interface.loopback = true;
  return interface;
}

std::vector<HostNetworks> four_networked_hosts(std::uint64_t ib_speed = 10000) {
  std::vector<HostNetworks> hosts;
  for (const std::string i : {"1", "2", "3", "4"}) {
    hosts.push_back({"node" + i,
                     {loopback(), host_port("eth0", "10.1.1." + i + "/24"),
                      host_port("ib0", "10.9.1." + i + "/24", ib_speed)},
                     {"10.1.1." + i}});
  }
  return hosts;
}

std::string value_of(const std::vector<NetworkSetting>& settings, const std::string& name) {
  for (const NetworkSetting& setting : settings) {
    if (setting.name == name) return setting.value;
  }
  return "";
}

}  // namespace

TEST_SUITE_BEGIN("doctor/parse/interfaces");

TEST_CASE("addresses and their networks") {
  struct Row {
    const char* text;
    const char* network;
  };
  const Row rows[] = {{"10.1.1.2/24", "10.1.1.0/24"},     {"10.1.1.2", "10.1.1.2/32"},
                      {"172.17.0.1/16", "172.17.0.0/16"}, {"192.168.255.255/0", "0.0.0.0/0"},
                      {"10.1.1.130/25", "10.1.1.128/25"}, {"255.255.255.255/31", "255.255.255.254/31"}};
  for (const Row& row : rows) {
    const auto address = parse_ipv4(row.text);
    REQUIRE(address);
    CHECK(render_network(*address) == row.network);
  }
  for (const char* odd :
       {"", "10.1.1", "10.1.1.256", "10.1.1.2/33", "10.1.1.2/", "fe80::1/64", "10.1.01.2", "a.b.c.d"})
    CHECK(!parse_ipv4(odd));
}

TEST_CASE("an interface travels as one line; odd lines are refused") {
  HostInterface interface = host_port("eth0.100", "10.1.1.2/24");
  interface.rdma = "mlx5_0";
  interface.addresses.push_back("fe80::1/64");
  const auto back = parse_interface(render_interface(interface));
  REQUIRE(back);
  CHECK(render_interface(*back) == render_interface(interface));
  CHECK(back->rdma == "mlx5_0");
  CHECK(back->addresses.size() == 2);
  for (const char* odd : {"", "eth0", "eth0 sideways", "eth0 up mtu=many", "eth0 up mtu", " up mtu=1"})
    CHECK(!parse_interface(odd));
}

TEST_CASE("alike networks: the one that the hosts' names lead to") {
  auto hosts = four_networked_hosts();
  NetworkChoice choice = choose_network(hosts, "");
  REQUIRE(choice.network);
  CHECK(choice.network->cidr == "10.1.1.0/24");
  CHECK(choice.network->ports[2].address == "10.1.1.3");
  REQUIRE(choice.others.size() == 1);
  CHECK(needs_choice(choice));
  for (auto& host : hosts) host.own_addresses = {"10.9.1." + host.host.substr(4)};
  CHECK(choose_network(hosts, "").network->cidr == "10.9.1.0/24");
}

TEST_CASE("the faster network wins, unless another is requested") {
  const auto hosts = four_networked_hosts(100000);
  CHECK(choose_network(hosts, "").network->cidr == "10.9.1.0/24");
  CHECK(choose_network(hosts, "eth0").network->cidr == "10.1.1.0/24");
  CHECK(choose_network(hosts, "10.1.1.0/24").network->cidr == "10.1.1.0/24");
  CHECK(choose_network(hosts, "10.1.1.7/24").network->cidr == "10.1.1.0/24");
  const NetworkChoice unmet = choose_network(hosts, "eth7");
  CHECK(!unmet.network);
  CHECK(unmet.why == "no host has eth7");
  CHECK(!choose_network(hosts, "10.7.0.0/16").network);
}

TEST_CASE("a network that does not serve is refused, with the reason") {
  auto hosts = four_networked_hosts(100000);
  hosts[1].interfaces[2].up = false;
  NetworkChoice choice = choose_network(hosts, "");
  CHECK(choice.network->cidr == "10.1.1.0/24");
  REQUIRE(choice.refused.size() == 1);
  CHECK(choice.refused[0].problem == "down on node2");
  const NetworkChoice asked = choose_network(hosts, "ib0");
  CHECK(!asked.network);
  CHECK(asked.why == "ib0 (10.9.1.0/24) was requested: down on node2");
  hosts = four_networked_hosts(100000);
  hosts[2].interfaces.pop_back();
  hosts[3].interfaces.pop_back();
  CHECK(choose_network(hosts, "").refused.at(0).problem == "no address in it on node3, node4");
}

TEST_CASE("an address that several hosts have alike leads nowhere") {
  auto hosts = four_networked_hosts();
  for (auto& host : hosts) {
    host.interfaces.push_back(host_port("docker0", "172.17.0.1/16", 100000));
    host.interfaces.back().hardware += host.host;
  }
  const NetworkChoice choice = choose_network(hosts, "");
  CHECK(choice.network->cidr == "10.1.1.0/24");
  REQUIRE(choice.refused.size() == 1);
  CHECK(choice.refused[0].problem == "172.17.0.1 is an address of 4 hosts: node1, node2, node3 and 1 more");
  CHECK(!choose_network(hosts, "docker0").network);
}

TEST_CASE("interfaces' names may differ between hosts; the network is what counts") {
  auto hosts = four_networked_hosts();
  hosts[3].interfaces[1].name = "ens3";
  NetworkChoice choice = choose_network(hosts, "");
  CHECK(choice.network->ports[3].interface == "ens3");
  auto settings = network_settings(choice, hosts);
  CHECK(value_of(settings, "btl_tcp_if_include") == "10.1.1.0/24");
  CHECK(value_of(settings, "NCCL_SOCKET_IFNAME") == "eth0,ens3");
  CHECK(value_of(settings, "UCX_NET_DEVICES") == "");  // no one name is right everywhere
  // ens3 is another network's port on node1: naming it would lead NCCL there
  hosts[0].interfaces[2].name = "ens3";
  settings = network_settings(choose_network(hosts, "10.1.1.0/24"), hosts);
  CHECK(value_of(settings, "NCCL_SOCKET_IFNAME") == "");
  CHECK(value_of(settings, "GLOO_SOCKET_IFNAME") == "");
  CHECK(value_of(settings, "btl_tcp_if_include") == "10.1.1.0/24");
}

TEST_CASE("settings: exact names where one begins another, RDMA devices, the host that launches") {
  auto hosts = four_networked_hosts();
  for (auto& host : hosts) {
    host.interfaces.push_back(host_port("eth01", "10.3.1." + host.host.substr(4) + "/24"));
    host.interfaces[1].rdma = "mlx5_0";
  }
  const NetworkChoice choice = choose_network(hosts, "eth0");
  auto settings = network_settings(choice, hosts);
  CHECK(value_of(settings, "NCCL_SOCKET_IFNAME") == "=eth0");
  CHECK(value_of(settings, "GLOO_SOCKET_IFNAME") == "eth0");
  CHECK(value_of(settings, "UCX_NET_DEVICES") == "mlx5_0:1");
  CHECK(value_of(settings, "oob_tcp_if_include") == "10.1.1.0/24");
  CHECK(render_setting(settings[0]) == "--mca btl_tcp_if_include 10.1.1.0/24");
  // an RDMA device elsewhere: UCX is not led away from it
  CHECK(value_of(network_settings(choose_network(hosts, "ib0"), hosts), "UCX_NET_DEVICES").empty());
  CHECK(value_of(network_settings(choose_network(four_networked_hosts(), "ib0"), four_networked_hosts()),
                 "UCX_NET_DEVICES") == "ib0");
  const HostNetworks outside{"login", {host_port("eth0", "192.168.7.1/24")}, {}};
  settings = network_settings(choice, hosts, &outside);
  CHECK(value_of(settings, "oob_tcp_if_include") == "");  // daemons could not call back
  const HostNetworks inside{"login", {host_port("eno1", "10.1.1.200/24")}, {}};
  CHECK(value_of(network_settings(choice, hosts, &inside), "oob_tcp_if_include") == "10.1.1.0/24");
}

TEST_CASE("networks of other sizes are other networks; nothing shared is no choice") {
  auto hosts = four_networked_hosts();
  for (auto& host : hosts) host.interfaces.pop_back();
  hosts[0].interfaces[1].addresses = {"10.1.1.1/16"};
  const NetworkChoice choice = choose_network(hosts, "");
  CHECK(!choice.network);
  CHECK(choice.why == "no network is shared by all hosts");
  CHECK(network_settings(choice, hosts).empty());
}

TEST_SUITE_END();

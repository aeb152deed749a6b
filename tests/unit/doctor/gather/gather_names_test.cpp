// SPDX-License-Identifier: MIT
// The gatherers of names and networks on hosts made of tables, and once on this one, evaluated by foreign
// tools.
#include "base/text/text.hpp"
#include "doctor/gather/name.hpp"
#include "doctor/parse/interfaces.hpp"
#include "doctor/parse/names.hpp"
#include "tests/support/fake_host.hpp"
#include "tests/support/real_host.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::doctor;
using ddlrun::tests::FakeHost;

namespace {

struct FakeNetwork : NetworkAccess {
  std::map<std::uint16_t, std::string> taken;
  NetworkProbe asked;
  ProbeResult answer;
  std::string try_listen(std::uint16_t port) override { return taken[port]; }
  ProbeResult probe(const NetworkProbe& probe) override {
    asked = probe;
    return answer;
  }
};

std::vector<std::string> to_strings(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

}  // namespace

TEST_SUITE_BEGIN("doctor/gather/gather_names");

TEST_CASE("names: own ones first, each also as Open MPI cuts it, each asked once") {
  FakeHost host;
  host.system.environment.host_name = "node1.cluster";
  host.request.host = "node1";
  host.request.names = {"node1", "node2.cluster", "10.1.1.3", "node2", "+n0"};
  host.kernel.names["node1"] = {{"10.1.1.1"}, "", ""};
  host.kernel.names["node2"] = {{"10.1.1.2", "fe80::2"}, "", ""};
  host.put("/proc/sys/kernel/random/boot_id", "0f-1\n");
  const Facts facts = host.gather(name_gatherers(), "names");
  CHECK(facts.is("name.host", "node1.cluster"));
  CHECK(facts.is("name.boot_id", "0f-1"));
  const std::string unknown = " ! Name or service not known";
  CHECK(to_strings(facts.list("name.table")) ==
        std::vector<std::string>{"node1.cluster" + unknown, "node1 10.1.1.1", "node2.cluster" + unknown,
                                 "node2 10.1.1.2,fe80::2", "10.1.1.3" + unknown, "+n0" + unknown});
  CHECK(facts.number("name.left_out") == 0);
}

TEST_CASE("names: the driver host reports whom its table knows where a name is unknown") {
  for (const bool is_driver_host : {true, false}) {
    FakeHost host;
    host.request.is_driver_host = is_driver_host;
    host.request.names = {"nodo9"};
    host.put("/etc/hosts", "127.0.0.1 localhost\n# 10.1.1.7 node7\n10.1.1.9\tnode9 node9.cluster # front\n");
    const Facts facts = host.gather(name_gatherers(), "names");
    CHECK(to_strings(facts.list("name.known")) ==
          (is_driver_host ? std::vector<std::string>{"localhost", "node9", "node9.cluster"}
                          : std::vector<std::string>{}));
  }
}

TEST_CASE("names: no more than 512, and it is reported how many were left out") {
  FakeHost host;
  host.request.host = "here";
  for (int i = 0; i < 600; ++i) host.request.names.push_back("n" + std::to_string(i));
  const Facts facts = host.gather(name_gatherers(), "names");
  CHECK(facts.list("name.table").size() == 512);
  CHECK(facts.number("name.left_out") == 89);
}

TEST_CASE("interfaces: speed only where there is hardware or what stands on it") {
  FakeHost host;
  const auto add = [&](const std::string& name, const std::string& mark) {
    host.kernel.networks.push_back({name, true, true, false, 1500, {"10.1.1.1/24"}});
    host.put("/sys/class/net/" + name + "/speed", "25000\n");
    host.put("/sys/class/net/" + name + "/address", "02:00:00:00:00:01\n");
    if (!mark.empty()) host.put("/sys/class/net/" + name + "/" + mark, "");
  };
  add("veth0", "");
  add("eth0", "device");
  add("bond0", "bonding");
  add("vlan0", "lower_eth0");
  add("br0", "bridge");
  host.put("/sys/class/net/br0/lower_eth0", "");
  host.kernel.networks.push_back({"ib0", true, false, false, 2044, {"10.9.1.1/24"}});
  host.put("/sys/class/net/ib0/device/infiniband/mlx5_0", "");
  host.put("/sys/class/net/ib0/speed", "-1\n");
  host.put("/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
  host.system.environment.variables["SSH_CONNECTION"] = "10.1.1.9 4711 10.1.1.1 22";
  const Facts facts = host.gather(name_gatherers(), "interfaces");
  const std::string mac = " mac=02:00:00:00:00:01 addr=10.1.1.1/24";
  CHECK(to_strings(facts.list("net.interfaces")) ==
        std::vector<std::string>{"veth0 up mtu=1500" + mac, "eth0 up mtu=1500 speed=25000" + mac,
                                 "bond0 up mtu=1500 speed=25000" + mac, "vlan0 up mtu=1500 speed=25000" + mac,
                                 "br0 up mtu=1500" + mac, "ib0 down mtu=2044 rdma=mlx5_0 addr=10.9.1.1/24"});
  CHECK(facts.is("net.port_range", "32768 60999"));
  CHECK(facts.is("net.called_from", "10.1.1.9"));
}

TEST_CASE("ports: who has one, from /proc as root sees it") {
  FakeHost host;
  FakeNetwork network;
  network.taken[29500] = "Address already in use";
  host.kernel.sockets = &network;
  host.request.ports = {29500, 29501};
  host.put(
      "/proc/net/tcp",
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:733C 0100007F:0001 01 00000000:00000000 00:00000000 00000000  1000        0 111 1\n"
      "   1: 00000000:733C 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1\n");
  host.put("/proc/77/comm", "python3\n");
  host.kernel.add_directory("/proc/77/fd");
  host.kernel.add_link("/proc/77/fd/5", "socket:[4242]");
  const Facts facts = host.gather(name_gatherers(), "ports");
  CHECK(facts.is("port.29500", "Address already in use"));
  CHECK(facts.is("port.29500.owner", "python3, pid 77"));
  CHECK(facts.is("port.29501", "free"));
}

TEST_CASE("pairs: what is asked of the network, and how it is reported") {
  FakeHost host;
  FakeNetwork network;
  host.kernel.sockets = &network;
  host.request.level = Level::full;
  host.request.host = "node1";
  host.request.peers = {"node2", "login"};
  host.request.probe_ports = {4000, 4001};
  host.request.probe_ms = 5000;
  host.kernel.names["node2"] = {{"127.0.0.1", "10.1.1.2", "fe80::2"}, "", ""};
  host.system.environment.variables["SSH_CONNECTION"] = "10.1.1.9 4711 10.1.1.1 22";
  host.kernel.networks.push_back({"lo", true, true, true, 65536, {"127.0.0.1/8"}});
  host.kernel.networks.push_back({"eth0", true, true, false, 1500, {"10.1.1.1/24", "fe80::1/64"}});
  network.answer.answers = {
      {ProbeAnswer::Kind::timed_out, "node2", "10.1.1.2", 4000, "Connection timed out"}};
  network.answer.not_listening = {{4001, "Address already in use"}};
  network.answer.paths = {{"node2", "10.1.1.2", 1500, 1400}};
  const Facts facts = host.gather(name_gatherers(), "pairs");
  CHECK(network.asked.peers[0].addresses == std::vector<std::string>{"10.1.1.2"});
  CHECK(network.asked.peers[1].addresses == std::vector<std::string>{"10.1.1.9"});
  REQUIRE(network.asked.networks.size() == 1);
  CHECK(network.asked.networks[0].address == "10.1.1.1/24");
  CHECK(!network.asked.stream);
  CHECK(facts.is("pair.answers", "node2 10.1.1.2 4000 timed-out Connection timed out"));
  CHECK(facts.is("pair.listening", "4000"));
  CHECK(facts.is("pair.paths", "node2 10.1.1.2 1500 1400"));
  CHECK(!facts.text("pair.rates"));
}

TEST_CASE("children: each by ssh without questions, the last word kept") {
  FakeHost host;
  host.request.launch_children = {"node3", "node5"};
  host.system.processes.answer = [](const Command& command) {
    ProcessResult result;
    if (command[command.size() - 2] == "node3") return result;
    result.exit_status = 255;
    result.err = "Warning: added\nPermission denied (publickey).\n\n";
    return result;
  };
  const Facts facts = host.gather(name_gatherers(), "children");
  CHECK(facts.is("child.0.result", "ok"));
  CHECK(facts.is("child.1.host", "node5"));
  CHECK(facts.is("child.1.result", "Permission denied (publickey)."));
  const Command& command = host.system.processes.ran.at(0);
  CHECK(std::find(command.begin(), command.end(), "BatchMode=yes") != command.end());
}

TEST_CASE("this machine: interfaces as ip reports them, names as getent does") {
  tests::RealHost here;
  here.request.host = "localhost";
  Facts facts;
  gather_interfaces(here.context, facts);
  gather_names(here.context, facts);
  const ProcessResult ip = here.processes.run({"ip", "-o", "addr", "show"}, {});
  if (ip.ok()) {
    std::size_t seen = 0;
    for (const std::string_view line : split(ip.out, '\n')) {  // "1: lo    inet 127.0.0.1/8 scope host lo"
      std::vector<std::string_view> words;
      for (const std::string_view word : split(line, ' ')) {
        if (!word.empty()) words.push_back(word);
      }
      if (words.size() < 4 || words[2] != "inet") continue;
      ++seen;
      const auto lines = facts.list("net.interfaces");
      CHECK(std::any_of(lines.begin(), lines.end(), [&](std::string_view text) {
        const auto interface = parse_interface(text);
        return interface && interface->name == words[1].substr(0, words[1].find('@')) &&
               std::find(interface->addresses.begin(), interface->addresses.end(), words[3]) !=
                   interface->addresses.end();
      }));
    }
    CHECK(seen > 0);
  }
  const ProcessResult getent = here.processes.run({"getent", "ahostsv4", "localhost"}, {});
  if (getent.ok()) {
    const NameTable table = read_name_table(facts);
    REQUIRE(table.contains("localhost"));
    CHECK(table.find("localhost")->second.addresses.front() == std::string(split(getent.out, ' ').front()));
  }
}

TEST_SUITE_END();

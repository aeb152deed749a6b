// SPDX-License-Identifier: MIT
// The checks of networks, ports and pairs: thresholds on both sides, and the remedies as they are typed.
#include "doctor/checks/network_plan.hpp"
#include "doctor/model/check.hpp"
#include "doctor/remote/agent_protocol.hpp"
#include "tests/support/doctor_input.hpp"
#include "tests/support/doctor_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace ddlrun::doctor;
using ddlrun::tests::DoctorInput;
using ddlrun::tests::only;
using ddlrun::tests::run_check;

namespace {

struct Port {
  std::string name = "eth0", network = "10.1.1.", state = "up";
  int mtu = 1500;
  int speed = 0;
};

std::string line_of(const Port& port, int i) {
  return port.name + " " + port.state + " mtu=" + std::to_string(port.mtu) +
         (port.speed > 0 ? " speed=" + std::to_string(port.speed) : "") + " mac=02:" + std::to_string(i) +
         port.name + " addr=" + port.network + (port.name == "docker0" ? "1" : std::to_string(i)) + "/24";
}

DoctorInput hosts_with(const std::vector<std::vector<Port>>& hosts) {
  DoctorInput input;
  int i = 0;
  for (const auto& ports : hosts) {
    std::vector<std::string> lines;
    ++i;
    for (const Port& port : ports) lines.push_back(line_of(port, i));
    input.add("node" + std::to_string(i)).facts.set_list("net.interfaces", lines);
  }
  return input;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/checks/check_network");

TEST_CASE("MPI-04: a bridge that all have alike is named, with the settings that lead around it") {
  const Port docker{"docker0", "172.17.0."};
  DoctorInput input = hosts_with({{{}, docker}, {{}, docker}, {{}, docker}});
  Finding finding = only(run_check("MPI-04", input));
  CHECK(finding.verdict == Verdict::warn);
  CHECK(finding.observed == "172.17.0.1 is an address of 3 hosts: node1, node2, node3; no network is chosen");
  REQUIRE(finding.remedy.commands.size() == 1);
  CHECK(finding.remedy.commands[0].starts_with("export OMPI_MCA_btl_tcp_if_include=10.1.1.0/24"));
  CHECK(finding.remedy.on_driver_host);
  input.job.environment["OMPI_MCA_btl_tcp_if_include"] = "10.1.1.0/24";
  CHECK(only(run_check("MPI-04", input)).verdict == Verdict::pass);
  input.job.environment.clear();
  input.job.interface = "eth0";
  CHECK(only(run_check("MPI-04", input)).verdict == Verdict::pass);
  input.job.interface = "docker0";
  CHECK(only(run_check("MPI-04", input)).verdict == Verdict::fail);
  // on one host only it misleads no one
  CHECK(only(run_check("MPI-04", hosts_with({{{}, docker}, {{}}}))).verdict == Verdict::pass);
}

TEST_CASE("MPI-04: nothing shared, and what was requested but is not there") {
  DoctorInput input = hosts_with({{{"eth0", "10.1.1."}}, {{"eth0", "10.2.1."}}});
  CHECK(only(run_check("MPI-04", input)).verdict == Verdict::warn);
  input = hosts_with({{{}, {"ib0", "10.9.1."}}, {{}}});
  input.job.interface = "10.9.1.0/24";
  const Finding finding = only(run_check("MPI-04", input));
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.observed == "10.9.1.0/24 (10.9.1.0/24) was requested: no address in it on node2");
  CHECK(finding.hosts == std::vector<std::string>{"node2"});
}

TEST_CASE("MPI-04: one host alone must have the network that was requested") {
  DoctorInput input = hosts_with({{{}}});
  CHECK(only(run_check("MPI-04", input)).verdict == Verdict::skip);
  input.job.interface = "eth9";
  CHECK(only(run_check("MPI-04", input)).verdict == Verdict::fail);
  input.job.interface = "eth0";
  CHECK(only(run_check("MPI-04", input)).verdict == Verdict::pass);
  input.job.interface = "10.1.1.0/24";
  CHECK(only(run_check("MPI-04", input)).verdict == Verdict::pass);
}

TEST_CASE("NET-01: links down, MTUs that differ, addresses that are missing") {
  const Port ib{"ib0", "10.9.1."};
  Port down = ib, small = ib;
  down.state = "down";
  small.mtu = 1400;
  Finding finding = only(run_check("NET-01", hosts_with({{{}, ib}, {{}, down}, {{}, ib}, {{}, ib}})));
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.hosts == std::vector<std::string>{"node2"});
  CHECK(finding.observed == "ib0 (10.9.1.0/24) is down");
  CHECK(finding.remedy.commands == std::vector<std::string>{"ip link set dev ib0 up"});
  finding = only(run_check("NET-01", hosts_with({{{}, ib}, {{}, ib}, {{}, small}, {{}, small}})));
  CHECK(finding.hosts == std::vector<std::string>{"node3", "node4"});  // the larger one is the usual one
  CHECK(finding.remedy.commands == std::vector<std::string>{"ip link set dev ib0 mtu 1500"});
  finding = only(run_check("NET-01", hosts_with({{{}, ib}, {{}, small}})));
  CHECK(finding.hosts == std::vector<std::string>{"node2"});
  CHECK(finding.remedy.commands.empty());
  CHECK(finding.remedy.note ==
        "no command, as it is reported by node1 only; where that is right, as root: ip link set dev ib0 mtu "
        "1500");
  finding = only(run_check("NET-01", hosts_with({{{}, ib}, {{}}, {{}, ib}, {{}, ib}})));
  CHECK(finding.verdict == Verdict::warn);
  CHECK(finding.hosts == std::vector<std::string>{"node2"});
  // half of the hosts have it: perhaps another group of machines
  CHECK(only(run_check("NET-01", hosts_with({{{}, ib}, {{}}, {{}}, {{}, ib}}))).verdict == Verdict::pass);
}

TEST_CASE("NET-04: the first host's ports") {
  DoctorInput input = hosts_with({{{}}, {{}}});
  CHECK(only(run_check("NET-04", input)).verdict == Verdict::skip);
  input.job.ports = {29500};
  input.host("node2").facts.set("port.29500", "Address already in use");  // not the first host
  CHECK(only(run_check("NET-04", input)).verdict == Verdict::skip);
  input.host("node1").facts.set("port.29500", "free");
  CHECK(only(run_check("NET-04", input)).verdict == Verdict::pass);
  input.host("node1").facts.set("port.29500", "Address already in use");
  input.host("node1").facts.set("port.29500.owner", "python3, pid 4711");
  const Finding finding = only(run_check("NET-04", input));
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.observed == "port 29500: Address already in use, by python3, pid 4711");
  input.job.ports = {22};
  input.host("node1").facts.set("port.22", "Permission denied");
  const Finding low = only(run_check("NET-04", input));
  CHECK(low.verdict == Verdict::fail);
  CHECK(low.why.find("already in use") == std::string::npos);
  CHECK(low.remedy.commands == std::vector<std::string>{"export MASTER_PORT=29500"});
}

TEST_CASE("NET-03: dropped, rejected, not there, led astray") {
  struct Row {
    std::vector<std::string> answers, listening;
    Verdict verdict;
    const char* says;
  };
  const Row rows[] = {
      {{"node2 10.1.1.2 4000 connected", "node2 10.1.1.2 4001 connected"},
       {"4000", "4001"},
       Verdict::pass,
       "2 connections"},
      {{"node2 10.1.1.2 4000 connected", "node2 10.1.1.2 4001 timed-out Connection timed out"},
       {"4000", "4001"},
       Verdict::fail,
       "port 4001 of 10.1.1.2 from node1: no answer"},
      {{"node2 10.1.1.2 4000 connected", "node2 10.1.1.2 4001 refused Connection refused"},
       {"4000", "4001"},
       Verdict::fail,
       "a filter rejects"},
      // no one listened on 4001 there: something else has the port
      {{"node2 10.1.1.2 4000 connected", "node2 10.1.1.2 4001 refused Connection refused"},
       {"4000"},
       Verdict::pass,
       "1 connections"},
      {{"node2 10.1.1.2 4000 refused Connection refused"},
       {"4000"},
       Verdict::skip,
       "not there at the same time"},
      {{"node2 10.1.1.2 4000 another-host node3"}, {"4000"}, Verdict::fail, "answered by node3"},
      {{"node2 172.17.0.1 4000 another-host this host itself"},
       {"4000"},
       Verdict::fail,
       "answered by this host itself"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.says);
    DoctorInput input = hosts_with({{{}}, {{}}});
    input.host("node1").facts.set_list("pair.answers", row.answers);
    input.host("node2").facts.set_list("pair.listening", row.listening);
    const Finding finding = only(run_check("NET-03", input));
    CHECK(finding.verdict == row.verdict);
    CHECK(finding.observed.find(row.says) != std::string::npos);
    if (row.verdict != Verdict::fail) continue;
    CHECK(finding.hosts == std::vector<std::string>{"node2"});
    CHECK(finding.remedy.commands.empty());
    CHECK(finding.remedy.note.find("no command, as it is reported by node1 only") == 0);
  }
  CHECK(only(run_check("NET-03", hosts_with({{{}}, {{}}}))).observed == "asked at --full only");
}

TEST_CASE("NET-03: a firewall is opened for the host's own network, on the word of two or the driver host") {
  const auto blocked = [](int from, const std::string& peer, const std::string& address) {
    DoctorInput input = hosts_with({{{}}, {{}}, {{}}});
    for (int i = 1; i <= from; ++i) {
      HostReport& host = i == 3 ? input.driver_host : input.host("node" + std::to_string(i));
      host.facts.set_list("pair.answers", {peer + " " + address + " 4000 timed-out"});
    }
    input.host("node1").facts.set("pair.listening", "4000");
    return input;
  };
  DoctorInput input = blocked(2, "node3", "10.1.1.3");
  CHECK(only(run_check("NET-03", input)).remedy.commands.at(0).find("ip saddr '{ 10.1.1.0/24 }'") !=
        std::string::npos);
  input.host("node2").facts.set_list("pair.answers", {});
  CHECK(only(run_check("NET-03", input)).remedy.commands.empty());
  input.host("node1").reach.via = Via::local;
  CHECK_FALSE(only(run_check("NET-03", input)).remedy.commands.empty());
  // an address outside the networks of that host, and a host outside the job
  input = blocked(2, "node3", "$(reboot)");
  input.host("node3").facts.set_list("net.interfaces", {"eth0 up mtu=1500 addr=10.2.2.3/24"});
  CHECK(only(run_check("NET-03", input)).remedy.commands.empty());
  CHECK(run_check("NET-03", blocked(2, "files.example.org", "10.1.1.3")).empty());
}

TEST_CASE("NET-03: the driver host under another name answers for itself") {
  DoctorInput input = hosts_with({{{}}, {{}}});
  input.host("node1").facts.set("name.host", "front");
  input.host("node1").facts.set("name.boot_id", "one");
  input.driver_host.host = "front";
  input.driver_host.facts = input.host("node1").facts;
  input.driver_host.facts.set_list(
      "pair.answers", {"node1 10.1.1.1 4000 another-host this host itself", "node2 10.1.1.2 4000 connected"});
  input.host("node2").facts.set_list("pair.answers", {"node1 10.1.1.1 4000 another-host front"});
  CHECK(only(run_check("NET-03", input)).verdict == Verdict::pass);
  input.host("node2").facts.set_list("pair.answers", {"node1 10.1.1.1 4000 another-host elsewhere"});
  CHECK(only(run_check("NET-03", input)).verdict == Verdict::fail);
  input.driver_host.facts.set("name.boot_id", "two");
  input.host("node2").facts.set_list("pair.answers", {"node1 10.1.1.1 4000 another-host front"});
  CHECK(only(run_check("NET-03", input)).verdict == Verdict::fail);
}

TEST_CASE("NET-02: what the path carries") {
  DoctorInput input = hosts_with({{{}}, {{}}});
  input.host("node1").facts.set_list("pair.paths", {"node2 10.1.1.2 1500 1500"});
  CHECK(only(run_check("NET-02", input)).verdict == Verdict::pass);
  input.host("node1").facts.set_list("pair.paths", {"node2 10.1.1.2 1500 1400"});
  Finding finding = only(run_check("NET-02", input));
  CHECK(finding.hosts == std::vector<std::string>{"node2"});  // something in between: node2 has no good path
  CHECK(finding.remedy.note.find("ip link set dev eth0 mtu 1400") != std::string::npos);
  CHECK(finding.remedy.commands.empty());  // node1 alone reports it
  input.host("node2").facts.set_list("pair.paths", {"node1 10.1.1.1 1500 1400"});
  input.host("node1").facts.set_list("pair.paths", {"other 10.1.1.7 1500 1400", "node2 10.1.1.2 1500 1500"});
  finding = only(run_check("NET-02", input));
  CHECK(finding.hosts ==
        std::vector<std::string>{"node2"});  // node2 reports it itself; "other" is outside the job
  CHECK(finding.remedy.commands.at(0) == "ip link set dev eth0 mtu 1400");
  input.host("node2").facts.set_list("pair.paths", {});
  input.host("node1").facts.set_list("pair.paths", {"node2 10.1.1.2 1500 0"});
  CHECK(only(run_check("NET-02", input)).verdict == Verdict::skip);
  Port small;
  small.mtu = 1400;
  input = hosts_with({{{}}, {small}});
  input.host("node1").facts.set_list("pair.paths", {"node2 10.1.1.2 1500 1400"});
  finding = only(run_check("NET-02", input));
  CHECK(finding.hosts == std::vector<std::string>{"node2"});
  CHECK(finding.remedy.commands.empty());
  input.host("node1").reach.via = Via::local;
  CHECK(only(run_check("NET-02", input)).remedy.commands.at(0) == "ip link set dev eth0 mtu 1500");
}

TEST_CASE("NET-02: of a ring the host that no packet reaches is named, whichever end saw it") {
  const auto ring = [](const std::vector<int>& broken) {
    Port jumbo;
    jumbo.mtu = 9000;
    const Port ib{"ib0", "10.9.1."};
    DoctorInput input = hosts_with({{jumbo, ib}, {jumbo, ib}, {jumbo, ib}, {jumbo, ib}});
    const auto is_bad = [&](int i) { return std::find(broken.begin(), broken.end(), i) != broken.end(); };
    for (int i = 1; i <= 4; ++i) {
      std::vector<std::string> rows;
      for (const int k : {i % 4 + 1, (i + 2) % 4 + 1}) {
        rows.push_back("node" + std::to_string(k) + " 10.1.1." + std::to_string(k) +
                       (is_bad(i) || is_bad(k) ? " 9000 1500" : " 9000 9000"));
      }
      // the second network is in order everywhere
      rows.push_back("node" + std::to_string(i % 4 + 1) + " 10.9.1." + std::to_string(i % 4 + 1) +
                     " 1500 1500");
      input.host("node" + std::to_string(i)).facts.set_list("pair.paths", rows);
    }
    std::set<std::string> named;
    for (const Finding& finding : run_check("NET-02", input))
      named.insert(finding.hosts.begin(), finding.hosts.end());
    return named;
  };
  CHECK(ring({3}) == std::set<std::string>{"node3"});
  CHECK(ring({3, 4}) == std::set<std::string>{"node3", "node4"});
  CHECK(ring({1, 2, 3, 4}) == std::set<std::string>{"node1", "node2", "node3", "node4"});
}

TEST_CASE("NET-05: against the link's speed, else against the others") {
  struct Row {
    int speed, rate;
    Verdict verdict;
  };
  const Row rows[] = {{10000, 7000, Verdict::pass},
                      {10000, 6999, Verdict::warn},
                      {10000, 3999, Verdict::fail},
                      {0, 2500, Verdict::pass},
                      {0, 2400, Verdict::fail}};
  for (const Row& row : rows) {
    CAPTURE(row.rate);
    Port port;
    port.speed = row.speed;
    DoctorInput input = hosts_with({{port}, {port}, {port}});
    input.level = Level::stress;
    input.host("node1").facts.set_list("pair.rates", {"node2 10.1.1.2 10000"});
    input.host("node2").facts.set_list("pair.rates", {"node3 10.1.1.3 " + std::to_string(row.rate)});
    input.host("node3").facts.set_list("pair.rates", {"node1 10.1.1.1 10000"});
    const Finding finding = only(run_check("NET-05", input));
    CHECK(finding.verdict == row.verdict);
    if (row.verdict != Verdict::pass) CHECK(finding.hosts == std::vector<std::string>{"node2"});
  }
}

TEST_CASE("SSH-03: the tree's logins") {
  DoctorInput input = hosts_with({{{}}, {{}}});
  CHECK(only(run_check("SSH-03", input)).verdict == Verdict::skip);
  input.host("node1").facts.set("child.count", 0);
  CHECK(only(run_check("SSH-03", input)).observed ==
        "the driver host starts all 2 hosts itself (tree of 64)");
  input.host("node1").facts.set("child.0.host", "node2");
  input.host("node1").facts.set("child.0.result", "ok");
  CHECK(only(run_check("SSH-03", input)).observed == "1 logins between hosts work");
  input.host("node1").facts.set("child.0.result", "Permission denied (publickey).");
  const Finding finding = only(run_check("SSH-03", input));
  CHECK(finding.verdict == Verdict::fail);
  CHECK(finding.hosts == std::vector<std::string>{"node1"});
  input.job.environment["OMPI_MCA_plm_rsh_no_tree_spawn"] = "1";
  CHECK(only(run_check("SSH-03", input)).verdict == Verdict::pass);
}

TEST_CASE("Open MPI's radix tree of daemons") {
  using Nodes = std::vector<std::size_t>;
  // radix 2, seven nodes: the figure of a binary tree dealt in turn, as routed_radix does it
  CHECK(launch_children(0, 7, 2) == Nodes{1, 2});
  CHECK(launch_children(1, 7, 2) == Nodes{3, 5});
  CHECK(launch_children(2, 7, 2) == Nodes{4, 6});
  CHECK(launch_children(3, 7, 2).empty());
  CHECK(launch_children(0, 65, 64).size() == 64);
  CHECK(launch_children(1, 66, 64) == Nodes{65});
  for (const std::size_t radix : {1u, 2u, 3u, 64u}) {
    std::multiset<std::size_t> started;
    for (std::size_t i = 0; i < 500; ++i) {
      for (const std::size_t child : launch_children(i, 500, radix)) started.insert(child);
    }
    CHECK(started.size() == 499);
    CHECK(std::set(started.begin(), started.end()).size() == 499);
  }
}

TEST_CASE("each host has two neighbours that have it too, and few hosts probe the driver host") {
  for (const std::size_t count : {2u, 3u, 4u, 16u, 17u, 25u, 40u, 64u, 1000u}) {
    CAPTURE(count);
    std::vector<ProbeRequest> hosts(count);
    for (std::size_t i = 0; i < count; ++i) hosts[i].host = "h" + std::to_string(i);
    ProbeRequest driver_host;
    driver_host.host = "login";
    Job job;
    job.ports = {29500};
    plan_network_probes(job, hosts, &driver_host, 42);
    std::set<std::pair<std::string, std::string>> edges;
    for (const ProbeRequest& host : hosts) {
      CHECK(host.probe_ports.size() == 4);
      CHECK(host.probe_ports == hosts.front().probe_ports);
      for (const std::string& peer : host.peers) edges.emplace(host.host, peer);
      CHECK(host.peers.size() <= 3);
    }
    for (const std::string& peer : driver_host.peers) edges.emplace(driver_host.host, peer);
    CHECK(driver_host.peers.empty() == (count > 24));
    for (const auto& [from, to] : edges) CHECK(edges.contains({to, from}));
  }
}

TEST_CASE("what the network asks travels with the request") {
  ProbeRequest request;
  request.host = "node1";
  request.peers = {"node2", "node4"};
  request.probe_ports = {29500, 40001};
  request.probe_ms = 6000;
  request.probe_key = "5eed";
  request.launch_children = {"node3"};
  const ProbeRequest back = parse_probe_request_json(render_probe_request_json(request));
  CHECK(back.peers == request.peers);
  CHECK(back.probe_ports == request.probe_ports);
  CHECK(back.probe_ms == 6000);
  CHECK(back.probe_key == "5eed");
  CHECK(back.launch_children == request.launch_children);
}

TEST_SUITE_END();

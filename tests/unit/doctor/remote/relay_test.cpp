// SPDX-License-Identifier: MIT
// The tree of hosts: its plan, what a relay passes on, and a relay that is lost or lies.
#include "doctor/remote/relay.hpp"

#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace ddlrun;
using namespace ddlrun::doctor;

namespace {

const AgentBinary relay_agent{"/opt/ddlrun/bin/ddlrun", "abc", "", {{"ddlrun", "/proc/self/exe"}}};

ProbeRequest request_to(const std::string& host) {
  ProbeRequest request;
  request.host = host;
  return request;
}

Facts facts_of(const std::string& host, const std::string& memlock) {
  Facts facts;
  facts.set("name.host", host);
  facts.set("limit.memlock.soft", memlock);
  for (const char* name : {"cpu.count", "gpu.count", "ib.count"}) facts.set(name, "0");
  return facts;
}

std::string response_of(const Facts& facts, std::int64_t clock_us) {
  ProbeResponse response;
  response.facts = facts;
  response.ready_us = response.asked_us = clock_us;
  return "ddlrun-agent ready abc\nddlrun-agent answer\n" + render_probe_response_json(response) + "\n";
}

// h1..hN, asked through relays of `window` branches; `answer` gets a host and whether it is asked first.
struct Tree {
  tests::FakeSystem fake;
  std::vector<ProbeRequest> requests;
  std::vector<HostReport> reports;
  std::map<std::string, int> asked;
  ReachSummary summary;

  void reach(std::size_t hosts, unsigned window,
             const std::function<ProcessResult(const std::string& host, bool first)>& answer) {
    fake.files.files["/proc/self/exe"] = "binary";
    for (std::size_t i = 1; i <= hosts; ++i) requests.push_back(request_to("h" + std::to_string(i)));
    fake.processes.answer = [&](const Command& command) {
      if (command[1] == "-G") return ProcessResult{};
      const std::string& host = command[command.size() - 2];
      return answer(host, ++asked[host] == 1);
    };
    reports.assign(hosts, {});
    ReachOptions options;
    options.window = window;
    options.flat_most = window;
    System system = fake.interfaces();
    summary = reach_hosts(system, requests, relay_agent, options,
                          [&](std::size_t at, HostReport&& report) { reports[at] = std::move(report); });
  }
};

std::string relayed_line(const std::string& relay, const std::string& host, const std::string& memlock) {
  const auto base = std::make_shared<const FactMap>(facts_of(relay, "unlimited").all());
  HostReport report{host, {}, facts_of(host, memlock), {}};
  report.reach.clock_offset_seconds = 2;
  report.reach.clock_error_seconds = 0.5;
  report.facts.share(base);
  return "ddlrun-agent relayed " + render_relayed_report_json(report, base) + "\n";
}

ProcessResult said(std::string out) {
  ProcessResult result;
  result.out = std::move(out);
  return result;
}

ProcessResult refused() {
  ProcessResult result;
  result.exit_status = 255;
  result.err = "Permission denied (publickey).\n";
  return result;
}

}  // namespace

TEST_SUITE_BEGIN("doctor/remote/relay");

TEST_CASE("the plan has each host once, and branches of equal size") {
  const std::vector<FanOut> shapes{{32, 128}, {32, 32}, {2, 2}, {1, 1}, {3, 0}};
  for (const FanOut& shape : shapes) {
    for (const std::size_t hosts : {0u, 1u, 2u, 3u, 31u, 32u, 33u, 128u, 129u, 4096u, 16384u}) {
      CAPTURE(shape.width);
      CAPTURE(hosts);
      const std::vector<Branch> branches = plan_branches(hosts, shape);
      CHECK(branches.empty() == (hosts <= std::max<std::size_t>(1, shape.flat_most)));
      CHECK(branches.size() <= shape.width);
      std::size_t next = 0;
      for (const Branch& branch : branches) {
        CHECK(branch.first == next);
        CHECK(branch.count >= 1);
        CHECK(branches.front().count - branch.count <= 1);
        next += branch.count;
      }
      if (!branches.empty()) CHECK(next == hosts);
    }
  }
}

TEST_CASE("depth bounds the waits: 128 hosts take 4 rounds, 16,384 take 3") {
  const FanOut usual{32, 128};
  CHECK(count_rounds(128, usual) == 4);
  CHECK(count_relays(128, usual) == 0);
  CHECK(count_rounds(4096, usual) == 1 + 4);
  CHECK(count_relays(4096, usual) == 1);
  CHECK(count_rounds(16384, usual) == 1 + 1 + 1);
  CHECK(count_relays(16384, usual) == 2);
  CHECK(count_rounds(16384, {32, 100'000}) == 512);
}

TEST_CASE("a request to a relay survives its JSON") {
  const std::vector<ProbeRequest> requests{request_to("h1"), request_to("h2"), request_to("h3")};
  const std::vector<std::size_t> branch{0, 2};
  ReachOptions options;
  options.ssh_arguments = {"-p", "2222"};
  options.flat_most = 7;
  const RelayRequest sent = plan_relay(requests, branch, relay_agent, options);
  RelayRequest back;
  CHECK(parse_probe_request_json(render_probe_request_json(requests[0], sent), &back).host == "h1");
  REQUIRE(back.hosts.size() == 1);
  CHECK(back.hosts[0].name == "h3");
  CHECK(back.ssh_arguments == options.ssh_arguments);
  CHECK(back.agent_path == relay_agent.path);
  CHECK(back.flat_most == 7);
  CHECK(back.limit == options.limit);
  RelayRequest none;
  parse_probe_request_json(render_probe_request_json(requests[0]), &none);
  CHECK(none.hosts.empty());
}

TEST_CASE("a relay's hosts come with its name, their own facts and both clocks") {
  Tree tree;
  tree.reach(4, 2, [](const std::string& host, bool) {
    const std::string behind = host == "h1" ? "h2" : "h4";
    return said(response_of(facts_of(host, "unlimited"), 0) + relayed_line(host, behind, "65536"));
  });
  CHECK(tree.asked == std::map<std::string, int>{{"h1", 1}, {"h3", 1}});
  CHECK(tree.summary.relayed == 2);
  CHECK(tree.summary.missing == 0);
  CHECK(tree.reports[0].reach.relay == "");
  CHECK(tree.reports[1].reach.relay == "h1");
  CHECK(tree.reports[3].reach.relay == "h3");
  CHECK(tree.reports[1].facts == facts_of("h2", "65536"));
  CHECK(tree.reports[1].facts.own().size() == 2);  // what is equal is h1's
}

TEST_CASE("a lost relay costs its own answer only: the others are asked directly") {
  Tree tree;
  tree.reach(6, 2, [](const std::string& host, bool) {
    if (host == "h1") return refused();
    std::string out = response_of(facts_of(host, "unlimited"), 0);
    if (host == "h4")
      out += relayed_line("h4", "h5", "1") + "ddlrun-agent missing h6: Host key verification failed\n";
    return said(out);
  });
  CHECK(tree.reports[0].reach.problem_kind == "no-key");
  for (const std::size_t host : {1u, 2u, 3u, 4u, 5u}) CHECK(tree.reports[host].reach.problem == "");
  CHECK(tree.reports[4].reach.relay == "h4");
  CHECK(tree.reports[5].reach.relay == "");
  CHECK(tree.asked["h5"] == 0);
  CHECK(tree.asked["h6"] == 1);
  CHECK(tree.summary.missing == 4);  // h1, h2, h3 and h6
  CHECK(tree.summary.why_missing.starts_with("h1: "));
}

TEST_CASE("a relay speaks for the hosts of its branch only, once for each, in whole lines") {
  Tree tree;
  tree.reach(4, 2, [](const std::string& host, bool first) {
    std::string out = response_of(facts_of(host, "unlimited"), 0);
    if (host == "h1" && first) {
      out += relayed_line("h1", "h4", "forged") + relayed_line("h1", "h1", "forged") +
             relayed_line("h1", "nosuch", "forged") + "ddlrun-agent relayed {}\n" + "ddlrun-agent relayed " +
             std::string(100'000, '[') + "\n" + "ddlrun-agent relayed null\n";
      const std::string line = relayed_line("h1", "h2", "cut off");
      out += line.substr(0, line.size() - 1);
    }
    if (host == "h3" && first) out += relayed_line("h3", "h4", "true") + relayed_line("h3", "h4", "twice");
    return said(out);
  });
  CHECK(tree.reports[0].facts.is("limit.memlock.soft", "unlimited"));
  CHECK(tree.reports[1].facts.is("limit.memlock.soft", "unlimited"));  // asked directly
  CHECK(tree.reports[1].reach.relay == "");
  CHECK(tree.reports[3].facts.is("limit.memlock.soft", "true"));
  CHECK(tree.reports[3].reach.relay == "h3");
}

TEST_SUITE_END();

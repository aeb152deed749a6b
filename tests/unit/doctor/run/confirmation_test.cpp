// SPDX-License-Identifier: MIT
#include "doctor/run/confirmation.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::doctor;

namespace {

// Hosts 0..count-1; the first of every ten is the relay of the nine that follow.
std::vector<HostReport> hosts_behind_relays(std::size_t count) {
  std::vector<HostReport> hosts;
  for (std::size_t i = 0; i < count; ++i) {
    hosts.push_back({"h" + std::to_string(i), {}, {}, {}});
    if (i % 10 != 0) hosts.back().reach.relay = "h" + std::to_string(i / 10 * 10);
  }
  return hosts;
}

Finding finding_at(const std::vector<HostReport>& hosts, std::size_t first, std::size_t count) {
  Finding finding;
  finding.verdict = Verdict::warn;
  for (std::size_t i = 0; i < count; ++i) finding.hosts.push_back(hosts[first + i].host);
  return finding;
}

std::vector<std::size_t> confirm(const std::vector<HostReport>& hosts, const std::vector<Finding>& findings,
                                 bool all = false) {
  std::vector<std::string> relays;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    relays.push_back(i % 10 == 0 ? "" : "h" + std::to_string(i / 10 * 10));
  return hosts_to_confirm(findings, hosts, relays, all);
}

}  // namespace

TEST_SUITE_BEGIN("doctor/run/confirmation");

TEST_CASE("few hosts are all asked again, of many one of each relay; passes are not") {
  std::vector<HostReport> hosts = hosts_behind_relays(100);
  CHECK(confirm(hosts, {finding_at(hosts, 8, 4)}) == std::vector<std::size_t>{8, 9, 11});
  CHECK(confirm(hosts, {finding_at(hosts, 0, 50)}) == std::vector<std::size_t>{1, 11, 21, 31, 41});
  CHECK(confirm(hosts, {finding_at(hosts, 0, 50)}, true).size() == 45);
  Finding pass = finding_at(hosts, 0, 50);
  pass.verdict = Verdict::pass;
  CHECK(confirm(hosts, {pass}).empty());

  for (const std::size_t asked : {1u, 11u, 21u, 31u}) hosts[asked].reach.relay.clear();
  CHECK(confirm(hosts, {finding_at(hosts, 0, 50)}) == std::vector<std::size_t>{41});
  // Host 41 itself shows nothing: the other hosts of its relay are not confirmed by it.
  hosts[41].reach.relay.clear();
  Finding left = finding_at(hosts, 0, 50);
  left.hosts.erase(left.hosts.begin() + 41);
  CHECK(confirm(hosts, {left}) == std::vector<std::size_t>{42});
}

TEST_SUITE_END();

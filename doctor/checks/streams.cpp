// SPDX-License-Identifier: MIT
// Evaluates what gets through between hosts: the size of packets, the rate of a stream.
#include "base/text/text.hpp"
#include "doctor/checks/name.hpp"
#include "doctor/parse/cidr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ddlrun::doctor {

namespace {

struct PathRow {
  std::string peer, address;
  std::uint64_t asked, passed;
};
std::vector<PathRow> read_paths(const Facts& facts) {
  std::vector<PathRow> rows;
  for (const std::string_view line : facts.list("pair.paths")) {
    const auto words = split(line, ' ');
    if (words.size() != 4) continue;
    const auto asked = parse_unsigned(words[2], 65535), passed = parse_unsigned(words[3], 65535);
    if (asked && passed) rows.push_back({std::string(words[0]), std::string(words[1]), *asked, *passed});
  }
  return rows;
}

// The interface of `host` in the network of `address`; empty where that is not known.
HostInterface interface_towards(const CheckInput& input, const std::string& host,
                                const std::string& address) {
  const auto target = parse_ipv4(address);
  for (const HostReport* report : hosts_and_driver_host(input)) {
    const auto networks = report->host == host ? read_networks(host, report->facts) : std::nullopt;
    if (!networks || !target) continue;
    for (const HostInterface& interface : networks->interfaces) {
      for (const std::string& text : interface.addresses) {
        const auto own = parse_ipv4(text);
        if (own && own->prefix > 0 && Ipv4{target->bits, own->prefix}.in_network_of(*own)) return interface;
      }
    }
  }
  return {};
}

// "10.1.1.0/24" as the host sees the address; "" where it is in none of its networks.
std::string network_of(const CheckInput& input, const std::string& host, const std::string& address) {
  const auto target = parse_ipv4(address);
  for (const std::string& text : interface_towards(input, host, address).addresses) {
    const auto own = parse_ipv4(text);
    if (own && target && Ipv4{target->bits, own->prefix}.in_network_of(*own)) return render_network(*own);
  }
  return {};
}

std::string shell_name(const HostInterface& interface) {
  return interface.name.empty() ? "INTERFACE" : quote_shell(interface.name);
}

// A path that does not carry what its sender sends.
struct BadPath {
  std::string from;
  PathRow row;
};

struct Paths {
  std::vector<BadPath> bad;
  std::set<std::pair<std::string, std::string>> in_order;  // host and network: a path of it there is good
  std::size_t good = 0, silent = 0;
};

Paths collect_paths(const CheckInput& input) {
  Paths paths;
  for (const HostReport* host : hosts_and_driver_host(input)) {
    for (const PathRow& row : read_paths(host->facts)) {
      if (!takes_part(input, row.peer)) continue;
      if (row.passed == 0) {
        ++paths.silent;
      } else if (row.passed < row.asked) {
        paths.bad.push_back({host->host, row});
      } else {
        ++paths.good;
        const std::string network = network_of(input, host->host, row.address);
        paths.in_order.emplace(host->host, network);
        paths.in_order.emplace(row.peer, network);
      }
    }
  }
  return paths;
}

Finding path_finding(const std::string& host, const PathRow& row, std::string command, std::string note) {
  Finding finding;
  finding.id = "NET-02";
  finding.verdict = Verdict::fail;
  finding.hosts = {host};
  finding.observed = fmt::format("packets of {} bytes get lost on the way to or from {}, of {} they pass",
                                 row.asked, host, row.passed);
  finding.expected = fmt::format("{} bytes, the senders' own MTU", row.asked);
  finding.why = "large packets vanish: small messages pass, the first large one hangs";
  finding.remedy = {{std::move(command)}, true, false, std::move(note)};
  return finding;
}

// A peer whose own MTU is smaller is to be mended there. Else something between the two is, and of the two
// that end is named from which no path is in order.
Finding blame(const CheckInput& input, const Paths& paths, const BadPath& bad) {
  const HostInterface far = interface_towards(input, bad.row.peer, bad.row.address);
  if (far.mtu > 0 && static_cast<std::uint64_t>(far.mtu) < bad.row.asked) {
    return path_finding(bad.row.peer, bad.row,
                        fmt::format("ip link set dev {} mtu {}", shell_name(far), bad.row.asked), "");
  }
  const std::string network = network_of(input, bad.from, bad.row.address);
  const bool far_end =
      !paths.in_order.contains({bad.row.peer, network}) && bad.row.peer != input.driver_host.host;
  const std::string host = far_end ? bad.row.peer : bad.from;
  return path_finding(
      host, bad.row,
      fmt::format("ip link set dev {} mtu {}", shell_name(interface_towards(input, host, bad.row.address)),
                  bad.row.passed),
      "better: raise the MTU of what lies between (switch, bridge, tunnel); to lower it, do so on all "
      "hosts of the network");
}

// A command on `host` is made of numbers that it, the driver host or two others report.
bool is_confirmed(const CheckInput& input, const Paths& paths, const BadPath& bad, const std::string& host) {
  return bad.from == host || is_driver_host(input, bad.from) ||
         std::any_of(paths.bad.begin(), paths.bad.end(), [&](const BadPath& other) {
           return other.from != bad.from && other.row.peer == bad.row.peer &&
                  other.row.asked == bad.row.asked && other.row.passed == bad.row.passed;
         });
}

struct RateRow {
  std::string host, peer, address;
  double mbps;
};

}  // namespace

std::vector<Finding> check_path_mtu(const CheckInput& input) {
  if (auto reason = why_not_evaluated(input, "pair.paths"))
    return single_finding("NET-02", std::move(*reason));
  const Paths paths = collect_paths(input);
  std::vector<Finding> findings;
  for (const BadPath& bad : paths.bad) {
    Finding finding = blame(input, paths, bad);
    if (!is_confirmed(input, paths, bad, finding.hosts.front()))
      finding.remedy = as_advice(std::move(finding.remedy), bad.from);
    const auto same = std::find_if(findings.begin(), findings.end(),
                                   [&](const Finding& known) { return known.hosts == finding.hosts; });
    if (same == findings.end() && findings.size() < 32)
      findings.push_back(std::move(finding));
    else if (same != findings.end() && same->remedy.commands.empty())
      *same = std::move(finding);
  }
  if (!findings.empty()) return findings;
  if (paths.good == 0)
    return single_finding("NET-02", skip(paths.silent > 0 ? "UDP does not get through: not measured"
                                                          : "no neighbour was reached"));
  return single_finding(
      "NET-02", pass(fmt::format("{} paths carry packets as large as their interface's MTU", paths.good)));
}

std::vector<Finding> check_stream_rate(const CheckInput& input) {
  if (auto reason = why_not_evaluated(input, "pair.rates"))
    return single_finding("NET-05",
                          input.level == Level::stress ? std::move(*reason) : skip("asked at --stress only"));
  std::vector<RateRow> rows;
  std::vector<double> rates;
  for (const HostReport& host : input.hosts) {
    for (const std::string_view line : host.facts.list("pair.rates")) {
      const auto words = split(line, ' ');
      const auto rate = words.size() == 3 ? parse_unsigned(words[2], 10'000'000) : std::nullopt;
      if (!rate || *rate == 0) continue;
      rows.push_back({host.host, std::string(words[0]), std::string(words[1]), static_cast<double>(*rate)});
      rates.push_back(rows.back().mbps);
    }
  }
  if (rows.empty()) return single_finding("NET-05", skip("no stream came up"));
  std::sort(rates.begin(), rates.end());
  const double median = rates[rates.size() / 2];
  std::vector<Finding> findings;
  for (const RateRow& row : rows) {
    const HostInterface interface = interface_towards(input, row.host, row.address);
    const auto speed = static_cast<double>(interface.speed_mbps);
    // Without a link speed (virtual ports) only a host far behind the others stands out.
    const double share = speed > 0 ? row.mbps / speed : row.mbps / median;
    const double warn = speed > 0 ? 0.7 : 0.25, fail = speed > 0 ? 0.4 : 0.25;
    if (share >= warn) continue;
    const std::string against = speed > 0 ? fmt::format("of {:.0f} Mbit/s", speed)
                                          : fmt::format("while the middle of all is {:.0f}", median);
    CheckResult result{
        share < fail ? Verdict::fail : Verdict::warn,
        fmt::format("{:.0f} Mbit/s to {}, {}", row.mbps, row.peer, against),
        speed > 0 ? "at least 70 % of the link" : "a quarter of what the others reach, or more",
        "an allreduce is as fast as its slowest link",
        {}};
    result.remedy = {
        {fmt::format("ethtool {0}; tc qdisc show dev {0}; ip -s link show dev {0}", shell_name(interface))},
        false,
        false,
        fmt::format("look at both ends, {} and {}: cable, speed agreed on, a rate limit, errors", row.host,
                    row.peer)};
    for (Finding& finding : single_finding("NET-05", std::move(result), {row.host}))
      findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return findings;
  return single_finding("NET-05", pass(fmt::format("{} streams, {:.0f} to {:.0f} Mbit/s", rows.size(),
                                                   rates.front(), rates.back())));
}

}  // namespace ddlrun::doctor

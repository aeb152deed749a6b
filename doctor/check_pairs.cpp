// SPDX-License-Identifier: MIT
// Judges what the hosts saw of each other: connections, packet sizes, rates, and the launch tree's ssh.
#include "base/text.hpp"
#include "doctor/check_name.hpp"
#include "doctor/network_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_shown = 4;

struct Answer {
  std::string_view peer, address, port, how, detail;
};

std::vector<Answer> read_answers(const Facts& facts) {
  std::vector<Answer> answers;
  for (const std::string_view line : facts.list("pair.answers")) {
    auto words = split(line, ' ');
    if (words.size() < 4) continue;
    const auto start = words[3].data() + words[3].size() - line.data();
    const std::string_view rest = trim(line.substr(static_cast<std::size_t>(start)));
    answers.push_back({words[0], words[1], words[2], words[3], rest});
  }
  return answers;
}

std::vector<std::string> add_each_once(std::vector<std::string> all, std::string_view one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.emplace_back(one);
  return all;
}

std::string some(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size() && i < most_shown; ++i) text += (i == 0 ? "" : ", ") + words[i];
  if (words.size() > most_shown) text += fmt::format(" and {} more", words.size() - most_shown);
  return text;
}

// By whom, and on which ports, a host could not be reached.
struct Blocked {
  std::vector<std::string> by, ports, addresses;
  std::string how, detail;
};

// The head takes part where it is none of the hosts.
std::vector<const HostReport*> hosts_and_head(const CheckInput& input) {
  std::vector<const HostReport*> all;
  for (const HostReport& host : input.hosts) all.push_back(&host);
  all.push_back(&input.head);
  return all;
}

// A host refuses where nobody listens: only with its own word that it listened is that a filter.
bool listened(const CheckInput& input, std::string_view peer, std::string_view port) {
  for (const HostReport* host : hosts_and_head(input)) {
    if (host->host != peer) continue;
    const auto ports = host->facts.list("pair.listening");
    if (std::find(ports.begin(), ports.end(), port) != ports.end()) return true;
  }
  return false;
}

bool any_connected(const std::vector<Answer>& answers, std::string_view peer) {
  return std::any_of(answers.begin(), answers.end(),
                     [&](const Answer& one) { return one.peer == peer && one.how == "connected"; });
}

struct Connections {
  std::map<std::string, Blocked> blocked;  // by the host that is not reached
  std::set<std::string> missed;            // hosts that were not there at the time
  std::size_t good = 0;
};

void take_answer(const CheckInput& input, const HostReport& host, const std::vector<Answer>& answers,
                 const Answer& answer, Connections& result) {
  if (answer.how == "connected") {
    ++result.good;
    return;
  }
  const bool told = listened(input, answer.peer, answer.port);
  const bool reached_otherwise = any_connected(answers, answer.peer);
  if (answer.how == "refused" && (!told || !reached_otherwise)) {
    if (!reached_otherwise) result.missed.emplace(answer.peer);
    return;
  }
  if (answer.how == "another-host" && answer.detail == "another program") return;  // NET-04 says so
  Blocked& blocked = result.blocked[std::string(answer.peer)];
  blocked.by = add_each_once(std::move(blocked.by), host.host);
  blocked.ports = add_each_once(std::move(blocked.ports), answer.port);
  blocked.addresses = add_each_once(std::move(blocked.addresses), answer.address);
  blocked.how = answer.how;
  blocked.detail = answer.detail;
}

Connections collect(const CheckInput& input) {
  Connections result;
  for (const HostReport* host : hosts_and_head(input)) {
    const std::vector<Answer> answers = read_answers(host->facts);
    for (const Answer& answer : answers) take_answer(input, *host, answers, answer, result);
  }
  return result;
}

std::string words_for(const Blocked& blocked) {
  if (blocked.how == "timed-out") return "no answer: packets are dropped";
  if (blocked.how == "refused") return "refused although it listened: a filter rejects";
  if (blocked.how == "another-host") return "answered by " + blocked.detail;
  return blocked.detail.empty() ? "no way there" : blocked.detail;
}

// Every network that the hosts share, as each of them is tried; the address alone where none is known.
std::string accept_command(const CheckInput& input, const std::string& address) {
  std::vector<std::string> networks;
  for (const Network& one : find_networks(known_networks(input))) {
    const bool has = std::any_of(one.ports.begin(), one.ports.end(),
                                 [&](const auto& port) { return port.address == address; });
    if (one.problem.empty() || has) networks.push_back(one.cidr);
  }
  if (networks.empty()) networks.push_back(address);
  return fmt::format(
      "if command -v nft > /dev/null && nft list tables | grep -q .; then nft list chains | awk '/^table/ "
      "{{f=$2; "
      "t=$3}} /chain/ {{c=$2}} /hook input/ && f ~ /^(ip|inet)$/ {{print f, t, c}}' | while read -r f t c; "
      "do nft "
      "insert rule \"$f\" \"$t\" \"$c\" ip saddr '{{ {} }}' accept; done; else iptables -I INPUT -s {} -j "
      "ACCEPT; fi",
      join(networks, ", "), join(networks, ","));
}

Finding blocked_finding(const CheckInput& input, const std::string& host, const Blocked& blocked) {
  Finding finding;
  finding.id = "NET-03";
  finding.verdict = Verdict::fail;
  finding.hosts = {host};
  finding.observed =
      fmt::format("port{} {} of {} from {}: {}", blocked.ports.size() == 1 ? "" : "s", some(blocked.ports),
                  some(blocked.addresses), some(blocked.by), words_for(blocked));
  finding.expected = "every host connects to its neighbours on any port above 1023";
  finding.why = "mpirun and NCCL take ports as they come: ranks wait for each other without a message";
  finding.remedy = {
      {accept_command(input, blocked.addresses.front())},
      true,
      false,
      "lets the job's own network in, no other; make it lasting in the firewall's own configuration"};
  return finding;
}

std::optional<Judgement> cannot_judge(const CheckInput& input, std::string_view fact) {
  if (input.hosts.size() < 2) return skip("only one host");
  std::string why = "not gathered";
  for (const HostReport& host : input.hosts) {
    if (host.facts.text(fact)) return std::nullopt;
    if (host.reach.problem.empty()) why = host.facts.why_missing(fact);
  }
  return skip(why == "not gathered" ? "asked at --full only" : why);
}

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
  const auto hosts = known_networks(input);
  for (const Network& network : find_networks(hosts)) {
    const bool has = std::any_of(network.ports.begin(), network.ports.end(),
                                 [&](const NetworkPort& port) { return port.address == address; });
    for (std::size_t i = 0; has && i < hosts.size(); ++i) {
      if (hosts[i].host != host) continue;
      for (const HostInterface& interface : hosts[i].interfaces) {
        if (interface.name == network.ports[i].interface) return interface;
      }
    }
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
  std::map<std::string, std::size_t> good_of;  // paths of a host that are in order, by both ends
  std::size_t good = 0, silent = 0;
};

Paths collect_paths(const CheckInput& input) {
  Paths paths;
  for (const HostReport* host : hosts_and_head(input)) {
    for (const PathRow& row : read_paths(host->facts)) {
      if (row.passed == 0) {
        ++paths.silent;
      } else if (row.passed < row.asked) {
        paths.bad.push_back({host->host, row});
      } else {
        ++paths.good;
        ++paths.good_of[host->host];
        ++paths.good_of[row.peer];
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
  const bool far_end = !paths.good_of.contains(bad.row.peer);
  const std::string host = far_end ? bad.row.peer : bad.from;
  return path_finding(
      host, bad.row,
      fmt::format("ip link set dev {} mtu {}", shell_name(interface_towards(input, host, bad.row.address)),
                  bad.row.passed),
      "better: raise the MTU of what lies between (switch, bridge, tunnel); to lower it, do so on all "
      "hosts of the network");
}

struct RateRow {
  std::string host, peer, address;
  double mbps;
};

}  // namespace

std::vector<Finding> check_connections(const CheckInput& input) {
  if (auto reason = cannot_judge(input, "pair.answers")) return judge_once("NET-03", std::move(*reason));
  const Connections seen = collect(input);
  std::vector<Finding> findings;
  for (const auto& [host, blocked] : seen.blocked) findings.push_back(blocked_finding(input, host, blocked));
  std::vector<std::string> missed;
  for (const std::string& host : seen.missed) {
    if (!seen.blocked.contains(host)) missed.push_back(host);
  }
  if (!missed.empty()) {
    for (Finding& finding :
         judge_once("NET-03", skip("not there at the same time as its neighbours: run it again"), missed))
      findings.push_back(std::move(finding));
  }
  if (seen.good > 0 && seen.blocked.empty()) {
    for (Finding& finding :
         judge_once("NET-03", pass(fmt::format("{} connections between neighbours came up", seen.good))))
      findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> check_path_mtu(const CheckInput& input) {
  if (auto reason = cannot_judge(input, "pair.paths")) return judge_once("NET-02", std::move(*reason));
  const Paths paths = collect_paths(input);
  std::vector<Finding> findings;
  for (const BadPath& bad : paths.bad) {
    Finding finding = blame(input, paths, bad);
    const auto same = std::find_if(findings.begin(), findings.end(),
                                   [&](const Finding& known) { return known.hosts == finding.hosts; });
    if (same == findings.end() && findings.size() < 32) findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return findings;
  if (paths.good == 0)
    return judge_once("NET-02", skip(paths.silent > 0 ? "UDP does not get through: not measured"
                                                      : "no neighbour was reached"));
  return judge_once(
      "NET-02", pass(fmt::format("{} paths carry packets as large as their interface's MTU", paths.good)));
}

std::vector<Finding> check_stream_rate(const CheckInput& input) {
  if (auto reason = cannot_judge(input, "pair.rates"))
    return judge_once("NET-05",
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
  if (rows.empty()) return judge_once("NET-05", skip("no stream came up"));
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
    Judgement judgement{
        share < fail ? Verdict::fail : Verdict::warn,
        fmt::format("{:.0f} Mbit/s to {}, {}", row.mbps, row.peer, against),
        speed > 0 ? "at least 70 % of the link" : "a quarter of what the others reach, or more",
        "an allreduce is as fast as its slowest link",
        {}};
    judgement.remedy = {
        {fmt::format("ethtool {0}; tc qdisc show dev {0}; ip -s link show dev {0}", shell_name(interface))},
        false,
        false,
        fmt::format("look at both ends, {} and {}: cable, speed agreed on, a rate limit, errors", row.host,
                    row.peer)};
    for (Finding& finding : judge_once("NET-05", std::move(judgement), {row.host}))
      findings.push_back(std::move(finding));
  }
  if (!findings.empty()) return findings;
  return judge_once("NET-05", pass(fmt::format("{} streams, {:.0f} to {:.0f} Mbit/s", rows.size(),
                                               rates.front(), rates.back())));
}

std::vector<Finding> check_launch_tree(const CheckInput& input) {
  const std::size_t radix = launch_radix(input.job);
  if (input.job.allocation_source.starts_with("SLURM"))
    return judge_once("SSH-03", skip("in a Slurm allocation mpirun starts its daemons by srun"));
  if (radix == 0) return judge_once("SSH-03", pass("no tree: the head starts every daemon itself"));
  std::vector<Finding> findings;
  std::size_t edges = 0;
  bool known = false;
  for (const HostReport& host : input.hosts) {
    known = known || host.facts.text("child.count").has_value();
    for (std::size_t i = 0; i < 128; ++i) {
      const auto child = host.facts.text(fmt::format("child.{}.host", i));
      const auto result = host.facts.text(fmt::format("child.{}.result", i));
      if (!child || !result) break;
      ++edges;
      if (*result == "ok" || findings.size() >= 32) continue;
      Judgement judgement{Verdict::fail,
                          fmt::format("ssh {} from here: {}", *child, *result),
                          "mpirun's launch tree lets this host start that one",
                          "ORTE was unable to reliably start one or more daemons",
                          {}};
      judgement.remedy = {
          {"export OMPI_MCA_plm_rsh_no_tree_spawn=1"},
          false,
          true,
          "then the head starts them all; or let the hosts log in to each other: keys and known_hosts "
          "on each"};
      for (Finding& finding : judge_once("SSH-03", std::move(judgement), {host.host}))
        findings.push_back(std::move(finding));
    }
  }
  if (!findings.empty()) return findings;
  if (!known) return judge_once("SSH-03", skip("asked at --full only"));
  return judge_once("SSH-03",
                    pass(edges == 0 ? fmt::format("the head starts all {} hosts itself (tree of {})",
                                                  input.hosts.size(), radix)
                                    : fmt::format("{} logins between hosts work", edges)));
}

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
// Evaluates whether the hosts get through to each other: connections, and the launch tree's ssh.
#include "base/text/text.hpp"
#include "doctor/checks/name.hpp"
#include "doctor/checks/network_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace ddlrun::doctor {

namespace {

struct PairResult {
  std::string_view peer, address, port, how, detail;
};

std::vector<PairResult> read_answers(const Facts& facts) {
  std::vector<PairResult> answers;
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

// By whom, and on which ports, a host could not be reached.
struct Blocked {
  std::vector<std::string> by, ports, addresses;
  std::string how, detail;
};

// A host refuses if nothing listens. It is a filter only if the host reported that it listened.
bool listened(const CheckInput& input, std::string_view peer, std::string_view port) {
  for (const HostReport* host : hosts_and_driver_host(input)) {
    if (host->host != peer) continue;
    const auto ports = host->facts.list("pair.listening");
    if (std::find(ports.begin(), ports.end(), port) != ports.end()) return true;
  }
  return false;
}

bool any_connected(const std::vector<PairResult>& answers, std::string_view peer) {
  return std::any_of(answers.begin(), answers.end(),
                     [&](const PairResult& one) { return one.peer == peer && one.how == "connected"; });
}

// The driver host may be one of the hosts under another name: then two agents on one machine share its ports,
// and either answers for the other.
bool is_one_machine(const CheckInput& input, std::string_view one, std::string_view other) {
  const auto identity = [&](std::string_view name) -> std::optional<std::string> {
    for (const HostReport* host : hosts_and_driver_host(input)) {
      if (host->host == name) return machine_identity(*host);
    }
    return std::nullopt;
  };
  const auto machine = identity(one);
  return machine && machine == identity(other);
}

struct Connections {
  std::map<std::string, Blocked> blocked;  // by the host that is not reached
  std::set<std::string> missed;            // hosts that were not there at the time
  std::size_t good = 0;
};

void take_answer(const CheckInput& input, const HostReport& host, const std::vector<PairResult>& answers,
                 const PairResult& answer, Connections& result) {
  if (answer.how == "connected") {
    ++result.good;
    return;
  }
  const bool itself = answer.detail == "this host itself";
  if (is_one_machine(input, host.host, answer.peer)) return;
  if (answer.how == "another-host" &&
      is_one_machine(input, itself ? host.host : answer.detail, answer.peer)) {
    ++result.good;
    return;
  }
  const bool reported = listened(input, answer.peer, answer.port);
  const bool reached_otherwise = any_connected(answers, answer.peer);
  if (answer.how == "refused" && (!reported || !reached_otherwise)) {
    if (!reached_otherwise) result.missed.emplace(answer.peer);
    return;
  }
  if (answer.how == "another-host" && answer.detail == "another program") return;  // NET-04 reports it
  Blocked& blocked = result.blocked[std::string(answer.peer)];
  blocked.by = add_each_once(std::move(blocked.by), host.host);
  blocked.ports = add_each_once(std::move(blocked.ports), answer.port);
  blocked.addresses = add_each_once(std::move(blocked.addresses), answer.address);
  blocked.how = answer.how;
  blocked.detail = answer.detail;
}

Connections collect(const CheckInput& input) {
  Connections result;
  for (const HostReport* host : hosts_and_driver_host(input)) {
    const std::vector<PairResult> answers = read_answers(host->facts);
    for (const PairResult& answer : answers) {
      if (takes_part(input, answer.peer)) take_answer(input, *host, answers, answer, result);
    }
  }
  return result;
}

std::string words_for_blocked(const Blocked& blocked) {
  if (blocked.how == "timed-out") return "no answer: packets are dropped";
  if (blocked.how == "refused") return "refused although it listened: a filter rejects";
  if (blocked.how == "another-host") return "answered by " + blocked.detail;
  return blocked.detail.empty() ? "no way there" : blocked.detail;
}

// The networks of `host` that all share or that `address` belongs to: never what only the other side names.
std::vector<std::string> networks_to_accept(const CheckInput& input, std::string_view host,
                                            std::string_view address) {
  const std::vector<HostNetworks> hosts = known_networks(input);
  const auto own =
      std::find_if(hosts.begin(), hosts.end(), [&](const HostNetworks& one) { return one.host == host; });
  std::vector<std::string> networks;
  if (own == hosts.end()) return networks;
  const auto index = static_cast<std::size_t>(own - hosts.begin());
  for (const Network& one : find_networks(hosts)) {
    const NetworkPort& port = one.ports[index];
    if (!port.interface.empty() && (one.problem.empty() || port.address == address))
      networks.push_back(one.cidr);
  }
  return networks;
}

std::string accept_command(const std::vector<std::string>& networks) {
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
      fmt::format("port{} {} of {} from {}: {}", blocked.ports.size() == 1 ? "" : "s", some_of(blocked.ports),
                  some_of(blocked.addresses), some_of(blocked.by), words_for_blocked(blocked));
  finding.expected = "every host connects to its neighbours on any port above 1023";
  finding.why = "mpirun and NCCL take ports as they come: ranks wait for each other without a message";
  const std::vector<std::string> networks = networks_to_accept(input, host, blocked.addresses.front());
  if (networks.empty()) {
    finding.remedy.note = "let the job's own network in, no other, in the firewall's configuration there";
    return finding;
  }
  finding.remedy = {
      {accept_command(networks)},
      true,
      false,
      "lets the job's own network in, no other; make it lasting in the firewall's own configuration"};
  if (blocked.by.size() < 2 && !is_driver_host(input, blocked.by.front()))
    finding.remedy = as_advice(std::move(finding.remedy), blocked.by.front());
  return finding;
}

}  // namespace

std::vector<const HostReport*> hosts_and_driver_host(const CheckInput& input) {
  std::vector<const HostReport*> all;
  for (const HostReport& host : input.hosts) all.push_back(&host);
  all.push_back(&input.driver_host);
  return all;
}

bool takes_part(const CheckInput& input, std::string_view name) {
  const auto all = hosts_and_driver_host(input);
  return std::any_of(all.begin(), all.end(), [&](const HostReport* host) { return host->host == name; });
}

bool is_driver_host(const CheckInput& input, std::string_view host) {
  return host == input.driver_host.host ||
         std::any_of(input.hosts.begin(), input.hosts.end(),
                     [&](const HostReport& one) { return one.host == host && one.reach.via == Via::local; });
}

std::optional<CheckResult> why_not_evaluated(const CheckInput& input, std::string_view fact) {
  if (input.hosts.size() < 2) return skip("only one host");
  std::string why = "not gathered";
  for (const HostReport& host : input.hosts) {
    if (host.facts.text(fact)) return std::nullopt;
    if (host.reach.problem.empty()) why = host.facts.why_missing(fact);
  }
  return skip(why == "not gathered" ? "asked at --full only" : why);
}

std::vector<Finding> check_connections(const CheckInput& input) {
  if (auto reason = why_not_evaluated(input, "pair.answers"))
    return single_finding("NET-03", std::move(*reason));
  const Connections seen = collect(input);
  std::vector<Finding> findings;
  for (const auto& [host, blocked] : seen.blocked) findings.push_back(blocked_finding(input, host, blocked));
  std::vector<std::string> missed;
  for (const std::string& host : seen.missed) {
    if (!seen.blocked.contains(host)) missed.push_back(host);
  }
  if (!missed.empty()) {
    for (Finding& finding :
         single_finding("NET-03", skip("not there at the same time as its neighbours: run it again"), missed))
      findings.push_back(std::move(finding));
  }
  if (seen.good > 0 && seen.blocked.empty()) {
    for (Finding& finding :
         single_finding("NET-03", pass(fmt::format("{} connections between neighbours came up", seen.good))))
      findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> check_launch_tree(const CheckInput& input) {
  const std::size_t radix = launch_radix(input.job);
  if (input.job.allocation_source.starts_with("SLURM"))
    return single_finding("SSH-03", skip("in a Slurm allocation mpirun starts its daemons by srun"));
  if (radix == 0)
    return single_finding("SSH-03", pass("no tree: the driver host starts every daemon itself"));
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
      CheckResult check{Verdict::fail,
                        fmt::format("ssh {} from here: {}", *child, *result),
                        "mpirun's launch tree lets this host start that one",
                        "ORTE was unable to reliably start one or more daemons",
                        {}};
      check.remedy = {
          {"export OMPI_MCA_plm_rsh_no_tree_spawn=1"},
          false,
          true,
          "then the driver host starts them all; or let the hosts log in to each other: keys and known_hosts "
          "on each"};
      for (Finding& finding : single_finding("SSH-03", std::move(check), {host.host}))
        findings.push_back(std::move(finding));
    }
  }
  if (!findings.empty()) return findings;
  if (!known) return single_finding("SSH-03", skip("asked at --full only"));
  return single_finding(
      "SSH-03", pass(edges == 0 ? fmt::format("the driver host starts all {} hosts itself (tree of {})",
                                              input.hosts.size(), radix)
                                : fmt::format("{} logins between hosts work", edges)));
}

}  // namespace ddlrun::doctor

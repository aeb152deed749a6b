// SPDX-License-Identifier: MIT
// Whether this host gets through to its neighbours, who probe it at the same time.
//   pair.answers    a line a connection: "PEER ADDRESS PORT HOW DETAIL"; HOW: connected, refused,
//                   timed-out, unreachable, another-host. At most 256 lines
//   pair.listening  ports on which this host listened meanwhile, one a line; another program has the others
//   pair.paths      "PEER ADDRESS ASKED PASSED": bytes of an unfragmented packet, the interface's own MTU and
//                   the largest that came through; 0 = UDP does not
//   pair.rates      "PEER ADDRESS RATE": Mbit/s of one TCP stream of a second; level stress
#include "base/os/network.hpp"
#include "base/text/text.hpp"
#include "doctor/gather/name.hpp"
#include "doctor/parse/cidr.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_lines = 256;

std::string_view how(ProbeAnswer::Kind kind) {
  switch (kind) {
    case ProbeAnswer::Kind::connected:
      return "connected";
    case ProbeAnswer::Kind::refused:
      return "refused";
    case ProbeAnswer::Kind::timed_out:
      return "timed-out";
    case ProbeAnswer::Kind::unreachable:
      return "unreachable";
    case ProbeAnswer::Kind::another_host:
      return "another-host";
  }
  return "timed-out";
}

// The driver host may be known here by no name: then by the address from which it called.
std::vector<std::string> usable_addresses(const GatherContext& context, const std::string& peer) {
  std::vector<std::string> addresses;
  for (const std::string& address : context.kernel.find_addresses(peer).addresses) {
    const auto parsed = parse_ipv4(address);
    if (parsed && !parsed->is_loopback() && addresses.size() < 4) addresses.push_back(address);
  }
  const std::string connection = context.system.environment.get("SSH_CONNECTION");
  if (addresses.empty() && !connection.empty()) addresses.emplace_back(split(connection, ' ').front());
  return addresses;
}

NetworkProbe make_probe(const GatherContext& context) {
  const ProbeRequest& request = context.request;
  NetworkProbe probe;
  probe.own_id = request.host;
  probe.key = request.probe_key;
  probe.ports = request.probe_ports;
  probe.limit = std::chrono::milliseconds(std::min(request.probe_ms, 16000u));
  probe.stream = request.level == Level::stress;
  for (const std::string& peer : request.peers) {
    ProbePeer& added = probe.peers.emplace_back(ProbePeer{peer, {}});
    added.addresses = usable_addresses(context, peer);
  }
  for (const NetworkInterface& interface : context.kernel.interfaces()) {
    for (const std::string& address : interface.addresses) {
      const bool usable = interface.up && !interface.loopback && parse_ipv4(address).has_value();
      if (usable && probe.networks.size() < 8) probe.networks.push_back({address, interface.mtu});
    }
  }
  return probe;
}

void set_pair_facts(const NetworkProbe& probe, const ProbeResult& result, Facts& facts) {
  std::vector<std::string> answers, paths, rates, listening;
  for (const ProbeAnswer& answer : result.answers) {
    if (answers.size() == most_lines) break;
    answers.push_back(fmt::format("{} {} {} {} {}", answer.peer, answer.address, answer.port,
                                  how(answer.kind), printable(answer.detail, 80)));
  }
  for (const PathMtu& path : result.paths)
    paths.push_back(fmt::format("{} {} {} {}", path.peer, path.address, path.asked, path.passed));
  for (const StreamRate& rate : result.rates)
    rates.push_back(fmt::format("{} {} {:.0f}", rate.peer, rate.address, rate.megabits_per_second));
  for (const std::uint16_t port : probe.ports) {
    const bool failed = std::any_of(result.not_listening.begin(), result.not_listening.end(),
                                    [port](const auto& one) { return one.first == port; });
    if (!failed) listening.push_back(std::to_string(port));
  }
  facts.set_list("pair.answers", answers);
  facts.set_list("pair.paths", paths);
  facts.set_list("pair.listening", listening);
  if (probe.stream) facts.set_list("pair.rates", rates);
}

}  // namespace

void gather_pairs(const GatherContext& context, Facts& facts) {
  NetworkAccess* network = context.kernel.network();
  if (network == nullptr || context.request.peers.empty() || context.request.probe_ports.empty()) {
    facts.set_unknown("pair.answers", context.request.peers.empty() ? "no neighbours" : "no way to try it");
    return;
  }
  const NetworkProbe probe = make_probe(context);
  set_pair_facts(probe, network->probe(probe), facts);
}

}  // namespace ddlrun::doctor

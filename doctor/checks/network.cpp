// SPDX-License-Identifier: MIT
// The network that all hosts share, its links, and the ports that the job asks for.
#include "base/text/text.hpp"
#include "doctor/checks/name.hpp"
#include "doctor/parse/cidr.hpp"
#include "doctor/parse/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_shown = 4;

bool is_set(const Job& job, const char* name) {
  const auto found = job.environment.find(name);
  return found != job.environment.end() && !found->second.empty();
}

// A network that the job's own settings name, where --interface does not.
std::string network_of_job(const Job& job) {
  if (!job.interface.empty()) return job.interface;
  const auto found = job.environment.find("OMPI_MCA_btl_tcp_if_include");
  if (found == job.environment.end() || found->second.find(',') != std::string::npos) return {};
  return found->second;
}

std::string export_command(const std::vector<NetworkSetting>& settings) {
  std::string line = "export";
  for (const NetworkSetting& setting : settings) {
    const std::string_view prefix = setting.kind == NetworkSetting::Kind::mca ? "OMPI_MCA_" : "";
    line += fmt::format(" {}{}={}", prefix, setting.name, quote_shell(setting.value));
  }
  return line;
}

Remedy choose_remedy(const NetworkChoice& choice, const std::vector<HostNetworks>& hosts,
                     const HostReport& driver_host) {
  const auto driver_networks = read_networks(driver_host.host, driver_host.facts);
  const auto settings = network_settings(choice, hosts, driver_networks ? &*driver_networks : nullptr);
  return {{export_command(settings)},
          false,
          true,
          "in the shell from which the job starts; ddlrun launch does it by itself, or uses --interface"};
}

// A bridge that several hosts have under the same address: mpirun would try it.
const Network* find_misleading(const NetworkChoice& choice) {
  for (const Network& network : choice.refused) {
    if (network.problem.find(" is an address of ") != std::string::npos) return &network;
  }
  return nullptr;
}

std::string describe(const Network& network) {
  std::map<std::string, std::size_t> names;
  for (const NetworkPort& port : network.ports) ++names[port.interface];
  std::string text = network.cidr + " (";
  for (const auto& [name, count] : names) text += (text.ends_with('(') ? "" : ", ") + name;
  return text + ")";
}

CheckResult evaluate_choice(const CheckInput& input, const std::vector<HostNetworks>& hosts,
                            const std::string& wanted, const NetworkChoice& choice) {
  if (!choice.network && !wanted.empty()) {
    const NetworkChoice other = choose_network(hosts, "");
    Remedy remedy = other.network ? choose_remedy(other, hosts, input.driver_host)
                                  : Remedy{{"ip -4 -br addr"}, false, false, ""};
    return {Verdict::fail, choice.why,
            other.network ? fmt::format("a network of all hosts: {}", describe(*other.network))
                          : "a network of all hosts",
            "the ranks cannot reach each other by it: mpirun hangs or ends in MPI_Init", std::move(remedy)};
  }
  if (!choice.network) {
    return {Verdict::warn,
            fmt::format("{}: {} networks were seen", choice.why, choice.refused.size()),
            "one IPv4 network in which every host has an address",
            "without it traffic goes through routers, if it gets through: ranks may not find each other",
            {{"ip -4 -br addr"}, false, false, "if routing between the hosts is meant, this is in order"}};
  }
  const Network* misleading = find_misleading(choice);
  const bool chosen = !wanted.empty() || is_set(input.job, "OMPI_MCA_btl_tcp_if_exclude");
  if (misleading != nullptr && !chosen) {
    return {
        Verdict::warn, fmt::format("{}; no network is chosen", misleading->problem),
        fmt::format("the job requests {}", describe(*choice.network)),
        "Open MPI takes it for a way to the others and connects to itself: a hang, or \"connection refused\"",
        choose_remedy(choice, hosts, input.driver_host)};
  }
  std::string seen = describe(*choice.network) + ", " + choice.why;
  for (const Network& other : choice.others) seen += "; also " + describe(other);
  return pass(seen);
}

struct Link {
  std::size_t host;
  const HostInterface* interface;
};

// Each network's ports on the hosts, leaving out what several hosts have alike and what only some hosts use.
std::map<std::string, std::vector<Link>> find_links(const std::vector<HostNetworks>& hosts) {
  std::map<std::string, std::vector<Link>> links;
  for (const Network& network : find_networks(hosts)) {
    if (network.problem.find(" is an address of ") != std::string::npos) continue;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      for (const HostInterface& interface : hosts[host].interfaces) {
        if (interface.name == network.ports[host].interface)
          links[network.cidr].push_back({host, &interface});
      }
    }
  }
  return links;
}

Finding link_finding(Verdict verdict, std::string observed, std::string expected, std::string why,
                     std::string command, const std::string& host) {
  return {"NET-01",
          verdict,
          {host},
          std::move(observed),
          std::move(expected),
          std::move(why),
          {{std::move(command)}, true, false, ""}};
}

void add_folded(std::vector<Finding>& findings, Finding finding) {
  for (Finding& known : findings) {
    if (known.observed != finding.observed || known.remedy != finding.remedy) continue;
    known.hosts.push_back(finding.hosts.front());
    return;
  }
  findings.push_back(std::move(finding));
}

// The MTU of most links; of two that are equally common the larger.
struct UsualMtu {
  int mtu = 0;
  std::size_t links = 0;
  std::string host;  // the first that has it
};

UsualMtu find_usual_mtu(const std::vector<HostNetworks>& hosts, const std::vector<Link>& links) {
  std::map<int, UsualMtu> all;
  for (const Link& link : links) {
    UsualMtu& one = all[link.interface->mtu];
    if (one.links++ == 0) one = {link.interface->mtu, 1, hosts[link.host].host};
  }
  UsualMtu usual;
  for (const auto& [mtu, one] : all) {
    if (one.links >= usual.links) usual = one;
  }
  return usual;
}

void evaluate_links(const std::vector<HostNetworks>& hosts, const std::string& cidr,
                    const std::vector<Link>& links, std::vector<Finding>& findings) {
  const auto up = static_cast<std::size_t>(
      std::count_if(links.begin(), links.end(), [](const Link& link) { return link.interface->up; }));
  const UsualMtu usual = find_usual_mtu(hosts, links);
  for (const Link& link : links) {
    const HostInterface& interface = *link.interface;
    if (!interface.up && up > 0) {
      add_folded(findings, link_finding(Verdict::fail, fmt::format("{} ({}) is down", interface.name, cidr),
                                        fmt::format("up, as on {} other host{}", up, up == 1 ? "" : "s"),
                                        "the job cannot use that network, or hangs as it tries",
                                        "ip link set dev " + quote_shell(interface.name) + " up",
                                        hosts[link.host].host));
    } else if (interface.mtu != usual.mtu && interface.mtu > 0) {
      Finding finding =
          link_finding(Verdict::fail, fmt::format("MTU {} of {} ({})", interface.mtu, interface.name, cidr),
                       fmt::format("{}, as on {} of {} hosts", usual.mtu, usual.links, links.size()),
                       "large packets are dropped without a word: small messages pass, the first large "
                       "allreduce hangs",
                       fmt::format("ip link set dev {} mtu {}", quote_shell(interface.name), usual.mtu),
                       hosts[link.host].host);
      if (usual.links < 2) finding.remedy = as_advice(std::move(finding.remedy), usual.host);
      add_folded(findings, std::move(finding));
    }
  }
}

// Hosts without an address in a network that at least three quarters of the hosts have.
void evaluate_missing(const std::vector<HostNetworks>& hosts, const std::string& cidr,
                      const std::vector<Link>& links, std::vector<Finding>& findings) {
  if (links.size() * 4 < hosts.size() * 3 || links.size() == hosts.size()) return;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (std::any_of(links.begin(), links.end(), [host](const Link& link) { return link.host == host; }))
      continue;
    Finding finding = link_finding(Verdict::warn, fmt::format("no address in {}", cidr),
                                   fmt::format("one, as {} other hosts have", links.size()),
                                   "all hosts then use the slower network, or some cannot reach each other",
                                   "ip -4 -br addr", hosts[host].host);
    finding.remedy.needs_root = false;
    finding.remedy.note = fmt::format("bring up the interface there, or use another network: --interface");
    add_folded(findings, std::move(finding));
  }
}

CheckResult evaluate_listening_port(const HostReport& host, std::uint16_t port) {
  const std::string name = fmt::format("port.{}", port);
  const auto state = host.facts.text(name);
  if (!state) return skip(host.facts.why_missing(name));
  if (*state == "free") return pass(fmt::format("port {} is free on {}", port, host.host));
  if (state->starts_with("Permission denied")) {
    return {Verdict::fail,
            fmt::format("port {}: {}", port, *state),
            "a port that this user may open",
            "ports below 1024 are root's (net.ipv4.ip_unprivileged_port_start): the rendezvous ends with "
            "\"Permission denied\"",
            {{"export MASTER_PORT=29500"}, false, true, "or any other port above 1023"}};
  }
  const auto owner = host.facts.text(name + ".owner");
  Remedy remedy{{fmt::format("ss -ltnp 'sport = :{}'", port)},
                false,
                false,
                fmt::format("end who listens there if it is a leftover of yours, or take another port: "
                            "MASTER_PORT={}",
                            port == 65535 ? 29500 : port + 1)};
  return {
      Verdict::fail, fmt::format("port {}: {}{}", port, *state, owner ? fmt::format(", by {}", *owner) : ""),
      "free on the first host",
      "the rendezvous ends with \"Address already in use\", or ranks join another job", std::move(remedy)};
}

}  // namespace

std::vector<HostNetworks> known_networks(const CheckInput& input) {
  const NameTable driver_table = read_name_table(input.driver_host.facts);
  std::vector<HostNetworks> hosts;
  for (const HostReport& host : input.hosts) {
    if (!host.reach.problem.empty()) continue;
    auto networks = read_networks(host.host, host.facts);
    if (!networks) continue;
    const auto row = driver_table.find(host.host);
    if (row != driver_table.end()) networks->own_addresses = row->second.addresses;
    hosts.push_back(std::move(*networks));
  }
  return hosts;
}

std::vector<Finding> check_common_network(const CheckInput& input) {
  const std::vector<HostNetworks> hosts = known_networks(input);
  const std::string wanted = network_of_job(input.job);
  const bool asked = !wanted.empty() && hosts.size() == input.hosts.size();  // one host must have it too
  if (input.hosts.size() < 2 && !asked) return single_finding("MPI-04", skip("only one host"));
  if (hosts.size() < 2 && !asked)
    return single_finding("MPI-04", skip("fewer than two hosts reported their interfaces"));
  const NetworkChoice choice = choose_network(hosts, wanted);
  return single_finding("MPI-04", evaluate_choice(input, hosts, wanted, choice), choice.lacking);
}

std::vector<Finding> check_links(const CheckInput& input) {
  const std::vector<HostNetworks> hosts = known_networks(input);
  if (hosts.size() < 2)
    return single_finding("NET-01", skip("fewer than two hosts reported their interfaces"));
  std::vector<Finding> findings;
  const auto all = find_links(hosts);
  std::size_t shared = 0;
  for (const auto& [cidr, links] : all) {
    if (links.size() < 2) continue;
    ++shared;
    evaluate_links(hosts, cidr, links, findings);
    evaluate_missing(hosts, cidr, links, findings);
  }
  if (!findings.empty()) return findings;
  return single_finding("NET-01", pass(fmt::format("{} shared network{}: links up, equal MTU on {} hosts",
                                                   shared, shared == 1 ? "" : "s", hosts.size())));
}

std::vector<Finding> check_ports_free(const CheckInput& input) {
  if (input.job.ports.empty())
    return single_finding("NET-04", skip("no port requested (--port, MASTER_PORT)"));
  if (input.hosts.empty() || !input.hosts.front().reach.problem.empty())
    return single_finding("NET-04", skip("the first host did not answer"));
  const HostReport& first = input.hosts.front();
  std::vector<Finding> findings;
  for (const std::uint16_t port : input.job.ports) {
    for (Finding& finding : single_finding("NET-04", evaluate_listening_port(first, port), {first.host}))
      findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ddlrun::doctor

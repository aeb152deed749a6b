// SPDX-License-Identifier: MIT
#include "doctor/checks/network_plan.hpp"

#include "base/text/text.hpp"

#include <algorithm>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t block = 16;  // hosts of one ring: they start at about the same time
constexpr std::uint32_t first_wait_ms = 4000, wait_per_host_ms = 500, most_wait_ms = 12000;

// Neighbours in a ring of the hosts at [first, first + count).
std::vector<std::size_t> ring_peers(std::size_t index, std::size_t first, std::size_t count) {
  std::vector<std::size_t> peers;
  const auto add = [&](std::size_t peer) {
    if (peer != index && std::find(peers.begin(), peers.end(), peer) == peers.end()) peers.push_back(peer);
  };
  add(first + (index - first + 1) % count);
  add(first + (index - first + count - 1) % count);
  return peers;
}

// The usual ip_local_port_range; three that are rarely used.
std::vector<std::uint16_t> choose_ports(const Job& job, std::uint64_t random) {
  constexpr std::uint64_t low = 32768, high = 60999;
  std::vector<std::uint16_t> ports = job.ports;
  if (ports.size() > 8) ports.resize(8);
  const std::size_t wanted = ports.size() + 3;
  while (ports.size() < wanted) {
    random = random * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
    const auto port = static_cast<std::uint16_t>(low + (random >> 33) % (high - low));
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
  }
  return ports;
}

}  // namespace

std::vector<std::size_t> launch_children(std::size_t index, std::size_t nodes, std::size_t radix) {
  // Breadth first: level L holds radix^L nodes, and those of the next are dealt to them in turn.
  std::vector<std::size_t> children;
  std::size_t width = 1, first = 0;
  while (radix > 0 && index >= first + width) {
    first += width;
    width *= radix;
  }
  for (std::size_t i = 0, at = index + width; i < radix && at < nodes; ++i, at += width)
    children.push_back(at);
  return children;
}

std::size_t launch_radix(const Job& job) {
  const auto is_set = [&](const char* name) {
    const auto found = job.environment.find(name);
    return found == job.environment.end() ? std::string() : found->second;
  };
  const std::string no_tree = is_set("OMPI_MCA_plm_rsh_no_tree_spawn");
  if (!no_tree.empty() && no_tree != "0" && no_tree != "false") return 0;
  const auto radix = parse_unsigned(is_set("OMPI_MCA_routed_radix"), 100'000);
  return radix && *radix > 0 ? static_cast<std::size_t>(*radix) : default_radix;
}

namespace {

// The hosts as mpirun numbers its daemons: 0 is where it runs, which may be none of the job's hosts.
std::vector<ProbeRequest*> order_of_daemons(std::span<ProbeRequest> requests) {
  std::vector<ProbeRequest*> daemons{nullptr};
  for (ProbeRequest& request : requests) {
    if (request.is_driver_host && daemons[0] == nullptr) {
      daemons[0] = &request;
    } else {
      daemons.push_back(&request);
    }
  }
  return daemons;
}

void plan_children(const Job& job, std::span<ProbeRequest> requests) {
  const std::size_t radix = launch_radix(job);
  const std::vector<ProbeRequest*> daemons = order_of_daemons(requests);
  for (std::size_t i = 1; i < daemons.size() && radix > 0; ++i) {
    for (const std::size_t child : launch_children(i, daemons.size(), radix))
      daemons[i]->launch_children.push_back(daemons[child]->host);
  }
}

}  // namespace

namespace {

constexpr std::size_t max_hosts_with_driver_probes =
    24;  // of more, the driver host's turn may come after the first are done

// The first two hosts and the driver host probe each other, unless it is one of the hosts.
void plan_driver_host(std::span<ProbeRequest> hosts, ProbeRequest& driver_host) {
  const bool inside = std::any_of(hosts.begin(), hosts.end(), [&](const ProbeRequest& one) {
    return one.is_driver_host || one.host == driver_host.host;
  });
  if (inside || hosts.size() > max_hosts_with_driver_probes) return;
  for (ProbeRequest& host : hosts.first(std::min<std::size_t>(2, hosts.size()))) {
    host.peers.push_back(driver_host.host);
    driver_host.peers.push_back(host.host);
  }
  driver_host.probe_ports = hosts.front().probe_ports;
  driver_host.probe_ms = hosts.front().probe_ms;
}

}  // namespace

void plan_network_probes(const Job& job, std::span<ProbeRequest> hosts, ProbeRequest* driver_host,
                         std::uint64_t random) {
  if (hosts.size() < 2) return;
  plan_children(job, hosts);
  const std::vector<std::uint16_t> ports = choose_ports(job, random);
  // The last block may be half a block longer: no ring of a single host.
  const std::size_t blocks = std::max<std::size_t>(1, (hosts.size() + block / 2) / block);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::size_t own_block = std::min(i / block, blocks - 1);
    const std::size_t first = own_block * block;
    const std::size_t count = own_block + 1 == blocks ? hosts.size() - first : block;
    for (const std::size_t peer : ring_peers(i, first, count)) hosts[i].peers.push_back(hosts[peer].host);
    hosts[i].probe_ports = ports;
    hosts[i].probe_ms =
        std::min(most_wait_ms, first_wait_ms + wait_per_host_ms * static_cast<std::uint32_t>(count));
  }
  if (driver_host != nullptr) plan_driver_host(hosts, *driver_host);
}

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
// Which host is asked what about names and the network: which names it resolves, which neighbours it probes,
// whom mpirun's launch tree would make it start. Pure.
#pragma once

#include "doctor/model/probe_request.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::doctor {

// Children of node `index` of `nodes` in Open MPI's radix tree of daemons (0 = where mpirun runs).
std::vector<std::size_t> launch_children(std::size_t index, std::size_t nodes, std::size_t radix);
constexpr std::size_t default_radix = 64;  // routed_radix
std::size_t launch_radix(const Job& job);  // 0 = no tree: plm_rsh_no_tree_spawn

// Fills peers, probe_ports, probe_ms and launch_children of the requests, in the order of the hosts. A job
// of few hosts also probes the driver host, and it them, where it is none of them and `driver_host` is given.
// The ports are those that the job requests and three more that `random` picks.
void plan_network_probes(const Job& job, std::span<ProbeRequest> hosts, ProbeRequest* driver_host,
                         std::uint64_t random);

}  // namespace ddlrun::doctor

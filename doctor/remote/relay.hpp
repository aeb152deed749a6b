// SPDX-License-Identifier: MIT
// Both sides of a relay: an agent that asks the hosts of its branch and passes their answers on. What it
// passes on is as trustworthy as the relay: `Reach::relay` names it, and checks count its hosts together.
#pragma once

#include "doctor/remote/agent_protocol.hpp"
#include "doctor/remote/reach.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ddlrun::doctor {

// What the relay is asked beside its own request; `branch` are indices in `requests`, of the relay first.
RelayRequest plan_relay(std::span<const ProbeRequest> requests, std::span<const std::size_t> branch,
                        const AgentBinary& agent, const ReachOptions& options);

// On the relay: asks the hosts and prints a line for each that answered, as a difference to `own` facts.
void serve_relay(System& system, const ProbeRequest& request, const RelayRequest& relay, const Facts& own,
                 const AgentBinary& agent);

// On the side that asked: gives `sink` each report in `out` about a host of `branch` that `relay` has not
// reported before. Returns why hosts are missing, in the relay's words, or "". Anything odd is left out.
std::string take_relayed_reports(std::string_view out, std::span<const ProbeRequest> requests,
                                 std::span<const std::size_t> branch, const HostReport& relay,
                                 const ReportSink& sink);

}  // namespace ddlrun::doctor

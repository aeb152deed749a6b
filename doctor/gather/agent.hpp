// SPDX-License-Identifier: MIT
// The agent: runs the gatherers of a request on this host, each in a child of its own with a time limit.
#pragma once

#include "base/os/system.hpp"
#include "doctor/model/gather.hpp"
#include "doctor/remote/agent_protocol.hpp"

#include <span>
#include <vector>

namespace ddlrun::doctor {

// Of all subjects, in a fixed order.
std::vector<Gatherer> all_gatherers();

// Those that `request` asks for, by its level and groups.
std::vector<Gatherer> choose_gatherers(const ProbeRequest& request, std::span<const Gatherer> gatherers);

// Runs them; times are left to the caller.
ProbeResponse gather_facts(System& system, const ProbeRequest& request, std::span<const Gatherer> gatherers);

}  // namespace ddlrun::doctor

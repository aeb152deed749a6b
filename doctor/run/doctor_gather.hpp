// SPDX-License-Identifier: MIT
// Asking the hosts: one connection each, progress for people, and what came back.
#pragma once

#include "base/os/system.hpp"
#include "doctor/checks/examination.hpp"
#include "doctor/remote/reach.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::doctor {

// Whether hosts are asked through other hosts. `automatic`: of very many, at level quick, by ssh. The probes
// of level full need neighbours that are asked at the same time.
enum class RelayUse { automatic, never, always };

// For ReachOptions::flat_most.
std::size_t most_without_relays(RelayUse use, Level level, Via via, unsigned window);

struct DoctorRequest {
  Job job;
  std::vector<std::string> hosts;  // in order, each once
  CheckChoice choice;
  std::vector<Via> paths{Via::ssh};
  std::map<std::string, std::string> step_failures;  // hosts that srun does not reach, and why: ssh is used
  ReachOptions reach;                                // `via` is set from `paths`
  RelayUse relays = RelayUse::automatic;
  std::vector<std::string> groups;  // gatherers to run; empty = all of the level
  std::string trainer;              // path of ddl-train for the smoke run; "": none was found
};

// What the hosts answered, by path: the first is the one that checks evaluate.
struct Gathered {
  HostReport driver_host;
  std::vector<std::vector<HostReport>> by_path;
};

// Never throws for a host that does not answer.
Gathered gather_from_hosts(System& system, const DoctorRequest& request);

// Asks some of the hosts again by the first path, without relays, and replaces their reports.
void ask_again(System& system, const DoctorRequest& request, std::span<const std::size_t> hosts,
               Gathered& gathered);

}  // namespace ddlrun::doctor

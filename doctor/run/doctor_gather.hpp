// SPDX-License-Identifier: MIT
// Asking the hosts: one connection each, progress for people, and what came back.
#pragma once

#include "base/os/system.hpp"
#include "doctor/checks/examination.hpp"
#include "doctor/remote/reach.hpp"

#include <string>
#include <vector>

namespace ddlrun::doctor {

struct DoctorRequest {
  Job job;
  std::vector<std::string> hosts;  // in order, each once
  CheckChoice choice;
  std::vector<Via> paths{Via::ssh};
  ReachOptions reach;               // `via` is set from `paths`
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

}  // namespace ddlrun::doctor

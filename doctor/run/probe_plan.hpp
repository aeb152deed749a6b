// SPDX-License-Identifier: MIT
// The requests to each host, and to the driver host, about a job.
#pragma once

#include "doctor/model/probe_request.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ddlrun::doctor {

struct ProbePlanOptions {
  Level level = Level::quick;
  std::vector<std::string> hosts;   // in order, each once
  std::vector<std::string> groups;  // gatherers to run; empty = all of the level
  std::function<bool(const std::string&)> is_this_host;
  std::string driver_host_name;     // gethostname() here
  bool include_driver_host = true;  // one more request, the last, for the driver host
  std::uint64_t random = 0;         // spreads the probes of several examinations
};

// One request a host, in order. Each host resolves every name of the job up to 512; of more, a spread of
// 128, the same for all: names times hosts are requests to one DNS. The driver host resolves all.
std::vector<ProbeRequest> plan_probe_requests(const Job& job, const ProbePlanOptions& options);

}  // namespace ddlrun::doctor

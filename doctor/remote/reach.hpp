// SPDX-License-Identifier: MIT
// Reaching hosts: one connection each by ssh, srun, pbsdsh or mpirun, over which ddlrun itself runs as the
// agent. Where a host lacks this very build, the binary travels over the same connection.
#pragma once

#include "base/os/self_executable.hpp"
#include "base/os/system.hpp"
#include "doctor/model/check.hpp"
#include "doctor/model/probe_request.hpp"
#include "doctor/remote/fan_out.hpp"

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::doctor {

struct ReachOptions : LevelOptions {
  Via via = Via::ssh;
  std::string ssh = "ssh";                  // the program; a stand-in for tests
  int attempts = 3;                         // where sshd drops connections because there are too many
  std::vector<std::string> step_variables;  // topology::find_step_variables(), for srun
  bool is_relay = false;  // leaves hosts that do not answer to the driver host, soon where none does
};

struct ReachSummary {
  std::size_t relayed = 0;  // hosts that answered through a relay
  std::size_t missing = 0;  // hosts that were left to a relay, and then asked directly
  std::string why_missing;  // what a relay said about one of them, or how it failed
};

// The agent as it is called and sent.
struct AgentBinary {
  std::string path;            // where this build lies here, and perhaps there too
  std::string id;              // build id
  std::string loader;          // of the C library there, by the same path
  std::vector<OwnFile> files;  // names and paths to send
};

// For each host one report, as it comes in; `host` is the index in `requests`.
using ReportSink = std::function<void(std::size_t host, HostReport&& report)>;

// Sends each host its request (`ProbeRequest::host` is where it goes; is_driver_host = this machine, no
// connection). Error{usage} if a name is not a host name; a host that cannot be reached is a report with a
// problem: of many hosts only after it was asked directly.
ReachSummary reach_hosts(System& system, std::span<const ProbeRequest> requests, const AgentBinary& agent,
                         const ReachOptions& options, const ReportSink& sink);

// What a failed connection was, from the launcher's words and status: a `Reach::problem_kind`.
std::string classify_problem(std::string_view stderr_text, int exit_status, bool timed_out);

// The argv for one host; `script` and `arguments` run there under sh.
Command plan_reach_command(const ReachOptions& options, const std::string& host, const std::string& script,
                           const std::vector<std::string>& arguments);

}  // namespace ddlrun::doctor

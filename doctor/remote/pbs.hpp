// SPDX-License-Identifier: MIT
// pbsdsh forwards no stdin, and what a task prints goes to the job's own output. So requests and answers
// travel as files in a directory that all hosts share, and the binary must be there by the same path.
#pragma once

#include "base/os/system.hpp"
#include "doctor/model/probe_request.hpp"
#include "doctor/remote/reach.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

// The number that `pbsdsh -n` uses for a host: its first line in PBS_NODEFILE, from 0. A host has a line for
// each of its mpiprocs, and each line counts (OpenPBS 23.06, pbsdsh.c). Error{request} where the host is not
// in the job.
std::size_t find_pbs_node(std::string_view nodefile, const std::string& host);

class PbsExchange {
 public:
  // Makes the directory in the working directory of this process.
  PbsExchange(System& system, const AgentBinary& agent);
  ~PbsExchange();
  PbsExchange(const PbsExchange&) = delete;
  PbsExchange& operator=(const PbsExchange&) = delete;

  ExpectSession plan(const ProbeRequest& request);
  // Puts what the agent wrote in the place of what pbsdsh printed.
  void collect(const ProbeRequest& request, ProcessResult& result);

 private:
  std::string file_of(const ProbeRequest& request, std::string_view kind) const;

  System& system_;
  const AgentBinary& agent_;
  std::string dir_, nodefile_;
  std::vector<std::string> written_;
};

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
// Whether the nodes of a queue can run a job at all: a scheduler accepts some jobs that no node can run, and
// such a job waits forever. And what a job takes from their list. Each function asks for the same lists.
#pragma once

#include "base/text/error.hpp"
#include "schedulers/client/job_request.hpp"
#include "schedulers/job/job_spec.hpp"
#include "schedulers/job/node_list.hpp"
#include "schedulers/job/scheduler.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

struct RequestFault {
  Message message;
  std::string unless = {};  // what would let the job run: "QOS big permits it"; "": nothing
};

// `nodes`: those that the job can get, as `command` listed them; what is not listed of a node is no reason.
// The cores do not count with oversubscribe. Nothing where enough nodes can run the job.
std::optional<RequestFault> find_node_fault(const JobSpec& job, const std::vector<ListedNode>& nodes,
                                            std::string_view command);

// By `sinfo` or `pbsnodes`; nothing where they do not answer, or where lines for the scheduler change the
// request.
std::optional<RequestFault> find_request_fault(const CommandRunner& ask, const JobRequest& wanted);

// Takes the cores that a job's settings lack from the list of nodes: a person is asked only where these
// differ.
void complete_cores(const CommandRunner& ask, JobRequest& wanted);

// Finds the CPUs that ranks share with oversubscribe on Slurm, where the job does not know the cores.
void complete_shared_cpus(const CommandRunner& ask, JobRequest& wanted);

}  // namespace ddlrun::schedulers

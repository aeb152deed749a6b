// SPDX-License-Identifier: MIT
// Whether the nodes of a queue can run a job at all: a scheduler accepts some jobs that no node can run, and
// such a job waits forever.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/job/job_spec.hpp"
#include "schedulers/job/node_list.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

// `nodes`: those of the job's queue, as `command` listed them; what is not listed of a node is no reason. The
// cores do not count with oversubscribe. Nothing where enough nodes can run the job.
std::optional<Message> find_node_fault(const JobSpec& job, const std::vector<ListedNode>& nodes,
                                       std::string_view command);

struct RequestFault {
  Message message;
  bool may_be_permitted = false;  // the job's QOS may lift the limits of its partition
};

// By `sinfo` or `pbsnodes`; nothing where they do not answer.
std::optional<RequestFault> find_request_fault(System& system, const JobSpec& job);

}  // namespace ddlrun::schedulers

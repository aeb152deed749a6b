// SPDX-License-Identifier: MIT
// The paths that a job names, looked up before it is submitted: a misspelt one would only be found after the
// wait in the queue. This host sees the file system that the nodes share, but not the nodes' own disks.
#pragma once

#include "base/os/system.hpp"
#include "base/text/error.hpp"
#include "schedulers/client/job_request.hpp"

#include <string>
#include <vector>

namespace ddlrun::schedulers {

struct JobPathReport {
  std::vector<Message> errors;        // the job fails on every node
  std::vector<std::string> warnings;  // this host lacks it, the nodes may have it
};

// Looks at the working directory, the program and its script, venv, conda, container, data and the output's
// directory. A path counts as shared if it is relative or on the file tree of the working directory or of
// HOME; where the job's own setup or an earlier job may still make it, a missing one is a warning.
JobPathReport check_job_paths(System& system, const JobRequest& wanted);

}  // namespace ddlrun::schedulers

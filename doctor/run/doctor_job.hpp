// SPDX-License-Identifier: MIT
// The job that doctor examines: what was typed, the files it names, and the allocation that the
// scheduler left in the environment, as one value. All reading of files for it happens here.
#pragma once

#include "base/os/system.hpp"
#include "doctor/model/probe_request.hpp"

#include <string>
#include <vector>

namespace ddlrun::doctor {

// As typed; everything may be empty.
struct DoctorJobOptions {
  std::string hosts;     // "h1,h2", "node[01-04]", "@file"
  std::string hostfile;  // --hostfile FILE
  std::string rankfile;  // --rankfile FILE
  std::string dims;      // "4x2x3"
  std::string ranks;     // -n
  std::string cores_per_rank;
  std::string gpus;                // --gpus N
  bool exclusive = false;          // --exclusive
  bool oversubscribe = false;      // --oversubscribe
  std::string interface;           // --interface NAME|CIDR
  std::vector<std::string> ports;  // --port PORT...
  std::vector<std::string> data_paths;
  std::string workdir, checkpoint_dir;
  std::vector<std::string> exports;  // -x NAME or NAME=value
  std::vector<std::string> program;  // what stood behind "--"
};

// Reads the hostfile or the scheduler's allocation (SLURM_JOB_NODELIST, PBS_NODEFILE), the rankfile, and from
// our environment what the job would get by name. Values of variables that hold secrets are never kept.
// Error{usage} on malformed options, Error{request} on files that cannot be read. A rankfile or an allocation
// that is wrong in itself is a finding of the checks, not an error here.
struct ExaminedJob {
  Job job;
  // The hosts to examine, in order, each once: those typed, else the allocation, else those of the rankfile,
  // else this machine by its own name.
  std::vector<std::string> hosts;
};
ExaminedJob find_job(System& system, const DoctorJobOptions& options);

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
// The input of doctor: the job as far as it is known, and what each host examines. The driver host fills it
// once; the part for a host travels to the agent there as JSON (agent_protocol_json).
#pragma once

#include "topology/dims.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::doctor {

enum class Level { quick, full, stress };  // ten seconds and nothing started; MPI and TCP probes; load

std::string_view level_name(Level level);

// The job that is to run. Every member may be missing.
struct Job {
  std::optional<topology::Dims> dims;
  std::uint32_t ranks = 0;                             // world size; 0 = unknown
  std::map<std::string, std::uint32_t> ranks_of_host;  // by the name in the host list; empty = unknown
  std::uint32_t cores_per_rank = 0;                    // 0 = unknown
  std::uint32_t gpus_per_host = 0;                     // that the job requests; 0 = none, or unknown
  bool has_whole_hosts = false;                        // its hosts are the job's alone
  bool shares_cores = false;                           // ranks that outnumber the cores of a host share them
  std::string rankfile_path, rankfile_text;            // --rankfile
  std::string hostfile_path, hostfile_text;            // --hostfile; the text only where mpirun reads it
  std::vector<std::string> allocation;  // names as the hostfile, -H or the scheduler gives them
  std::string allocation_source;        // "hostfile hosts.txt", "SLURM_JOB_NODELIST", "" = none
  std::vector<std::string> program;     // argv behind "--"
  std::string interface;                // requested network: CIDR or interface name; "" = none
  std::vector<std::string> data_paths;  // must exist and agree on every host
  std::string workdir;                  // where the ranks start; "" = unknown
  std::string checkpoint_dir;
  std::vector<std::uint16_t> ports;  // MASTER_PORT and the like; must be free on the first host
  std::vector<std::string> exports;  // names given by -x
  std::map<std::string, std::string>
      environment;                       // what the job gets by name: OMP_*, KMP_*, OMPI_MCA_*, NCCL_*...
  bool has_tmpdir_of_scheduler = false;  // TMPDIR in `environment` is of this host only
  bool of_submit = false;                // doctor runs in a script of `ddlrun submit`
};

// The request to one host. `host` is its name on the driver host.
struct ProbeRequest {
  Level level = Level::quick;
  std::string host;
  bool is_driver_host = false;     // gathered on the driver host itself, without a connection
  std::vector<std::string> names;  // every name that the job uses: this host resolves them
  std::uint32_t ranks_here = 0;
  std::uint32_t ranks = 0;
  std::uint32_t cores_per_rank = 0;
  std::string executable;                  // argv[0] of the program; "" = none
  std::vector<std::string> program_files;  // what else the program's words name and must be equal: its script
  std::vector<std::string> own_files;      // hostfile and rankfile; for the driver host only
  std::map<std::string, std::string> environment;  // what the job sets for finding libraries: LD_LIBRARY_PATH
  std::string workdir, checkpoint_dir, temporary_dir;
  std::vector<std::string> data_paths;
  std::string interface;
  std::vector<std::uint16_t> ports;
  std::string token_file;           // written by the driver host in the working directory (DIR-01); "" = none
  std::vector<std::string> groups;  // gatherers to run; empty = all of the level
  // Level full, by plan_network_probes (network_plan.hpp): the hosts that this one tries to reach while
  // they try to reach it, the ports on which all of them listen meanwhile, and for how long.
  std::vector<std::string> peers;
  std::vector<std::uint16_t> probe_ports;
  std::uint32_t probe_ms = 0;
  std::string probe_key;                     // NetworkProbe::key
  std::vector<std::string> launch_children;  // hosts that mpirun's launch tree lets this one start by ssh
};

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
// What doctor is asked: the job as far as it is known, and what each host shall look at. The head fills it
// once; the part for a host travels to the agent there as JSON (question_json).
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

// The job that is to run, as far as the user told. Everything may be missing.
struct Job {
  std::optional<topology::Dims> dims;
  std::uint32_t ranks = 0;                             // world size; 0 = not told
  std::map<std::string, std::uint32_t> ranks_of_host;  // by the name in the host list; empty = not told
  std::uint32_t cores_per_rank = 0;                    // 0 = not told
  std::string rankfile_path, rankfile_text;            // --rankfile
  std::string hostfile_path, hostfile_text;            // --hostfile; the text only where mpirun reads it
  std::vector<std::string> allocation;  // names as the hostfile, -H or the scheduler gives them
  std::string allocation_source;        // "hostfile hosts.txt", "SLURM_JOB_NODELIST", "" = none
  std::vector<std::string> program;     // argv behind "--"
  std::string interface;                // network that was asked for: CIDR or interface name; "" = none
  std::vector<std::string> data_paths;  // must exist and agree on every host
  std::string working_folder;           // where the ranks start; "" = not told
  std::string checkpoint_folder;
  std::vector<std::uint16_t> ports;  // MASTER_PORT and the like; must be free on the first host
  std::vector<std::string> exports;  // names given by -x
  std::map<std::string, std::string>
      environment;  // what the job gets by name: OMP_*, KMP_*, OMPI_MCA_*, NCCL_*...
};

// What one host is asked. `host` is the name by which the head calls it.
struct Question {
  Level level = Level::quick;
  std::string host;
  bool is_head = false;            // gathered on the head itself, without a connection
  std::vector<std::string> names;  // every name that the job uses: this host resolves them
  std::uint32_t ranks_here = 0;
  std::uint32_t ranks = 0;
  std::uint32_t cores_per_rank = 0;
  std::string executable;                  // argv[0] of the program; "" = none
  std::vector<std::string> program_files;  // what else the program's words name and must be equal: its script
  std::vector<std::string> own_files;      // hostfile and rankfile; only the head is asked about them
  std::map<std::string, std::string> environment;  // what the job sets for finding libraries: LD_LIBRARY_PATH
  std::string working_folder, checkpoint_folder, temporary_folder;
  std::vector<std::string> data_paths;
  std::string interface;
  std::vector<std::uint16_t> ports;
  std::string token_file;           // written by the head in the working folder (DIR-01); "" = none
  std::vector<std::string> groups;  // gatherers to run; empty = all of the level
  // Level full, by plan_network_questions (network_plan.hpp): the hosts that this one tries to reach while
  // they try to reach it, the ports on which all of them listen meanwhile, and for how long.
  std::vector<std::string> peers;
  std::vector<std::uint16_t> probe_ports;
  std::uint32_t probe_ms = 0;
  std::vector<std::string> launch_children;  // hosts that mpirun's launch tree lets this one start by ssh
};

}  // namespace ddlrun::doctor

// SPDX-License-Identifier: MIT
// The mpirun line of Open MPI 4 and 5 for a rankfile, with the reason of each flag.
#pragma once

#include "base/doors.hpp"
#include "launch/exports.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::launch {

struct MpirunVersion {
  int major = 0;
  int minor = 0;
  std::string text;  // "4.1.4"

  bool operator==(const MpirunVersion&) const = default;
};

// From what `mpirun --version` prints. Error{request} for another MPI's mpirun and for Open MPI
// before 3.
MpirunVersion parse_mpirun_version(std::string_view output);

// How each rank is started.
struct RankProgram {
  Command program;               // what the user wants to run
  std::string ddlrun;            // absolute path of the binary whose `exec` wraps it, where that is needed
  std::string report_token;      // not empty: each rank tells its place first, marked with this
  bool keep = false;             // a keeper stays with each rank: nothing of it outlives the job
  std::string watch_token = {};  // not empty: the keeper tells how the rank fares, marked with this
  int stall_after = 0;           // seconds without progress that are told; 0: never
  bool may_lack_ddlrun = false;  // other hosts, where ddlrun may not be at the same path
};

struct LaunchRequest {
  std::string mpirun = "mpirun";
  int mpi_major = 4;
  std::uint32_t ranks = 1;
  std::string rankfile;  // path
  Exports exports;
  std::vector<std::pair<std::string, std::string>> mca;
  std::vector<std::array<std::string, 3>> chosen_mca;  // what ddlrun chose: name, value, why
  std::vector<std::string> mpi_arguments;              // passed on as they are
  bool tag_output = false;
  bool allow_run_as_root = false;
  bool keepalives = false;  // there are other hosts, whose loss is to be noticed
  RankProgram program;
};

// To be written into the run folder, beside the rankfile.
struct LaunchFile {
  std::string name;
  std::string text;
};

struct LaunchLine {
  Command argv;
  EnvVars environment;          // added to ours
  std::vector<Reason> reasons;  // in the order of argv
  std::vector<LaunchFile> files = {};
};

// Error{request} where Open MPI 5 cannot take the rankfile's path. `environment` is the user's: what
// OMPI_MCA_ sets there is not set again.
LaunchLine plan_launch_line(const LaunchRequest& request, const EnvVars& environment = {});

// The line as people see it: settings of ddlrun in front, the user's values left out.
std::string render_launch_line(const LaunchLine& line, const Exports& exports);

// What a rank executes. mpirun takes a word ":" for the start of another program, wherever it
// stands, so such words travel under another name and `ddlrun exec` puts them back.
Command plan_rank_command(const RankProgram& program);
Command restore_colons(Command program, std::string_view stand_in);

}  // namespace ddlrun::launch

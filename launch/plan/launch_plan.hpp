// SPDX-License-Identifier: MIT
// A launch, decided before anything starts. Each stage takes the stages before it as arguments:
//
//   place_ranks  ->  plan_program  ->  plan_environment  ->  LaunchPlan  ->  make_launch_command
#pragma once

#include "base/os/system.hpp"
#include "launch/frameworks/framework.hpp"
#include "launch/launchers/launcher.hpp"
#include "launch/plan/choose_program.hpp"
#include "launch/plan/job_network.hpp"
#include "launch/plan/job_plan.hpp"
#include "launch/plan/launch_spec.hpp"
#include "launch/rank/exports.hpp"
#include "topology/affinity/thread_settings.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::launch {

// Stage 1: the launcher, and the cores of each rank.
struct PlacedRanks {
  SelectedLauncher launcher;
  JobPlan job;
  bool has_step = false;  // srun reaches all hosts, in a Slurm job

  LauncherKind kind() const { return launcher.version.kind; }
};

// Stage 2: the program, and how its ranks report.
struct ProgramPlan {
  ChosenProgram program;
  affinity::ThreadRequest threads;
  bool verify = false;
  bool has_status = true;  // supervisors report, and their status lines reach launch
  std::string token;       // marks status lines of the ranks; "": they report nothing
  bool frames_stderr =
      false;        // the supervisors frame stderr alone, so that launch knows the rank of each line
  std::string pmi;  // srun --mpi; "": its default
  std::vector<std::string> remarks;
};

// Stage 3: the variables, the network, and what differs from rank to rank.
struct EnvironmentPlan {
  Exports exports;
  JobNetwork network;
  frameworks::FrameworkPlan framework;
  RankMap rank_map;
  bool has_result = false;                // rank 0 may write a result file
  std::set<std::uint32_t> service_ranks;  // ended by launch once all other ranks have ended well
  std::vector<std::string> remarks;
};

struct LaunchPlan {
  PlacedRanks placed;
  ProgramPlan program;
  EnvironmentPlan environment;

  // The choices that ddlrun made, in the order of the stages, for people.
  std::vector<std::string> remarks() const;
};

// Runs all stages. Error{usage} and Error{request} for what cannot start; Error{unreachable} for silent
// hosts.
LaunchPlan plan_launch(System& system, const LaunchSpec& spec);

// The command that starts the ranks, with its files in `run_dir`. `for_script`: without frames and status
// lines, which only launch can read.
LaunchCommand make_launch_command(const System& system, const LaunchSpec& spec, const LaunchPlan& plan,
                                  const std::string& run_dir, bool for_script);

// Path of the file for rank 0's result; "" if there is none.
std::string result_path(const System& system, const LaunchPlan& plan, const std::string& run_dir);

}  // namespace ddlrun::launch

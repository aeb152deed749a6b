// SPDX-License-Identifier: MIT
// What `ddlrun launch` was asked, as typed.
#pragma once

#include "launch/plan/framework_options.hpp"
#include "topology/plan_options.hpp"
#include "topology/sources/machine_loader.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::cli {

struct LaunchOptions {
  std::string dims;          // "" : what the machines have
  std::string hosts;         // "" : this machine
  std::string hosts_option;  // -H: the same, for those who come from mpirun, horovodrun or IBM's ddlrun
  std::vector<std::uint32_t> host_ranks;  // by host, where -H gives them different numbers; else empty
  std::string hostfile;
  std::string accelerators, nodes, racks, aisles;  // the factors of DIMS one by one; "": what is there
  MachineOptions machine;
  PlanTexts plan;
  std::string threads;            // of each rank; "": one for each of its cores
  std::string affinity = "auto";  // auto, off, libgomp, libomp
  bool show_threads = false;      // the runtime prints its settings
  std::string rankfile;           // "" : made from the plan
  std::vector<std::string> exports;
  std::vector<std::string> default_exports;  // NAME=value where NAME is not set; of IBM's ddlrun
  std::vector<std::pair<std::string, std::string>> mca;
  std::vector<std::string> mpi_arguments;
  std::string mpirun = "mpirun";
  std::string launcher = "auto";  // auto, openmpi, mpich, intelmpi, srun, ssh
  std::string memory = "local";   // local, preferred, bind
  std::string gpu_view;           // all, one, host; "": as the framework wants it, else all
  std::string run_folder;         // "" : a new one below the user's state folder
  std::string interface;          // CIDR, NAME or none; "": chosen where it matters
  bool tag_output = false;
  std::string output = "screen";  // screen, prefix, files
  bool tee = false;               // files too
  bool dry_run = false;
  bool verify = false;
  bool no_verify = false;
  bool strict = false;
  bool allow_run_as_root = false;
  bool no_watch = false;
  bool no_diagnose = false;
  std::string stall_after = "60";
  std::string on_stall = "warn";
  bool is_typed = false;           // by a person, as `ddlrun launch`
  std::vector<std::string> words;  // then: the options, for replay
  std::string replay_of;           // the id of the run that is repeated
  FrameworkOptions framework;
  std::string programs;  // file: many programs at once
  std::string max_restarts = "0";
  std::string on_lost_host = "auto";           // auto, leave-out, wait
  std::string host_wait = "600";               // seconds for lost hosts to come back
  std::vector<std::string> restart_arguments;  // behind the program's words from the second start on
  unsigned restarts = 0;                       // before this start
  std::string restart_of;                      // the id of the run that ended badly before it
  std::vector<std::string> program;            // what stood behind "--"
  std::vector<std::string> first_program;      // of the first start, where a restart has changed it
};

}  // namespace ddlrun::cli

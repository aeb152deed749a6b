// SPDX-License-Identifier: MIT
// The flags of `ddlrun launch` as typed: texts, unchecked. resolve_launch_spec() checks them.
#pragma once

#include "launch/frameworks/horovod_settings.hpp"
#include "launch/frameworks/intel_caffe_options.hpp"
#include "topology/plan_options.hpp"
#include "topology/sources/machine_loader.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ddlrun::launch {

struct FrameworkFlags {
  std::string framework = "auto";
  std::string np;           // "8": over all hosts; "-4": on this host
  std::string ps, workers;  // TensorFlow's tasks
  bool chief = false;
  std::string tf_style;  // config, flags; "": what the script reads
  std::string base_port = "2222";
  std::string master_port;  // "": a free port
  std::string ddl_mode;     // a letter; "": b, or that of DDL_OPTIONS
  std::vector<std::string> ddl_arguments;
  std::string horovod_config;           // path of a YAML file
  frameworks::HorovodSettings horovod;  // from flags
  frameworks::IntelCaffeOptions intel_caffe;
};

// Where a launch comes from, for its record.
struct LaunchOrigin {
  bool is_typed = false;                        // by a person, as `ddlrun launch`
  std::vector<std::string> captured_arguments;  // then: the words before "--", for replay
  std::string replay_of;                        // id of the run that is repeated; or ""
};

struct LaunchFlags {
  std::string dims;          // "": from what the machines have
  std::string hosts;         // "": this machine
  std::string hosts_option;  // -H
  std::string hostfile;
  std::string ranks_per_host, hosts_per_rack, racks, aisles;  // factors of DIMS
  topology::MachineOptions machine;
  topology::PlanTexts plan;
  std::string rankfile;  // "": made from the plan
  std::string threads;   // "": one for each core of a rank
  std::string affinity;  // "": off where the framework needs its threads free, else auto
  bool show_threads = false;
  std::vector<std::string> exports;          // NAME, NAME_* or NAME=value
  std::vector<std::string> default_exports;  // NAME=value
  std::vector<std::pair<std::string, std::string>> mca;
  std::vector<std::string> mpi_arguments;
  std::string mpirun = "mpirun";
  std::string launcher = "auto";
  std::string bind_to;  // "": each rank to its share of the cores
  std::string mem_bind = "local";
  std::string visible_gpus;  // "": as the framework expects
  std::string run_dir;       // "": a new one in the user's state directory
  std::string interface;     // CIDR, NAME or none; "": chosen where it matters
  bool tag_output = false;
  std::string rank_output = "screen";
  bool tee = false;
  bool dry_run = false;
  bool no_history = false;
  bool verify = false;
  bool no_verify = false;
  bool strict = false;
  bool allow_run_as_root = false;
  bool no_monitor = false;
  bool no_diagnose = false;
  std::string stall_timeout = "60";
  std::string on_stall = "warn";
  std::string max_restarts = "0";
  std::string on_host_failure = "auto";
  std::string host_timeout = "600";
  std::vector<std::string> restart_arguments;
  FrameworkFlags framework;
  std::string program_list;          // --multi-prog
  std::vector<std::string> program;  // the words after "--"
  LaunchOrigin origin;
};

}  // namespace ddlrun::launch

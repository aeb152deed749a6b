// SPDX-License-Identifier: MIT
// What `ddlrun launch` is told about the program's framework: --framework, how many of what, Horovod's
// settings.
#pragma once

#include "launch/frameworks/framework.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::cli {

struct FrameworkOptions {
  std::string framework = "auto";
  std::string np;             // "8": over the hosts; "-4": here
  bool wants_result = false;  // as --np does; also where a restart or a replay says the same ranks by DIMS
  std::string ps, workers;    // TensorFlow's tasks
  bool chief = false;         // TensorFlow: one task more, the coordinator
  std::string tf_style;       // config, flags; "": what the script reads
  std::string base_port = "2222";
  std::string master_port;  // "": a free one
  std::string ddl_mode;     // a letter; "": b, or what DDL_OPTIONS says
  std::vector<std::string> ddl_arguments;
  std::string horovod_config;           // YAML
  frameworks::HorovodSettings horovod;  // typed
  frameworks::IntelCaffeOptions intel_caffe;

  // What resolve_framework() made of it.
  frameworks::Framework chosen = frameworks::Framework::none;
  bool flags_style = false;
  bool needs_mpi = false;            // the program asks MPI who is who
  std::uint32_t ranks = 0;           // of all hosts together; 0: DIMS say
  std::uint32_t ranks_here = 0;      // of this host, by --np -N
  std::uint32_t ranks_per_host = 0;  // likewise
  std::uint32_t ps_tasks = 0, worker_tasks = 0;
  std::vector<std::string> remarks;
};

}  // namespace ddlrun::cli

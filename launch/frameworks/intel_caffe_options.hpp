// SPDX-License-Identifier: MIT
// The options of Intel Caffe's scripts/run_intelcaffe.sh, and what the script reads in Caffe's files.
#pragma once

#include "base/os/system.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::frameworks {

struct IntelCaffeOptions {
  bool by_script = false;       // the words of run_intelcaffe.sh are taken: hints may name them
  std::string network = "opa";  // or tcp
  std::string netmask;          // tcp: Intel MPI's own interface name or network
  std::string cpu;              // bdw, skx, knl, knm; "": seen by the machine's model
  int omp_threads = 0;          // 0: the cores that the servers leave
  int servers = -1;             // MLSL's; -1: 4 on knl and knm, else 2; none on one host with one rank
  bool pin_internal_threads = true;
  bool debug = false;
  bool priority = false;
  int priority_threshold = 10000;
  std::string iallreduce;  // I_MPI_ADJUST_IALLREDUCE
};

// Which run the script would make of its words.
struct IntelCaffeRun {
  std::string mode = "train";  // train, time, inf_time, none
  std::string caffe = "caffe";
  std::string solver, weights, snapshot, model, engine;
  int iterations = 0;
};

// "caffe train --solver ...", as the script makes it. Error{usage} for what is missing or meaningless.
Command intel_caffe_command(const IntelCaffeRun& run);
// Error{usage}: values that are none of opa|tcp, bdw|knl|skx|knm, or a tcp network without a netmask.
void check_intel_caffe(const IntelCaffeOptions& options);

// `net: "..."` of a solver, or nothing.
std::optional<std::string> find_net_file(std::string_view solver);
// Every `source: "..."` of a net that reads LMDB; empty where it does not.
std::vector<std::string> find_lmdb_sources(std::string_view net);

// "Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz" -> knl; skx where it is none of those that the script knows.
std::string_view cpu_of_model(std::string_view model);

}  // namespace ddlrun::frameworks

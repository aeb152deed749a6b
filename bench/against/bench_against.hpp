// SPDX-License-Identifier: MIT
// `ddlrun bench allreduce --against`: the same sums under each MPI, each by `ddlrun bench allreduce` in a
// child.
#pragma once

#include "base/os/system.hpp"
#include "bench/against/mpi_installations.hpp"
#include "bench/against/sums_against.hpp"

#include <string>
#include <vector>

namespace ddlrun::bench_against {

struct AgainstRequest {
  std::vector<MpiInstallation> installations;
  std::vector<std::string> launch_words;  // DIMS, HOSTS and options
  std::vector<std::string> bench_words;   // for ddl-bench
  int repeat = 1;                         // the fastest counts; the installations take turns
};

struct AgainstResult {
  std::vector<SumsOfRun> runs;
  std::vector<std::string> notes;  // installations that were not measured, and why
};

Command against_command(const Environment& environment, const AgainstRequest& request,
                        const MpiInstallation& mpi);

// Throws Error(request) if no run ends well.
AgainstResult run_against(System& system, const AgainstRequest& request);

}  // namespace ddlrun::bench_against

// SPDX-License-Identifier: MIT
// The smoke run of level full: mpirun as the job would use it, over all hosts that answered, one rank each:
// first `hostname`, then an allreduce of four bytes by the bundled trainer. Its facts join those of the
// driver host:
//   smoke.left_out            why nothing was run
//   smoke.command             what was typed, for people
//   smoke.names               host names that came back, each once, at most 256; smoke.count how many lines
//   smoke.seconds             milliseconds as seconds with three decimals; not known (why) where it failed
//   smoke.allreduce.ranks     ranks that took part; smoke.allreduce.total_seconds of the whole run
//   smoke.allreduce.latency   seconds of one allreduce; not known (why) where it failed or was not tried
#pragma once

#include "base/os/system.hpp"
#include "doctor/model/facts.hpp"
#include "doctor/model/probe_request.hpp"

#include <string>
#include <vector>

namespace ddlrun::doctor {

struct SmokeRun {
  const Job& job;
  std::vector<std::string> hosts;  // those that answered
  std::string trainer;             // ddl-train's path, the same on all hosts; "" = none was found
  std::string mpirun = "mpirun";
};

// Each of the two is given a minute.
Facts probe_mpi(System& system, const SmokeRun& run);

// The line that is run; for tests and for people.
Command plan_smoke_command(const SmokeRun& run, const Command& program);

}  // namespace ddlrun::doctor

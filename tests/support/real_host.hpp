// SPDX-License-Identifier: MIT
// This very machine through the real interfaces, as a gatherer gets it.
#pragma once

#include "base/os/posix_host_info.hpp"
#include "base/os/posix_system.hpp"
#include "doctor/model/gather.hpp"

#include <string>
#include <utility>

namespace ddlrun::tests {

struct RealHost {
  PosixProcesses processes;
  PosixFiles files;
  SystemClock clock;
  PosixHostInfo kernel;
  Environment environment;
  doctor::ProbeRequest request;
  System interfaces{processes, files,  clock, environment, [](std::string_view) {}, [](std::string_view) {},
                    {},        &kernel};
  doctor::GatherContext context{interfaces, kernel, request, ""};

  explicit RealHost(Environment as = read_environment()) : environment(std::move(as)) {}
  RealHost(const RealHost&) = delete;  // the interfaces point into it

  std::string output(const Command& command) { return processes.run(command, {}).out; }
};

}  // namespace ddlrun::tests

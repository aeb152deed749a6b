// SPDX-License-Identifier: MIT
// A real OpenMP runtime asked where it puts the threads of a pretended machine.
#pragma once

#include "base/os/posix_system.hpp"
#include "base/text/text.hpp"
#include "topology/affinity/thread_map.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

namespace ddlrun::tests {

// Where the judge's parts are.
struct ThreadJudge {
  std::string shim, libgomp_program, libomp_program;
};

inline std::string machine_text(const affinity::ThreadMachine& machine) {
  return fmt::format("{}x{}x{}", machine.packages, machine.cores_per_package, machine.threads_per_core);
}

inline Command judge_command(const ThreadJudge& judge, const affinity::ThreadMapRequest& request) {
  const bool llvm = request.runtime == affinity::OpenMpRuntime::libomp;
  Command command{"env", "-i", "LD_PRELOAD=" + judge.shim, "PRETEND_MACHINE=" + machine_text(request.machine),
                  "KMP_TOPOLOGY_METHOD=cpuinfo"};
  if (!request.mask.empty()) command.push_back("PRETEND_MASK=" + render_ranges(request.mask));
  if (request.threads > 0) command.push_back(fmt::format("OMP_NUM_THREADS={}", request.threads));
  if (request.variables.count("KMP_BLOCKTIME") == 0) command.push_back("KMP_BLOCKTIME=0");
  command.push_back("OMP_WAIT_POLICY=passive");
  command.push_back("OMP_DYNAMIC=false");
  for (const auto& [name, value] : request.variables) command.push_back(name + "=" + value);
  command.push_back(llvm ? judge.libomp_program : judge.libgomp_program);
  return command;
}

// Processors by thread; empty where the program failed.
inline std::vector<std::vector<int>> read_places_said(const ProcessResult& said) {
  std::vector<std::vector<int>> places;
  if (!said.ok()) return places;
  std::istringstream lines(said.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::size_t thread = 0;
    words >> thread;
    if (places.size() <= thread) places.resize(thread + 1);
    for (int os = 0; words >> os;) places[thread].push_back(os);
  }
  return places;
}

inline std::string render_places(const std::vector<std::vector<int>>& places) {
  std::string text;
  for (const auto& place : places) text += (text.empty() ? "" : " | ") + render_ranges(place);
  return printable(text, 300);
}

}  // namespace ddlrun::tests

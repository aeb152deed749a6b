// SPDX-License-Identifier: MIT
// Refuses a program that starts ranks itself (torchrun, mpirun) where each rank would start all of them,
// mpirun as the only rank, and a torchrun on each host that does not know of the others.
#pragma once

#include "base/os/system.hpp"

#include <cstddef>
#include <string>

namespace ddlrun::launch {

// The words of ddlrun before the program.
struct OwnLine {
  std::string words;       // "ddlrun launch --verify"
  bool has_shape = false;  // they say how many ranks; else the nested launcher's own words do
  // "ddlrun launch", or "ddlrun submit" with its options but not DIMS: where the job has one rank, the line
  // to type has the nested launcher's count of ranks instead of that of `words`.
  std::string command;
};

// Error{request} with the line to type: `own` and the program without its launcher. One launcher for
// each host is taken where it starts ranks on its own host only.
void check_not_nested(const Command& program, std::size_t ranks, std::size_t hosts, const OwnLine& own);

}  // namespace ddlrun::launch

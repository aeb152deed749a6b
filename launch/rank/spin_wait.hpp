// SPDX-License-Identifier: MIT
// Does a busy rank wait? Most MPI libraries and transports wait by spinning: such a rank uses a whole core.
// Pure.
#pragma once

#include "base/process/code_samples.hpp"

#include <optional>
#include <string>

namespace ddlrun::launch {

// The library of MPI or of a transport in which a process spins ("libopen-pal.so.40"); "" if other code runs
// too; nothing if the samples are too few to decide.
std::optional<std::string> find_spin_library(const CodeSamples& samples);

// Whether the samples are enough for find_own_code().
bool are_enough(const CodeSamples& samples);

// The file whose code a busy process runs most ("python3.11"); "" where it may wait: for other ranks, a GPU
// or OpenMP's threads, or where samples are too few.
std::string find_own_code(const CodeSamples& samples);

}  // namespace ddlrun::launch

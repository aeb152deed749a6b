// SPDX-License-Identifier: MIT
// Which code a process runs, from samples of its instruction pointers (perf_event_open): the process is
// neither stopped nor traced. Linux only.
#pragma once

#include "base/process/code_samples.hpp"

#include <sys/types.h>

#include <chrono>

namespace ddlrun {

// Samples user code of all threads, about once a millisecond of CPU time, until there are `enough` samples,
// or for `longest`: a process on a busy machine gets little CPU time. Empty where the kernel permits no
// samples (kernel.perf_event_paranoid above 2, a container's seccomp filter), and for a process that sleeps.
CodeSamples sample_code(pid_t pid, std::size_t enough, std::chrono::milliseconds longest);

}  // namespace ddlrun

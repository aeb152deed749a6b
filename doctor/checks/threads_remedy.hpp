// SPDX-License-Identifier: MIT
// What sets the number of threads of each rank, where the job can still be changed.
#pragma once

#include "doctor/model/finding.hpp"
#include "doctor/model/probe_request.hpp"

#include <cstdint>

namespace ddlrun::doctor {

// Of a job of `ddlrun submit` the option of that command: its script is already running.
Remedy threads_remedy(const Job& job, std::uint64_t threads);

}  // namespace ddlrun::doctor

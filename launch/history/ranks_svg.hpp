// SPDX-License-Identifier: MIT
// The plan as a picture: a row for each host, a box for each of its ranks, coloured by what became of it.
// Pure.
#pragma once

#include "launch/history/run_record.hpp"

#include <cstddef>
#include <string>

namespace ddlrun::launch {

// At most `most_hosts` rows, those where something is wrong first; says how many were left out.
std::string render_ranks_svg(const RunRecord& run, std::size_t most_hosts = 64);

// Ended by TERM or KILL after another one had failed: the launcher did it.
bool ended_with_job(const RunRecord& run, const RunRank& rank);

// True where a rank is not as planned, sent no report, or failed by itself.
bool is_odd(const RunRecord& run, const RunRank& rank);

}  // namespace ddlrun::launch

// SPDX-License-Identifier: MIT
// From the connection of the ranks to the exit status of this one.
#pragma once

#include "ddl/launcher.hpp"
#include "ddl/stall.hpp"
#include "runtime/comm/communicator.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::runtime {

// Connects the ranks, runs `work` with all of them, and returns the exit status. Rank 0 prints a
// CollectiveError and all ranks exit in order; any other exception is printed by its rank as [rank N host]
// and aborts the job, because other ranks may wait for this one.
// `options_error`: an error in this rank's command line. Without a launcher it is printed; launched ranks
// first agree on it, because a launcher kills the others as soon as one fails, and rank 0's message would be
// lost. `wire`: data type of sums between hosts: "float32", "bfloat16" or "float16"; DDL_OPTIONS takes
// precedence. `stall`: receives reports about stalled ranks.
int run_session(std::string_view program, const std::optional<Error>& options_error,
                const std::function<void(Communicator&)>& work, const std::string& wire = "float32",
                ddl::StallWatch stall = {});

// The timeout between ranks in seconds, if DDL_OPTIONS sets one.
std::optional<double> requested_timeout();

using ddl::launched_rank;  // known before ranks connect

}  // namespace ddlrun::runtime

// SPDX-License-Identifier: MIT
// PsTransport over libddl's messages between two ranks.
#pragma once

#include "ddl/stall.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/parameter_server/ps_transport.hpp"

#include <memory>

namespace ddlrun::runtime {

// Timeouts of a wait. `stall` receives reports about missing ranks, and the final Error names them. A process
// of this host that exits is detected at once. A rank of another host is given up after `silent_seconds`
// without a reply; for a worker, which cannot reply while it computes, after ten of its longest steps if that
// is longer.
struct PsTimeouts {
  double max_seconds = 300.0;
  double silent_seconds = 25.0;  // plus the time of the query: 30 in total
  ddl::StallWatch stall;
};

// Collective over `ranks`, which outlive it. `largest`: largest number of floats in a message. Throws Error
// where the ranks have no messages.
std::unique_ptr<PsTransport> make_ddl_ps_transport(Communicator& ranks, std::size_t largest,
                                                   PsTimeouts timeouts);

}  // namespace ddlrun::runtime

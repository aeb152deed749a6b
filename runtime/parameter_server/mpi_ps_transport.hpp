// SPDX-License-Identifier: MIT
// PsTransport over MPI's point-to-point messages, on a communicator of their own.
#pragma once

#include "ddl/stall.hpp"
#include "runtime/parameter_server/ps_transport.hpp"

#include <memory>

namespace ddlrun::runtime {

// How long a rank waits: who is away is told by `stall`, and named in the Error at the end. A process of this
// host that is gone is found out at once; a rank of another host that answers no header is given up after
// `silent_seconds`, a worker that computes, and so cannot reply, after ten of its longest steps if that is
// longer.
struct PsTimeouts {
  double max_seconds = 300.0;
  double silent_seconds = 25.0;  // and some for asking: 30 in all
  ddl::StallWatch stall;
};

// Collective. MPI has been started and outlives it. `largest`: floats of a message at most.
std::unique_ptr<PsTransport> make_mpi_ps_transport(std::size_t largest, PsTimeouts timeouts);

}  // namespace ddlrun::runtime

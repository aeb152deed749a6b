// SPDX-License-Identifier: MIT
// Parcels over MPI's point-to-point messages, on a communicator of their own.
#pragma once

#include "ddl/stall.hpp"
#include "runtime/parameter_server/ps_transport.hpp"

#include <memory>

namespace ddlrun::runtime {

// How long a rank waits: who is away is told by `stall`, and named in the Error at the end. A process of this
// host that is gone is found out at once; a rank of another host that answers no note is given up after
// `silent_seconds`, a worker that computes, and so cannot answer, after ten of its longest steps if that is
// longer.
struct ParcelPatience {
  double most_seconds = 300.0;
  double silent_seconds = 25.0;  // and some for asking: 30 in all
  ddl::StallWatch stall;
};

// Collective. MPI has been started and outlives it. `largest`: floats of a parcel at most.
std::unique_ptr<Parcels> make_mpi_parcels(std::size_t largest, ParcelPatience patience);

}  // namespace ddlrun::runtime

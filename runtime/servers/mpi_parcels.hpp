// SPDX-License-Identifier: MIT
// Parcels over MPI's point-to-point messages, on a communicator of their own.
#pragma once

#include "runtime/servers/parcels.hpp"

#include <memory>

namespace ddlrun::runtime {

// Collective. MPI has been started and outlives it. `largest`: floats of a parcel at most. A wait of more
// than `most_seconds` ends in an Error that names who is silent.
std::unique_ptr<Parcels> make_mpi_parcels(std::size_t largest, double most_seconds);

}  // namespace ddlrun::runtime

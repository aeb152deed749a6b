// SPDX-License-Identifier: MIT
// Ranks as processes, by MPI.
#pragma once

#include "ddl/ddl.hpp"
#include "ddl/transport/transport.hpp"

#include <memory>

namespace ddl {

// MpiPlugin::make_transport
std::unique_ptr<Transport> make_mpi_transport(int& argc, char**& argv);
std::unique_ptr<Transport> make_mpi_transport(const MpiComm& ranks);

}  // namespace ddl

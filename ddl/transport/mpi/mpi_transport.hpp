// SPDX-License-Identifier: MIT
// Ranks as processes, by MPI.
#pragma once

#include "ddl/transport/transport.hpp"

#include <memory>

namespace ddl {

// MpiPlugin::make_transport
std::unique_ptr<Transport> make_mpi_transport(int& argc, char**& argv);

}  // namespace ddl

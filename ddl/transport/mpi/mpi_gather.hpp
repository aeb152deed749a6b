// SPDX-License-Identifier: MIT
// Texts of all ranks to all ranks, by MPI.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace ddl {

// By rank; the texts may differ in length. Collective.
std::vector<std::string> gather_strings(MPI_Comm ranks, const std::string& mine);

}  // namespace ddl

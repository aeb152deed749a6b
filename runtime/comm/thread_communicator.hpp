// SPDX-License-Identifier: MIT
// Ranks as threads of one process, so that training over several ranks can be tested without MPI.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <functional>

namespace ddlrun::runtime {

// Runs `work` on `size` ranks and returns when all are done. Rethrows the first exception; the other ranks
// are woken from their waits.
void run_ranks_as_threads(int size, const std::function<void(Communicator&)>& work);

}  // namespace ddlrun::runtime

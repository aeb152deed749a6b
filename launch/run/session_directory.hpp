// SPDX-License-Identifier: MIT
// The files that mpirun keeps while it runs. It removes them at its end, unless it is killed.
#pragma once

#include "base/os/system.hpp"

namespace ddlrun::launch {

// Of an mpirun of this user that has ended on this host: TMPDIR/ompi.HOST.UID/pid.PID of Open MPI 4,
// TMPDIR/prterun.HOST.PID.UID of Open MPI 5.
void remove_session_directory(System& system, int mpirun);

}  // namespace ddlrun::launch

// SPDX-License-Identifier: MIT
// The files that mpirun keeps while it runs. It removes them at its end, unless it is killed.
#pragma once

#include "base/os/system.hpp"

namespace ddlrun::launch {

// Of Open MPI 4: TMPDIR/ompi.HOST.UID/pid.PID; of 5: TMPDIR/prterun.HOST.PID.UID (5.0.7) or ompi.PID
// (5.0.11). The mpirun is one of this user that has ended on this host.
void remove_session_directory(System& system, int mpirun);

}  // namespace ddlrun::launch

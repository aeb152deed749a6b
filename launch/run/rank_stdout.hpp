// SPDX-License-Identifier: MIT
// The stdout of the rank that failed first, where its stderr shows no cause: gdb reports a crash there.
#pragma once

#include "base/os/system.hpp"
#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/job_diagnosis.hpp"
#include "launch/rank/status_line.hpp"
#include "launch/run/launch_run.hpp"

namespace ddlrun::launch {

// Replaces `found` by what both streams of `first` show, if the run keeps them in files and a signature
// explains them.
void complete_by_stdout(System& system, const LaunchRun& run, const RankReport& first,
                        const diagnose::RunStatus& end, const diagnose::JobContext& job,
                        diagnose::Diagnosis& found);

}  // namespace ddlrun::launch

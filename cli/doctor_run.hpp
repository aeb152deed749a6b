// SPDX-License-Identifier: MIT
// One examination from question to findings: the hosts are asked, the checks are run.
#pragma once

#include "cli/doctor_baseline.hpp"
#include "cli/doctor_gather.hpp"
#include "doctor/report.hpp"

namespace ddlrun::cli {

doctor::Examination examine(System& system, const DoctorRequest& request,
                            const BaselineRequest& baseline = {});

}  // namespace ddlrun::cli

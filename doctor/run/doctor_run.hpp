// SPDX-License-Identifier: MIT
// One examination from request to findings: the hosts are examined, the checks are run.
#pragma once

#include "doctor/report/report.hpp"
#include "doctor/run/doctor_baseline.hpp"
#include "doctor/run/doctor_gather.hpp"

namespace ddlrun::doctor {

Examination examine(System& system, const DoctorRequest& request, const BaselineRequest& baseline = {});

}  // namespace ddlrun::doctor

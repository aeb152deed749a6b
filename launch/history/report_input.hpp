// SPDX-License-Identifier: MIT
// Everything about one run, gathered from its folder and from where its program wrote, for the report.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/report_html.hpp"

#include <string>

namespace ddlrun::cli {

// What cannot be read is told in `notes`; only a run without a record of itself is Error{request}.
run_report::ReportInput read_run_view(System& system, const std::string& folder);

}  // namespace ddlrun::cli

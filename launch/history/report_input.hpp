// SPDX-License-Identifier: MIT
// Everything about one run, gathered from its directory and from where its program wrote, for the report.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/report_html.hpp"

#include <string>

namespace ddlrun::launch {

// `notes` lists the files that cannot be read; only a run without run.json is Error{request}.
ReportInput read_run_view(System& system, const std::string& directory);

}  // namespace ddlrun::launch

// SPDX-License-Identifier: MIT
// The parts of the page, each with its heading; "" where there is nothing to say.
#pragma once

#include "launch/history/report_html.hpp"

#include <string>

namespace ddlrun::launch {

std::string render_result_section(const ReportInput& input);    // what went wrong, if anything
std::string render_facts_section(const ReportInput& input);     // who, where, with what
std::string render_training_section(const ReportInput& input);  // curves
std::string render_usage_section(const ReportInput& input);     // cores and memory over time
std::string render_plan_section(const ReportInput& input);      // pictures
std::string render_ranks_section(const ReportInput& input);     // the table of bindings
std::string render_exports_section(const ReportInput& input);   // variables and their reasons

}  // namespace ddlrun::launch

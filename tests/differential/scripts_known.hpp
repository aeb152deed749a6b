// SPDX-License-Identifier: MIT
// Jobs with names: those whose scripts are kept in golden/scripts, and those that scripts_life.sh runs.
#pragma once

#include "schedulers/job/script_forms.hpp"

#include <string>
#include <utility>
#include <vector>

// `directory`: where the job works and keeps its files.
std::vector<std::pair<std::string, ddlrun::schedulers::JobSpec>> known_jobs(const std::string& directory);

// SPDX-License-Identifier: MIT
// Ids of runs of `ddlrun launch`, given to commands that take jobs.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::cli {

// Error{request} where one of the ids names a run: `command` takes jobs alone.
void refuse_run_ids(const std::vector<std::string>& ids, const std::string& command);

}  // namespace ddlrun::cli

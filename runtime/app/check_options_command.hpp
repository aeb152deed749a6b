// SPDX-License-Identifier: MIT
// `ddl-train check-options RANKS OPTIONS`: checks the options of a training in one process, before many ranks
// start and all report the same error.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Checks arguments, values, combinations, the number of ranks, that named files exist and have the right
// format. For images in files also that their classes, sizes and number fit the options and the net; reads
// the headers of some. Throws Error(usage), or Error(request) for a file, which may differ on another host.
void check_train_args(const std::vector<std::string>& args, std::size_t ranks);

int run_check_options_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime

// SPDX-License-Identifier: MIT
// `ddl-train check-options RANKS OPTIONS`: what is wrong with a training's options, told by one process that
// starts nothing, before many ranks are started that would all find the same.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Words, values, what goes together, what does not fit so many ranks, and the files that are named: whether
// they are there and can be read as what they are named for. Images are not opened. Throws Error(usage), or
// Error(request) for a file: another host may have another one.
void check_train_args(const std::vector<std::string>& args, std::size_t ranks);

int run_check_options_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime

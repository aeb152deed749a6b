// SPDX-License-Identifier: MIT
// Options for parameter servers: rows of the table in train_options.cpp, and checks of their combinations.
#pragma once

#include "runtime/app/hyperparameter_options.hpp"

namespace ddlrun::runtime {

std::span<const OptionRow> server_rows();
// Throws Error(usage) for conflicting options, independent of the number of ranks.
void check_server_options(const TrainOptions& options);

}  // namespace ddlrun::runtime

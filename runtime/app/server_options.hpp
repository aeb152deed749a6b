// SPDX-License-Identifier: MIT
// The options of ddl-train for parameter servers: rows of the table of train_options.cpp, and what they mean
// together.
#pragma once

#include "runtime/app/hyperparameter_options.hpp"

namespace ddlrun::runtime {

std::span<const OptionRow> server_rows();
// Throws Error(usage) for what contradicts itself, whatever the number of ranks.
void check_server_options(const TrainOptions& options);

}  // namespace ddlrun::runtime

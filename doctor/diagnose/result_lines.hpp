// SPDX-License-Identifier: MIT
// Lines that a program prints while it works: rows of numbers, progress, measurements.
#pragma once

#include <string_view>

namespace ddlrun::diagnose {

// "step 20 loss 0.31", "8  1.12", "epoch 3/10", "rank 1 of 4"; not a place in a file, a version, or what a
// batch system prints about a job.
bool is_result(std::string_view text);

}  // namespace ddlrun::diagnose
